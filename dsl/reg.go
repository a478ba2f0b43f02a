// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl

import (
	"github.com/ptxdsl/ptxdsl/dsl/internal/constant"
	"github.com/ptxdsl/ptxdsl/internal/slab"
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
)

// A Reg is a value of a kernel, one for each thread: a register or a constant. Operations append
// an instruction and return a new Reg. Only a variable, created by Var, can be assigned again,
// with Set.
type Reg[T Scalar] struct {
	k     *Kernel
	r     *ir.Reg // nil for a constant
	bits  int64   // encoding of a constant, in the width of the type
	scope int     // scope in which the value is computed
}

// Internal operations are functions of a Reg, not methods, and generic functions use only those
// instances of Reg that an exported call uses. Otherwise the compiler would generate all methods
// of all instances again in each package that builds kernels.

// An Operand is an operand of an instruction: a value, an address, a vector or a label.
type Operand interface {
	operand(k *Kernel) (ir.Operand, bool)
}

// Kernel returns the kernel that x belongs to, or nil for the zero Reg.
func (x Reg[T]) Kernel() *Kernel { return x.k }

// Type returns the PTX type of x.
func (x Reg[T]) Type() isa.Type { return TypeOf[T]() }

// IsConstant reports whether the value of x is known at build time.
func (x Reg[T]) IsConstant() bool { return x.k != nil && x.r == nil }

// Named gives the register of x a name in the PTX, without a number if the name is unused.
func (x Reg[T]) Named(name string) Reg[T] {
	if x.r == nil || x.k == nil {
		return x
	}
	if !identifier(name) {
		x.k.fault(&ruleKernel, "%q is not a valid register name", name)
		return x
	}
	if _, special := isa.SpecialRegister("%" + name); special {
		name += "_value"
	}
	x.r.Name = "%" + unique(name, x.k.names)
	x.k.names[x.r.Name[1:]] = true
	return x
}

// fresh returns a new register for a value of type T.
func fresh[T Scalar](k *Kernel) Reg[T] {
	return Reg[T]{k: k, r: k.newReg(registerType(TypeOf[T]())), scope: k.scope()}
}

// newReg returns a new register of type t.
func (k *Kernel) newReg(t isa.Type) *ir.Reg {
	r := slab.One(&k.regs)
	r.Type = t
	k.regCount++
	return r
}

// NewReg returns a register that is not written yet, to be the result of instructions written
// with Ins. An instruction must write it on every path before it is read; Build warns if no
// instruction writes it.
func NewReg[T Scalar](k *Kernel) Reg[T] {
	k = k.sound()
	d := fresh[T](k)
	d.r.Varies = true
	k.notes.Unset = append(k.notes.Unset, d.r)
	return d
}

// operand returns x as an operand of an instruction of k. If x is not valid in k, it reports that
// and returns a constant, so that building can continue.
func (x Reg[T]) operand(k *Kernel) (ir.Operand, bool) {
	switch {
	case x.k == nil:
		k.fault(&ruleValue, "Reg of type %s is a zero value, not created by a builder call",
			TypeOf[T]())
		return ir.Operand{}, false
	case x.k != k:
		k.reportForeignKernel("value", x.k)
		return ir.Operand{}, false
	case x.r == nil:
		if !k.isInScope(x.scope) {
			k.fault(&ruleScope,
				"constant defined inside %s is used after it and has its value even if that code does not run; declare a variable with Var before it and assign with Set inside",
				k.scopeName(x.scope))
		}
		return ir.Operand{Kind: constant.KindOf(TypeOf[T]()), Value: x.bits}, true
	case !k.isInScope(x.scope):
		k.outOfScope("value", x.scope)
		return ir.Operand{Kind: ir.Register, Reg: x.r}, true
	}
	return ir.Operand{Kind: ir.Register, Reg: x.r}, true
}

// in returns x as an operand of an instruction of k, for callers that do not check whether x is
// valid. It is faster than arg, which converts x to an interface.
func (x Reg[T]) in(k *Kernel) ir.Operand {
	o, _ := x.operand(k)
	return o
}

// arg returns x as an operand of an instruction of k, for callers that do not check whether x is
// valid.
func (k *Kernel) arg(x Operand) ir.Operand {
	if x == nil {
		return k.reportNilOperand()
	}
	o, _ := x.operand(k)
	return o
}

// reportNilOperand reports a nil operand and returns a placeholder.
func (k *Kernel) reportNilOperand() ir.Operand {
	k.fault(&ruleOperand, "operand is nil, expected a value, an address, a label or a number")
	return ir.Operand{}
}

// operandOf returns x as an operand of an instruction of k. If x is nil, it reports that and
// returns a placeholder.
func (k *Kernel) operandOf(x Operand) (ir.Operand, bool) {
	if x == nil {
		return k.reportNilOperand(), false
	}
	return x.operand(k)
}

// snapshotIf returns x.snapshot() if same is set, because the result of the operation is x
// itself, and otherwise x.
func snapshotIf[T Scalar](x Reg[T], same bool) Reg[T] {
	if same {
		return x.snapshot()
	}
	return x
}

// register returns x in a register. A constant is moved into a new register.
func (x Reg[T]) register() Reg[T] {
	if x.k == nil || x.r != nil {
		return x
	}
	return duplicate(x)
}

// Var returns a new variable with the initial value x. Set assigns to it.
func (x Reg[T]) Var() Reg[T] {
	d := duplicate(x)
	if x.k != nil {
		d.r.Varies = true
	}
	return d
}

// duplicate returns a copy of x in a new register.
func duplicate[T Scalar](x Reg[T]) Reg[T] {
	if x.k == nil {
		return x
	}
	d := fresh[T](x.k)
	assign(d, x)
	return d
}

// snapshot returns the current value of x. If x is a variable, whose value may change later, the
// result is a copy.
func (x Reg[T]) snapshot() Reg[T] {
	if x.k == nil || x.r == nil || !x.r.Varies {
		return x
	}
	return duplicate(x)
}

// Set assigns y to x, which must be a variable.
//
//go:noinline
func (x Reg[T]) Set(y Reg[T]) {
	k := x.k
	if k == nil {
		if y.k != nil {
			y.k.fault(&ruleValue,
				"Set is called on a zero Reg of type %s; declare a variable with Var", TypeOf[T]())
		}
		return
	}
	if x.r == nil {
		k.fault(&ruleValue, "Set is called on a constant; declare a variable with Var")
		return
	}
	for i := range k.specials {
		if s := &k.specials[i]; s.r == x.r {
			k.fault(&ruleValue,
				"Set is called on %s, which is read once per kernel; declare a variable with Var",
				s.name)
			return
		}
	}
	if what := k.cachedName(x.r); what != "" {
		k.fault(&ruleValue,
			"Set is called on %s, which is computed once per kernel; declare a variable with Var",
			what)
		return
	}
	if !x.r.Varies {
		k.fault(&ruleValue, "Set is called on a value that is not a variable; declare one with Var")
		return
	}
	x.r.Set = true
	assign(x, y)
}

// Vars returns a new variable for each value, as [Reg.Var] does.
func Vars[T Scalar](values []Reg[T]) []Reg[T] {
	list := make([]Reg[T], len(values))
	for i, x := range values {
		list[i] = x.Var()
	}
	return list
}

// SetAll assigns a value to each variable, as [Reg.Set] does.
func SetAll[T Scalar](variables, values []Reg[T]) {
	for i, x := range variables {
		if i < len(values) {
			x.Set(values[i])
		}
	}
	if k := foundKernel(variables); k != nil && len(values) != len(variables) {
		k.fault(&ruleShape, "SetAll has %d variables, but %d values", len(variables), len(values))
	}
}

// foundKernel returns the kernel of the first value that has one, or nil.
func foundKernel[T Scalar](values []Reg[T]) *Kernel {
	for _, x := range values {
		if x.k != nil {
			return x.k
		}
	}
	return nil
}

// assign emits the move of y into the register of x, which need not be a variable.
//
//go:noinline
func assign[T Scalar](x, y Reg[T]) {
	if x.k == nil || x.r == nil {
		return // the problem has been reported
	}
	emitTyped(x.k, x.k.opcodeFor(doMove, x.r.Type, nil), x, y)
}

// cachedName returns the name of the method that returns r, for registers that the kernel caches
// and returns to several callers, and "" for other registers.
func (k *Kernel) cachedName(r *ir.Reg) string {
	switch r {
	case k.warp.r:
		return "WarpIndex"
	case k.thread.r:
		return "Thread"
	case k.leader.r:
		return "Leader"
	}
	if k.role != nil && r == k.role.leader.r {
		return "Leader"
	}
	return ""
}

// movType returns the type that mov uses for a register type.
func movType(t isa.Type) isa.Type {
	switch t.Class() {
	case isa.Half, isa.Lanes:
		return bits(t.Bits())
	}
	return t
}
