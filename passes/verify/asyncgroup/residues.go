// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package asyncgroup

import (
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
)

// A congruence holds the known low bits of an integer: the integer equals at plus a multiple of
// step, a power of two. A step of zero means that no write has been found yet.
type congruence struct{ step, at int64 }

// maxStep is the largest step that is tracked. Larger steps are reduced to it.
const maxStep = 1 << 10

// unknownCongruence is the congruence of an unknown integer.
var unknownCongruence = congruence{step: 1}

// constantCongruence returns the congruence of the constant n.
func constantCongruence(n int64) congruence { return congruence{maxStep, n & (maxStep - 1)} }

// known reports whether x modulo n is known. The modulus n must be a power of two.
func (x congruence) known(n int64) bool { return x.step >= n }

// newCongruence returns the congruence with the largest power of two that divides step, at most
// maxStep.
func newCongruence(step, at int64) congruence {
	step = min(step&-step, maxStep)
	return congruence{step, at & (step - 1)}
}

// join returns the strongest congruence that holds for integers with congruence x and with
// congruence y.
func (x congruence) join(y congruence) congruence {
	switch {
	case x.step == 0:
		return y
	case y.step == 0:
		return x
	}
	return newCongruence(x.step|y.step|(x.at-y.at)|maxStep, x.at)
}

// plus returns the congruence of the sum of two integers.
func (x congruence) plus(y congruence) congruence {
	if x.step == 0 || y.step == 0 {
		return congruence{}
	}
	return newCongruence(x.step|y.step, x.at+y.at)
}

// minus returns the congruence of the difference of two integers.
func (x congruence) minus(y congruence) congruence {
	return x.plus(y.times(constantCongruence(-1)))
}

// times returns the congruence of the product of two integers.
func (x congruence) times(y congruence) congruence {
	if x.step == 0 || y.step == 0 {
		return congruence{}
	}
	return newCongruence(x.step*y.step|x.at*y.step|y.at*x.step|maxStep, x.at*y.at)
}

// A residueFinder finds the low bits of registers on which all writes agree.
type residueFinder struct {
	writers map[*ir.Reg][]*ir.Instr
	found   map[*ir.Reg]congruence
	open    map[*ir.Reg]bool // registers under examination
	cycle   bool             // an open register was read
}

func newResidues(writers map[*ir.Reg][]*ir.Instr) *residueFinder {
	return &residueFinder{writers: writers, found: make(map[*ir.Reg]congruence),
		open: make(map[*ir.Reg]bool)}
}

// congruenceOf returns the congruence of an operand. For registers that depend on themselves, it
// repeats the search until the result no longer changes.
func (l *residueFinder) congruenceOf(o *ir.Operand) congruence {
	const rounds = 12
	for range rounds {
		r := o.Reg
		l.cycle = false
		last := l.found[r]
		clear(l.open)
		now := l.visit(o)
		if !l.cycle || r == nil || last == now {
			if now.step == 0 {
				return unknownCongruence
			}
			return now
		}
	}
	return unknownCongruence
}

// visit returns the congruence of an operand, based on the congruences found so far.
func (l *residueFinder) visit(o *ir.Operand) congruence {
	if o.Kind == ir.Int {
		return constantCongruence(o.Value)
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

// resultOf returns the congruence of the result of an instruction.
func (l *residueFinder) resultOf(in *ir.Instr) congruence {
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
			return at(1).times(constantCongruence(1 << min(n.Value, 10)))
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

// bitwise returns the congruence of the result of a bitwise operation. The result of an and has
// the low zero bits of the operand with more known zeros.
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
		return newCongruence(step, x.at&y.at)
	case isa.HeadOr:
		return newCongruence(step, x.at|y.at)
	}
	return newCongruence(step, x.at^y.at)
}

// writersOf returns the instructions that write each register.
func writersOf(f *ir.Func) map[*ir.Reg][]*ir.Instr {
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
