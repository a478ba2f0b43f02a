// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl

import "math"

// Scores is a tile of F32 elements in registers. [Accumulator] and [WarpTile] implement it.
type Scores interface {
	Map(f func(c Cell, x Reg[F32]) Reg[F32])
	ScaleRows(factors []Reg[F32])
	RowReduce(combine func(a, b Reg[F32]) Reg[F32]) []Reg[F32]
	QuadReduce(x Reg[F32], combine func(a, b Reg[F32]) Reg[F32]) Reg[F32]
}

// An OnlineSoftmax computes the softmax of rows whose scores are computed one tile at a time, as
// in attention. For each row, it keeps the largest score so far and the sum of the weights relative
// to that score. If a tile has a larger score, results that were computed with earlier weights must
// be multiplied by a factor, which Weigh returns:
//
//	rows := k.OnlineSoftmax(out.LocalRows(), k.F32(math.Log2E/math.Sqrt(64)))
//	for s := range kv.Consume(steps) {
//		scores := k.Accumulator(64, 128, isa.F32)
//		scores.MMA(queries, keys.InStage(s))
//		scores.Wait()
//		out.ScaleRows(rows.Weigh(scores))
//		out.MMAFragments(scores.ToFragments(isa.Bf16), values.InStage(s).Transposed())
//	}
//	rows.Divide(out)
type OnlineSoftmax struct {
	// Max and Sum have a value for each row of which the thread holds elements: the largest score
	// so far, multiplied by the scale, and the sum of the weights. Each of the four threads of a
	// row adds its own columns.
	Max, Sum []Reg[F32]

	k            *Kernel
	scale, raise Reg[F32]
	allowsEmpty  bool
}

// OnlineSoftmax returns the state for the given number of local rows. The weight of a score is 2 to
// the power of scale times the difference from the largest score of its row.
func (k *Kernel) OnlineSoftmax(localRows int, scale Reg[F32]) *OnlineSoftmax {
	k = k.sound()
	s := &OnlineSoftmax{k: k, scale: scale, raise: k.F32(0)}
	for range localRows {
		s.Max, s.Sum = append(s.Max, k.F32(math.Inf(-1)).Var()), append(s.Sum, k.F32(0).Var())
	}
	return s
}

// Raise makes 2 to the power of log the largest weight, instead of 1. Small weights then keep more
// bits in a type with few exponents. Divide includes the factor.
func (s *OnlineSoftmax) Raise(log float64) {
	if s != nil && s.k != nil {
		s.raise = s.k.F32(log)
	}
}

// AllowEmpty makes the results of rows zero that have no score above -inf, instead of NaN: of rows
// that are masked, or that have no tile. Call it before Weigh.
func (s *OnlineSoftmax) AllowEmpty() {
	if s == nil || s.k == nil {
		return
	}
	s.allowsEmpty = true
	for _, most := range s.Max {
		most.Set(s.k.F32(-math.MaxFloat32)) // its difference from -inf is not NaN
	}
}

// Weigh replaces scores by weights, and returns the factor by which results of earlier weights must
// be multiplied, for each local row.
func (s *OnlineSoftmax) Weigh(scores Scores) (factors []Reg[F32]) {
	if s == nil || s.k == nil || !s.checkTile("Weigh", scores) {
		return nil
	}
	factors = scores.RowReduce(func(a, b Reg[F32]) Reg[F32] { return a.Max(b) })
	if len(factors) != len(s.Max) {
		s.k.fault(&ruleShape, "tile in Weigh has %d local rows, but the softmax has %d",
			len(factors), len(s.Max))
		return factors
	}
	for i, x := range factors {
		now := x.FMA(s.scale, s.raise.Neg()).Max(s.Max[i])
		factors[i] = s.Max[i].Sub(now).Exp2(Approx, FTZ)
		s.Max[i].Set(now)
		s.Sum[i].Set(s.Sum[i].Mul(factors[i]))
	}
	scores.Map(func(c Cell, x Reg[F32]) Reg[F32] {
		weight := x.FMA(s.scale, s.Max[c.LocalRow].Neg()).Exp2(Approx, FTZ)
		s.Sum[c.LocalRow].Set(s.Sum[c.LocalRow].Add(weight))
		return weight
	})
	return factors
}

// IfGrown emits a branch that warps take if the largest score of one of their rows has increased.
// factors are those that Weigh returned: one of them is below 1 then.
func (s *OnlineSoftmax) IfGrown(factors []Reg[F32], then func()) {
	if s == nil || s.k == nil || !s.k.checkFunctions("IfGrown", then != nil) {
		return
	}
	if len(factors) != len(s.Max) || len(factors) == 0 {
		s.k.fault(&ruleShape, "IfGrown has %d factors, but the softmax has %d local rows",
			len(factors), len(s.Max))
		return
	}
	least := factors[0]
	for _, x := range factors[1:] {
		least = least.Min(x)
	}
	s.k.If(s.k.AnyLane(least.LTF(1)), then)
}

// Log returns the logarithm to base 2 of the sum of the exponentials of a local row's scores, the
// same in the four threads that share the row. out is any tile with this row. After AllowEmpty, the
// logarithm of a row without a score above -inf is +inf, instead of -inf: the weights that a
// backward pass computes from it are then zero.
func (s *OnlineSoftmax) Log(out Scores, localRow int) Reg[F32] {
	if s == nil || s.k == nil || !s.checkTile("Log", out) ||
		!s.k.checkLocalRow(localRow, len(s.Sum)) {
		return Reg[F32]{}
	}
	sum := out.QuadReduce(s.Sum[localRow], func(a, b Reg[F32]) Reg[F32] { return a.Add(b) })
	log := sum.Log2().Add(s.Max[localRow])
	if s.allowsEmpty {
		log = Select(sum.EQF(0), s.k.F32(math.Inf(1)), log)
	}
	return log
}

// Divide divides the rows of the result by the sums of their weights.
func (s *OnlineSoftmax) Divide(out Scores) {
	if s == nil || s.k == nil || !s.checkTile("Divide", out) {
		return
	}
	var inverse []Reg[F32]
	for _, sum := range s.Sum {
		sum = out.QuadReduce(sum, func(a, b Reg[F32]) Reg[F32] { return a.Add(b) })
		factor := sum.Rcp(Approx)
		if s.allowsEmpty {
			factor = Select(sum.EQF(0), s.k.F32(0), factor)
		}
		inverse = append(inverse, factor)
	}
	out.ScaleRows(inverse)
}

// checkTile reports whether a tile is not nil, and records a finding if it is.
func (s *OnlineSoftmax) checkTile(method string, tile Scores) bool {
	if tile == nil {
		s.k.fault(&ruleValue, "tile in %s is nil", method)
	}
	return tile != nil
}
