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

// mask sets the scores of keys that a query does not see to -inf. The tile consists of `tile`
// keys, starting at key number from; there are keys keys in all. A causal query sees the keys up
// to its own position. first is the position of the block's first query, counted in keys, and row
// is the number of queries of the block before the first row of scores.
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

// A softmax computes the softmax of rows whose scores are computed one tile at a time (online
// softmax). It keeps the maximum so far, and the sum of the probabilities relative to this
// maximum.
type softmax struct {
	// one value for each row of the thread; each of the four threads of a row sums its own
	// columns
	most, sum []f32
	// factor of scores in exponents: exp(x / sqrt(d)) is 2 to the power of x * scale
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

// Take replaces scores by probabilities, and rescales the accumulated output of rows whose
// maximum has increased.
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

// Shrink multiplies the accumulated output of each row by the factor of the row.
func (r *softmax) Shrink(out sums, shrink []f32) {
	out.Map(func(c dsl.Cell, x f32) f32 { return x.Mul(shrink[c.LocalRow]) })
}

// Logs stores the logarithm to base 2 of the sum of the exponentials of each row's scores. The
// first row of the output has the index first, out of queries in all.
func (r *softmax) Logs(k *dsl.Kernel, out *dsl.Accumulator, logs dsl.Array[dsl.F32],
	first, queries u32) {
	for i, sum := range r.sum {
		log := out.QuadReduce(sum, func(a, b f32) f32 { return a.Add(b) }).Log2().Add(r.most[i])
		at := first.Add(out.Row(i))
		k.If(k.Lane().AndI(3).EQI(0).And(at.LT(queries)), func() { logs.Store(at, log) })
	}
}

// Divide divides the output by the sums of the probabilities.
func (r *softmax) Divide(out sums) {
	for i, x := range r.sum {
		r.sum[i] = out.QuadReduce(x, func(a, b f32) f32 { return a.Add(b) }).Rcp(dsl.Approx)
	}
	out.Map(func(c dsl.Cell, x f32) f32 { return x.Mul(r.sum[c.LocalRow]) })
}
