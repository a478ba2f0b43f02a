// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package eval

import (
	"fmt"
	"math"
	"math/bits"
	"slices"

	"github.com/ptxdsl/ptxdsl/isa"
)

// A Combine computes the value that an atomic operation or a reduction stores: old is the value in
// memory, a and b are the operands. Only cas uses b; it stores b if old equals a.
type Combine func(old, a, b uint64) uint64

// CombineOf returns the Combine of an operation such as isa.ModAdd on a type, for atom, red,
// multimem, redux and bulk reductions. The other modifiers that affect the result are
// isa.ModNoFTZ, isa.ModNaN and isa.ModAbs. f32 additions flush subnormal results unless
// isa.ModNoFTZ is given: atom flushes in global memory and keeps subnormal results in shared
// memory. Additions of other types never flush.
func CombineOf(how isa.Mod, t isa.Type, modifiers ...isa.Mod) (Combine, error) {
	element, n := t.Elements()
	f := combineElement(how, element, modifiers)
	if f == nil {
		return nil, fmt.Errorf("eval: no reduction %s of %s", how, t)
	}
	if n > 1 {
		return Combine(spread(element.Bits(), n, f)), nil
	}
	m := mask(t)
	return func(old, a, b uint64) uint64 { return f(old&m, a&m, b&m) & m }, nil
}

// combineBits holds the operations that do not depend on the type.
var combineBits = map[isa.Mod]func(old, a, b uint64) uint64{
	isa.ModExch: func(_, a, _ uint64) uint64 { return a },
	isa.ModAnd:  func(old, a, _ uint64) uint64 { return old & a },
	isa.ModOr:   func(old, a, _ uint64) uint64 { return old | a },
	isa.ModXor:  func(old, a, _ uint64) uint64 { return old ^ a },
	isa.ModCAS: func(old, a, b uint64) uint64 {
		if old == a {
			return b
		}
		return old
	},
}

// counters holds inc and dec, the u32 operations that wrap around at a limit.
var counters = map[isa.Mod]func(old, a, b uint64) uint64{
	isa.ModInc: func(old, a, _ uint64) uint64 {
		if old >= a {
			return 0
		}
		return old + 1
	},
	isa.ModDec: func(old, a, _ uint64) uint64 {
		if old == 0 || old > a {
			return a
		}
		return old - 1
	},
}

func combineElement(how isa.Mod, t isa.Type, modifiers []isa.Mod) func(old, a, b uint64) uint64 {
	if f := combineBits[how]; f != nil {
		return f
	}
	if f := counters[how]; f != nil && t == isa.U32 {
		return f
	}
	if f := FormatOf(t); f != nil {
		return combineFloats(how, f, modifiers)
	}
	if !isInt(t) && t.Class() != isa.Bits {
		return nil
	}
	switch how {
	case isa.ModAdd:
		return func(old, a, _ uint64) uint64 { return old + a }
	case isa.ModMin, isa.ModMax:
		g := extremeOf(t, how == isa.ModMax)
		return func(old, a, _ uint64) uint64 { return g(old, a) }
	}
	return nil
}

func combineFloats(how isa.Mod, f *Format, modifiers []isa.Mod) func(old, a, b uint64) uint64 {
	has := func(m isa.Mod) bool { return slices.Contains(modifiers, m) }
	switch how {
	case isa.ModAdd:
		if f == F64 {
			return addDoubles
		}
		fin := finisher{format: f, ftz: f == F32 && !has(isa.ModNoFTZ)}
		from := decoder(f)
		return func(old, a, _ uint64) uint64 {
			return fin.odd(addOdd(from(fin.in(old)), from(fin.in(a))))
		}
	case isa.ModMin, isa.ModMax:
		pick, abs := extreme(f, how == isa.ModMax, has(isa.ModNaN)), has(isa.ModAbs)
		return func(old, a, _ uint64) uint64 {
			if abs {
				old, a = old&^f.sign(), a&^f.sign()
			}
			return pick(old, a)
		}
	}
	return nil
}

func addDoubles(old, a, _ uint64) uint64 {
	r := double(old) + double(a)
	if r != r {
		return doubleNaN(isa.KindAdd, 2, old, a, 0)
	}
	return math.Float64bits(r)
}

// ReduxOf returns the operation of redux.sync, which reduces the lanes of a mask. With isa.ModAbs,
// min and max return the magnitude even for a single lane, and a NaN becomes the canonical NaN.
func ReduxOf(how isa.Mod, t isa.Type, modifiers ...isa.Mod) (
	func(x *Vector, lanes uint32) uint64, error) {
	f, err := CombineOf(how, t, modifiers...)
	if err != nil {
		return nil, err
	}
	if how != isa.ModMin && how != isa.ModMax {
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
