// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package eval

import (
	"fmt"
	"math"
	"math/bits"

	"github.com/ptxdsl/ptxdsl/isa"
)

// A Combine computes the value that an atomic operation or a reduction stores: old is the value in
// memory, a and b are the operands. Only cas uses b; it stores b if old equals a.
type Combine func(old, a, b uint64) uint64

// CombineOf returns the Combine of an operation such as "add" on a type, for atom, red, multimem,
// redux and bulk reductions. Modifiers are "noftz", "NaN" and "abs". f32 additions flush subnormal
// results unless "noftz" is given: atom flushes in global memory and keeps subnormal results in
// shared memory. Additions of other types never flush.
func CombineOf(op string, t isa.Type, modifiers ...string) (Combine, error) {
	s := &spec{text: op, head: op, words: modifiers, types: []isa.Type{t}}
	element, n := lanesOf(t)
	f := combineElement(s, op, element)
	if f == nil {
		return nil, fmt.Errorf("eval: no reduction %s of %s", op, t)
	}
	if n > 1 {
		return Combine(spread(element.Bits(), n, f)), nil
	}
	m := mask(t)
	return func(old, a, b uint64) uint64 { return f(old&m, a&m, b&m) & m }, nil
}

func combineElement(s *spec, op string, t isa.Type) func(old, a, b uint64) uint64 {
	if (op == "inc" || op == "dec") && t != isa.U32 {
		return nil
	}
	switch op {
	case "exch":
		return func(_, a, _ uint64) uint64 { return a }
	case "cas":
		return func(old, a, b uint64) uint64 {
			if old == a {
				return b
			}
			return old
		}
	case "and", "popc.and":
		return func(old, a, _ uint64) uint64 { return old & a }
	case "or":
		return func(old, a, _ uint64) uint64 { return old | a }
	case "xor":
		return func(old, a, _ uint64) uint64 { return old ^ a }
	case "inc":
		return func(old, a, _ uint64) uint64 {
			if old >= a {
				return 0
			}
			return old + 1
		}
	case "dec":
		return func(old, a, _ uint64) uint64 {
			if old == 0 || old > a {
				return a
			}
			return old - 1
		}
	}
	if f := FormatOf(t); f != nil {
		return combineFloats(s, op, f)
	}
	if !isInt(t) && t.Class() != isa.Bits {
		return nil
	}
	switch op {
	case "add":
		return func(old, a, _ uint64) uint64 { return old + a }
	case "min", "max":
		g := extremeOf(t, op == "max")
		return func(old, a, _ uint64) uint64 { return g(old, a) }
	}
	return nil
}

func combineFloats(s *spec, op string, f *Format) func(old, a, b uint64) uint64 {
	switch op {
	case "add":
		if f == F64 {
			add := nearestDouble("add")
			return func(old, a, _ uint64) uint64 {
				r := add(double(old), double(a), 0)
				if r != r {
					return doubleNaN("add", 2, old, a, 0)
				}
				return math.Float64bits(r)
			}
		}
		fin := finisher{format: f, ftz: f == F32 && !s.has("noftz")}
		from := decoder(f)
		return func(old, a, _ uint64) uint64 {
			return fin.odd(addOdd(from(fin.in(old)), from(fin.in(a))))
		}
	case "min", "max":
		pick, abs := extreme(f, op == "max", s.has("NaN")), s.has("abs")
		return func(old, a, _ uint64) uint64 {
			if abs {
				old, a = old&^f.sign(), a&^f.sign()
			}
			return pick(old, a)
		}
	}
	return nil
}

// ReduxOf returns the operation of redux.sync, which reduces the lanes of a mask. With "abs", min
// and max return the magnitude even for a single lane, and a NaN becomes the canonical NaN.
func ReduxOf(op string, t isa.Type, modifiers ...string) (
	func(x *Vector, lanes uint32) uint64, error) {
	f, err := CombineOf(op, t, modifiers...)
	if err != nil {
		return nil, err
	}
	if op != "min" && op != "max" {
		return func(x *Vector, lanes uint32) uint64 { return Redux(f, x, lanes) }, nil
	}
	return func(x *Vector, lanes uint32) uint64 {
		r := Redux(f, x, lanes)
		return f(r, r, 0)
	}, nil
}

// Redux reduces the lanes of a mask. For a single lane it returns the lane's value.
func Redux(f Combine, x *Vector, lanes uint32) (r uint64) {
	for first := true; lanes != 0; lanes &= lanes - 1 {
		l := bits.TrailingZeros32(lanes)
		if first {
			r, first = x[l], false
			continue
		}
		r = f(r, x[l], 0)
	}
	return r
}
