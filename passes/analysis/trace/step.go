// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package trace

import (
	"slices"

	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/passes/analysis/value"
)

// A step is a decoded instruction. It is decoded once, because it is evaluated many times.
type step struct {
	in    *ir.Instr
	kind  Kind  // Other if the instruction is not an event
	value bool  // whether the results matter
	run   int32 // index of the group of asynchronous register accesses; see Kernel.Touched
	size  int   // number of instructions that the step represents
	op    isa.Kind
	head  isa.Head
	// For setp: the comparison, how its result is combined with another predicate, and whether
	// the operands are unsigned.
	compares, combines value.Op
	unsigned           bool
	// From the types: the width of the last type in bits, and the width of the source of a
	// conversion.
	width, from        int
	signed, fromSigned bool
	float              bool
	// For sums and products: whether the result wraps without carry, has double width, or is the
	// high half.
	plain, wide, high bool
	space             isa.Space // state space of a load
	// the load is from memory that other threads may write at the same time
	polled bool
	memo   *memo // nil if the results depend on more than the operands
}

// newStep decodes an instruction. forms caches the decoded instruction forms.
func newStep(in *ir.Instr, kind Kind, forms map[*isa.Candidate]step) step {
	s, met := forms[in.Form]
	if !met {
		s = decode(in)
		if in.Form != nil {
			forms[in.Form] = s
		}
	}
	s.in, s.kind = in, kind
	return s
}

// A comparison is the operation of setp for a comparison modifier.
type comparison struct {
	op       value.Op
	unsigned bool
}

// comparisons holds the comparisons of integers.
var comparisons = map[isa.Mod]comparison{
	isa.ModEQ: {value.OpEq, false}, isa.ModNE: {value.OpNe, false},
	isa.ModLT: {value.OpLt, false}, isa.ModLE: {value.OpLe, false}, isa.ModGT: {value.OpGt, false},
	isa.ModGE: {value.OpGe, false},
	isa.ModLo: {value.OpLt, true}, isa.ModLS: {value.OpLe, true}, isa.ModHi: {value.OpGt, true},
	isa.ModHS: {value.OpGe, true},
}

// combinations holds the operations by which setp combines its result with a predicate.
var combinations = map[isa.Mod]value.Op{isa.ModAnd: value.OpAnd, isa.ModOr: value.OpOr,
	isa.ModXor: value.OpXor}

// decode returns the properties of an instruction that all instructions of its form share.
func decode(in *ir.Instr) step {
	s := step{size: 1, width: 32, plain: true, op: in.Kind()}
	s.head = s.op.Head()
	s.wide = s.op == isa.KindMulWide || s.op == isa.KindMadWide
	s.high = s.op == isa.KindMulHi || s.op == isa.KindMadHi
	first := true
	for _, mod := range in.Mods() {
		switch mod {
		case isa.ModCC, isa.ModSat:
			s.plain = false
		case isa.ModVolatile, isa.ModRelaxed, isa.ModAcquire, isa.ModMMIO:
			s.polled = true
		}
		if s.op == isa.KindSetp {
			if c, ok := comparisons[mod]; ok {
				s.compares, s.unsigned = c.op, c.unsigned
			}
			s.combines = max(s.combines, combinations[mod])
		}
		t := mod.Type()
		if t == 0 {
			continue
		}
		class := t.Class()
		s.plain = s.plain && class != isa.Packed && class != isa.Lanes && t != isa.F16x2 &&
			t != isa.Bf16x2
		s.float = s.float || class == isa.Float || class == isa.Half
		n := scalarBits(t)
		if n == 0 {
			continue
		}
		s.signed = s.signed || class == isa.Signed
		s.from, s.fromSigned = n, class == isa.Signed
		if first || s.head != isa.HeadCvt {
			s.width = n
		}
		first = false
	}
	if s.op == isa.KindLd {
		s.space = in.Space()
		// Responses to clusterlaunchcontrol requests have 128 bits, and are read after they have
		// arrived.
		s.polled = s.polled &&
			(s.space.Base() != isa.Shared || !in.HasMod(isa.ModVolatile, isa.ModB128))
	}
	return s
}

// scalarBits returns the width in bits of a scalar register type, or 0 for other types.
func scalarBits(t isa.Type) int {
	switch t {
	case isa.Predicate, isa.B8, isa.U8, isa.S8, isa.B16, isa.U16, isa.S16, isa.F16, isa.B32,
		isa.U32, isa.S32, isa.F32,
		isa.B64, isa.U64, isa.S64, isa.F64, isa.B128:
		return t.Bits()
	}
	return 0
}

// steps decodes the instructions of all blocks. The parameter relevant specifies, for each
// register, whether its value matters.
func (p *program) steps(kinds [][]Kind, relevant []bool) {
	f := p.k.Func
	p.blocks = make([][]step, len(f.Blocks))
	p.ends = make([]*ir.Instr, len(f.Blocks))
	forms := make(map[*isa.Candidate]step)
	longest := 0
	for _, b := range f.Blocks {
		longest = max(longest, len(b.Instrs))
	}
	steps := make([]step, 0, longest)
	for i, b := range f.Blocks {
		if in := b.Last(); in != nil && in.Ends() {
			p.ends[i] = in
		}
		steps = steps[:0]
		touch := -1 // index of the step that collects consecutive touches, or -1
		for j, in := range b.Instrs {
			if in.Directive() || in == p.ends[i] {
				continue
			}
			s := newStep(in, kinds[i][j], forms)
			in.Registers(func(r *ir.Reg, a isa.Access) {
				if n := p.number(r); n >= 0 && a != isa.Read && relevant[n] {
					s.value = true
				}
			})
			s.memo = p.newMemo(&s)
			if s.kind == Touch && in.Guard.Reg == nil {
				if touch >= 0 {
					t := &steps[touch]
					t.size++
					p.k.touched[t.run] = append(p.k.touched[t.run], in)
					s.kind, s.size = Other, 0
				} else {
					touch = len(steps)
				}
			} else if s.kind != Other {
				touch = -1
			}
			if s.kind == Touch {
				s.run = int32(len(p.k.touched))
				p.k.touched = append(p.k.touched, []*ir.Instr{in})
			}
			if s.kind != Other || s.value {
				steps = append(steps, s)
			}
		}
		p.blocks[i] = slices.Clone(steps)
		list := slices.DeleteFunc(p.writtenBy[i], func(n int) bool { return !relevant[n] })
		for j, n := range list {
			list[j] = int(p.slot[n])
		}
		slices.Sort(list)
		p.writtenBy[i] = slices.Compact(list)
	}
}
