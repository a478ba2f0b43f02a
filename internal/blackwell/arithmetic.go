// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package blackwell

import (
	"errors"
	"fmt"
	"math"

	"github.com/ptxdsl/ptxdsl/ir"
)

func float(x uint64) float64 { return float64(math.Float32frombits(uint32(x))) }

func fromFloat(x float64) uint64 { return uint64(math.Float32bits(float32(x))) }

// integers are operations on integers of up to 64 bits, by the first word of the opcode.
func integers(op, t string) func(a, b uint64) uint64 {
	signed := t[0] == 's'
	bits := 8 * width(t)
	wide := func(x uint64) int64 { return int64(x) << (64 - bits) >> (64 - bits) }
	less := func(a, b uint64) bool {
		if signed {
			return wide(a) < wide(b)
		}
		return a < b
	}
	switch op {
	case "add":
		return func(a, b uint64) uint64 { return a + b }
	case "sub":
		return func(a, b uint64) uint64 { return a - b }
	case "mul":
		return func(a, b uint64) uint64 { return a * b }
	case "and":
		return func(a, b uint64) uint64 { return a & b }
	case "or":
		return func(a, b uint64) uint64 { return a | b }
	case "xor":
		return func(a, b uint64) uint64 { return a ^ b }
	case "shl":
		return func(a, b uint64) uint64 { return a << b }
	case "shr":
		if signed {
			return func(a, b uint64) uint64 { return uint64(wide(a) >> b) }
		}
		return func(a, b uint64) uint64 { return a >> b }
	case "min":
		return func(a, b uint64) uint64 {
			if less(a, b) {
				return a
			}
			return b
		}
	case "max":
		return func(a, b uint64) uint64 {
			if less(a, b) {
				return b
			}
			return a
		}
	case "div":
		return func(a, b uint64) uint64 { return a / max(1, b) }
	case "rem":
		return func(a, b uint64) uint64 { return a % max(1, b) }
	}
	return nil
}

// floats are operations on F32.
func floats(op string) func(x []float64) float64 {
	switch op {
	case "add":
		return func(x []float64) float64 { return x[0] + x[1] }
	case "sub":
		return func(x []float64) float64 { return x[0] - x[1] }
	case "mul":
		return func(x []float64) float64 { return x[0] * x[1] }
	case "fma":
		return func(x []float64) float64 { return math.FMA(x[0], x[1], x[2]) }
	case "max":
		return func(x []float64) float64 { return math.Max(x[0], x[1]) }
	case "min":
		return func(x []float64) float64 { return math.Min(x[0], x[1]) }
	case "neg":
		return func(x []float64) float64 { return -x[0] }
	case "abs":
		return func(x []float64) float64 { return math.Abs(x[0]) }
	case "ex2":
		return func(x []float64) float64 { return math.Exp2(x[0]) }
	case "rcp":
		return func(x []float64) float64 { return 1 / x[0] }
	}
	return nil
}

func mask(t string) uint64 {
	if t == "pred" {
		return 1
	}
	return 1<<(8*width(t)) - 1 // of 64 bits all
}

// arithmetic is what each lane does by itself with registers.
func (k *kernel) arithmetic(s *step) error {
	args, t := s.in.Args, s.typ(0)
	if s.op[0] == "mov" && (args[0].Kind == ir.Vector || args[1].Kind == ir.Vector) {
		return k.pack(s)
	}
	src, err := k.sources(args[1:])
	if err != nil {
		return err
	}
	to := targets(&args[0])[0]
	if to < 0 || t == "f64" {
		return errModel
	}
	m := mask(t)
	set := func(f func(w *warp, l int) uint64) error {
		s.run = lanewise(to, func(w *warp, l int) uint64 { return f(w, l) & m })
		return nil
	}
	switch s.op[0] {
	case "mov":
		return set(src[0])
	case "cvta":
		return set(src[0]) // spaces of the model do not overlap
	case "selp":
		return set(func(w *warp, l int) uint64 {
			if src[2](w, l)&1 == 1 {
				return src[0](w, l)
			}
			return src[1](w, l)
		})
	case "setp":
		return k.compare(s, to, src)
	case "cvt":
		return k.convert(s, to, src)
	case "not":
		return set(func(w *warp, l int) uint64 { return ^src[0](w, l) })
	case "mad":
		if s.has("wide") && t == "u32" {
			s.run = lanewise(to, func(w *warp, l int) uint64 { return src[0](w, l)&m*(src[1](w, l)&m) + src[2](w, l) })
			return nil
		}
		if t[0] == 'f' || !s.has("lo") {
			return errModel
		}
		return set(func(w *warp, l int) uint64 { return src[0](w, l)*src[1](w, l) + src[2](w, l) })
	case "prmt":
		return set(func(w *warp, l int) (x uint64) {
			all, how := src[0](w, l)&(1<<32-1)|src[1](w, l)<<32, src[2](w, l)
			for i := range 4 {
				x |= all >> (how >> (4 * i) & 7 * 8) & 255 << (8 * i)
			}
			return x
		})
	}
	if t == "f32" {
		f := floats(s.op[0])
		if f == nil {
			return errModel
		}
		return set(func(w *warp, l int) uint64 {
			var x [3]float64
			for i, s := range src {
				x[i] = float(s(w, l))
			}
			return fromFloat(f(x[:]))
		})
	}
	if s.op[0] == "mul" && s.has("wide") && t == "u32" {
		s.run = lanewise(to, func(w *warp, l int) uint64 { return src[0](w, l) & m * (src[1](w, l) & m) })
		return nil
	}
	f := integers(s.op[0], t)
	if f == nil || s.has("hi") || s.has("wide") {
		return errModel
	}
	return set(func(w *warp, l int) uint64 { return f(src[0](w, l)&m, src[1](w, l)&m) })
}

// pack is mov between a register and its parts.
func (k *kernel) pack(s *step) error {
	args, bytes := s.in.Args, width(s.typ(0))
	src, err := k.sources(args[1:])
	if err != nil {
		return err
	}
	to := targets(&args[0])
	n := 8 * bytes / max(len(src), len(to))
	s.run = func(w *warp, lanes uint32) (effect, error) {
		for l := range each(lanes) {
			var all uint64
			for i, x := range src {
				all |= x(w, l) & (1<<(8*bytes/len(src)) - 1) << (n * i)
			}
			for i, r := range to {
				if r >= 0 {
					w.regs[r][l] = all >> (n * i) & (1<<(8*bytes/len(to)) - 1)
				}
			}
		}
		return goOn, nil
	}
	return nil
}

func (k *kernel) compare(s *step, to int, src []source) error {
	t, how := s.typ(0), s.op[1]
	if len(src) != 2 || len(s.op) != 3 {
		return errModel
	}
	bits := 8 * width(t)
	order := func(w *warp, l int) (less, equal bool) {
		a, b := src[0](w, l), src[1](w, l)
		switch t[0] {
		case 'f':
			return float(a) < float(b), float(a) == float(b)
		case 's':
			x, y := int64(a)<<(64-bits), int64(b)<<(64-bits)
			return x < y, x == y
		}
		return a&mask(t) < b&mask(t), a&mask(t) == b&mask(t)
	}
	s.run = lanewise(to, func(w *warp, l int) uint64 {
		less, equal := order(w, l)
		is := map[string]bool{"eq": equal, "ne": !equal, "lt": less, "le": less || equal, "gt": !less && !equal, "ge": !less}[how]
		if is {
			return 1
		}
		return 0
	})
	return nil
}

// convert knows conversions of integers, and those of F32 to the small types.
func (k *kernel) convert(s *step, to int, src []source) error {
	from, into := s.typ(0), s.typ(1)
	pair := func(code func(x float64) uint64, bits int) error {
		s.run = lanewise(to, func(w *warp, l int) uint64 {
			return code(float(src[1](w, l))) | code(float(src[0](w, l)))<<bits
		})
		return nil
	}
	switch into + " " + from {
	case "bf16x2 f32":
		return pair(toBrain, 16)
	case "f16x2 f32":
		return pair(toHalf, 16)
	case "e4m3x2 f32":
		return pair(func(x float64) uint64 { return nearest(e4m3, x) }, 8)
	case "e5m2x2 f32":
		return pair(func(x float64) uint64 { return nearest(e5m2, x) }, 8)
	case "e2m1x2 f32":
		return pair(func(x float64) uint64 { return nearest(e2m1, x) }, 4)
	case "ue8m0x2 f32":
		if !s.has("rp") || !s.has("satfinite") {
			return errModel
		}
		return pair(upwards, 8)
	case "f16x2 e4m3x2":
		s.run = lanewise(to, func(w *warp, l int) uint64 {
			x := src[0](w, l)
			return toHalf(e4m3.worth(x)) | toHalf(e4m3.worth(x>>8))<<16
		})
		return nil
	case "f32 bf16":
		s.run = lanewise(to, func(w *warp, l int) uint64 { return src[0](w, l) & 0xffff << 16 })
		return nil
	case "f32 f16":
		s.run = lanewise(to, func(w *warp, l int) uint64 { return fromFloat(f16.worth(src[0](w, l) & 0xffff)) })
		return nil
	case "f32 s32":
		s.run = lanewise(to, func(w *warp, l int) uint64 { return fromFloat(float64(int32(src[0](w, l)))) })
		return nil
	}
	if from[0] != 'u' && from[0] != 'b' || into[0] != 'u' && into[0] != 's' && into[0] != 'b' {
		return fmt.Errorf("a conversion that is not in the model")
	}
	m := mask(from) & mask(into)
	s.run = lanewise(to, func(w *warp, l int) uint64 { return src[0](w, l) & m })
	return nil
}

// errLane is the error of a lane's address.
var errLane = errors.New("an address that is no multiple of what is read there")
