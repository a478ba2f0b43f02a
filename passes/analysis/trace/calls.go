// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package trace

import (
	"slices"

	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
)

// callee returns the function that a call names, or nil for an indirect call.
func callee(in *ir.Instr) *ir.Func {
	for i := range in.Args {
		if f, ok := in.Args[i].Ref().(*ir.Func); ok {
			return f
		}
	}
	return nil
}

// definition returns the definition of a function, or its declaration if the module has no
// definition.
func (p *program) definition(f *ir.Func) *ir.Func {
	if f.Defined {
		return f
	}
	g := p.defs[f]
	if g == nil {
		g = f
		for _, other := range p.k.Module.Funcs() {
			if other.Name == f.Name && other.Defined {
				g = other
			}
		}
		p.defs[f] = g
	}
	return g
}

// isQuiet reports whether a function has no relevant instructions. depth is the nesting depth of
// calls. A few functions of the run-time library are known by name.
func (p *program) isQuiet(f *ir.Func, depth int) bool {
	f = p.definition(f)
	if q, ok := p.quiet[f]; ok {
		return q
	}
	if !f.Defined {
		return slices.Contains([]string{"vprintf", "malloc", "free", "__assertfail"}, f.Name)
	}
	p.quiet[f] = true // assumed for recursive calls
	quiet := depth < 64
	for _, b := range f.Blocks {
		for _, in := range b.Instrs {
			switch k := Of(in); k {
			case Other, Exit, Collective:
			case Load, Store, Atomic:
				if where := in.Space().Base(); where == isa.Shared ||
					where == isa.Generic &&
						(p.k.Generic ||
							p.k.Needs(Copy, BulkLoad, BulkStore, GroupMultiply,
								TensorMultiply)) || where == isa.Global && p.k.Needs(GridWait) {
					quiet = false
				}
			case Call:
				g := callee(in)
				quiet = quiet && g != nil && p.isQuiet(g, depth+1)
			default:
				quiet = quiet && in.Directive()
			}
		}
	}
	p.quiet[f] = quiet
	return quiet
}

// onlyQuietCalls reports whether no function that the kernel calls has relevant instructions.
func (p *program) onlyQuietCalls() bool {
	for _, b := range p.k.Func.Blocks {
		for _, in := range b.Instrs {
			if Of(in) == Call {
				if f := callee(in); f == nil || !p.isQuiet(f, 0) {
					return false
				}
			}
		}
	}
	return true
}
