// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl

import (
	"strings"

	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
)

// Bracket returns an operand of several parts in brackets, for Ins: [map, {x, y}] is Bracket(m,
// dsl.List(x, y)). An address among the parts is written without its own brackets.
func Bracket(parts ...any) Operand { return bracket(parts) }

type bracket []any

func (b bracket) operand(k *Kernel) (ir.Operand, bool) {
	list, ok := k.parts("bracket", b)
	return k.list(ir.Address, list), ok
}

// parts converts Go values to operands. what describes the whole operand in messages.
func (k *Kernel) parts(what string, values []any) ([]ir.Operand, bool) {
	list, all := make([]ir.Operand, len(values)), true
	for i, x := range values {
		var ok bool
		if a, address := x.(Addr); address {
			list[i], ok = a.inner(k)
		} else if list[i], ok = k.anyOperand(x); !ok {
			k.fault(&ruleOperand, "part %d of %s has the Go type %T, which is not an operand", i+1,
				what, x)
		}
		all = all && ok
	}
	return list, all
}

// Unified returns the operand [a].unified.
func (a Addr) Unified() Operand { return unified{a} }

type unified struct{ a Addr }

func (u unified) operand(k *Kernel) (ir.Operand, bool) {
	o, ok := u.a.operand(k)
	o.More = &ir.More{Text: ".unified", Args: o.Args()}
	return o, ok
}

// Symbol returns the name of the variable to which a refers, without brackets, as mov expects it.
// For an address in a register it returns the register.
func (a Addr) Symbol() Operand { return symbol{a} }

type symbol struct{ a Addr }

func (s symbol) operand(k *Kernel) (ir.Operand, bool) { return s.a.inner(k) }

// Part selects a part of a register, for video instructions: a byte (Part(x, "b0")), a half word
// ("h1"), or several ("h10", "b3210").
func Part[T Scalar](x Reg[T], part string) Operand { return partOf[T]{x, part} }

type partOf[T Scalar] struct {
	x    Reg[T]
	part string
}

func (p partOf[T]) operand(k *Kernel) (ir.Operand, bool) {
	o, ok := p.x.register().operand(k)
	o.More = &ir.More{Text: "." + strings.TrimPrefix(p.part, ".")}
	return o, ok
}

// NewByte returns an 8-bit register, for the few instructions that require one, such as cvt to and
// from E2M1x2. Other 8-bit values are held in 16-bit registers.
func NewByte(k *Kernel) Operand {
	k = k.sound()
	r := k.newReg(isa.B8)
	r.Varies = true
	return untypedRegister{k, r, k.scope()}
}

// An untypedRegister is an operand without a Reg.
type untypedRegister struct {
	k     *Kernel
	r     *ir.Reg
	scope int
}

func (l untypedRegister) operand(k *Kernel) (ir.Operand, bool) {
	switch {
	case l.k != k:
		k.reportForeignKernel("value", l.k)
		return ir.Operand{}, false
	case !k.isInScope(l.scope):
		k.outOfScope("register", l.scope)
	}
	return ir.Operand{Kind: ir.Register, Reg: l.r}, true
}

// Minus returns the operand -x, for the few instructions that accept a negated operand. In other
// code use Neg.
func Minus(x Operand) Operand { return minus{x} }

type minus struct{ x Operand }

func (m minus) operand(k *Kernel) (ir.Operand, bool) {
	o, ok := k.operandOf(m.x)
	o.Minus = true
	return o, ok
}
