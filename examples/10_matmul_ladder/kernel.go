// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package ladder has five versions of a kernel that multiplies matrices of BF16, F16 or INT8 with
// mma.sync. V0 copies operands with cp.async, V1 with the TMA, and V2 with the TMA in a separate
// warp. V3 and V4 have a persistent grid: in V3 two warpgroups multiply alternately, in V4 all
// warps multiply the same tile.
package ladder

import (
	"fmt"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/isa"
)

// A Tiling describes the tile that a block of eight warps computes. The warps are arranged in two
// rows and four columns.
type Tiling struct {
	M, N, K int
	Stages  int
	Swizzle dsl.Swizzle
	Type    isa.Type // type of A and B; the zero value means BF16
	Across  int      // columns of warps in V4; zero means four
}

// across returns the number of columns of warps.
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

// Swizzled returns a copy of t with the swizzle s, and with K such that a row of the operand
// tiles is as long as the swizzle.
func (t Tiling) Swizzled(s dsl.Swizzle) Tiling {
	t.Swizzle, t.K = s, int(s)*8/t.typ().Bits()
	return t
}

// Default is a tiling for every target from sm_80 on. Its stages take 96 KB, and its 64 columns
// per warp balance shared memory bandwidth and tensor-core throughput.
var Default = Tiling{M: 128, N: 256, K: 64, Stages: 2, Swizzle: dsl.Swizzle128}

// Persistent is a tiling for V3. Its two pipelines together take 64 KB of shared memory.
var Persistent = Tiling{M: 128, N: 256, K: 32, Stages: 2, Swizzle: dsl.Swizzle64}

// Versions returns the functions that add the versions with one tile per block. V3 and V4 have
// several tiles per block.
func Versions() []func(*dsl.Module, Tiling) { return []func(*dsl.Module, Tiling){V0, V1, V2} }

// sums returns the MMA for the types of t, with accumulators of type C: S32 for integers and F32
// for all other types.
func sums[C dsl.Scalar](t Tiling) dsl.MMA { return dsl.MMAFor(t.typ(), dsl.TypeOf[C]()) }

// group is the number of rows of tiles that are assigned together: blocks that run at the same
// time then share operands in the L2 cache.
const group = 8

// sizes declares the last three parameters of every version, for D = A * B' where A is m x k, B
// is n x k and D is m x n. Tiles are clipped at the edges of D. n must be even, and a row of k
// elements must be a multiple of 16 bytes.
func sizes(k *dsl.Kernel) (m, n, depth dsl.Reg[dsl.U32]) {
	return dsl.Param[dsl.U32](k, "m"), dsl.Param[dsl.U32](k, "n"), dsl.Param[dsl.U32](k, "k")
}

// tile returns the first row and the first column of the block's tile in D.
func tile(k *dsl.Kernel, m, n dsl.Reg[dsl.U32], t Tiling) (row, col dsl.Reg[dsl.U32]) {
	at := k.BlockTile(m.CeilDiv(int64(t.M)), n.CeilDiv(int64(t.N)), group)
	return at.Row.MulI(int64(t.M)), at.Col.MulI(int64(t.N))
}

// Blocks returns the number of blocks that cover an m x n product, or an error if a size is not
// supported.
func (t Tiling) Blocks(m, n, k int) (int, error) {
	switch {
	case k*t.typ().Bits()%128 != 0:
		return 0, fmt.Errorf("rows of %d elements, expected a multiple of %d, which is 16 bytes", k,
			128/t.typ().Bits())
	case n%2 != 0:
		return 0, fmt.Errorf("a result of %d columns, expected an even number", n)
	}
	return (m + t.M - 1) / t.M * ((n + t.N - 1) / t.N), nil
}
