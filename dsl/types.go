// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl

import (
	"reflect"

	"github.com/ptxdsl/ptxdsl/isa"
)

// A Scalar is a type that a register can hold: the T of Reg[T]. Its implementations are only type
// arguments; their values have no meaning.
type Scalar interface {
	scalar() isa.Type
}

type (
	Pred    struct{} // a predicate
	B8      struct{} // 8 untyped bits
	B16     struct{} // 16 untyped bits
	B32     struct{} // 32 untyped bits
	B64     struct{} // 64 untyped bits
	B128    struct{} // 128 untyped bits
	U8      struct{} // an unsigned 8-bit integer
	U16     struct{} // an unsigned 16-bit integer
	U32     struct{} // an unsigned 32-bit integer
	U64     struct{} // an unsigned 64-bit integer
	S8      struct{} // a signed 8-bit integer
	S16     struct{} // a signed 16-bit integer
	S32     struct{} // a signed 32-bit integer
	S64     struct{} // a signed 64-bit integer
	F16     struct{} // IEEE half precision
	F16x2   struct{} // two F16 in 32 bits
	BF16    struct{} // bfloat16: the upper half of an F32
	BF16x2  struct{} // two BF16 in 32 bits
	TF32    struct{} // an F32 of which tensor cores read 10 bits of mantissa
	F32     struct{} // IEEE single precision
	F32x2   struct{} // two F32 in 64 bits (sm_100)
	F64     struct{} // IEEE double precision
	E4M3    struct{} // 8-bit floating point, 4 bits of exponent
	E5M2    struct{} // 8-bit floating point, 5 bits of exponent
	UE8M0   struct{} // a power of two, as a block scale factor
	UE4M3   struct{} // an unsigned E4M3, as a block scale factor
	E4M3x2  struct{} // two E4M3 in 16 bits
	E5M2x2  struct{} // two E5M2 in 16 bits
	E4M3x4  struct{} // four E4M3 in 32 bits
	E5M2x4  struct{} // four E5M2 in 32 bits
	UE8M0x2 struct{} // two UE8M0 in 16 bits
	UE4M3x2 struct{} // two UE4M3 in 16 bits
	E2M1x2  struct{} // two 4-bit floating-point values in 8 bits
	E2M1x4  struct{} // four 4-bit floating-point values in 16 bits
	E2M3x4  struct{} // four 6-bit floating-point values in 32 bits
	E3M2x4  struct{} // four 6-bit floating-point values in 32 bits
	E2M3x2  struct{} // two 6-bit floating-point values in 16 bits
	E3M2x2  struct{} // two 6-bit floating-point values in 16 bits
)

func (Pred) scalar() isa.Type    { return isa.Predicate }
func (B8) scalar() isa.Type      { return isa.B8 }
func (B16) scalar() isa.Type     { return isa.B16 }
func (B32) scalar() isa.Type     { return isa.B32 }
func (B64) scalar() isa.Type     { return isa.B64 }
func (B128) scalar() isa.Type    { return isa.B128 }
func (U8) scalar() isa.Type      { return isa.U8 }
func (U16) scalar() isa.Type     { return isa.U16 }
func (U32) scalar() isa.Type     { return isa.U32 }
func (U64) scalar() isa.Type     { return isa.U64 }
func (S8) scalar() isa.Type      { return isa.S8 }
func (S16) scalar() isa.Type     { return isa.S16 }
func (S32) scalar() isa.Type     { return isa.S32 }
func (S64) scalar() isa.Type     { return isa.S64 }
func (F16) scalar() isa.Type     { return isa.F16 }
func (F16x2) scalar() isa.Type   { return isa.F16x2 }
func (BF16) scalar() isa.Type    { return isa.Bf16 }
func (BF16x2) scalar() isa.Type  { return isa.Bf16x2 }
func (TF32) scalar() isa.Type    { return isa.Tf32 }
func (F32) scalar() isa.Type     { return isa.F32 }
func (F32x2) scalar() isa.Type   { return isa.F32x2 }
func (F64) scalar() isa.Type     { return isa.F64 }
func (E4M3) scalar() isa.Type    { return isa.E4m3 }
func (E5M2) scalar() isa.Type    { return isa.E5m2 }
func (UE8M0) scalar() isa.Type   { return isa.Ue8m0 }
func (UE4M3) scalar() isa.Type   { return isa.Ue4m3 }
func (E4M3x2) scalar() isa.Type  { return isa.E4m3x2 }
func (E5M2x2) scalar() isa.Type  { return isa.E5m2x2 }
func (E4M3x4) scalar() isa.Type  { return isa.E4m3x4 }
func (E5M2x4) scalar() isa.Type  { return isa.E5m2x4 }
func (E2M1x2) scalar() isa.Type  { return isa.E2m1x2 }
func (E2M3x2) scalar() isa.Type  { return isa.E2m3x2 }
func (E2M1x4) scalar() isa.Type  { return isa.E2m1x4 }
func (E2M3x4) scalar() isa.Type  { return isa.E2m3x4 }
func (E3M2x4) scalar() isa.Type  { return isa.E3m2x4 }
func (UE8M0x2) scalar() isa.Type { return isa.Ue8m0x2 }
func (UE4M3x2) scalar() isa.Type { return isa.Ue4m3x2 }
func (E3M2x2) scalar() isa.Type  { return isa.E3m2x2 }

// TypeOf returns the PTX type of T.
func TypeOf[T Scalar]() isa.Type {
	var t T
	return t.scalar()
}

// goName returns the Go name of a scalar type, such as "F32".
func goName(x Scalar) string { return reflect.TypeOf(x).Name() }

// registerType returns the type of the register that holds values of t. There are no registers of
// 8 bits, of small floating-point types or of packed types.
func registerType(t isa.Type) isa.Type {
	switch t {
	case isa.U32, isa.S32, isa.B32: // the most frequent types
		return isa.B32
	case isa.F32, isa.F64, isa.Predicate:
		return t
	}
	switch {
	case t == isa.Tf32:
		return isa.B32
	case t == isa.B8 || isInteger(t):
		return bits(t.Bits()) // the PTX is easier to read with one register type per width
	case t.Class() == isa.Packed && t.Bits() == 8:
		return isa.B16
	case t.Class() == isa.Packed || t.Class() == isa.Lanes || !t.Register():
		return bits(t.Bits())
	}
	return t
}

// bits returns the untyped type of a width.
func bits(n int) isa.Type {
	switch {
	case n <= 16:
		return isa.B16
	case n <= 32:
		return isa.B32
	case n <= 64:
		return isa.B64
	}
	return isa.B128
}

// isInteger reports whether t is a signed or unsigned integer type.
func isInteger(t isa.Type) bool { return t.Class() == isa.Signed || t.Class() == isa.Unsigned }

// isFloat reports whether PTX has arithmetic for the floating-point type t.
func isFloat(t isa.Type) bool {
	return t.Class() == isa.Float || t.Class() == isa.Half || t == isa.F32x2
}

// elementCount returns the number of elements in a value of t, which is 1 unless t is a packed
// type.
func elementCount(t isa.Type) int {
	switch t {
	case isa.F16x2, isa.Bf16x2, isa.F32x2, isa.E4m3x2, isa.E5m2x2, isa.E2m1x2, isa.E2m3x2,
		isa.E3m2x2, isa.Ue8m0x2, isa.Ue4m3x2:
		return 2
	case isa.E4m3x4, isa.E5m2x4, isa.E2m1x4, isa.E2m3x4, isa.E3m2x4:
		return 4
	}
	return 1
}

// A Mod is a modifier of an instruction, without its leading dot.
type Mod string

// isaMod returns m as a modifier of package isa, or isa.NoMod if no instruction has it.
func (m Mod) isaMod() isa.Mod {
	if list := isa.ModsOf("." + string(m)); len(list) == 1 {
		return list[0]
	}
	return isa.NoMod
}

// isBitwise reports whether m is one of and, or and xor.
func (m Mod) isBitwise() bool {
	switch m.isaMod() {
	case isa.ModAnd, isa.ModOr, isa.ModXor:
		return true
	}
	return false
}

// Modifiers of arithmetic and memory accesses. Any other modifier can be written as a string.
// Acronyms are in capitals, as in package op.
const (
	RN        Mod = "rn"  // to nearest, ties to even
	RZ        Mod = "rz"  // towards zero
	RM        Mod = "rm"  // towards negative infinity
	RP        Mod = "rp"  // towards positive infinity
	RNA       Mod = "rna" // to nearest, ties away from zero
	RNI       Mod = "rni" // to the nearest integer
	RZI       Mod = "rzi" // to an integer, towards zero
	RMI       Mod = "rmi" // to an integer, towards negative infinity
	RPI       Mod = "rpi" // to an integer, towards positive infinity
	FTZ       Mod = "ftz" // flush subnormals to zero
	Sat       Mod = "sat" // saturate; floating-point results are clamped to [0, 1]
	SatFinite Mod = "satfinite"
	Approx    Mod = "approx" // approximate, with a documented error
	Full      Mod = "full"   // of div.f32: approximate over the full range
	NaN       Mod = "NaN"    // propagate NaN
	ReLU      Mod = "relu"   // clamp negative values to zero

	Trans Mod = "trans" // transpose, for ldmatrix and stmatrix

	Weak         Mod = "weak"
	Volatile     Mod = "volatile"
	Relaxed      Mod = "relaxed"
	Acquire      Mod = "acquire"
	Release      Mod = "release"
	AcqRel       Mod = "acq_rel"
	ScopeCTA     Mod = "cta" // scopes of the memory model
	ScopeCluster Mod = "cluster"
	ScopeGPU     Mod = "gpu"
	ScopeSys     Mod = "sys"

	NC            Mod = "nc" // read through the read-only cache
	CacheAll      Mod = "ca"
	CacheGlobal   Mod = "cg"
	CacheStream   Mod = "cs"
	LastUse       Mod = "lu"
	WriteBack     Mod = "wb"
	WriteThrough  Mod = "wt"
	L1NoAllocate  Mod = "L1::no_allocate"
	L1EvictFirst  Mod = "L1::evict_first"
	L1EvictLast   Mod = "L1::evict_last"
	L2Prefetch64  Mod = "L2::64B"
	L2Prefetch128 Mod = "L2::128B"
	L2Prefetch256 Mod = "L2::256B"
)
