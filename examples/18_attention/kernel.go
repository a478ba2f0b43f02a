// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package attention has kernels that compute softmax(Q K' / sqrt(d)) V for one tile of keys at a
// time. The scores and the probabilities stay in the registers of the warp that computes them.
package attention

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/isa"
)

type (
	f32 = dsl.Reg[dsl.F32]
	u32 = dsl.Reg[dsl.U32]
)

// A Shape describes the heads for which a kernel is built.
type Shape struct {
	Type  isa.Type // type of Q, K, V and O: F16 or BF16
	Width int      // number of elements per row of a head: 64 or 128, or 256 with BuildHopper
	// If Causal is set, a query sees only the keys up to its own position. If there are more keys
	// than queries, the last query sees all keys.
	Causal bool
}

// Queries and Keys are the numbers of rows in a block's tiles. Each of the four warps computes
// sixteen queries.
const (
	Queries = 64
	Keys    = 64
)

// Name returns the name of the kernel, such as "attention_bf16_64_causal".
func (s Shape) Name() string {
	return fmt.Sprintf("attention_%s_%d%s", s.Type.String()[1:], s.Width,
		map[bool]string{true: "_causal"}[s.Causal])
}

// usual are the head widths that most kernels support.
var usual = []int{64, 128}

// kernel adds a kernel to m. It reports an error if the shape has a different type, or a width
// that is not in widths.
func (s Shape) kernel(m *dsl.Module, name string, widths []int,
	options ...dsl.KernelOption) *dsl.Kernel {
	k := m.Kernel(name, options...)
	if s.Type != isa.F16 && s.Type != isa.Bf16 || !slices.Contains(widths, s.Width) {
		list := strings.Trim(strings.Join(strings.Fields(fmt.Sprint(widths)), " or "), "[]")
		k.Errorf("heads of %d %s, expected %s elements of F16 or BF16", s.Width, s.Type, list)
	}
	return k
}

// number returns the position of a block's first query, counted in keys: the last query has the
// position of the last key.
func (s Shape) number(first, queries, keys u32) u32 { return first.Add(keys.Sub(queries)) }

// steps returns the number of key tiles that the queries of a block see. first is the position of
// the first query, counted in keys.
func (s Shape) steps(keys, first u32, queries, tile int) u32 {
	steps := keys.CeilDiv(int64(tile))
	if s.Causal {
		steps = steps.Min(first.AddI(int64(queries)).CeilDiv(int64(tile)))
	}
	return steps
}

// Build adds to m a kernel for heads with n queries and m keys, stored head by head. The grid has
// one block per tile of queries along x, and one per head along y.
func Build(m *dsl.Module, s Shape) {
	k := s.kernel(m, s.Name(), usual, dsl.Threads(128))
	q, ks, vs, o := k.Matrix("q", s.Type), k.Matrix("k", s.Type), k.Matrix("v", s.Type),
		k.Matrix("o", s.Type)
	queries, keys := dsl.Param[dsl.U32](k, "n"), dsl.Param[dsl.U32](k, "m")
	head, width := k.CTAID().Y, k.U32(s.Width)
	first := k.CTAID().X.MulI(Queries)
	q, o = q.Sized(queries, width).At(head), o.Sized(queries, width).At(head)
	ks, vs = ks.Sized(keys, width).At(head), vs.Sized(keys, width).At(head)

	k.Comment("the warp's queries stay in registers")
	tile := dsl.Tile{Type: s.Type, Rows: Queries, Cols: s.Width, Swizzle: dsl.Swizzle128}
	own := k.SharedTile("queries", tile)
	q.RowsFrom(first).CopyAsync(own, k.U32(0))
	k.CommitCopies()
	k.WaitCopies(0)
	k.Sync()
	mma := dsl.MMAFor(s.Type, isa.F32)
	out := dsl.NewWarpTile[dsl.F32](k, mma, Queries/4, s.Width)
	row := k.WarpIndex().MulI(Queries / 4)
	left := out.LoadFragments(own, row)

	rows := k.OnlineSoftmax(out.LocalRows(), k.F32(s.scale()))
	number := s.number(first, queries, keys)
	kv := k.AsyncPipeline("kv", 2, tile, tile)
	kv.Run(s.steps(keys, number, Queries, Keys),
		func(step u32, to dsl.AsyncStage) {
			from := step.MulI(Keys)
			ks.RowsFrom(from).CopyAsync(to.Tile(0), k.U32(0))
			vs.RowsFrom(from).CopyAsync(to.Tile(1), k.U32(0))
		},
		func(step u32, at dsl.AsyncStage) {
			scores := dsl.NewWarpTile[dsl.F32](k, mma, Queries/4, Keys)
			scores.MMAFragments(left, at.Tile(0), k.U32(0))
			s.mask(k, scores, Keys, step.MulI(Keys), keys, number, row)
			out.ScaleRows(rows.Weigh(scores))
			out.MMAFragments(scores.ToFragments(s.Type), at.Tile(1).Transposed(), k.U32(0))
		})
	rows.Divide(out)
	out.Store(o, first.Add(row), k.U32(0))
}
