// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package hopper

import "github.com/ptxdsl/ptxdsl/dsl"

// pad is the number of unused elements after each row of partial sums. It avoids bank conflicts
// between the stores of a warp.
const pad = 4

// buildSplit adds a kernel whose clusters divide the steps of a tile among their blocks. Each
// block leaves its partial sums in shared memory; then each block adds the partial sums of all
// blocks for some columns.
func (p *product) buildSplit() {
	k, t, n, split := p.k, p.Tiling, p.Tiling.warpgroups(), int64(p.Split)
	rank, tile := k.ClusterRank(), k.CTAID().X.DivI(split)
	high, all := p.rows.CeilDiv(int64(t.M)), p.depth.CeilDiv(int64(t.K))
	col := tile.Div(high)
	row := tile.Sub(col.Mul(high))
	first := rank.Mul(all).DivI(split)
	steps := rank.AddI(1).Mul(all).DivI(split).Sub(first)
	parts := dsl.Shared[dsl.F32](k, "partial", t.N*(t.M+pad))
	load, math := t.registers()
	k.Roles(
		role(dsl.OnWarpgroup(0, "load", func() {
			for s := range p.ab.Produce(steps) {
				step := first.Add(s.Iteration())
				s.Load(p.a, dsl.TileAt(row, step).TransposedIf(p.TransposeA))
				s.Load(p.b, dsl.TileAt(col, step).TransposedIf(p.TransposeB))
			}
		}), load),
		role(dsl.OnWarpgroups(1, n, "math", func(group dsl.Reg[dsl.U32]) {
			acc := k.Accumulator(t.M/n, t.N, Sums(p.Type))
			for s := range p.ab.Consume(steps) {
				acc.MMA(s.Tile(p.a).TransposedIf(p.TransposeA).Part(group, n),
					s.Tile(p.b).TransposedIf(p.TransposeB))
			}
			dsl.EachElement(acc, func(r, c dsl.Reg[dsl.U32], x, y dsl.Reg[dsl.F32]) {
				at := c.MadI(int64(t.M+pad), group.MadI(int64(t.M/n), r))
				parts.Store(at, x)
				parts.Store(at.AddI(int64(t.M+pad)), y)
			})
		}), math),
	)
	p.addUp(parts, row, col)
	k.Comment("no block exits while another reads its sums")
	k.SyncCluster()
}

// addUp adds the partial sums of all blocks for this block's columns, and stores the results.
func (p *product) addUp(parts dsl.Array[dsl.F32], row, col dsl.Reg[dsl.U32]) {
	k, t := p.k, p.Tiling
	scale := k.F32(1)
	if p.Scale {
		scale = p.scales[0].Load(k.U32(0)).Mul(p.scales[1].Load(k.U32(0)))
	}
	count, threads := t.M*t.N/p.Split, k.BlockThreads()
	add := func(i dsl.Reg[dsl.U32]) {
		r, c := i.RemI(int64(t.M)), k.ClusterRank().MadI(int64(t.N/p.Split), i.DivI(int64(t.M)))
		at := c.MadI(int64(t.M+pad), r)
		sum := parts.InBlock(k.U32(0)).Load(at)
		for rank := 1; rank < p.Split; rank++ {
			sum = sum.Add(parts.InBlock(k.U32(rank)).Load(at))
		}
		if p.Scale {
			sum = sum.Mul(scale)
		}
		r, c = row.MadI(int64(t.M), r), col.MadI(int64(t.N), c)
		k.If(r.LT(p.rows), func() {
			k.If(c.LT(p.cols), func() { p.put(c.Mad(p.rows, r), sum) })
		})
	}
	for i := 0; i < count; i += threads {
		if at := k.TID().X.AddI(int64(i)); i+threads <= count {
			add(at)
		} else {
			k.If(at.LTI(int64(count)), func() { add(at) })
		}
	}
}
