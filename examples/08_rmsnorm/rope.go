// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package rmsnorm

import (
	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/isa"
)

// RopeRows is the number of heads that a block of BuildRope computes: one per warp.
const RopeRows = 8

// BuildRope adds to m a kernel for the queries or keys of attention. The kernel normalizes each
// head as BuildRow does with Normalize, and then rotates each pair of elements i and i + dim/2 by
// the angle of the head's token (RoPE). x and y have tokens * heads rows of dim elements; cosines
// and sines have tokens rows of dim/2 elements.
func BuildRope(m *dsl.Module, t isa.Type, dim int) {
	switch t {
	case isa.F32:
		buildRope[dsl.F32](m, dim)
	case isa.F16:
		buildRope[dsl.F16](m, dim)
	default:
		buildRope[dsl.BF16](m, dim)
	}
}

func buildRope[E dsl.Scalar](m *dsl.Module, dim int) {
	k := m.Kernel("rope", dsl.Threads(32*RopeRows))
	x, w, y := dsl.Global[E](k, "x"), dsl.Global[E](k, "w"), dsl.Global[E](k, "y")
	cosines, sines := dsl.Global[dsl.F32](k, "cosines"), dsl.Global[dsl.F32](k, "sines")
	rows, heads, eps := dsl.Param[dsl.U32](k, "rows"), dsl.Param[dsl.U32](k, "heads"),
		dsl.Param[dsl.F32](k, "eps")
	half := dim / 2
	if dim%64 != 0 || dim > 512 {
		k.Errorf("heads of %d elements, expected a multiple of 64 up to 512", dim)
		return
	}
	row := k.CTAID().X.MadI(RopeRows, k.WarpIndex())
	at := row.Min(rows.SubI(1)) // warps past the last head read the last head again
	start := dsl.To[dsl.U64](at).MulI(int64(dim))
	xs, ys := x.At64(start), y.At64(start)
	var low, high []dsl.Reg[dsl.F32]
	sum := k.F32(0)
	load := func(a dsl.Array[E], i int) dsl.Reg[dsl.F32] {
		return dsl.To[dsl.F32](a.Load(k.Lane().AddI(int64(i))))
	}
	for i := 0; i < half; i += 32 {
		a, b := load(xs, i), load(xs, i+half)
		low, high = append(low, a), append(high, b)
		sum = b.FMA(b, a.FMA(a, sum))
	}
	scale := sum.WarpSum().FMA(k.F32(1/float64(dim)), eps).Rsqrt()
	angles := dsl.To[dsl.U64](at.Div(heads)).MulI(int64(half))
	cosines, sines = cosines.At64(angles), sines.At64(angles)
	k.If(row.LT(rows), func() {
		for n, i := 0, 0; i < half; n, i = n+1, i+32 {
			a, b := low[n].Mul(scale).Mul(load(w, i)), high[n].Mul(scale).Mul(load(w, i+half))
			lane := k.Lane().AddI(int64(i))
			c, s := cosines.Load(lane), sines.Load(lane)
			ys.Store(lane, dsl.To[E](a.Mul(c).Sub(b.Mul(s))))
			ys.Store(lane.AddI(int64(half)), dsl.To[E](b.Mul(c).Add(a.Mul(s))))
		}
	})
}
