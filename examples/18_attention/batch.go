// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package attention

import (
	"fmt"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/isa"
)

// A Batch describes a kernel for sequences of different lengths.
type Batch struct {
	Shape         // Width may be any multiple of 32 up to 256
	Heads, KV int // query heads and key/value heads; Heads/KV query heads share one
	// PageTokens is the number of tokens per page of keys and values, a multiple of 64, or 0 if
	// keys and values are not paged.
	PageTokens int
}

// Name returns the name of the kernel, such as "attention_bf16_64_causal_8of2_pages".
func (b Batch) Name() string {
	name := fmt.Sprintf("%s_%dof%d", b.Shape.Name(), b.Heads, b.KV)
	if b.PageTokens > 0 {
		name += "_pages"
	}
	return name
}

// tile returns the number of keys per tile. Wide heads have fewer keys per tile, so that the
// stages fit into 99 KB of shared memory.
func (b Batch) tile() int {
	if b.Width > 128 {
		return Keys / 2
	}
	return Keys
}

func (b Batch) known(k *dsl.Kernel) bool {
	switch {
	case b.Type != isa.F16 && b.Type != isa.Bf16 || b.Width < 32 || b.Width > 256 ||
		b.Width%32 != 0:
		k.Errorf("heads of %d %s, expected a multiple of 32 up to 256 elements of F16 or BF16", b.Width,
			b.Type)
	case b.KV < 1 || b.Heads < b.KV || b.Heads%b.KV != 0:
		k.Errorf("%d heads of queries for %d of keys, expected a multiple", b.Heads, b.KV)
	case b.PageTokens < 0 || b.PageTokens%Keys != 0:
		k.Errorf("pages of %d tokens, expected a multiple of %d", b.PageTokens, Keys)
	default:
		return true
	}
	return false
}

// BuildBatch adds to m a kernel for sequences of different lengths. A row of Q and O is a token
// with all its heads. The tokens of all sequences are stored one after the other: those of
// sequence s are the rows from starts_q[s] up to, but not including, starts_q[s+1]. K and V are
// stored in the same way, with starts_k. If they are paged, starts_k only counts tokens: row s of
// the table of `most` columns lists the pages of sequence s. The grid has one block per tile of
// queries of the longest sequence along x, one per head of queries along y, and one per sequence
// along z. A sequence may lack queries or keys. The result of a query that sees no key is zero.
func BuildBatch(m *dsl.Module, b Batch) {
	k := m.Kernel(b.Name(), dsl.Threads(128))
	if !b.known(k) {
		return
	}
	q, ks, vs, o := k.Matrix("q", b.Type), k.Matrix("k", b.Type), k.Matrix("v", b.Type),
		k.Matrix("o", b.Type)
	startsQ, startsK := dsl.Global[dsl.U32](k, "starts_q"), dsl.Global[dsl.U32](k, "starts_k")
	place := func(from u32) u32 { return from }
	sequence, head, first := k.CTAID().Z, k.CTAID().Y, k.CTAID().X.MulI(Queries)
	startQ, endQ := startsQ.Load(sequence), startsQ.Load(sequence.AddI(1))
	startK, endK := startsK.Load(sequence), startsK.Load(sequence.AddI(1))
	queries, keys := endQ.Sub(startQ), endK.Sub(startK)
	if b.PageTokens > 0 {
		pages, most := dsl.Global[dsl.U32](k, "pages"), dsl.Param[dsl.U32](k, "most")
		table := pages.At(sequence.Mul(most))
		place = func(from u32) u32 {
			page := table.Load(from.DivI(int64(b.PageTokens)))
			return page.MulI(int64(b.PageTokens)).Add(from.RemI(int64(b.PageTokens)))
		}
	} else {
		place = func(from u32) u32 { return startK.Add(from) }
	}
	k.ReturnIf(first.GE(queries))

	tile := dsl.Tile{Type: b.Type, Rows: Queries, Cols: b.Width, Swizzle: dsl.Swizzle128}
	if b.Width%64 != 0 {
		tile.Swizzle = dsl.Swizzle64
	}
	colQ, colK := head.MulI(int64(b.Width)), head.DivI(int64(b.Heads/b.KV)).MulI(int64(b.Width))
	widthQ, widthK := k.U32(b.Heads*b.Width), k.U32(b.KV*b.Width)
	own := k.SharedTile("queries", tile)
	q.Sized(endQ, widthQ).RowsFrom(startQ.Add(first)).CopyAsync(own, colQ)
	k.CommitCopies()
	k.WaitCopies(0)
	k.Sync()
	mma := dsl.MMAFor(b.Type, isa.F32)
	out := dsl.NewWarpTile[dsl.F32](k, mma, Queries/4, b.Width)
	row := k.WarpIndex().MulI(Queries / 4)
	left := out.LoadFragments(own, row)

	rows := k.OnlineSoftmax(out.LocalRows(), k.F32(b.scale()))
	rows.AllowEmpty()
	number := b.number(first, queries, keys)
	tile.Rows = b.tile()
	kv := k.AsyncPipeline("kv", 2, tile, tile)
	kv.Run(b.steps(keys, number, Queries, tile.Rows),
		func(step u32, to dsl.AsyncStage) {
			from := step.MulI(int64(tile.Rows))
			at := place(from)
			end := at.Add(keys.Sub(from).MinI(int64(tile.Rows)))
			ks.Sized(end, widthK).RowsFrom(at).CopyAsync(to.Tile(0), colK)
			vs.Sized(end, widthK).RowsFrom(at).CopyAsync(to.Tile(1), colK)
		},
		func(step u32, at dsl.AsyncStage) {
			scores := dsl.NewWarpTile[dsl.F32](k, mma, Queries/4, tile.Rows)
			scores.MMAFragments(left, at.Tile(0), k.U32(0))
			// All positions are larger by the number of queries, so that none is negative if there
			// are fewer keys than queries.
			b.mask(k, scores, tile.Rows, step.MulI(int64(tile.Rows)).Add(queries),
				keys.Add(queries), first.Add(keys), row)
			out.ScaleRows(rows.Weigh(scores))
			out.MMAFragments(scores.ToFragments(b.Type), at.Tile(1).Transposed(), k.U32(0))
		})
	rows.Divide(out)
	out.Store(o.Sized(endQ, widthQ), startQ.Add(first).Add(row), colQ)
}
