// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl

import (
	"reflect"

	"github.com/ptxdsl/ptxdsl/isa"
)

// A Scalar is a type that a register of a kernel can hold: the T of Reg[T].
type Scalar interface {
	scalar() isa.Type
}

// The scalar types. Their values are nothing by themselves; they stand between brackets: Reg[F32].
type (
	Pred    struct{} // a predicate: true or false
	B8      struct{} // 8 bits of nothing in particular
	B16     struct{}
	B32     struct{}
	B64     struct{}
	B128    struct{}
	U8      struct{} // unsigned integers
	U16     struct{}
	U32     struct{}
	U64     struct{}
	S8      struct{} // signed integers
	S16     struct{}
	S32     struct{}
	S64     struct{}
	F16     struct{} // IEEE half precision
	F16x2   struct{} // two of them in 32 bits
	BF16    struct{} // the upper half of an F32
	BF16x2  struct{}
	TF32    struct{} // an F32 with 10 bits of mantissa, as tensor cores read it
	F32     struct{}
	F32x2   struct{} // two F32 in 64 bits (sm_100)
	F64     struct{}
	E4M3    struct{} // 8-bit floating point
	E5M2    struct{}
	UE8M0   struct{} // a power of two, as block scales are
	UE4M3   struct{}
	E4M3x2  struct{}
	E5M2x2  struct{}
	E4M3x4  struct{}
	E5M2x4  struct{}
	UE8M0x2 struct{}
	UE4M3x2 struct{}
	E2M1x2  struct{} // packed 4-bit floating point
	E2M1x4  struct{}
	E2M3x4  struct{}
	E3M2x4  struct{}
	E2M3x2  struct{} // packed 6-bit floating point
	E3M2x2  struct{}
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

// TypeOf is T as the instruction set knows it.
func TypeOf[T Scalar]() isa.Type {
	var t T
	return t.scalar()
}

// goName is the name of a scalar type in Go.
func goName(x Scalar) string { return reflect.TypeOf(x).Name() }

// held is the type of the register that holds values of t: PTX has no registers of 8 bits, of
// micro-floats, or of packed lanes.
func held(t isa.Type) isa.Type {
	switch t {
	case isa.U32, isa.S32, isa.B32: // most are
		return isa.B32
	case isa.F32, isa.F64, isa.Predicate:
		return t
	}
	switch {
	case t == isa.Tf32:
		return isa.B32
	case t == isa.B8 || integer(t):
		return bits(t.Bits()) // one class of registers for each width reads best
	case t.Class() == isa.Packed && t.Bits() == 8:
		return isa.B16
	case t.Class() == isa.Packed || t.Class() == isa.Lanes || !t.Register():
		return bits(t.Bits())
	}
	return t
}

// bits is the untyped type of a width.
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

// integer reports whether t is a whole number, signed or not.
func integer(t isa.Type) bool { return t.Class() == isa.Signed || t.Class() == isa.Unsigned }

// floating reports whether t is computed with as a floating-point number.
func floating(t isa.Type) bool {
	return t.Class() == isa.Float || t.Class() == isa.Half || t == isa.F32x2
}

// packed is the number of numbers in a value of t.
func packed(t isa.Type) int {
	switch t {
	case isa.F16x2, isa.Bf16x2, isa.F32x2, isa.E4m3x2, isa.E5m2x2, isa.E2m1x2, isa.E2m3x2, isa.E3m2x2, isa.Ue8m0x2, isa.Ue4m3x2:
		return 2
	case isa.E4m3x4, isa.E5m2x4, isa.E2m1x4, isa.E2m3x4, isa.E3m2x4:
		return 4
	}
	return 1
}

// A Mod is a modifier of an instruction, without its dot.
type Mod string

// Modifiers that values and memory accesses take. Every other one can be written as a string.
const (
	RN     Mod = "rn"  // to the nearest, ties to even
	RZ     Mod = "rz"  // towards zero
	RM     Mod = "rm"  // down
	RP     Mod = "rp"  // up
	RNA    Mod = "rna" // to the nearest, ties away from zero
	RNI    Mod = "rni" // to the nearest integer
	RZI    Mod = "rzi" // to an integer, towards zero
	RMI    Mod = "rmi" // to an integer, down
	RPI    Mod = "rpi" // to an integer, up
	FTZ    Mod = "ftz" // subnormal numbers are zero
	Sat    Mod = "sat" // into the range of the type, of floats into 0 to 1
	SatF   Mod = "satfinite"
	Approx Mod = "approx" // fast, with a documented error
	Full   Mod = "full"   // of div.f32: approximate over the full range
	NaN    Mod = "NaN"    // a NaN wins
	Relu   Mod = "relu"   // negative numbers are zero

	Trans Mod = "trans" // of ldmatrix and stmatrix: each matrix turned

	Weak      Mod = "weak"
	Volatile  Mod = "volatile"
	Relaxed   Mod = "relaxed"
	Acquire   Mod = "acquire"
	Release   Mod = "release"
	AcqRel    Mod = "acq_rel"
	InCTA     Mod = "cta" // scopes: among the threads of the block
	InCluster Mod = "cluster"
	InGPU     Mod = "gpu"
	InSystem  Mod = "sys"

	NC            Mod = "nc" // through the read-only path
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
