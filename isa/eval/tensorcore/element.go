// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package tensorcore

import (
	"fmt"
	"math"
	"sync"

	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/isa/eval"
)

// An Element is a type of matrix elements.
type Element struct {
	Name    string
	Bits    int
	Integer bool // s8, u8, s4, u4, b1
	Signed  bool
	format  *eval.Format
	lowest  int32 // exponent of subnormal numbers
	table   func() *table
}

// A table holds the decoded values of all codes of a small type.
type table struct {
	value    [256]float64
	exponent [256]int32
}

// Elements of the tensor cores.
var (
	F64   = &Element{Name: "f64", Bits: 64, format: eval.F64}
	F32   = &Element{Name: "f32", Bits: 32, format: eval.F32, lowest: -126}
	TF32  = &Element{Name: "tf32", Bits: 32, format: eval.TF32, lowest: -126}
	F16   = &Element{Name: "f16", Bits: 16, format: eval.F16, lowest: -14}
	BF16  = &Element{Name: "bf16", Bits: 16, format: eval.BF16, lowest: -126}
	E5M2  = small("e5m2", 8, eval.E5M2, -14)
	E4M3  = small("e4m3", 8, eval.E4M3, -6)
	E3M2  = small("e3m2", 6, eval.E3M2, -2)
	E2M3  = small("e2m3", 6, eval.E2M3, 0)
	E2M1  = small("e2m1", 4, eval.E2M1, 0)
	UE8M0 = small("ue8m0", 8, eval.UE8M0, -127)
	UE4M3 = small("ue4m3", 8, eval.UE4M3, -6)
	S32   = &Element{Name: "s32", Bits: 32, Integer: true, Signed: true}
	S8    = &Element{Name: "s8", Bits: 8, Integer: true, Signed: true}
	U8    = &Element{Name: "u8", Bits: 8, Integer: true}
	S4    = &Element{Name: "s4", Bits: 4, Integer: true, Signed: true}
	U4    = &Element{Name: "u4", Bits: 4, Integer: true}
	B1    = &Element{Name: "b1", Bits: 1, Integer: true}
	// S1Z4M11 is a sign, four zero bits and a magnitude of eleven bits.
	S1Z4M11 = &Element{Name: "s1z4m11", Bits: 16, Integer: true, Signed: true}
)

// elements holds the element of each PTX type that tensor cores accept.
var elements = map[isa.Type]*Element{
	isa.F64: F64, isa.F32: F32, isa.Tf32: TF32, isa.F16: F16, isa.Bf16: BF16, isa.E5m2: E5M2,
	isa.E4m3: E4M3, isa.E3m2: E3M2, isa.E2m3: E2M3, isa.E2m1: E2M1, isa.Ue8m0: UE8M0,
	isa.Ue4m3: UE4M3, isa.S32: S32, isa.S8: S8, isa.U8: U8, isa.S4: S4, isa.U4: U4, isa.B1: B1,
}

func small(name string, bits int, f *eval.Format, lowest int32) *Element {
	e := &Element{Name: name, Bits: bits, format: f, lowest: lowest}
	e.table = sync.OnceValue(func() *table {
		t := &table{}
		for i := range t.value {
			t.value[i], t.exponent[i] = e.split(f.Decode(uint64(i) & (1<<bits - 1)))
		}
		return t
	})
	return e
}

// zeroExponent is the exponent of zero when exponents are compared.
const zeroExponent = -126

// special is the exponent that marks infinities and NaN.
const special = 1 << 20

// split returns a number and its exponent: that of its leading bit, but at least the exponent of
// the type's subnormal numbers.
func (e *Element) split(x float64) (float64, int32) {
	switch {
	case x == 0:
		return x, zeroExponent
	case x-x != 0:
		return x, special
	}
	n := int32(math.Float64bits(x)>>52&2047) - 1023
	return x, max(n, e.lowest)
}

// decode returns the value of a code, and its exponent.
func (e *Element) decode(code uint64) (float64, int32) {
	switch e {
	case BF16:
		return splitSingle(uint32(code << 16))
	case TF32:
		// tf32 operands are truncated to ten fraction bits
		return splitSingle(uint32(code) &^ (1<<13 - 1))
	case F32:
		return splitSingle(uint32(code))
	case F16:
		n := code >> 10 & 31
		if n != 0 && n != 31 {
			bits := code>>15&1<<63 | (n+1023-15)<<52 | code&1023<<42
			return math.Float64frombits(bits), int32(n) - 15
		}
		if code&0x7fff == 0 { // zeros are frequent
			return math.Float64frombits(code >> 15 & 1 << 63), zeroExponent
		}
		return e.split(e.format.Decode(code))
	case F64:
		return e.split(math.Float64frombits(code))
	}
	t := e.table()
	return t.value[code&255], t.exponent[code&255]
}

func splitSingle(bits uint32) (float64, int32) {
	n := int32(bits >> 23 & 255)
	x := float64(math.Float32frombits(bits))
	switch n {
	case 0:
		return x, -126 // zero and subnormal numbers
	case 255:
		return x, special
	}
	return x, n - 127
}

// integer returns the value of a code of an integer type.
func (e *Element) integer(code uint64) int32 {
	switch {
	case e == S1Z4M11:
		x := int32(code & 0x7ff)
		if code>>15&1 != 0 {
			return -x
		}
		return x
	case e.Signed:
		return int32(code<<(32-e.Bits)) >> (32 - e.Bits)
	}
	return int32(code & (1<<e.Bits - 1))
}

// Check returns an error if a code is not a valid element of the type.
func (e *Element) Check(code uint64) error {
	if e == S1Z4M11 && code&0x7800 != 0 {
		return fmt.Errorf("0x%04x is not an element of %s: bits 11 to 14 must be zero", code,
			e.Name)
	}
	return nil
}

// Decode returns the value of a code.
func (e *Element) Decode(code uint64) float64 {
	if e.Integer {
		return float64(e.integer(code))
	}
	x, _ := e.decode(code & (1<<uint(e.Bits) - 1))
	return x
}
