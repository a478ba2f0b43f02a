// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package multistage

import "github.com/ptxdsl/ptxdsl/dsl"

// A Group is one of several products that a launch computes. The matrices A of all groups are
// stored in one array; so are the matrices B and D. The fields A, B and D are the indices of the
// group's first elements in these arrays. For A and B, the positions must be multiples of 16
// bytes.
type Group struct{ M, N, K, A, B, D int }

// groupWords is the number of 32-bit words per group in the parameter groups.
const groupWords = 6

// Words returns the contents of the parameter groups for a launch, and the number of blocks: one
// for each tile of each group.
func (t Tiling) Words(list []Group) (words []uint32, blocks int) {
	for _, g := range list {
		for _, x := range []int{g.M, g.N, g.K, g.A, g.B, g.D} {
			words = append(words, uint32(x))
		}
		blocks += (g.M + t.M - 1) / t.M * ((g.N + t.N - 1) / t.N)
	}
	return words, blocks
}

// findGroup returns the operands with the sizes of the block's group, and with the index of the
// block's tile in this group. The emitted code subtracts the number of tiles of each group from
// the block index, until the remainder is the index of a tile in the group.
func findGroup(k *dsl.Kernel, o Options, in operands) operands {
	groups := dsl.Global[dsl.U32](k, "groups")
	read := func(g dsl.Reg[dsl.U32], word int) dsl.Reg[dsl.U32] {
		return groups.Load(g.MulI(groupWords).AddI(int64(word)))
	}
	g, tile := k.U32(0).Var(), k.CTAID().X.Var()
	tiles := func() dsl.Reg[dsl.U32] {
		return read(g, 0).CeilDiv(int64(o.Tiling.M)).Mul(read(g, 1).CeilDiv(int64(o.Tiling.N)))
	}
	k.While(func() dsl.Reg[dsl.Pred] { return tile.GE(tiles()) }, func() {
		tile.Set(tile.Sub(tiles()))
		g.Set(g.AddI(1))
	})
	in.tile, in.rows, in.cols, in.length = tile, read(g, 0), read(g, 1), read(g, 2)
	from := func(word int) dsl.Reg[dsl.U64] { return dsl.To[dsl.U64](read(g, word)) }
	in.a, in.b, in.d = in.a.From(from(3)), in.b.From(from(4)), in.d.From(from(5))
	return in
}
