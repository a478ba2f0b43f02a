// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl

import "github.com/ptxdsl/ptxdsl/isa"

// Floats is an array of .f32, .f16 or .bf16 in global memory whose element type the Go program
// chooses at build time. Each access moves 16 bytes, and arithmetic uses F32. Use it for
// memory-bound kernels such as norms, softmax and activations.
type Floats struct {
	k     *Kernel
	typ   isa.Type
	load  func(at Reg[U32], mods []Mod) FloatVec
	store func(at Reg[U32], v []Reg[F32], mods []Mod)
	shift func(by Reg[U64]) Floats
}

// A FloatVec is a vector of 16 bytes of a Floats array. Half-precision elements stay packed in
// registers until F32 converts them.
type FloatVec struct{ numbers func() []Reg[F32] }

// F32 returns the elements as F32. Each call emits the conversion again, which is cheaper than
// keeping all converted elements in registers.
func (w FloatVec) F32() []Reg[F32] {
	if w.numbers == nil {
		return nil
	}
	return w.numbers()
}

// FloatParam declares a kernel parameter that points to elements of type t.
func FloatParam(k *Kernel, name string, t isa.Type) Floats {
	k = k.sound()
	switch t {
	case isa.F32:
		return singleFloats(k, Global[F32](k, name))
	case isa.F16:
		return halfFloats(k, t, Global[F16x2](k, name))
	case isa.Bf16:
		return halfFloats(k, t, Global[BF16x2](k, name))
	}
	k.fault(&ruleOperand, "FloatParam has type %s, expected .f32, .f16 or .bf16", t)
	return Floats{k: k, typ: isa.F32}
}

// FloatsOf returns an array of .f32, .f16 or .bf16 as Floats. Its first element must be at a
// multiple of 16 bytes.
func FloatsOf[T Scalar](a Array[T]) Floats {
	k := a.at.k
	switch t := TypeOf[T](); {
	case k == nil:
		return Floats{}
	case t == isa.F32:
		return singleFloats(k, As[F32](a))
	case t == isa.F16:
		return halfFloats(k, t, As[F16x2](a))
	case t == isa.Bf16:
		return halfFloats(k, t, As[BF16x2](a))
	default:
		k.fault(&ruleOperand, "FloatsOf has type %s, expected .f32, .f16 or .bf16", t)
		return Floats{k: k, typ: isa.F32}
	}
}

// isFloats reports whether Floats can have a type.
func isFloats(t isa.Type) bool { return t == isa.F32 || t == isa.F16 || t == isa.Bf16 }

// Width returns the number of elements in 16 bytes.
func (f Floats) Width() int { return 128 / max(1, f.typ.Bits()) }

// At64 returns the array that starts at element n, which must be a multiple of Width.
func (f Floats) At64(n Reg[U64]) Floats {
	if f.shift == nil {
		return f
	}
	return f.shift(n)
}

// Load reads the Width elements that start at i, which must be a multiple of Width.
func (f Floats) Load(i Reg[U32], mods ...Mod) FloatVec {
	if f.load == nil {
		return FloatVec{}
	}
	return f.load(i, mods)
}

// Store rounds Width values and writes them, starting at i, which must be a multiple of Width.
func (f Floats) Store(i Reg[U32], v []Reg[F32], mods ...Mod) {
	switch {
	case f.store == nil:
	case len(v) != f.Width():
		f.k.fault(&ruleShape,
			"Store is called with %d values, expected %d of type %s, which fill 16 bytes", len(v),
			f.Width(), f.typ)
	default:
		f.store(i, v, mods)
	}
}

// singleFloats returns Floats for an array of .f32.
func singleFloats(k *Kernel, a Array[F32]) Floats {
	return Floats{
		k: k, typ: isa.F32,
		load: func(at Reg[U32], mods []Mod) FloatVec {
			v := a.LoadVec(at, 4, mods...)
			return FloatVec{func() []Reg[F32] { return append([]Reg[F32](nil), v...) }}
		},
		store: func(at Reg[U32], v []Reg[F32], mods []Mod) { a.StoreVec(at, v, mods...) },
		shift: func(by Reg[U64]) Floats { return singleFloats(k, a.At64(by)) },
	}
}

// halfFloats returns Floats for an array of pairs of the 16-bit type t.
func halfFloats[P Scalar](k *Kernel, t isa.Type, a Array[P]) Floats {
	return Floats{
		k: k, typ: t,
		load: func(at Reg[U32], mods []Mod) FloatVec {
			pairs := a.LoadVec(at.ShrI(1), 4, mods...)
			return FloatVec{func() []Reg[F32] {
				var v []Reg[F32]
				for _, pair := range pairs {
					lo, hi := Widen(pair)
					v = append(v, lo, hi)
				}
				return v
			}}
		},
		store: func(at Reg[U32], v []Reg[F32], mods []Mod) {
			var pairs []Reg[P]
			for i := 0; i < len(v); i += 2 {
				pairs = append(pairs, Pack[P](v[i], v[i+1]))
			}
			a.StoreVec(at.ShrI(1), pairs, mods...)
		},
		shift: func(by Reg[U64]) Floats { return halfFloats(k, t, a.At64(by.ShrI(1))) },
	}
}
