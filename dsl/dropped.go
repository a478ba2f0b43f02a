// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl

import (
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
)

// computes reports whether numbers of a type are ones that kernels are there to compute. Integers are mostly places, of which the builder works out
// some that nobody asks for.
func computes(t isa.Type) bool {
	return t.Class() == isa.Float || t.Class() == isa.Half
}

// tellDropped tells where so many results are computed and nothing reads them: operations return what they compute, and change nothing.
func (k *Kernel) tellDropped(n int) {
	for _, b := range k.f.Blocks {
		for _, in := range b.Instrs {
			if len(in.Args) < 2 || in.Args[0].Kind != ir.Register {
				continue
			}
			if r := in.Args[0].Reg; r.Number != 1 || !computes(r.Type) {
				continue
			}
			switch in.Head() {
			case "add", "sub", "mul", "fma", "div", "min", "max", "neg", "abs", "ex2", "lg2", "rcp", "rsqrt", "sqrt", "sin", "cos", "tanh":
				k.doubt(in.Pos, "nothing reads what %s computes here: operations return their result and change no operand; Set and Store keep it", in.Head())
			}
			if n--; n == 0 {
				return
			}
		}
	}
}
