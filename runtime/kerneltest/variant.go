// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package kerneltest

import "github.com/ptxdsl/ptxdsl/dsl"

// A Variant is a kernel with one choice of its options, for tests and tables that treat each choice
// alike.
type Variant struct {
	Option  string            // the option that the variant shows, such as "stages"
	Name    string            // the choice, such as "5 stages"
	Targets []string          // targets that it is built for
	Build   func(*dsl.Module) // adds the kernel of the choice
	Check   func(*T) error    // runs it, and compares its results with a reference
	Why     string            // why the tolerance of Check is as large as it is
}
