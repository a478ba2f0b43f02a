// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package foreign

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"strconv"
)

// width returns the size in bytes of an element of a type.
func width(word string) int {
	switch word {
	case "u8", "s8", "e4m3", "e5m2":
		return 1
	case "u16", "s16", "f16", "bf16":
		return 2
	case "u32", "s32", "f32":
		return 4
	}
	return 8
}

// word returns the i-th output of the random generator splitmix64.
func word(seed uint64, i int) uint64 {
	z := seed + uint64(i+1)*0x9E3779B97F4A7C15
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	return z ^ z>>31
}

// input returns the bytes of a buffer before the kernel runs.
func (a *Archive) input(arg *Arg) ([]byte, error) {
	size := width(arg.Type)
	out := make([]byte, arg.Count*size)
	r := &arg.Rule
	var problem error
	number := func(text string) float64 {
		v, err := strconv.ParseFloat(text, 64)
		if err != nil {
			problem = err
		}
		return v
	}
	whole := func(text string) uint64 {
		v, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			problem = err
		}
		return v
	}
	seed := whole(r.Seed)
	var element func(w uint64) uint64
	switch r.Kind {
	case "stored":
		if data := a.files["data/"+r.File]; len(data) == len(out) {
			return bytes.Clone(data), nil
		}
		return nil, fmt.Errorf("file %s does not have %d bytes", r.File, len(out))
	case "fill":
		b := byte(whole(r.Byte))
		return bytes.Repeat([]byte{b}, len(out)), problem
	case "const":
		v := encode(arg.Type, number(r.Value))
		element = func(uint64) uint64 { return v }
	case "bits":
		and, or := whole(r.And), whole(r.Or)
		element = func(w uint64) uint64 { return w&and | or }
	case "ints":
		low := int64(number(r.Low))
		span := uint64(int64(number(r.High)) - low)
		element = func(w uint64) uint64 {
			v := int64(w>>20%span) + low
			if isFloat(arg.Type) {
				return encode(arg.Type, float64(v))
			}
			return uint64(v)
		}
	case "range":
		low, high := number(r.Low), number(r.High)
		element = func(w uint64) uint64 {
			part := float64(w>>40) * 0x1p-24
			return encode(arg.Type, low+float64(part*(high-low)))
		}
	default:
		return nil, fmt.Errorf("no rule %q", r.Kind)
	}
	var wide [8]byte
	for i := range arg.Count {
		binary.LittleEndian.PutUint64(wide[:], element(word(seed, i)))
		copy(out[i*size:], wide[:size])
	}
	return out, problem
}

// isFloat reports whether a type is a floating-point type.
func isFloat(word string) bool {
	switch word {
	case "f16", "bf16", "f32", "f64", "e4m3", "e5m2":
		return true
	}
	return false
}

// layouts has the numbers of exponent and mantissa bits of the narrow floating-point types.
var layouts = map[string][2]int{"f16": {5, 10}, "bf16": {8, 7}, "e4m3": {4, 3}, "e5m2": {5, 2}}

// encode returns the encoding of a number, rounded to nearest even. The number must not overflow
// in a narrow type.
func encode(word string, v float64) uint64 {
	switch word {
	case "f64":
		return math.Float64bits(v)
	case "f32":
		return uint64(math.Float32bits(float32(v)))
	}
	layout, ok := layouts[word]
	if !ok {
		return uint64(int64(v))
	}
	exponents, digits := layout[0], layout[1]
	bias := 1<<(exponents-1) - 1
	sign := uint64(0)
	if math.Signbit(v) {
		sign = 1 << (exponents + digits)
	}
	v = math.Abs(v)
	if v == 0 {
		return sign
	}
	e := max(math.Ilogb(v), 1-bias)
	steps := uint64(math.RoundToEven(math.Ldexp(v, digits-e)))
	return sign | (uint64(e+bias-1)<<digits + steps)
}

// decode returns the number that an element encodes.
func decode(word string, raw []byte) float64 {
	switch word {
	case "f64":
		return math.Float64frombits(binary.LittleEndian.Uint64(raw))
	case "f32":
		return float64(math.Float32frombits(binary.LittleEndian.Uint32(raw)))
	}
	var bits int
	for i, b := range raw {
		bits |= int(b) << (8 * i)
	}
	layout := layouts[word]
	exponents, digits := layout[0], layout[1]
	e, m := bits>>digits&(1<<exponents-1), bits&(1<<digits-1)
	sign := 1.0
	if bits>>(exponents+digits) != 0 {
		sign = -1
	}
	full := 1<<exponents - 1
	switch {
	case word == "e4m3" && e == full && m == 7, word != "e4m3" && e == full && m != 0:
		return math.NaN()
	case word != "e4m3" && e == full:
		return math.Inf(int(sign))
	case e == 0:
		return sign * math.Ldexp(float64(m), 2-1<<(exponents-1)-digits)
	}
	return sign * math.Ldexp(float64(m+1<<digits), e-(1<<(exponents-1)-1)-digits)
}
