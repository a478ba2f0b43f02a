// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl

import (
	"slices"

	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
)

// To returns x converted to type D: To[F32](i). Conversions round to nearest, and to integers
// towards zero, unless a Mod specifies otherwise. Conversions between integers of the same width
// emit no instruction.
func To[D, S Scalar](x Reg[S], mods ...Mod) Reg[D] {
	k := x.k
	from, to := TypeOf[S](), TypeOf[D]()
	if k == nil {
		return Reg[D]{}
	}
	if from == to && len(mods) == 0 {
		x = x.snapshot()
		return Reg[D]{k: k, r: x.r, bits: x.bits, scope: x.scope}
	}
	if isBits(from) && isFloat(to) || isFloat(from) && isBits(to) {
		k.fault(&ruleOperand,
			"cannot convert the untyped bits of %s to %s; reinterpret them with Bits, or convert the integer with To[dsl.U%d] first",
			from, to, max(8, min(from.Bits(), to.Bits())))
		return fresh[D](k)
	}
	if isIntegerOrBits(from) && isIntegerOrBits(to) && len(mods) == 0 {
		switch {
		case x.IsConstant():
			return Const[D](k, x.bits)
		case from.Bits() == to.Bits():
			x = x.snapshot()
			return Reg[D]{k: k, r: x.r, scope: x.scope}
		}
	}
	if y, ok := throughPairs[D](x, mods); ok {
		return y
	}
	if (from == isa.Bf16 && to != isa.F32 || to == isa.Bf16 && from == isa.F16) && !k.m.Has(90) {
		return To[D](To[F32](x), mods...) // F32 represents all values of both types
	}
	d := fresh[D](k)
	if from == isa.Predicate {
		one, zero := like(d, 1), like(d, 0)
		return Select(Reg[Pred]{k: k, r: x.r, bits: x.bits, scope: x.scope}, one, zero)
	}
	if to == isa.Predicate {
		p := x.NEI(0)
		return Reg[D]{k: k, r: p.r, scope: p.scope}
	}
	var room [4]Mod
	op := k.conversion("cvt", cvtType(to), cvtType(from), conversionMods(room[:0], from, to, mods))
	source := x.register().in(k)
	if from == isa.E2m1x2 {
		byte := ir.Operand{Kind: ir.Register, Reg: k.newReg(isa.B8)}
		k.ins("cvt.u8.u16", byte, source)
		source = byte
	}
	k.convertPacked(op, d.in(k), to, source)
	return d
}

// pairType returns the packed type of two elements of t. ok is false unless t is a small
// floating-point type that cvt converts only in pairs.
func pairType(t isa.Type) (pair isa.Type, ok bool) {
	switch t {
	case isa.E4m3:
		return isa.E4m3x2, true
	case isa.E5m2:
		return isa.E5m2x2, true
	case isa.Ue8m0:
		return isa.Ue8m0x2, true
	case isa.Ue4m3:
		return isa.Ue4m3x2, true
	}
	return 0, false
}

// throughPairs converts a single 8-bit element to or from the lower half of a pair, whose upper
// half is zero or unused. TF32 is converted as F32, which has the same encoding.
func throughPairs[D, S Scalar](x Reg[S], mods []Mod) (Reg[D], bool) {
	k := x.k
	from, to := TypeOf[S](), TypeOf[D]()
	if from == isa.Tf32 {
		return To[D](Bits[F32](x), mods...), true
	}
	if pair, ok := pairType(from); ok {
		wide := isa.F16x2
		if from == isa.Ue8m0 {
			wide = isa.Bf16x2
		}
		both := fresh[B32](k)
		k.ins(k.conversion("cvt", wide, pair, []Mod{RN}), both.in(k), x.register().in(k))
		if wide == isa.Bf16x2 {
			lo, _ := Unpack[BF16](both)
			return To[D](lo, mods...), true
		}
		lo, _ := Unpack[F16](both)
		return To[D](lo, mods...), true
	}
	pair, ok := pairType(to)
	if !ok || from != isa.F32 && from != isa.F16 && from != isa.Bf16 {
		return Reg[D]{}, false
	}
	d := fresh[D](k)
	var room [4]Mod
	op := k.conversion("cvt", pair, isa.F32, conversionMods(room[:0], isa.F32, pair, mods))
	k.ins(op, d.in(k), k.F32(0).in(k), To[F32](x).register().in(k))
	return d, true
}

// Pack returns two elements in one register, a in the lower half: Pack[BF16x2](a, b).
func Pack[D, S Scalar](a, b Reg[S], mods ...Mod) Reg[D] {
	k := kernelOf(a, b)
	if k == nil {
		return Reg[D]{}
	}
	d := fresh[D](k)
	from, to := TypeOf[S](), TypeOf[D]()
	if 2*from.Bits() == to.Bits() {
		k.ins(k.op("mov", bits(to.Bits())), d.in(k),
			k.vector(a.register().in(k), b.register().in(k)))
		return d
	}
	var room [4]Mod
	k.convertPacked(k.conversion("cvt", to, from, conversionMods(room[:0], from, to, mods)),
		d.in(k), to,
		b.register().in(k), a.register().in(k))
	return d
}

// convertPacked emits a conversion. A pair of 4-bit elements is held in a 16-bit register, but
// cvt requires an 8-bit register for it, so another move is needed.
func (k *Kernel) convertPacked(op string, d ir.Operand, to isa.Type, from ...ir.Operand) {
	var room [4]ir.Operand
	if to != isa.E2m1x2 {
		k.ins(op, append(append(room[:0], d), from...)...)
		return
	}
	byte := ir.Operand{Kind: ir.Register, Reg: k.newReg(isa.B8)}
	k.ins(op, append(append(room[:0], byte), from...)...)
	k.ins("cvt.u16.u8", d, byte)
}

// PackStochastic returns four elements in one register, a in the lowest bits, rounded
// stochastically with the given random bits (cvt.rs, sm_100a). D is a type of four elements of 4, 6
// or 8 bits.
func PackStochastic[D Scalar](a, b, c, d Reg[F32], random Reg[U32]) Reg[D] {
	k := kernelOf(a, b)
	if k == nil {
		return Reg[D]{}
	}
	out := fresh[D](k)
	k.ins("cvt.rs.satfinite"+TypeOf[D]().String()+".f32", out.in(k),
		k.vector(d.register().in(k), c.register().in(k), b.register().in(k), a.register().in(k)),
		random.register().in(k))
	return out
}

// Unpack returns the two halves of a register, the lower one first: lo, hi := Unpack[BF16](x).
func Unpack[D, S Scalar](x Reg[S]) (lo, hi Reg[D]) {
	k := x.k
	if k == nil {
		return Reg[D]{}, Reg[D]{}
	}
	lo, hi = fresh[D](k), fresh[D](k)
	if from, to := x.Type(), TypeOf[D](); from.Bits() != 2*to.Bits() {
		k.fault(&ruleOperand, "%s does not consist of two halves of type %s", from, to)
		return lo, hi
	}
	k.ins(k.op("mov", bits(x.Type().Bits())), k.vector(lo.in(k), hi.in(k)), x.register().in(k))
	return lo, hi
}

// Bits returns x reinterpreted as type D, which must have the same width: Bits[U32](f).
func Bits[D, S Scalar](x Reg[S]) Reg[D] {
	k := x.k
	if k == nil {
		return Reg[D]{}
	}
	from, to := TypeOf[S](), TypeOf[D]()
	if from.Bits() != to.Bits() || from == isa.Predicate || to == isa.Predicate {
		k.fault(&ruleOperand, "cannot reinterpret %s as %s: the sizes differ, %d bits and %d bits",
			from, to, from.Bits(), to.Bits())
		return fresh[D](k)
	}
	x = x.register()
	// A register of an untyped type, such as .b32, can be used as any type, and any register as
	// an untyped one.
	x = x.snapshot()
	if a := x.r.Type; a == registerType(to) || isIntegerOrBits(a) &&
		isIntegerOrBits(registerType(to)) || a.Class() == isa.Bits ||
		to.Class() == isa.Bits {
		return Reg[D]{k: k, r: x.r, scope: x.scope}
	}
	d := fresh[D](k)
	k.ins(k.op("mov", bits(to.Bits())), d.in(k), x.in(k))
	return d
}

// isBits reports whether t is an untyped type, such as .b32.
func isBits(t isa.Type) bool { return t.Class() == isa.Bits }

// isIntegerOrBits reports whether t is an integer type or an untyped type, such as .b32.
func isIntegerOrBits(t isa.Type) bool { return isInteger(t) || t.Class() == isa.Bits }

// cvtType returns the type that cvt uses for t.
func cvtType(t isa.Type) isa.Type {
	switch t {
	case isa.B8:
		return isa.U8
	case isa.B16:
		return isa.U16
	case isa.B32:
		return isa.U32
	case isa.B64:
		return isa.U64
	}
	return t
}

// conversionMods appends the modifiers of a conversion to list: the rounding modifier, if PTX
// requires one, then the other modifiers of mods.
func conversionMods(list []Mod, from, to isa.Type, mods []Mod) []Mod {
	round := defaultRounding(from, to)
	for _, m := range mods {
		if isRounding(m) {
			round = m
		}
	}
	if round != "" {
		list = append(list, round)
	}
	if to.Class() == isa.Packed && !slices.Contains(mods, SatFinite) && from.Class() != isa.Packed {
		list = append(list, SatFinite) // PTX has no other form
	}
	for _, m := range mods {
		if !isRounding(m) {
			list = append(list, m)
		}
	}
	return list
}

// defaultRounding returns the rounding modifier of a conversion for which the author gave none,
// or "" if the conversion is exact.
func defaultRounding(from, to isa.Type) Mod {
	switch {
	case isIntegerOrBits(from) && isIntegerOrBits(to):
		return ""
	case isIntegerOrBits(to):
		return RZI
	case isIntegerOrBits(from):
		return RN
	case to == isa.Tf32:
		return RNA
	case to == isa.Ue8m0x2:
		return RP // rounding up, so that values divided by the scale still fit
	case to.Class() != isa.Packed && from.Class() == isa.Packed:
		return RN // needRounding, but PTX requires the modifier
	case to.Bits()/elementCount(to) < from.Bits()/elementCount(from):
		return RN
	}
	return ""
}

// isRounding reports whether m is a rounding modifier.
func isRounding(m Mod) bool {
	switch m {
	case RN, RZ, RM, RP, RNA, RNI, RZI, RMI, RPI:
		return true
	}
	return m.isaMod() == isa.ModRS
}

// Widen returns the two elements of a packed value as F32, the lower element first. T is a pair
// of half-precision elements, or of 8, 6 or 4 bits if the target can convert them.
func Widen[T Scalar](x Reg[T]) (lo, hi Reg[F32]) {
	k := x.k
	if k == nil {
		return Reg[F32]{}, Reg[F32]{}
	}
	switch TypeOf[T]() {
	case isa.Bf16x2:
		// A BF16 is the upper half of an F32.
		w := Bits[U32](x)
		return Bits[F32](w.ShlI(16)), Bits[F32](w.AndI(0xffff0000))
	case isa.F16x2:
		a, b := Unpack[F16](x)
		return To[F32](a), To[F32](b)
	case isa.E4m3x2, isa.E5m2x2, isa.E2m3x2, isa.E3m2x2, isa.E2m1x2, isa.Ue4m3x2:
		return Widen(To[F16x2](x))
	case isa.Ue8m0x2:
		return Widen(To[BF16x2](x))
	}
	k.fault(&ruleOperand, "cannot widen %s, expected .f16x2, .bf16x2, or a pair of 8, 6 or 4 bits",
		TypeOf[T]())
	return k.F32(0), k.F32(0)
}
