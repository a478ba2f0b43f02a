// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package walk

import (
	"slices"

	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
)

// A Kind specifies what is known about a value.
type Kind uint8

// Kinds of values.
const (
	Unknown Kind = iota // N plus the unknown number with the index ID
	Known               // N
	// N bytes after the start of Var, plus the unknown number ID if it is not 0
	Address
	Undefined // computed from Reg, which was not written
)

// An Origin specifies what determines an unknown value.
type Origin uint8

// Origins.
const (
	Launch Origin = iota // arguments of the kernel and the size of the grid
	Data                 // contents of memory, or values of other threads
)

// A Value is the value of a register in one thread.
type Value struct {
	Kind    Kind
	Generic bool // an Address is generic, not in the state space of Var
	Not     bool // the negation of an unknown predicate
	From    Origin
	ID      int32
	N       int64
	// Span is the difference between the largest and the smallest value that an unknown number or
	// an address may have; N is the smallest. It is 0 if the range is not known.
	Span int64
	Var  *ir.Var
	Reg  *ir.Reg
}

// known returns the known value n.
func known(n int64) Value { return Value{Kind: Known, N: n} }

// negated returns the negation of a predicate.
func (v Value) negated() Value {
	switch v.Kind {
	case Known:
		v.N ^= 1
	case Unknown:
		v.Not = !v.Not
	}
	return v
}

// plus returns v + n, for a known n.
func (v Value) plus(n int64) Value {
	v.N += n
	return v
}

// An origin describes how an unknown value was computed. Equal computations have the same ID.
// An origin fits the 128 bytes up to which maps hold their keys without an allocation for each.
type origin struct {
	op      int32 // see table.opcode
	a, b, c Value
}

// A table holds the origins of unknown values, by their positive IDs. Its first entry is not used.
type table struct {
	ids     map[origin]int32
	opcodes map[string]int32
	origins []origin
	kinds   []*ir.Instr // the instructions, for comparisons and logical operations
	last    int32       // ID of the last value without an origin; it is negative
}

func newTable() table {
	return table{ids: make(map[origin]int32), opcodes: make(map[string]int32),
		origins: make([]origin, 1),
		kinds:   make([]*ir.Instr, 1)}
}

// fresh returns an unknown value that differs from all others.
func (t *table) fresh(from Origin) Value {
	t.last--
	return Value{From: from, ID: t.last}
}

// origin returns how an unknown value was computed, and the instruction, or nil if that is unknown.
func (t *table) origin(id int32) (*ir.Instr, *origin) {
	if id < 0 {
		return nil, nil
	}
	return t.kinds[id], &t.origins[id]
}

// opcode returns a number for an opcode, or for the name of another computation.
func (t *table) opcode(name string) int32 {
	n, known := t.opcodes[name]
	if !known {
		n = int32(len(t.opcodes))
		t.opcodes[name] = n
	}
	return n
}

// of returns the unknown result of an instruction, or of a computation without one.
func (t *table) of(in *ir.Instr, o origin, from Origin) Value {
	id, ok := t.ids[o]
	if !ok {
		t.origins, t.kinds = append(t.origins, o), append(t.kinds, in)
		id = int32(len(t.origins) - 1)
		t.ids[o] = id
	}
	return Value{From: from, ID: id}
}

// A decision is the assumed truth of an unknown predicate.
type decision struct {
	id    int32
	truth bool
}

// An interval limits an unknown number that was compared, as a number of a type.
type interval struct {
	id     int32
	typ    isa.Type
	lo, hi int64
}

// resolve returns the value of an unknown predicate that follows from the assumptions of the path,
// and any other value unchanged.
func (p *Path) resolve(v Value) Value {
	if v.Kind != Unknown || v.N != 0 {
		return v
	}
	if truth, ok := p.truth(v.ID); ok {
		return known(int64(b2i(truth != v.Not)))
	}
	return v
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// truth returns whether an unknown predicate holds, as far as it follows from the assumptions.
func (p *Path) truth(id int32) (truth, ok bool) {
	for _, d := range p.decided {
		if d.id == id {
			return d.truth, true
		}
	}
	in, o := p.walk.values.origin(id)
	if in == nil {
		return false, false
	}
	switch in.Kind() {
	case isa.KindSetp:
		return p.compared(in, o)
	case isa.KindAnd, isa.KindOr:
		if !isPredicate(in) {
			return false, false
		}
		a, b := p.resolve(o.a), p.resolve(o.b)
		decides := int64(b2i(in.Kind() == isa.KindOr))
		switch {
		case a.Kind == Known && a.N == decides, b.Kind == Known && b.N == decides:
			return decides == 1, true
		case a.Kind == Known && b.Kind == Known:
			return decides == 0, true
		}
	}
	return false, false
}

// isPredicate reports whether an instruction computes a predicate from predicates.
func isPredicate(in *ir.Instr) bool { return in.HasMod(isa.ModPred) }

// compared decides a comparison of an unknown number with a known one by the interval of the
// unknown number.
func (p *Path) compared(in *ir.Instr, o *origin) (truth, ok bool) {
	id, n, how, typ := comparison(in, o)
	if id == 0 {
		return false, false
	}
	for _, x := range p.ranges {
		if x.id != id || x.typ != typ {
			continue
		}
		switch how {
		case isa.ModLT:
			return x.hi < n, x.hi < n || x.lo >= n
		case isa.ModLE:
			return x.hi <= n, x.hi <= n || x.lo > n
		case isa.ModGT:
			return x.lo > n, x.lo > n || x.hi <= n
		case isa.ModGE:
			return x.lo >= n, x.lo >= n || x.hi < n
		case isa.ModEQ:
			return x.lo == n && x.hi == n, x.lo == n && x.hi == n || x.lo > n || x.hi < n
		case isa.ModNE:
			return x.lo > n || x.hi < n, x.lo == n && x.hi == n || x.lo > n || x.hi < n
		}
	}
	return false, false
}

// swapped maps an operator to the one with the operands exchanged.
var swapped = map[isa.Mod]isa.Mod{isa.ModLT: isa.ModGT, isa.ModGT: isa.ModLT, isa.ModLE: isa.ModGE,
	isa.ModGE: isa.ModLE, isa.ModEQ: isa.ModEQ, isa.ModNE: isa.ModNE}

// comparison returns the parts of a comparison of an unknown number with a known integer: the
// operator and type as if the unknown number were the first operand. id is 0 if it is none.
func comparison(in *ir.Instr, o *origin) (id int32, n int64, how isa.Mod, typ isa.Type) {
	if o.c != (Value{}) {
		return 0, 0, how, typ // combined with another predicate
	}
	for _, m := range in.Mods() {
		if t := m.Type(); t != 0 {
			typ = t
		} else if swapped[m] != isa.NoMod {
			how = m
		}
	}
	switch typ.Class() {
	case isa.Unsigned, isa.Signed, isa.Bits:
	default:
		return 0, 0, how, typ
	}
	switch {
	case how == isa.NoMod:
	case o.a.Kind == Unknown && o.a.N == 0 && o.b.Kind == Known:
		return o.a.ID, extend(typ, o.b.N), how, typ
	case o.b.Kind == Unknown && o.b.N == 0 && o.a.Kind == Known:
		return o.b.ID, extend(typ, o.a.N), swapped[how], typ
	}
	return 0, 0, how, typ
}

// assume records that an unknown predicate holds, or not, with what follows from it. It returns
// false if that contradicts earlier assumptions.
func (p *Path) assume(v Value, holds bool) bool {
	if v.Kind == Known {
		return (v.N != 0) == holds
	}
	if v.Kind != Unknown {
		return true
	}
	truth := holds != v.Not
	if before, ok := p.truth(v.ID); ok {
		return before == truth
	}
	p.decided = append(p.decided, decision{v.ID, truth})
	in, o := p.walk.values.origin(v.ID)
	if in == nil {
		return true
	}
	switch in.Kind() {
	case isa.KindSetp:
		if id, n, how, typ := comparison(in, o); id != 0 {
			return p.limit(id, n, how, typ, truth)
		}
	case isa.KindAnd, isa.KindOr:
		return !isPredicate(in) || p.assumeParts(o, in.Kind() == isa.KindAnd, truth)
	}
	return true
}

// assumeParts assumes the truth of a logical and, or of an or, for its operands.
func (p *Path) assumeParts(o *origin, and, truth bool) bool {
	if and == truth { // both operands decide
		return p.assume(o.a, truth) && p.assume(o.b, truth)
	}
	a, b := p.resolve(o.a), p.resolve(o.b)
	if a.Kind == Known && (a.N != 0) == and {
		return p.assume(b, truth)
	}
	if b.Kind == Known && (b.N != 0) == and {
		return p.assume(a, truth)
	}
	return true
}

// Compatible reports whether one launch may take both paths: p in one thread, and o in another
// thread of the same walk.
func (p *Path) Compatible(o *Path) bool {
	both := &Path{walk: p.walk, decided: slices.Clone(p.decided), ranges: slices.Clone(p.ranges)}
	for _, d := range o.decided {
		if !both.assume(Value{ID: d.id}, d.truth) {
			return false
		}
	}
	return true
}

// limit records the outcome of a comparison of an unknown number with n. It returns false if no
// number satisfies all comparisons.
func (p *Path) limit(id int32, n int64, how isa.Mod, typ isa.Type, truth bool) bool {
	x := p.intervalOf(id, typ)
	if !truth {
		how = map[isa.Mod]isa.Mod{isa.ModLT: isa.ModGE, isa.ModGE: isa.ModLT, isa.ModGT: isa.ModLE,
			isa.ModLE: isa.ModGT, isa.ModEQ: isa.ModNE, isa.ModNE: isa.ModEQ}[how]
	}
	switch how {
	case isa.ModLT:
		x.hi = min(x.hi, n-1)
	case isa.ModLE:
		x.hi = min(x.hi, n)
	case isa.ModGT:
		x.lo = max(x.lo, n+1)
	case isa.ModGE:
		x.lo = max(x.lo, n)
	case isa.ModEQ:
		x.lo, x.hi = max(x.lo, n), min(x.hi, n)
	case isa.ModNE:
		if x.lo == n {
			x.lo++
		}
		if x.hi == n {
			x.hi--
		}
	}
	return x.lo <= x.hi
}

// intervalOf returns the interval of an unknown number, as a number of a type.
func (p *Path) intervalOf(id int32, typ isa.Type) *interval {
	for i := range p.ranges {
		if p.ranges[i].id == id && p.ranges[i].typ == typ {
			return &p.ranges[i]
		}
	}
	x := interval{id: id, typ: typ, lo: -1 << 62, hi: 1 << 62}
	if typ.Bits() <= 32 {
		x.lo, x.hi = 0, 1<<typ.Bits()-1
		if typ.Class() == isa.Signed {
			x.lo, x.hi = -1<<(typ.Bits()-1), 1<<(typ.Bits()-1)-1
		}
	} else if typ.Class() != isa.Signed {
		x.lo = 0
	}
	p.ranges = append(p.ranges, x)
	return &p.ranges[len(p.ranges)-1]
}
