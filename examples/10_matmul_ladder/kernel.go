// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package ladder multiplies matrices of BF16, F16 and INT8 with mma.sync in five versions: operands
// are copied by cp.async, by the TMA, by the TMA in a separate producer warp, and by a persistent
// grid in which two warpgroups multiply in turn, or together.
package ladder

import (
	"fmt"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/isa"
)

// A Tiling is the tile shape of a block of eight warps, arranged in two rows and four columns.
type Tiling struct {
	M, N, K int
	Stages  int
	Swizzle dsl.Swizzle
	Type    isa.Type // of A and B; BF16 if it is the zero value
	Across  int      // warps in a row of V4; four if it is zero
}

// across returns the number of warps along the columns of a tile.
func (t Tiling) across() int {
	if t.Across == 0 {
		return 4
	}
	return t.Across
}

// Types are the types of A and B that every version supports.
var Types = []isa.Type{isa.Bf16, isa.F16, isa.S8}

// typ returns the type of A and B.
func (t Tiling) typ() isa.Type {
	if t.Type == (Tiling{}).Type {
		return isa.Bf16
	}
	return t.Type
}

// result returns the type of D.
func (t Tiling) result() isa.Type {
	if t.typ() == isa.S8 {
		return isa.S32
	}
	return t.typ()
}

// Swizzled returns the tiling with rows as long as a swizzle.
func (t Tiling) Swizzled(s dsl.Swizzle) Tiling {
	t.Swizzle, t.K = s, int(s)*8/t.typ().Bits()
	return t
}

// Default is a tiling for every target from sm_80 on: 96 KB of stages, and 64 columns per warp,
// which balances shared memory bandwidth and tensor-core throughput.
var Default = Tiling{M: 128, N: 256, K: 64, Stages: 2, Swizzle: dsl.Swizzle128}

// Persistent is a tiling for V3, whose two pipelines take 64 KB of shared memory together.
var Persistent = Tiling{M: 128, N: 256, K: 32, Stages: 2, Swizzle: dsl.Swizzle64}

// Versions are the steps of the ladder that have one tile per block. V3 and V4 follow them.
func Versions() []func(*dsl.Module, Tiling) { return []func(*dsl.Module, Tiling){V0, V1, V2} }

// sums returns the accumulator type: S32 for integers, otherwise F32.
func sums[C dsl.Scalar](t Tiling) dsl.MMA { return dsl.MMAFor(t.typ(), dsl.TypeOf[C]()) }

// group is the number of rows of tiles that are assigned together, so that concurrent blocks share
// operands in the L2 cache.
const group = 8

// sizes declares the last three parameters of every version: D = A * B' with A m x k, B n x k and D
// m x n. Tiles are clipped at the edges: n must be even, and rows of k elements
// a multiple of 16 bytes.
func sizes(k *dsl.Kernel) (m, n, depth dsl.Reg[dsl.U32]) {
	return dsl.Param[dsl.U32](k, "m"), dsl.Param[dsl.U32](k, "n"), dsl.Param[dsl.U32](k, "k")
}

// tile returns the first row and column of the block's tile in D.
func tile(k *dsl.Kernel, m, n dsl.Reg[dsl.U32], t Tiling) (row, col dsl.Reg[dsl.U32]) {
	at := k.BlockTile(m.CeilDiv(int64(t.M)), n.CeilDiv(int64(t.N)), group)
	return at.Row.MulI(int64(t.M)), at.Col.MulI(int64(t.N))
}

// Blocks returns the grid of a launch, or an error if the kernels do not support the sizes.
func (t Tiling) Blocks(m, n, k int) (int, error) {
	switch {
	case k*t.typ().Bits()%128 != 0:
		return 0, fmt.Errorf("rows of %d elements, want a multiple of %d, which is 16 bytes", k,
			128/t.typ().Bits())
	case n%2 != 0:
		return 0, fmt.Errorf("a result of %d columns, want an even number", n)
	}
	return (m + t.M - 1) / t.M * ((n + t.N - 1) / t.N), nil
}
