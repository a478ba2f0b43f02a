// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package attention

import (
	"math"

	"github.com/ptxdsl/ptxdsl/dsl"
)

// sums is the accumulator of a warp (mma.sync) or of a warpgroup (wgmma).
type sums interface {
	Map(f func(c dsl.Cell, x f32) f32)
	RowReduce(combine func(a, b f32) f32) []f32
	QuadReduce(x f32, combine func(a, b f32) f32) f32
}

// mask sets the scores of keys that a query does not see to -inf. The tile has `tile` keys,
// starting at from, out of `keys` in all. A causal query sees the keys up to its own; number is the
// index of the block's first query among the keys, and the rows of the scores start some rows after
// it.
func (s Shape) mask(k *dsl.Kernel, scores sums, tile int, from, keys, first, row u32) {
	hide := func(some dsl.Reg[dsl.Pred], allowed func(c dsl.Cell) dsl.Reg[dsl.Pred]) {
		k.If(some, func() {
			scores.Map(func(c dsl.Cell, x f32) f32 {
				return dsl.Select(allowed(c), x, k.F32(math.Inf(-1)))
			})
		})
	}
	hide(from.AddI(int64(tile)).GT(keys), func(c dsl.Cell) dsl.Reg[dsl.Pred] {
		return from.Add(c.Col()).LT(keys)
	})
	if s.Causal {
		hide(from.AddI(int64(tile)).GT(first), func(c dsl.Cell) dsl.Reg[dsl.Pred] {
			return from.Add(c.Col()).LE(first.Add(row).Add(c.Row()))
		})
	}
}

// A softmax is the online softmax of rows whose scores are computed one tile at a time: the running
// maximum, and the sum of the probabilities relative to it.
type softmax struct {
	// one for each of the thread's rows; each of the four threads of a row sums its own columns
	most, sum []f32
	// probabilities are powers of two: exp(x / sqrt(d)) is 2 to the power of x * scale
	scale f32
	// the largest probability is 2 to the power of raise, which is also the factor of the sum
	raise f32
}

func newSoftmax(k *dsl.Kernel, lines, width int) *softmax {
	r := &softmax{scale: k.F32(math.Log2E / math.Sqrt(float64(width))), raise: k.F32(0)}
	for range lines {
		r.most, r.sum = append(r.most, k.F32(math.Inf(-1)).Var()), append(r.sum, k.F32(0).Var())
	}
	return r
}

// Take computes the probabilities of scores, and rescales the accumulated output of rows whose
// maximum has grown.
func (r *softmax) Take(scores, out sums) { r.Shrink(out, r.Weigh(scores)) }

// Weigh computes the probabilities of scores, and returns the factor for the accumulated output of
// each row.
func (r *softmax) Weigh(scores sums) (shrink []f32) {
	shrink = scores.RowReduce(func(a, b f32) f32 { return a.Max(b) })
	for i, x := range shrink {
		now := x.FMA(r.scale, r.raise.Neg()).Max(r.most[i])
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

// Shrink multiplies the accumulated output of each row by its factor.
func (r *softmax) Shrink(out sums, shrink []f32) {
	out.Map(func(c dsl.Cell, x f32) f32 { return x.Mul(shrink[c.LocalRow]) })
}

// Divide divides the output by the sums of the probabilities.
func (r *softmax) Divide(out sums) {
	for i, x := range r.sum {
		r.sum[i] = out.QuadReduce(x, func(a, b f32) f32 { return a.Add(b) }).Rcp(dsl.Approx)
	}
	out.Map(func(c dsl.Cell, x f32) f32 { return x.Mul(r.sum[c.LocalRow]) })
}
