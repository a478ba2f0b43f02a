// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package lift

import (
	"slices"
	"strconv"

	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/ptx"
)

// A scope holds the names of a module, a function or a block.
type scope struct {
	names  map[string]entry
	ranges map[string]*regRange
}

// An entry is the declaration that a name of a scope refers to. The entry of a label also has the
// position of the label, because a declaration in an outer scope takes precedence before that
// position.
type entry struct {
	ref ir.Ref
	at  ptx.Pos
}

// A regRange is a range of registers that is declared as name<n>. Only registers that are used
// are created.
type regRange struct {
	letters string
	count   int
	typ     isa.Type
	vec     uint8
	at      ptx.Pos
	regs    map[int]*ir.Reg
}

// A regPlace is the position at which a register was declared.
type regPlace struct {
	reg    *ir.Reg
	at     ptx.Pos
	number int
}

func (l *lifter) push() *scope {
	s := &scope{}
	l.scopes = append(l.scopes, s)
	return s
}

func (l *lifter) pop() { l.scopes = l.scopes[:len(l.scopes)-1] }

// declare adds a name to the innermost scope.
func (l *lifter) declare(name string, ref ir.Ref, at ptx.Pos) {
	s := l.scopes[len(l.scopes)-1]
	s.enter(name, ref, at)
}

// find returns the declaration that a name refers to at a position, or nil.
func (l *lifter) find(name string, at ptx.Pos) ir.Ref {
	var later ir.Ref
	for i := len(l.scopes) - 1; i >= 0; i-- {
		s := l.scopes[i]
		if len(s.names)+len(s.ranges) == 0 {
			continue // the scope declares no names, as most
		}
		e, ok := s.names[name]
		_, label := e.ref.(*ir.Block)
		if !ok || label {
			if r := l.ranged(s, name); r != nil {
				return r
			}
		}
		switch {
		case !ok:
		case !label || e.at <= at:
			if r, ok := e.ref.(*ir.Reg); ok {
				l.use(r)
			}
			return e.ref
		case later == nil:
			later = e.ref
		}
	}
	return later
}

// ranged returns the register with the given name if a range of scope s contains it, or nil.
func (l *lifter) ranged(s *scope, name string) ir.Ref {
	if len(s.ranges) == 0 {
		return nil
	}
	i := len(name)
	for i > 0 && name[i-1] >= '0' && name[i-1] <= '9' {
		i--
	}
	g := s.ranges[name[:i]]
	if g == nil || i == len(name) {
		return nil
	}
	n, err := strconv.Atoi(name[i:])
	if err != nil || n >= g.count {
		return nil
	}
	if r := g.regs[n]; r != nil {
		return r
	}
	r := &ir.Reg{Name: l.unique(name), Type: g.typ, Vec: g.vec, Pos: ir.Pos(g.at) + 1}
	g.regs[n] = r
	l.ordered = append(l.ordered, regPlace{r, g.at, n})
	return r
}

// unique returns name, with a number appended if necessary to make it unique in its function. Names
// of the module and of special registers are also avoided: a register from an inner scope, or one
// declared after their use, would hide them. Parameters hide them in the source too.
func (l *lifter) unique(name string) string {
	if l.used == nil {
		return name
	}
	free, n := name, l.used[name]
	for l.used[free] > 0 || !l.heading && l.isModuleName(free) {
		n = max(n, 1)
		free = name + "_" + strconv.Itoa(n)
		n++
	}
	l.used[name] = max(n, 1)
	l.used[free] = max(l.used[free], 1)
	return free
}

// isModuleName reports whether a name is declared outside functions.
func (l *lifter) isModuleName(name string) bool {
	if _, ok := l.scopes[0].names[name]; ok {
		return true
	}
	_, ok := isa.SpecialRegister(name)
	return ok
}

// register declares a single register. Like the registers of ranges, it is added to the function
// only when it is used.
func (l *lifter) register(name string, t isa.Type, vec uint8, at ptx.Pos) *ir.Reg {
	r := &ir.Reg{Name: name, Type: t, Vec: vec, Pos: ir.Pos(at) + 1}
	l.declare(name, r, at)
	l.unused[r] = true
	return r
}

// use adds a declared register to the function.
func (l *lifter) use(r *ir.Reg) {
	if l.unused[r] {
		delete(l.unused, r)
		r.Name = l.unique(r.Name)
		l.ordered = append(l.ordered, regPlace{r, ptx.Pos(r.Pos - 1), 0})
	}
}

// sortRegisters sorts the registers of the function by the order of their declarations.
func (l *lifter) sortRegisters() {
	slices.SortStableFunc(l.ordered, func(a, b regPlace) int {
		if a.at != b.at {
			return int(a.at - b.at)
		}
		return a.number - b.number
	})
	for _, p := range l.ordered {
		l.f.Regs = append(l.f.Regs, p.reg)
	}
	l.ordered = l.ordered[:0]
}
