// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package attention

import (
	"slices"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/isa"
)

// An FP8 is a shape of the blocks of BuildFP8.
type FP8 struct {
	Hopper
	// Promote adds the weighted values of each tile of keys in F32. Without it, the tensor cores
	// add those of all tiles, and cut each product to 13 fraction bits of the sum: with thousands
	// of keys, sums of values of one sign lose several percent.
	Promote bool
}

// FP8For returns the shape for a head. For heads of 256 elements, there are too few registers to
// promote sums.
func FP8For(s Shape) FP8 {
	switch s.Width {
	case 64:
		return FP8{Hopper{Groups: 3, Keys: 128, Ahead: 2, Stages: 4}, true}
	case 256:
		return FP8{Hopper{Groups: 2, Keys: 128, Ahead: 1, Stages: 2}, false}
	}
	return FP8{Hopper{Groups: 2, Keys: 128, Ahead: 2, Stages: 4}, true}
}

// DirectFP8For returns the fastest shape for a head, which does not promote sums.
func DirectFP8For(s Shape) FP8 {
	h := FP8For(s)
	h.Promote = false
	if s.Width == 128 {
		h.Keys, h.Stages = 192, 3
	}
	return h
}

// fp8Top is the binary logarithm of the largest probability, which E4M3 represents exactly. The
// smallest one is 2^-9.
const fp8Top = 8

// BuildFP8 is BuildHopper for heads of E4M3, with a result of BF16. The descale parameters have a
// factor for each head, by which its elements are multiplied. The tensor cores read the depth of
// 8-bit operands along rows only, and so the values are transposed and ordered by BuildTransposed.
func BuildFP8(m *dsl.Module, s Shape) { BuildFP8With(m, s, FP8For(s)) }

// BuildFP8With is BuildFP8 with blocks of a shape.
func BuildFP8With(m *dsl.Module, s Shape, h FP8) {
	k := s.fp8(m, "hopper_"+s.Name(), dsl.Warpgroups(h.Groups+1))
	b := &hopperBlock{
		Shape: s, Hopper: h.Hopper, k: k,
		q: k.Tensor("q", s.Type, []int{1, h.Queries(), s.Width},
			dsl.WidestSwizzle(s.Type, s.Width)),
		ks: k.Tensor("k", s.Type, []int{1, h.Keys, s.Width}, dsl.WidestSwizzle(s.Type, s.Width)),
		vs: k.Tensor("v", s.Type, []int{1, s.Width, h.Keys}, dsl.WidestSwizzle(s.Type, h.Keys)),
		o:  k.Matrix("o", isa.Bf16), queries: dsl.Param[dsl.U32](k, "n"),
		keys: dsl.Param[dsl.U32](k, "m"), heads: dsl.Param[dsl.U32](k, "heads"),
	}
	ofQ, ofK, ofV := dsl.Global[dsl.F32](k, "descale_q"), dsl.Global[dsl.F32](k, "descale_k"),
		dsl.Global[dsl.F32](k, "descale_v")
	b.roles(func(w *queryRows) {
		scale := k.F32(s.scale()).Mul(ofQ.Load(w.head).Mul(ofK.Load(w.head)))
		w.rows = k.OnlineSoftmax(w.out.LocalRows(), scale)
		w.rows.Raise(fp8Top)
		if h.Promote {
			b.own.ConsumeOne(w.promote)
		} else {
			b.own.ConsumeOne(func(mine *dsl.Stage) {
				w.overlap(mine)
				b.kv.ConsumeOne(w.addLast)
			})
		}
		w.rows.Divide(w.out)
		descale := ofV.Load(w.head)
		w.out.Map(func(_ dsl.Cell, x f32) f32 { return x.Mul(descale) })
	})
}

// fp8 adds a kernel, with an error if the shape is not supported.
func (s Shape) fp8(m *dsl.Module, name string, options ...dsl.KernelOption) *dsl.Kernel {
	k := m.Kernel(name, options...)
	if s.Type != isa.E4m3 || !slices.Contains([]int{64, 128, 256}, s.Width) {
		k.Errorf("heads of %d %s, expected 64, 128 or 256 elements of E4M3", s.Width, s.Type)
	}
	return k
}

// promote is overlap, but it adds the values of each tile in F32. The output is multiplied by the
// factors of a tile before it adds the values of the same tile, one iteration later.
func (w *queryRows) promote(mine *dsl.Stage) {
	var pending []f32 // factors of the latest weights
	w.kv.ConsumeOne(func(at *dsl.Stage) {
		scores := w.score(mine, at)
		w.k.WaitMMA(0)
		next, shrink := w.weigh(scores, w.k.U32(0))
		w.weights, pending = next, dsl.Vars(shrink)
	})
	w.out.Clear()
	for at := range w.kv.Consume(w.steps.SubI(1)) {
		scores, part := w.score(mine, at), w.k.Accumulator(64, w.Width, isa.F32)
		w.addValues(part, at)
		w.k.WaitMMA(1)
		next, shrink := w.weigh(scores, at.Iteration().AddI(1))
		w.rows.IfGrown(pending, func() { w.out.ScaleRows(pending) })
		dsl.SetAll(pending, shrink)
		w.k.WaitMMA(0)
		dsl.PromoteAccumulator(w.out, part, plus)
		w.weights.Set(next)
	}
	w.kv.ConsumeOne(func(at *dsl.Stage) {
		part := w.k.Accumulator(64, w.Width, isa.F32)
		w.addValues(part, at)
		w.out.ScaleRows(pending)
		w.k.WaitMMA(0)
		dsl.PromoteAccumulator(w.out, part, plus)
	})
}

// plus returns the sum of an element and a partial sum.
func plus(_ dsl.Cell, sum, x f32) f32 { return sum.Add(x) }

// BuildTransposed adds a kernel that transposes values for BuildFP8. For each head it reads m rows
// (keys) of s.Width values, and writes s.Width rows of Padded(m) values, one value for each key.
// Each group of sixteen keys is in the order of the operand that [dsl.Accumulator.ToFragments]
// returns: 0 1 8 9 2 3 10 11 and so on. The values of keys from m on are zeros. Each thread
// transposes sixteen keys of four columns. The grid is that of TransposedGrid.
func BuildTransposed(m *dsl.Module, s Shape) {
	k := s.fp8(m, "transpose_"+s.Name(), dsl.Threads(32*transposing))
	v, to := dsl.Global[dsl.B32](k, "v"), dsl.Global[dsl.B32](k, "transposed")
	keys, head, words := dsl.Param[dsl.U32](k, "m"), k.CTAID().Y, int64(s.Width/4)
	padded, warp, lane := keys.CeilDiv(16), k.WarpIndex(), k.Lane()
	// eight lanes read 32 adjacent bytes of a row, and four of them write 64 adjacent ones
	col := warp.RemI(words/8).MadI(8, lane.RemI(8))
	sixteen := k.CTAID().X.MadI(transposing*8/words, warp.DivI(words/8)).MadI(4, lane.DivI(8))
	k.ReturnIf(sixteen.GE(padded))

	pick := func(x, y dsl.Reg[dsl.B32], bytes int) dsl.Reg[dsl.B32] {
		return dsl.Result[dsl.B32](k, "prmt.b32", x, y, bytes)
	}
	var cols [4][]dsl.Reg[dsl.B32]
	for t := range int64(4) {
		var rows []dsl.Reg[dsl.B32]
		for _, i := range []int64{2 * t, 2*t + 1, 2*t + 8, 2*t + 9} {
			key := sixteen.MulI(16).AddI(i)
			at := head.Mad(keys, key.Min(keys.SubI(1))).MadI(words, col)
			rows = append(rows, dsl.Select(key.LT(keys), v.Load(at), dsl.Bits[dsl.B32](k.U32(0))))
		}
		for half := range 2 {
			x := pick(rows[0], rows[1], []int{0x5140, 0x7362}[half])
			y := pick(rows[2], rows[3], []int{0x5140, 0x7362}[half])
			cols[2*half] = append(cols[2*half], pick(x, y, 0x5410))
			cols[2*half+1] = append(cols[2*half+1], pick(x, y, 0x7632))
		}
	}
	for i, x := range cols {
		row := head.MulI(int64(s.Width)).Add(col.MadI(4, k.U32(i)))
		to.StoreVec(row.Mad(padded, sixteen).MulI(4), x)
	}
}

// transposing is the number of warps of a block of BuildTransposed.
const transposing = 8

// Padded returns the number of keys in a row of transposed values.
func Padded(keys int) int { return (keys + 15) / 16 * 16 }

// TransposedGrid returns the grid of BuildTransposed along x and y.
func TransposedGrid(s Shape, heads, keys int) (x, y int) {
	tile := 16 * transposing * 32 * 4 / s.Width
	return (keys + tile - 1) / tile, heads
}
