// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl

import "github.com/ptxdsl/ptxdsl/isa"

// A combination is the second term of alpha * acc + beta * C.
type combination struct {
	c           *TensorMap
	alpha, beta Reg[F32]
	tiles       *Pipeline
}

// Combine makes StoreTMEM store alpha times the accumulator plus beta times a matrix C of .f32,
// .bf16 or .f16, whose tensor map has tiles of the size of the output's. A role must call LoadC
// for each tile that is stored. If beta is zero, C has no effect and may contain NaN.
func (o *Output) Combine(c *TensorMap, alpha, beta Reg[F32]) {
	k := o.kernel()
	if !checkCreated(k, "output in Combine", c.kernel(), alpha.k, beta.k) {
		return
	}
	t := o.to.tile
	switch {
	case c.kernel() == nil:
		k.fault(&ruleValue, "tensor map in Combine is a zero value, not created by a builder call")
	case c.tile.Rows != t.Rows || c.tile.Cols != t.Cols || c.tile.Swizzle == NoSwizzle ||
		c.tile.Type != isa.F32 && c.tile.Type != isa.Bf16 && c.tile.Type != isa.F16:
		k.fault(&ruleShape,
			"output tile %s is combined with %s, expected a swizzled tile of that size of .f32, .bf16 or .f16",
			t, c.tile)
	default:
		// threads read C, so each block of a pair has a separate pipeline
		o.combined = &combination{c, alpha, beta, k.Pipeline("more", 1, c.Feed()).PerBlock()}
	}
}

// LoadC loads the tile of C at a position, for an output with Combine.
func (o *Output) LoadC(at TileCoord) {
	k := o.kernel()
	if !checkCreated(k, "output in LoadC", at.Row.k, at.Col.k) {
		return
	}
	if o.combined == nil {
		k.fault(&ruleProtocol, "LoadC is called for an output without Combine")
		return
	}
	for s := range o.combined.tiles.Produce(k.U32(1)) {
		s.Load(o.combined.c, at)
	}
}

// Scales makes StoreTMEM compute and store scale factors, as StoreScaled does. A nil output for
// them has no effect.
func (o *Output) Scales(to *ScaleOutput) {
	if o.kernel() != nil {
		o.factors = to
	}
}

// storeCombined stores the accumulator, combined with C if the output has one.
func (o *Output) storeCombined(a *AccumulatorStage, row, col Reg[U32]) {
	c := o.combined
	if c == nil {
		o.storeScaled(row, col, a.Load)
		return
	}
	none := c.beta.EQF(0)
	c.tiles.ConsumeOne(func(s *Stage) {
		o.storeScaled(row, col, func(col, n int) []Reg[F32] {
			x, old := a.Load(col, n), s.Tile(c.c).LoadRow(a.Row(), col, n)
			for i := range x {
				x[i] = x[i].FMA(c.alpha, Select(none, o.k.F32(0), old[i].Mul(c.beta)))
			}
			return x
		})
	})
}

// storeScaled stores rows of elements, with scale factors if the output has them.
func (o *Output) storeScaled(row, col Reg[U32], elements func(col, n int) []Reg[F32]) {
	if o.factors != nil {
		o.StoreScaled(o.factors, row, col, elements)
	} else {
		o.StoreRows(row, col, elements)
	}
}
