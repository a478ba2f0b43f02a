// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package asyncgroup

import (
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
)

// A congruence holds the known low bits of an integer: the integer equals at plus a multiple of
// step, a power of two. A step of zero means that no write has been seen yet.
type congruence struct{ step, at int64 }

// maxStep is the largest step that is tracked; larger steps are reduced to it.
const maxStep = 1 << 10

// unknownCongruence is the congruence of an unknown integer.
var unknownCongruence = congruence{step: 1}

// number returns the congruence of a constant.
func number(n int64) congruence { return congruence{maxStep, n & (maxStep - 1)} }

// known reports whether x modulo n is known. n is a power of two.
func (x congruence) known(n int64) bool { return x.step >= n }

// modulo returns x with a smaller step.
func modulo(step, at int64) congruence {
	step = min(step&-step, maxStep)
	return congruence{step, at & (step - 1)}
}

// join returns the strongest congruence that holds for both integers.
func (x congruence) join(y congruence) congruence {
	switch {
	case x.step == 0:
		return y
	case y.step == 0:
		return x
	}
	return modulo(x.step|y.step|(x.at-y.at)|maxStep, x.at)
}

// plus returns the sum of two integers.
func (x congruence) plus(y congruence) congruence {
	if x.step == 0 || y.step == 0 {
		return congruence{}
	}
	return modulo(x.step|y.step, x.at+y.at)
}

// minus returns the difference of two integers.
func (x congruence) minus(y congruence) congruence { return x.plus(y.times(number(-1))) }

// times returns the product of two integers.
func (x congruence) times(y congruence) congruence {
	if x.step == 0 || y.step == 0 {
		return congruence{}
	}
	return modulo(x.step*y.step|x.at*y.step|y.at*x.step|maxStep, x.at*y.at)
}

// residues finds the low bits of registers for which all writes agree.
type residues struct {
	writers map[*ir.Reg][]*ir.Instr
	found   map[*ir.Reg]congruence
	open    map[*ir.Reg]bool // registers under examination
	cycle   bool             // an open register was read
}

func newResidues(writers map[*ir.Reg][]*ir.Instr) *residues {
	return &residues{writers: writers, found: make(map[*ir.Reg]congruence),
		open: make(map[*ir.Reg]bool)}
}

// of returns the congruence of an operand. Registers that depend on themselves are examined until a
// fixed point.
func (l *residues) of(o *ir.Operand) congruence {
	const rounds = 12
	for range rounds {
		before := o.Reg
		l.cycle = false
		was := l.found[before]
		clear(l.open)
		now := l.visit(o)
		if !l.cycle || before == nil || was == now {
			if now.step == 0 {
				return unknownCongruence
			}
			return now
		}
	}
	return unknownCongruence
}

// visit returns the congruence of an operand, given what is known of registers so far.
func (l *residues) visit(o *ir.Operand) congruence {
	if o.Kind == ir.Int {
		return number(o.Value)
	}
	r := o.Reg
	if r == nil || len(l.writers[r]) == 0 {
		return unknownCongruence
	}
	if l.open[r] {
		l.cycle = true
		return l.found[r]
	}
	l.open[r] = true
	all := congruence{}
	for _, in := range l.writers[r] {
		all = all.join(l.resultOf(in))
	}
	l.found[r] = all
	return all
}

// resultOf returns the congruence of the value that an instruction computes.
func (l *residues) resultOf(in *ir.Instr) congruence {
	if !in.HasMod(isa.ModU32, isa.ModS32, isa.ModB32) || len(in.Args) < 2 {
		return unknownCongruence
	}
	at := func(i int) congruence {
		if i < len(in.Args) {
			return l.visit(&in.Args[i])
		}
		return unknownCongruence
	}
	switch head := in.Kind().Head(); head {
	case isa.HeadMov:
		return at(1)
	case isa.HeadAdd:
		return at(1).plus(at(2))
	case isa.HeadSub:
		return at(1).minus(at(2))
	case isa.HeadSelp:
		return at(1).join(at(2))
	case isa.HeadShl:
		if n := &in.Args[2]; n.Kind == ir.Int && n.Value >= 0 && n.Value < 32 {
			return at(1).times(number(1 << min(n.Value, 10)))
		}
	case isa.HeadAnd, isa.HeadOr, isa.HeadXor:
		return bitwise(head, at(1), at(2))
	case isa.HeadMul, isa.HeadMad:
		switch product := at(1).times(at(2)); {
		case in.Kind() != isa.KindMulLo && in.Kind() != isa.KindMadLo:
		case head == isa.HeadMul:
			return product
		default:
			return product.plus(at(3))
		}
	}
	return unknownCongruence
}

// bitwise returns the congruence of the result of a bitwise operation. The result of an and has the
// known low zero bits of either operand.
func bitwise(op isa.Head, x, y congruence) congruence {
	if x.step == 0 || y.step == 0 {
		return congruence{}
	}
	step := min(x.step, y.step)
	switch op {
	case isa.HeadAnd:
		for _, z := range []congruence{x, y} {
			if zeros := (z.at | z.step) & -(z.at | z.step); zeros > step {
				return congruence{zeros, 0}
			}
		}
		return modulo(step, x.at&y.at)
	case isa.HeadOr:
		return modulo(step, x.at|y.at)
	}
	return modulo(step, x.at^y.at)
}

// written returns the instructions that write each register.
func written(f *ir.Func) map[*ir.Reg][]*ir.Instr {
	list := make(map[*ir.Reg][]*ir.Instr, len(f.Regs))
	var firsts []*ir.Instr // most registers are written once
	for _, b := range f.Blocks {
		for _, in := range b.Instrs {
			in.Registers(func(r *ir.Reg, a isa.Access) {
				if a == isa.Read {
					return
				}
				if was := list[r]; len(was) > 0 {
					list[r] = append(was, in)
					return
				}
				if len(firsts) == cap(firsts) {
					firsts = make([]*ir.Instr, 0, 256)
				}
				n := len(firsts)
				firsts = append(firsts, in)
				list[r] = firsts[n : n+1 : n+1]
			})
		}
	}
	return list
}
