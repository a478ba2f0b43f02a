// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package trace

import (
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
)

// findKinds returns the kind of each instruction in this kernel, and records which blocks have
// events.
func (p *program) findKinds() [][]Kind {
	f := p.k.Func
	p.busy, p.hard = make([]bool, len(f.Blocks)), make([]bool, len(f.Blocks))
	kinds := make([][]Kind, len(f.Blocks))
	late := p.afterGridWait()
	for i, b := range f.Blocks {
		kinds[i] = make([]Kind, len(b.Instrs))
		for j, in := range b.Instrs {
			if in.Directive() {
				continue
			}
			kind := p.kind(in)
			if late != nil && late[i] && (kind == Load || kind == Store || kind == Atomic) &&
				in.Space() == isa.Global {
				kind = Other
			}
			kinds[i][j] = kind
			if kind == Touch {
				p.busy[i] = true
			} else if kind != Other {
				p.busy[i] = p.busy[i] || kind != Exit
				p.hard[i] = p.hard[i] || kind != Load && kind != Store && kind != Atomic
			}
		}
	}
	return kinds
}

// A relevanceSearch finds the registers whose values matter: registers that relevant instructions
// read, and registers from which these are computed.
type relevanceSearch struct {
	p        *program
	relevant []bool
	work     []*ir.Reg // registers whose writes have not been visited
	writes   []write   // indexed from 1
	last     []int32   // index of the last write of each register, or 0
	varying  []answer  // cache of varies
}

// A write is an instruction that writes a register, linked to the previous write of the register.
type write struct {
	in     *ir.Instr
	before int32
}

// findRelevant reports, for each register, whether its value matters, given the kinds of all
// instructions.
func (p *program) findRelevant(kinds [][]Kind) []bool {
	f := p.k.Func
	s := &relevanceSearch{p: p, relevant: make([]bool, len(f.Regs)),
		writes: make([]write, 1, 1+len(f.Regs)),
		last:   make([]int32, len(f.Regs)), varying: make([]answer, len(f.Regs))}
	var data []*ir.Reg // stored registers, if tensor cores write registers
	for i, b := range f.Blocks {
		for j, in := range b.Instrs {
			if in.Directive() {
				continue
			}
			switch kind := kinds[i][j]; {
			case kind == Touch:
			case kind != Other:
				s.markGuard(in)
				for a := range in.Args {
					if kind == Store && a == len(in.Args)-1 && len(p.asyncRegs) > 0 {
						operandRegs(kind, &in.Args[a], func(r *ir.Reg) { data = append(data, r) })
						continue
					}
					operandRegs(kind, &in.Args[a], s.markRelevant)
				}
			case in.Ends():
				s.markGuard(in)
				for a := range in.Args {
					in.Args[a].Walk(func(o *ir.Operand) {
						if r := o.Reg; r != nil {
							s.markRelevant(r)
						}
					})
				}
			}
			in.Registers(func(r *ir.Reg, a isa.Access) {
				if n := p.number(r); n >= 0 && a != isa.Read {
					s.writes = append(s.writes, write{in, s.last[n]})
					s.last[n] = int32(len(s.writes) - 1)
					p.writtenBy[i] = append(p.writtenBy[i], n)
				}
			})
		}
	}
	s.propagate(s.markRelevant)
	// The stored value matters only if it is the same for all threads. Accumulators and values
	// computed from them are not.
	stored := func(r *ir.Reg) {
		if !s.varies(r) {
			s.markRelevant(r)
		}
	}
	for _, r := range data {
		stored(r)
	}
	s.propagate(stored)
	return s.relevant
}

// varies reports whether a register is an accumulator, or every write of the register computes a
// value from an accumulator.
func (s *relevanceSearch) varies(r *ir.Reg) bool {
	n := s.p.number(r)
	if n < 0 || s.p.asyncRegs[r] {
		return n >= 0
	}
	if s.varying[n] == unasked {
		s.varying[n] = no // assumed if the register depends on itself
		all := s.last[n] > 0
		for at := s.last[n]; all && at > 0; at = s.writes[at].before {
			all = s.writes[at].in.Has(isa.EffectPure) && s.readsVarying(s.writes[at].in)
		}
		if all {
			s.varying[n] = yes
		}
	}
	return s.varying[n] == yes
}

// readsVarying reports whether an instruction reads a register that varies.
func (s *relevanceSearch) readsVarying(in *ir.Instr) bool {
	found := false
	in.Registers(func(r *ir.Reg, a isa.Access) {
		found = found || a == isa.Read && s.varies(r)
	})
	return found
}

// markRelevant records that the value of a register matters.
func (s *relevanceSearch) markRelevant(r *ir.Reg) {
	if n := s.p.number(r); n >= 0 && !s.relevant[n] {
		s.relevant[n] = true
		s.work = append(s.work, r)
	}
}

// markGuard records that the predicate of an instruction matters.
func (s *relevanceSearch) markGuard(in *ir.Instr) {
	if in.Guard.Reg != nil {
		s.markRelevant(in.Guard.Reg)
	}
}

// propagate calls want for the registers from which the queued registers are computed.
func (s *relevanceSearch) propagate(want func(*ir.Reg)) {
	for len(s.work) > 0 {
		r := s.work[len(s.work)-1]
		s.work = s.work[:len(s.work)-1]
		for at := s.last[r.Number]; at > 0; at = s.writes[at].before {
			if in := s.writes[at].in; !dependsOnMemory(in) {
				in.Registers(func(r *ir.Reg, a isa.Access) { want(r) })
			}
		}
	}
}

// dependsOnMemory reports whether an instruction is a load whose result does not depend on its
// address alone: other threads may write the memory, or the memory is the stack.
func dependsOnMemory(in *ir.Instr) bool {
	if Of(in) != Load {
		return false
	}
	return !isUnchanging(in.Space())
}

// operandRegs calls want for the registers of an event operand whose values must be known.
func operandRegs(k Kind, o *ir.Operand, want func(*ir.Reg)) {
	switch o.Kind {
	case ir.Register:
		if o.Reg.Type.Class() != isa.Pred || k == TensorMultiply || k == GroupMultiply {
			want(o.Reg)
		}
	case ir.Address:
		if len(o.Args()) > 0 {
			operandRegs(k, &o.Args()[0], want)
		}
	case ir.Pair:
		for i := range o.Args() {
			operandRegs(k, &o.Args()[i], want)
		}
	}
}
