// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package kerneltest

import "github.com/ptxdsl/ptxdsl/dsl"

// A Variant is a kernel with a certain choice of an option. Tests and tables process all variants
// in the same way.
type Variant struct {
	Option  string            // option that the variant tests, such as "stages"
	Name    string            // name of the choice, such as "5 stages"
	Targets []string          // targets for which the kernel can be built
	Build   func(*dsl.Module) // adds the kernel to a module
	Check   func(*T) error    // runs the kernel, and compares its results with a reference
	Why     string            // reason for the size of Check's tolerance
}
