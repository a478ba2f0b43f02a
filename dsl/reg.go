// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl

import (
	"math"

	"github.com/ptxdsl/ptxdsl/internal/slab"
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
)

// A Reg is a value of a kernel, one for each thread: a register, or a constant. Operations on it append
// an instruction and return a new value; only a variable, made by Var, is ever written again, by Set.
type Reg[T Scalar] struct {
	k     *Kernel
	r     *ir.Reg // nil for a constant
	bits  int64   // of a constant, in the type's width
	scope int     // where it was made
}

// What is not for authors is a function of a Reg rather than a method, and generic functions name no Reg of a type that no
// exported call has: the compiler makes all methods of all these types anew in each package that builds kernels.

// A constant is a number as an operand has it.
type constant struct {
	kind ir.Kind // Int, Single or Double
	bits int64
}

// numeral is the kind of a constant of type t.
func numeral(t isa.Type) ir.Kind {
	switch t {
	case isa.F64:
		return ir.Double
	case isa.F32, isa.Tf32:
		return ir.Single
	}
	return ir.Int
}

// An Operand is what an instruction can be given: values, addresses, vectors, labels.
type Operand interface {
	operand(k *Kernel) (ir.Operand, bool)
}

// Kernel is the kernel that x belongs to; nil for the zero Reg.
func (x Reg[T]) Kernel() *Kernel { return x.k }

// Type is the type of x as the instruction set knows it.
func (x Reg[T]) Type() isa.Type { return TypeOf[T]() }

// Constant reports whether x is known while the kernel is built.
func (x Reg[T]) Constant() bool { return x.k != nil && x.r == nil }

// Named gives the register of x a name in the PTX; its number stays away if the name is free.
func (x Reg[T]) Named(name string) Reg[T] {
	if x.r == nil || x.k == nil {
		return x
	}
	if !identifier(name) {
		x.k.fault(&ruleKernel, "%q is no name for a register", name)
		return x
	}
	if _, special := isa.SpecialRegister("%" + name); special {
		name += "_value"
	}
	x.r.Name = "%" + unique(name, x.k.names)
	x.k.names[x.r.Name[1:]] = true
	return x
}

// fresh is a new register.
func fresh[T Scalar](k *Kernel) Reg[T] {
	return Reg[T]{k: k, r: k.newReg(held(TypeOf[T]())), scope: k.scope()}
}

// newReg is a new register of a type that registers can have.
func (k *Kernel) newReg(t isa.Type) *ir.Reg {
	r := slab.One(&k.regs)
	r.Type = t
	k.made++
	return r
}

// NewReg is a register that nothing was written to yet, for instructions that are written out with Ins.
// What reads it comes behind what writes it, whichever way leads there; where nothing writes it at all, Build warns.
func NewReg[T Scalar](k *Kernel) Reg[T] {
	k = k.sound()
	d := fresh[T](k)
	d.r.Varies = true
	k.unwritten = append(k.unwritten, d.r)
	return d
}

// operand is x as an operand of an instruction of k. Where it is none, that is recorded, and the
// operand is a constant so that building can go on.
func (x Reg[T]) operand(k *Kernel) (ir.Operand, bool) {
	switch {
	case x.k == nil:
		k.fault(&ruleValue, "a %s value that no builder call made is used", TypeOf[T]())
		return ir.Operand{}, false
	case x.k != k:
		k.foreign("a value", x.k)
		return ir.Operand{}, false
	case x.r == nil:
		if !k.reaches(x.scope) {
			k.fault(&ruleScope, "this constant is made inside %s, which is over: it is the same whether that ran or not; Var before it and Set inside make what changes", k.scopeName(x.scope))
		}
		return ir.Operand{Kind: numeral(TypeOf[T]()), Value: x.bits}, true
	case !k.reaches(x.scope):
		k.fault(&ruleScope, "this value is computed inside %s, which is over: here it may not have been computed", k.scopeName(x.scope))
		return ir.Operand{Kind: ir.Register, Reg: x.r}, true
	}
	return ir.Operand{Kind: ir.Register, Reg: x.r}, true
}

// in is operand where whether it works matters little: what is wrong is recorded. Of a value whose type is open it costs less than
// arg, which must put it into an interface.
func (x Reg[T]) in(k *Kernel) ir.Operand {
	o, _ := x.operand(k)
	return o
}

// arg is an operand where whether it works matters little: what is wrong is recorded.
func (k *Kernel) arg(x Operand) ir.Operand {
	if x == nil {
		return k.missing()
	}
	o, _ := x.operand(k)
	return o
}

// missing is what stands for an operand that is nil.
func (k *Kernel) missing() ir.Operand {
	k.fault(&ruleOperand, "an operand is nil")
	return ir.Operand{}
}

// given is an operand, unless it is nil.
func (k *Kernel) given(x Operand) (ir.Operand, bool) {
	if x == nil {
		return k.missing(), false
	}
	return x.operand(k)
}

// keptIf is kept if an operation leaves x as it is.
func keptIf[T Scalar](x Reg[T], same bool) Reg[T] {
	if same {
		return x.kept()
	}
	return x
}

// register is x as a register, moved into one where it is a constant.
func (x Reg[T]) register() Reg[T] {
	if x.k == nil || x.r != nil {
		return x
	}
	return duplicate(x)
}

// Var is a variable that starts as x: a register of its own, which Set writes.
func (x Reg[T]) Var() Reg[T] {
	d := duplicate(x)
	if x.k != nil {
		d.r.Varies = true
	}
	return d
}

// duplicate is x in a register of its own, which no Set of the author's writes.
func duplicate[T Scalar](x Reg[T]) Reg[T] {
	if x.k == nil {
		return x
	}
	d := fresh[T](x.k)
	assign(d, x)
	return d
}

// kept is x as it is now: a copy of a variable, which may be something else later.
func (x Reg[T]) kept() Reg[T] {
	if x.k == nil || x.r == nil || !x.r.Varies {
		return x
	}
	return duplicate(x)
}

// Set makes the variable x equal to y from here on.
//
//go:noinline
func (x Reg[T]) Set(y Reg[T]) {
	k := x.k
	if k == nil {
		if y.k != nil {
			y.k.fault(&ruleValue, "Set of a %s value that no builder call made; begin with Var", TypeOf[T]())
		}
		return
	}
	if x.r == nil {
		k.fault(&ruleValue, "Set of a constant; begin with Var")
		return
	}
	for i := range k.specials {
		if s := &k.specials[i]; s.r == x.r {
			k.fault(&ruleValue, "Set of %s, which is read once for the whole kernel; begin with Var", s.name)
			return
		}
	}
	if what := k.asked(x.r); what != "" {
		k.fault(&ruleValue, "Set of %s, which is worked out once for all who ask; begin with Var", what)
		return
	}
	if !x.r.Varies {
		k.fault(&ruleValue, "Set of a value that is no variable, which stays what it is; begin with Var")
		return
	}
	assign(x, y)
}

// assign is Set of any register.
//
//go:noinline
func assign[T Scalar](x, y Reg[T]) {
	if x.k == nil || x.r == nil {
		return // which was told
	}
	compute(x.k, x.k.spelled(doMove, x.r.Type, nil), x, y)
}

// asked is what a register is that the kernel keeps for all who ask for it.
func (k *Kernel) asked(r *ir.Reg) string {
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

// moved is the type that mov is written with for a register type.
func moved(t isa.Type) isa.Type {
	switch t.Class() {
	case isa.Half, isa.Lanes:
		return bits(t.Bits())
	}
	return t
}

// floatConstant is v as a constant of type t, if t is a floating-point type in which v is no infinity unless it is one.
func floatConstant(t isa.Type, v float64) (constant, bool) {
	finite := !math.IsInf(v, 0)
	switch t {
	case isa.F64:
		return constant{ir.Double, int64(math.Float64bits(v))}, true
	case isa.F32, isa.Tf32:
		single := float32(v)
		return constant{ir.Single, int64(math.Float32bits(single))}, !finite || !math.IsInf(float64(single), 0)
	case isa.F16:
		half := halfBits(v)
		return constant{ir.Int, int64(half)}, !finite || half&0x7fff != 0x7c00
	case isa.Bf16:
		brain := brainBits(v)
		return constant{ir.Int, int64(brain)}, !finite || brain&0x7fff != 0x7f80
	case isa.F16x2:
		c, ok := floatConstant(isa.F16, v)
		return constant{ir.Int, c.bits * 0x10001}, ok
	case isa.Bf16x2:
		c, ok := floatConstant(isa.Bf16, v)
		return constant{ir.Int, c.bits * 0x10001}, ok
	case isa.F32x2:
		c, ok := floatConstant(isa.F32, v)
		return constant{ir.Int, c.bits | c.bits<<32}, ok
	}
	return constant{}, false
}

// wholeConstant is n as a constant of type t.
func wholeConstant(t isa.Type, n int64) (constant, bool) {
	width := t.Bits()
	switch {
	case t == isa.Predicate:
		return constant{ir.Int, n & 1}, n == 0 || n == 1
	case t.Class() == isa.Signed:
		return constant{ir.Int, n}, width >= 64 || n >= -1<<(width-1) && n < 1<<(width-1)
	case t == isa.U64 || t == isa.B64:
		return constant{ir.Int, n}, true
	case t.Class() == isa.Unsigned:
		return constant{ir.Int, n}, n >= 0 && n < 1<<width
	}
	return constant{ir.Int, n}, width >= 64 || n >= -1<<(width-1) && n < 1<<width
}

// Const is the Go integer n as a value of type T.
func Const[T Scalar](k *Kernel, n int64) Reg[T] {
	k = k.sound()
	t := TypeOf[T]()
	if floating(t) || t == isa.Tf32 {
		return ConstF[T](k, float64(n))
	}
	c, ok := wholeConstant(t, n)
	if !ok {
		k.fault(&ruleConstant, "%d is no %s", n, t)
	}
	return k0[T](k, c)
}

// ConstF is the Go number v as a value of type T, rounded to the nearest; of a pair of numbers, both of them.
func ConstF[T Scalar](k *Kernel, v float64) Reg[T] {
	k = k.sound()
	t := TypeOf[T]()
	c, ok := constantOf(t, v)
	switch {
	case ok:
	case c.kind == ir.Int && !floating(t):
		k.fault(&ruleConstant, "%v is no %s", v, t)
	default:
		k.fault(&ruleConstant, "%v is beyond the largest number of %s; infinity is math.Inf(1), and Bits[dsl.%s] takes the bits of a number as they are", v, t, goName(*new(T)))
	}
	return k0[T](k, c)
}

// k0 is a constant as a value. PTX writes no constants of half precision and no pairs: they are moved into a register.
func k0[T Scalar](k *Kernel, c constant) Reg[T] {
	if t := TypeOf[T](); t.Class() == isa.Half || t == isa.F32x2 {
		d := fresh[T](k)
		k.settle(d.r, bits(t.Bits()), c)
		return d
	}
	return Reg[T]{k: k, bits: c.bits, scope: k.scope()}
}

// settle moves a constant into a register that is written as one of a type.
func (k *Kernel) settle(r *ir.Reg, t isa.Type, c constant) {
	k.ins(k.op("mov", t), ir.Operand{Kind: ir.Register, Reg: r}, ir.Operand{Kind: ir.Int, Value: c.bits})
}

// U8 is a constant.
func (k *Kernel) U8(n int) Reg[U8] { return Const[U8](k, int64(n)) }

// U16 is a constant.
func (k *Kernel) U16(n int) Reg[U16] { return Const[U16](k, int64(n)) }

// U32 is a constant.
func (k *Kernel) U32(n int) Reg[U32] { return Const[U32](k, int64(n)) }

// U64 is a constant.
func (k *Kernel) U64(n uint64) Reg[U64] { return Const[U64](k, int64(n)) }

// S32 is a constant.
func (k *Kernel) S32(n int) Reg[S32] { return Const[S32](k, int64(n)) }

// S64 is a constant.
func (k *Kernel) S64(n int64) Reg[S64] { return Const[S64](k, n) }

// F16 is a constant, rounded to the nearest.
func (k *Kernel) F16(v float64) Reg[F16] { return ConstF[F16](k, v) }

// BF16 is a constant, rounded to the nearest.
func (k *Kernel) BF16(v float64) Reg[BF16] { return ConstF[BF16](k, v) }

// F32 is a constant, rounded to the nearest.
func (k *Kernel) F32(v float64) Reg[F32] { return ConstF[F32](k, v) }

// F64 is a constant.
func (k *Kernel) F64(v float64) Reg[F64] { return ConstF[F64](k, v) }

// brainBits rounds v to the nearest bfloat16, ties to even.
func brainBits(v float64) uint16 { return small(v, 8, 7) }

// halfBits rounds v to the nearest half, ties to even.
func halfBits(v float64) uint16 { return small(v, 5, 10) }

// small rounds v to a 16-bit floating-point number with so many bits of exponent and mantissa.
func small(v float64, expBits, mantissa int) uint16 {
	sign := uint16(math.Float64bits(v) >> 63 << 15)
	top := uint16(1<<expBits-1) << mantissa // infinity
	a := math.Abs(v)
	if math.IsNaN(v) {
		return sign | top | 1<<(mantissa-1)
	}
	bias := 1<<(expBits-1) - 1
	exp := 1 - bias // of the subnormal numbers
	if a >= math.Ldexp(1, exp) {
		exp = math.Ilogb(a)
	}
	if exp > bias {
		return sign | top
	}
	// A mantissa that rounds up to the next power of two carries into the exponent by itself.
	m := math.RoundToEven(math.Ldexp(a, mantissa-exp))
	return sign | min(top, uint16(exp+bias-1)<<mantissa+uint16(m))
}
