// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package attention

import (
	"fmt"
	"math"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/isa"
)

// Sizes for multi-head latent attention (MLA). All heads share one row of keys per token, which
// consists of a latent vector and a part with rotary embedding (RoPE). The latent vector is also
// the value.
const (
	Latent    = 512
	rotary    = 64
	LatentRow = Latent + rotary
	// MLAHeads is the number of heads per block, mlaKeys the number of keys per tile, and
	// mlaWarps the number of warps.
	MLAHeads = 16
	mlaKeys  = 32
	mlaWarps = 2
)

// An MLA describes a kernel for MLA decoding.
type MLA struct {
	Type       isa.Type // type of queries, cache and results: F16 or BF16
	PageTokens int      // number of tokens per page of the cache, a multiple of 32
}

// Name returns the name of the kernel, such as "mla_bf16".
func (a MLA) Name() string { return "mla_" + a.Type.String()[1:] }

// BuildMLA adds to m a kernel that decodes one token of each sequence. The queries have one row
// of LatentRow elements per head, which the caller has already multiplied by the weights of the
// keys. The cache has one row of LatentRow elements per token, in pages: row s of a table with
// `most` columns lists the pages of sequence s, which has lengths[s] tokens. Results have one row
// of Latent elements per head. The grid has one block per MLAHeads heads along x, and one per
// sequence along y. For each tile of keys, each warp first computes the scores of some keys, and
// then some columns of the result.
func BuildMLA(m *dsl.Module, a MLA) {
	k := m.Kernel(a.Name(), dsl.Threads(32*mlaWarps))
	if a.Type != isa.F16 && a.Type != isa.Bf16 || a.PageTokens < mlaKeys ||
		a.PageTokens%mlaKeys != 0 {
		k.Errorf("MLA of %s with pages of %d tokens, expected F16 or BF16 and a multiple of %d", a.Type,
			a.PageTokens, mlaKeys)
		return
	}
	q, cache, o := k.Matrix("q", a.Type), k.Matrix("cache", a.Type), k.Matrix("o", a.Type)
	lengths, pages, most := dsl.Global[dsl.U32](k, "lengths"), dsl.Global[dsl.U32](k, "pages"),
		dsl.Param[dsl.U32](k, "most")
	heads, scale := dsl.Param[dsl.U32](k, "heads"), dsl.Param[dsl.F32](k, "scale").MulF(math.Log2E)
	sequence, first, warp, zero, width := k.CTAID().Y, k.CTAID().X.MulI(MLAHeads), k.WarpIndex(),
		k.U32(0), k.U32(LatentRow)
	keys, table := lengths.Load(sequence), pages.At(sequence.Mul(most))

	tile := dsl.Tile{Type: a.Type, Rows: MLAHeads, Cols: LatentRow, Swizzle: dsl.Swizzle128}
	queries := k.SharedTile("queries", tile)
	weights := k.SharedTile("weights",
		dsl.Tile{Type: a.Type, Rows: MLAHeads, Cols: mlaKeys, Swizzle: dsl.Swizzle64})
	q.Sized(heads, width).At(sequence).RowsFrom(first).CopyAsync(queries, zero)
	k.CommitCopies()
	k.WaitCopies(0)
	mma := dsl.MMAFor(a.Type, isa.F32)
	out := dsl.NewWarpTile[dsl.F32](k, mma, MLAHeads, Latent/mlaWarps)
	out.Clear()
	rows := newSharedSoftmax(k, out, scale)
	tile.Rows = mlaKeys
	kv := k.AsyncPipeline("kv", 2, tile)
	kv.Run(keys.CeilDiv(mlaKeys),
		func(step u32, to dsl.AsyncStage) {
			from := step.MulI(mlaKeys)
			at := table.Load(from.DivI(int64(a.PageTokens))).MulI(int64(a.PageTokens)).Add(
				from.RemI(int64(a.PageTokens)))
			cache.Sized(at.Add(keys.Sub(from).MinI(mlaKeys)),
				width).RowsFrom(at).CopyAsync(to.Tile(0), zero)
		},
		func(step u32, at dsl.AsyncStage) {
			scores, own := dsl.NewWarpTile[dsl.F32](k, mma, MLAHeads, mlaKeys/mlaWarps),
				warp.MulI(mlaKeys/mlaWarps)
			scores.MMA(queries, zero, at.Tile(0), own)
			left := keys.Sub(step.MulI(mlaKeys))
			scores.Map(func(c dsl.Cell, x f32) f32 {
				return dsl.Select(own.Add(c.Col()).LT(left), x, k.F32(math.Inf(-1)))
			})
			shrink := rows.weigh(scores)
			scores.Each(func(row, col u32, x, y f32) {
				storePair(weights, row, own.Add(col), x, y)
			})
			k.Sync()
			out.Map(func(c dsl.Cell, x f32) f32 { return x.Mul(shrink[c.LocalRow]) })
			out.MMA(weights, zero, at.Tile(0).Transposed(), warp.MulI(Latent/mlaWarps))
		})
	rows.divide()
	out.Store(o.Sized(heads, k.U32(Latent)).At(sequence), first, warp.MulI(Latent/mlaWarps))
}

// storePair rounds two adjacent elements of a row to the type of the tile and stores them.
func storePair(t dsl.SharedTile, row, col u32, x, y f32) {
	if t.Type == isa.F16 {
		dsl.Element[dsl.F16](t, row,
			col).StoreFirstVec([]dsl.Reg[dsl.F16]{dsl.To[dsl.F16](x), dsl.To[dsl.F16](y)})
		return
	}
	dsl.Element[dsl.BF16](t, row,
		col).StoreFirstVec([]dsl.Reg[dsl.BF16]{dsl.To[dsl.BF16](x), dsl.To[dsl.BF16](y)})
}

// A sharedSoftmax is an online softmax of rows whose scores are distributed over several warps.
type sharedSoftmax struct {
	*dsl.OnlineSoftmax
	k      *dsl.Kernel
	scale  f32
	out    *dsl.WarpTile[dsl.F32]
	shared [2]dsl.Array[dsl.F32] // a maximum and a sum for each warp and row
}

func newSharedSoftmax(k *dsl.Kernel, out *dsl.WarpTile[dsl.F32], scale f32) *sharedSoftmax {
	s := &sharedSoftmax{OnlineSoftmax: k.OnlineSoftmax(out.LocalRows(), scale), k: k, scale: scale,
		out: out}
	for i, name := range []string{"maxima", "sums"} {
		s.shared[i] = dsl.Shared[dsl.F32](k, name, mlaWarps, MLAHeads)
	}
	return s
}

// combine reduces the values of each local row over the warps with both. Every warp receives the
// results.
func (s *sharedSoftmax) combine(in dsl.Array[dsl.F32], values []f32,
	both func(a, b f32) f32) []f32 {
	k := s.k
	k.If(k.Lane().AndI(3).EQI(0), func() {
		for i, x := range values {
			in.Store(in.Index(k.WarpIndex(), s.out.Row(i)), x)
		}
	})
	k.Sync()
	all := make([]f32, len(values))
	for i := range values {
		all[i] = in.Load(in.Index(k.U32(0), s.out.Row(i)))
		for w := 1; w < mlaWarps; w++ {
			all[i] = both(all[i], in.Load(in.Index(k.U32(w), s.out.Row(i))))
		}
	}
	return all
}

// weigh replaces scores by probabilities. It returns, for each row, the factor by which the
// accumulated result must be multiplied.
func (s *sharedSoftmax) weigh(scores *dsl.WarpTile[dsl.F32]) (shrink []f32) {
	most := func(a, b f32) f32 { return a.Max(b) }
	shrink = s.combine(s.shared[0], scores.RowReduce(most), most)
	for i, x := range shrink {
		now := x.Mul(s.scale).Max(s.Max[i])
		shrink[i] = s.Max[i].Sub(now).Exp2(dsl.Approx, dsl.FTZ)
		s.Max[i].Set(now)
		s.Sum[i].Set(s.Sum[i].Mul(shrink[i]))
	}
	scores.Map(func(c dsl.Cell, x f32) f32 {
		weight := x.FMA(s.scale, s.Max[c.LocalRow].Neg()).Exp2(dsl.Approx, dsl.FTZ)
		s.Sum[c.LocalRow].Set(s.Sum[c.LocalRow].Add(weight))
		return weight
	})
	return shrink
}

// divide divides the result by the sums of the probabilities.
func (s *sharedSoftmax) divide() {
	plus := func(a, b f32) f32 { return a.Add(b) }
	for i, x := range s.Sum {
		s.Sum[i] = s.out.QuadReduce(x, plus)
	}
	sums := s.combine(s.shared[1], s.Sum, plus)
	s.out.Map(func(c dsl.Cell, x f32) f32 { return x.Mul(sums[c.LocalRow].Rcp(dsl.Approx)) })
}

// String returns a description for the table of variants.
func (a MLA) String() string {
	return fmt.Sprintf("%s, pages of %d tokens", a.Type.String()[1:], a.PageTokens)
}
