// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package passes

import (
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
)

func foldAddresses() *Pass {
	return &Pass{
		Name: "fold-addresses",
		Doc: "folds a constant that is added to an address into the offset of the loads and " +
			"stores that use it.",
		Edits: true,
		Run: func(s *Step) {
			for _, f := range s.Module.Funcs() {
				if n := offsets(f); n > 0 {
					s.Changes += n
					trim(f)
				}
			}
		},
	}
}

// sumOf64 reports whether an instruction is a plain 64-bit addition.
func sumOf64(in *ir.Instr) bool {
	kind, of, ok := integerOp(in)
	return ok && kind == isa.KindAdd && of.Bits() == 64
}
