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

// containingVariable returns the shared variable that contains an address, or nil if the variable
// is unknown. The address must be the address of the variable, possibly aligned, plus offsets.
// Other computations may yield an address in any variable.
func containingVariable(v *value.Value) *ir.Var { return variableWithin(v, maxAlignments) }

// maxAlignments limits how many alignment operations within looks through.
const maxAlignments = 4

// variableWithin returns the same as containingVariable, but looks through at most depth alignment
// operations.
func variableWithin(v *value.Value, depth int) *ir.Var {
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
	case a.Op == value.OpAnd && a.Args[1].Const() && a.Args[1].K < 0 &&
		a.Args[1].K >= -maxAlignment:
		return variableWithin(a.Args[0], depth-1)
	}
	return nil
}

// maxAlignment is the largest alignment to which addresses are rounded.
const maxAlignment = 1 << 16

// isOffset reports whether a term is only an offset. A term that aligns an address depends on the
// address, so it is not an offset.
func isOffset(t value.Term) bool {
	a := t.Atom
	return a.Op != value.OpVariable && a.Bounded && a.Low >= 0 && a.High < maxAlignment
}

// A mbarrierRoots holds the base addresses of all mbarriers of a kernel.
type mbarrierRoots struct {
	// by variable; the key nil stands for all dynamic shared arrays
	roots       map[*ir.Var][]*value.Value
	unknown     bool // some address is unknown
	unknownInit bool // the address of some initialization is unknown
}

// Uncertain reports whether some access at an unknown address may be to mbarrier o. The arrivals
// and bytes of such an access are not counted.
func (p *Pass) Uncertain(o Object) bool {
	c := p.kernelState.mbarrierRoots
	if c == nil {
		c = p.findMbarrierRoots()
		p.kernelState.mbarrierRoots = c
	}
	return c.unknown || len(c.roots[variableOf(o.Root)]) > 1
}

// MadeElsewhere reports whether some initialization at an unknown address may be that of mbarrier
// o.
func (p *Pass) MadeElsewhere(o Object) bool {
	return p.Uncertain(o) &&
		(p.kernelState.mbarrierRoots.unknownInit ||
			len(p.kernelState.mbarrierRoots.roots[variableOf(o.Root)]) > 1)
}

// variableOf returns the variable of a base address, or nil for dynamic shared arrays, which all
// have the same address.
func variableOf(root *value.Value) *ir.Var {
	if v := containingVariable(root); v != nil && !Open(v) {
		return v
	}
	return nil
}

func (p *Pass) findMbarrierRoots() *mbarrierRoots {
	c := &mbarrierRoots{roots: make(map[*ir.Var][]*value.Value)}
	for _, t := range p.Traces {
		for i := range t.Events {
			e := &t.Events[i]
			n := Target(e)
			if n < 0 {
				continue
			}
			list, ok := p.Objects(e, Val(e, n))
			if !ok {
				c.unknown, c.unknownInit = true, c.unknownInit || e.Kind == trace.Init
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
