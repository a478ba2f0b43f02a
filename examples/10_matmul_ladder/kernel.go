// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package ladder multiplies bfloat16 matrices with mma.sync in three versions: operands are copied
// by cp.async, by the TMA, and by the TMA in a separate producer warp.
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
}

// Default is a tiling for every target from sm_80 on: 96 KB of stages, and 64 columns per warp,
// which balances shared memory bandwidth and tensor-core throughput.
var Default = Tiling{M: 128, N: 256, K: 64, Stages: 2, Swizzle: dsl.Swizzle128}

// Versions are the steps of the ladder.
func Versions() []func(*dsl.Module, Tiling) { return []func(*dsl.Module, Tiling){V0, V1, V2} }

// shape is the MMA shape for bfloat16 operands and F32 accumulators.
var shape = dsl.MMAFor(isa.Bf16, isa.F32)

// group is the number of rows of tiles that are assigned together, so that concurrent blocks share
// operands in the L2 cache.
const group = 8

// sizes declares the last three parameters of every version: D = A * B' with A m x k, B n x k and D
// m x n. Tiles are clipped at the edges: n must be even, and k a multiple of 8.
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
	case k%8 != 0:
		return 0, fmt.Errorf("rows of %d elements, want a multiple of 8, which is 16 bytes", k)
	case n%2 != 0:
		return 0, fmt.Errorf("a result of %d columns, want an even number", n)
	}
	return (m + t.M - 1) / t.M * ((n + t.N - 1) / t.N), nil
}
