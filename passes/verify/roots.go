// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package verify

import (
	"slices"

	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/passes/analysis/trace"
	"github.com/ptxdsl/ptxdsl/passes/analysis/value"
)

// containingVariable returns the shared variable that contains an address, or nil if it is unknown.
// The address must be that of the variable, possibly aligned, plus offsets. Other computations may
// yield an address in any variable.
func containingVariable(v *value.Value) *ir.Var { return within(v, maxAlignments) }

// maxAlignments limits how many alignment operations inside looks through.
const maxAlignments = 4

// within is inside with a limit on the alignment operations that it looks through.
func within(v *value.Value, depth int) *ir.Var {
	var in *ir.Var
	for _, t := range v.Terms {
		if t.Atom.Sources&value.Variables == 0 || isOffset(t) {
			continue
		}
		of := pointsInto(t.Atom, depth)
		if of == nil || in != nil || t.Factor != 1 {
			return nil
		}
		in = of
	}
	return in
}

// pointsInto returns the shared variable into which an atom points, or nil.
func pointsInto(a *value.Atom, depth int) *ir.Var {
	switch {
	case depth == 0:
	case a.Op == value.OpVariable:
		if v, ok := a.Ref.(*ir.Var); ok && v.Space == isa.Shared {
			return v
		}
	case a.Op == value.OpAnd && a.Args[1].Const() && a.Args[1].K < 0 && a.Args[1].K >= -mostAligned:
		return within(a.Args[0], depth-1)
	}
	return nil
}

// mostAligned is the largest alignment that addresses are rounded to.
const mostAligned = 1 << 16

// isOffset reports whether a term is only an offset. A term that aligns an address depends on the
// address, so it is not.
func isOffset(t value.Term) bool {
	a := t.Atom
	return a.Op != value.OpVariable && a.Bounded && a.Low >= 0 && a.High < mostAligned
}

// A census holds the base addresses of all mbarriers of a kernel.
type census struct {
	roots   map[*ir.Var][]*value.Value // by variable; nil stands for all dynamic shared arrays
	unknown bool                       // some address is unknown
	made    bool                       // the address of some initialization is unknown
}

// Uncertain reports whether an unknown address may be that of an mbarrier. Its arrivals and bytes
// are then not counted.
func (p *Pass) Uncertain(o Object) bool {
	c := p.kernelState.census
	if c == nil {
		c = p.takeCensus()
		p.kernelState.census = c
	}
	return c.unknown || len(c.roots[variableOf(o.Root)]) > 1
}

// MadeElsewhere reports whether an mbarrier at an unknown address is initialized, which may be this
// one.
func (p *Pass) MadeElsewhere(o Object) bool {
	return p.Uncertain(o) &&
		(p.kernelState.census.made || len(p.kernelState.census.roots[variableOf(o.Root)]) > 1)
}

// variableOf returns the variable of a base address. All dynamic shared arrays have the same
// address.
func variableOf(root *value.Value) *ir.Var {
	if v := containingVariable(root); v != nil && !Open(v) {
		return v
	}
	return nil
}

func (p *Pass) takeCensus() *census {
	c := &census{roots: make(map[*ir.Var][]*value.Value)}
	for _, t := range p.Traces {
		for i := range t.Events {
			e := &t.Events[i]
			n := Target(e)
			if n < 0 {
				continue
			}
			list, ok := p.Objects(e, Val(e, n))
			if !ok {
				c.unknown, c.made = true, c.made || e.Kind == trace.Init
			}
			for _, o := range list {
				if at := variableOf(o.Root); !slices.Contains(c.roots[at], o.Root) {
					c.roots[at] = append(c.roots[at], o.Root)
				}
			}
		}
	}
	return c
}
