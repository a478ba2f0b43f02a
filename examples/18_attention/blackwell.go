// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package attention

import (
	"math"

	"github.com/ptxdsl/ptxdsl/dsl"
)

// BlackwellQueries and BlackwellKeys are the numbers of rows of the tiles of BuildBlackwell. Each
// thread computes the softmax of one query.
const (
	BlackwellQueries = 128
	BlackwellKeys    = 128
)

// BuildBlackwell is Build for sm_100. Tensor memory holds the scores, the probabilities (as an A
// operand) and the weighted sums of a tile. Separate warps load operands and issue MMAs: the MMAs
// for the next scores run while four warps compute the softmax of the current scores.
func BuildBlackwell(m *dsl.Module, s Shape) {
	k := s.kernel(m, "blackwell_"+s.Name(), usual, dsl.Warpgroups(2))
	tile := []int{1, BlackwellKeys, s.Width}
	q := k.Tensor("q", s.Type, []int{1, BlackwellQueries, s.Width}, dsl.Swizzle128)
	ks, vs := k.Tensor("k", s.Type, tile, dsl.Swizzle128),
		k.Tensor("v", s.Type, tile, dsl.Swizzle128)
	o := k.Matrix("o", s.Type)
	queries, keys := dsl.Param[dsl.U32](k, "n"), dsl.Param[dsl.U32](k, "m")
	head, first, zero, one := k.CTAID().Y, k.CTAID().X.MulI(BlackwellQueries), k.U32(0), k.U32(1)
	o = o.Sized(queries, k.U32(s.Width)).At(head)
	number := s.number(first, queries, keys)
	steps := s.steps(keys, number, BlackwellQueries, BlackwellKeys)

	own := k.Pipeline("own", 1, q.Feed())
	left, right := k.Pipeline("keys", 2, ks.Feed()), k.Pipeline("values", 2, vs.Feed())
	scores := k.TMEM("scores", BlackwellQueries, BlackwellKeys, 2)
	weights := k.TMEMOperand("weights", s.Type, BlackwellKeys, 2)
	sums := k.TMEM("sums", BlackwellQueries, s.Width, 1)
	k.Roles(
		dsl.OnWarp(0, "load keys", func() {
			for at := range own.Produce(one) {
				q.LoadStage(at, head, first, zero)
			}
			for at := range left.Produce(steps) {
				ks.LoadStage(at, head, at.Iteration().MulI(BlackwellKeys), zero)
			}
		}),
		dsl.OnWarp(1, "load values", func() {
			for at := range right.Produce(steps) {
				vs.LoadStage(at, head, at.Iteration().MulI(BlackwellKeys), zero)
			}
		}),
		dsl.OnWarp(2, "score", func() {
			for mine := range own.Consume(one) {
				for at := range left.Consume(steps) {
					scores.Fill(func(d *dsl.AccumulatorStage) {
						d.MMA(q.InStage(mine), ks.InStage(at))
					})
				}
			}
		}),
		dsl.OnWarp(3, "weigh", func() {
			for at := range right.Consume(steps) {
				weights.Drain(func(w *dsl.TMEMOperandStage) {
					sums.Fill(func(d *dsl.AccumulatorStage) {
						d.MMAFromTMEM(w, vs.InStage(at).Transposed())
					})
				})
			}
		}),
		dsl.OnWarpgroup(1, "soften", func() {
			r := newTensorRow(k, s)
			for step := range k.Range(zero, steps) {
				var shrink f32
				scores.Drain(func(d *dsl.AccumulatorStage) {
					from := step.MulI(BlackwellKeys)
					seen := keys // number of keys that are not masked
					if s.Causal {
						seen = seen.Min(number.Add(d.Row()).AddI(1))
					}
					shrink = r.Take(d, weights, seen.Sub(seen.Min(from)))
				})
				// add the weighted values of the previous step while the tensor cores compute
				// those of this step
				k.If(step.GTI(0), func() { r.Gather(sums) })
				r.Shrink(shrink)
			}
			k.If(steps.GTI(0), func() { r.Gather(sums) })
			r.Store(o, first)
		}),
	)
}

// A tensorRow computes the softmax of one thread's row. The scores arrive in tensor memory, one
// tile at a time.
type tensorRow struct {
	k         *dsl.Kernel
	s         Shape
	most, sum f32
	scale     f32 // factor of scores in exponents of base 2
	out       []f32
}

// chunk is the number of columns of tensor memory that are read at a time. With wide heads, there
// are not enough registers for more columns.
const chunk = 16

func newTensorRow(k *dsl.Kernel, s Shape) *tensorRow {
	r := &tensorRow{k: k, s: s, most: k.F32(math.Inf(-1)).Var(), sum: k.F32(0).Var(),
		scale: k.F32(math.Log2E / math.Sqrt(float64(s.Width)))}
	for range s.Width {
		r.out = append(r.out, k.F32(0).Var())
	}
	return r
}

// Take computes the probabilities of a tile of scores. The first seen scores are used, and the
// remaining ones are masked. Take returns the factor by which the accumulated output must be
// multiplied. It reads the scores twice, because they would take as many registers as the output.
func (r *tensorRow) Take(d *dsl.AccumulatorStage, weights *dsl.TMEMOperand, seen u32) (shrink f32) {
	each := func(visit func(col int, x []f32)) {
		for col := 0; col < BlackwellKeys; col += chunk {
			x := d.Load(col, chunk)
			for i := range x {
				x[i] = x[i].Var()
			}
			r.k.If(seen.LTI(int64(col+chunk)), func() {
				for i := range x {
					x[i].Set(dsl.Select(seen.GTI(int64(col+i)), x[i], r.k.F32(math.Inf(-1))))
				}
			})
			visit(col, x)
		}
	}
	top := r.k.F32(math.Inf(-1)).Var()
	each(func(_ int, x []f32) {
		for _, y := range x {
			top.Set(top.Max(y))
		}
	})
	now := top.Mul(r.scale).Max(r.most)
	shrink = r.most.Sub(now).Exp2()
	r.most.Set(now)
	r.sum.Set(r.sum.Mul(shrink))
	weights.Fill(func(w *dsl.TMEMOperandStage) {
		each(func(col int, x []f32) {
			for i, y := range x {
				x[i] = y.FMA(r.scale, now.Neg()).Exp2()
				r.sum.Set(r.sum.Add(x[i]))
			}
			w.Store(col, x)
		})
	})
	return shrink
}

// Gather adds the weighted values of a tile to the output.
func (r *tensorRow) Gather(sums *dsl.TMEM) {
	sums.Drain(func(d *dsl.AccumulatorStage) {
		for col := 0; col < r.s.Width; col += chunk {
			for i, x := range d.Load(col, chunk) {
				r.out[col+i].Set(r.out[col+i].Add(x))
			}
		}
	})
}

// Shrink multiplies the accumulated output by a factor.
func (r *tensorRow) Shrink(by f32) {
	for _, x := range r.out {
		x.Set(x.Mul(by))
	}
}

// Store divides the output by the sum of the probabilities, and writes it to the matrix o.
func (r *tensorRow) Store(o *dsl.Matrix, first u32) {
	r.Shrink(r.sum.Rcp(dsl.Approx))
	o.StoreRow(first.Add(r.k.Thread().AndI(BlackwellQueries-1)), r.k.U32(0), r.out)
}
