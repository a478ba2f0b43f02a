// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package attention

import (
	"math"

	"github.com/ptxdsl/ptxdsl/dsl"
)

// scale is the factor that converts scores to exponents of base 2.
func (s Shape) scale() float64 { return math.Log2E / math.Sqrt(float64(s.Width)) }

// scores is the accumulator of a warp (mma.sync) or of a warpgroup (wgmma).
type scores interface {
	Mask(keep func(c dsl.Cell) dsl.Reg[dsl.Pred], other f32)
}

// mask sets the scores of keys that a query does not see to -inf. The tile consists of `tile`
// keys, starting at key number from; there are keys keys in all. A causal query sees the keys up
// to its own position. first is the position of the block's first query, counted in keys, and row
// is the number of queries of the block before the first row of scores.
func (s Shape) mask(k *dsl.Kernel, x scores, tile int, from, keys, first, row u32) {
	k.If(from.AddI(int64(tile)).GT(keys), func() {
		x.Mask(func(c dsl.Cell) dsl.Reg[dsl.Pred] { return from.Add(c.Col()).LT(keys) },
			k.F32(math.Inf(-1)))
	})
	if s.Causal {
		k.If(from.AddI(int64(tile)).GT(first), func() {
			x.Mask(func(c dsl.Cell) dsl.Reg[dsl.Pred] {
				return from.Add(c.Col()).LE(first.Add(row).Add(c.Row()))
			}, k.F32(math.Inf(-1)))
		})
	}
}
