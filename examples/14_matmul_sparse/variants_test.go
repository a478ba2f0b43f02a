// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package sparse

import (
	"strings"
	"testing"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/golden"
	"github.com/ptxdsl/ptxdsl/runtime/kerneltest"
)

// TestVariants checks, assembles and runs each variant on its first target, except for those of
// TestRun, and checks the tolerances of each option.
func TestVariants(t *testing.T) {
	runs := make(map[string]kerneltest.Runs)
	for _, v := range Variants() {
		if v.Option == "sparse element types" && v.Targets[0] == Targets[0] &&
			v.Name[0] != 'u' && !strings.Contains(v.Name, ",") {
			continue
		}
		t.Run(v.Option+"/"+v.Name, func(t *testing.T) {
			m := dsl.New(v.Name, v.Targets[0])
			v.Build(m)
			golden.Clean(t, m)
			golden.Assemble(t, m)
			runs[v.Option] = append(runs[v.Option], kerneltest.Run(t, v.Check, v.Targets[0])...)
		})
	}
	for option, list := range runs {
		t.Run("tolerances of "+option, func(t *testing.T) { list.Tight(t, 4) })
	}
}
