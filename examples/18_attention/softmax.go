// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package attention

import (
	"math"

	"github.com/ptxdsl/ptxdsl/dsl"
)

// sums are those of a warp (mma.sync) or of a warpgroup (wgmma).
type sums interface {
	Map(f func(c dsl.Cell, x f32) f32)
	RowReduce(combine func(a, b f32) f32) []f32
	QuadReduce(x f32, combine func(a, b f32) f32) f32
}

// mask makes the scores of keys that a query does not see -inf: keys begin at from, and there are so many of them. A causal query sees the keys up
// to its own, which for the block's first is number first; the rows of the scores begin some rows behind it.
func (s Shape) mask(k *dsl.Kernel, scores sums, tile int, from, keys, first, row u32) {
	hide := func(allowed func(c dsl.Cell) dsl.Reg[dsl.Pred]) {
		scores.Map(func(c dsl.Cell, x f32) f32 { return dsl.Select(allowed(c), x, k.F32(math.Inf(-1))) })
	}
	k.If(from.AddI(int64(tile)).GT(keys), func() {
		hide(func(c dsl.Cell) dsl.Reg[dsl.Pred] { return from.Add(c.Col()).LT(keys) })
	})
	if s.Causal {
		k.If(from.AddI(int64(tile)).GT(first), func() {
			hide(func(c dsl.Cell) dsl.Reg[dsl.Pred] { return from.Add(c.Col()).LE(first.Add(row).Add(c.Row())) })
		})
	}
}

// A softmax is that of rows whose scores come a tile at a time: the largest so far, and the sum of the weights that are relative to it.
type softmax struct {
	most, sum []f32 // of the rows that a thread has a part of; each of the four that share a row sums its own weights
	scale     f32   // weights are powers of two: exp(x / sqrt(d)) is 2 to the power of x * scale
}

func newSoftmax(k *dsl.Kernel, lines, width int) *softmax {
	r := &softmax{scale: k.F32(math.Log2E / math.Sqrt(float64(width)))}
	for range lines {
		r.most, r.sum = append(r.most, k.F32(math.Inf(-1)).Var()), append(r.sum, k.F32(0).Var())
	}
	return r
}

// Take makes weights of scores, and shrinks what was gathered so far where a row has a larger maximum now.
func (r *softmax) Take(scores, out sums) { r.Shrink(out, r.Weigh(scores)) }

// Weigh makes weights of scores, and tells by how much what was gathered so far has to shrink: each line has a factor.
func (r *softmax) Weigh(scores sums) (shrink []f32) {
	shrink = scores.RowReduce(func(a, b f32) f32 { return a.Max(b) })
	for i, x := range shrink {
		now := x.Mul(r.scale).Max(r.most[i])
		shrink[i] = r.most[i].Sub(now).Exp2(dsl.Approx, dsl.FTZ)
		r.most[i].Set(now)
		r.sum[i].Set(r.sum[i].Mul(shrink[i]))
	}
	scores.Map(func(c dsl.Cell, x f32) f32 {
		weight := x.FMA(r.scale, r.most[c.LocalRow].Neg()).Exp2(dsl.Approx, dsl.FTZ)
		r.sum[c.LocalRow].Set(r.sum[c.LocalRow].Add(weight))
		return weight
	})
	return shrink
}

// Grew reports whether a factor of Weigh's is less than one: a row has a larger maximum now, as happens seldom after the first tiles.
func (r *softmax) Grew(shrink []f32) dsl.Reg[dsl.Pred] {
	least := shrink[0]
	for _, x := range shrink[1:] {
		least = least.Min(x)
	}
	return least.LTF(1)
}

// Shrink multiplies what was gathered so far by the factors of its lines.
func (r *softmax) Shrink(out sums, shrink []f32) {
	out.Map(func(c dsl.Cell, x f32) f32 { return x.Mul(shrink[c.LocalRow]) })
}

// Divide divides what was gathered by the sums of the weights.
func (r *softmax) Divide(out sums) {
	for i, x := range r.sum {
		r.sum[i] = out.QuadReduce(x, func(a, b f32) f32 { return a.Add(b) }).Rcp(dsl.Approx)
	}
	out.Map(func(c dsl.Cell, x f32) f32 { return x.Mul(r.sum[c.LocalRow]) })
}
