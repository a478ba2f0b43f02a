// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package hopper has kernels that multiply matrices with wgmma. They have a persistent grid and
// separate warpgroups for loading and for computing.
package hopper

import "github.com/ptxdsl/ptxdsl/dsl"

// A Tiling describes the tile of a block and the pipeline that loads its operands.
type Tiling struct {
	M, N, K int // size of a tile; for M, see warpgroups
	Stages  int
	Cluster int // number of blocks that share tiles of B by multicast
	Group   int // number of rows of tiles that are assigned together
}

// Default is the fastest tiling for large matrices.
var Default = Tiling{M: 128, N: 256, K: 64, Stages: 3, Cluster: 1, Group: 12}

// For returns the fastest tiling for a product of m rows and n columns. Wide tiles have a higher
// throughput; with narrow tiles, fewer multiprocessors are idle at the end.
func For(m, n, multiprocessors int) Tiling {
	best, least := Default, 0.0
	for _, shape := range []struct {
		n, stages int
		speed     float64 // in TFLOP/s, on an H200 with full waves
	}{{256, 3, 818}, {192, 4, 797}, {128, 5, 775}, {64, 7, 480}} {
		t := Default
		t.N, t.Stages = shape.n, shape.stages
		rounds := (t.Tiles(m, n) + multiprocessors - 1) / multiprocessors
		if cost := float64(rounds*t.N) / shape.speed; least == 0 || cost < least {
			best, least = t, cost
		}
	}
	return best
}

// warpgroups returns the number of warpgroups that compute a tile. Each warpgroup computes 64
// rows, or 128 rows if the tile has 256 rows.
func (t Tiling) warpgroups() int {
	if t.M == 256 {
		return 2
	}
	return t.M / 64
}

// Tiles returns the number of tiles of a product with m rows and n columns.
func (t Tiling) Tiles(m, n int) int {
	return (m + t.M - 1) / t.M * ((n + t.N - 1) / t.N)
}

// Blocks returns the number of blocks of the grid: one per multiprocessor, rounded down to whole
// clusters, but not more than there are tiles.
func (t Tiling) Blocks(m, n, multiprocessors int) int {
	tiles := (t.Tiles(m, n) + t.Cluster - 1) / t.Cluster * t.Cluster
	return min(multiprocessors/t.Cluster*t.Cluster, tiles)
}

// Build adds to m a kernel that computes D = A * B' for bfloat16 matrices A (m x k), B (n x k)
// and D (m x n), with F32 accumulators. The TMA requires that n and k are multiples of 8. Tiles
// may extend past the edges, because the TMA reads zeros outside the matrices and does not
// write there.
func Build(m *dsl.Module, t Tiling) { BuildWith(m, Options{Tiling: t}) }
