// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package sparse has kernels that multiply matrices on the tensor cores of sm_80, where A has 2:4
// structured sparsity.
package sparse

import (
	"fmt"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/isa"
)

// A Tiling describes the tile that a block of eight warps computes. The warps are arranged in two
// rows and four columns. A stage holds 256 bytes of each row of B.
type Tiling struct {
	M, N   int
	Stages int
}

// Default is a tiling that fits into the shared memory of sm_80.
var Default = Tiling{M: 128, N: 128, Stages: 3}

// Types are the supported types of A and B. E4M3 needs sm_89.
var Types = []isa.Type{isa.F16, isa.Bf16, isa.Tf32, isa.S8, isa.S4, isa.E4m3}

// Depth returns the number of elements per row of B in a stage.
func Depth(t isa.Type) int { return 256 * 8 / t.Bits() }

// unit returns the size in bits of the units that are zero or nonzero: elements of 8 or 16 bits,
// pairs of INT4 elements, or halves of TF32 elements.
func unit(t isa.Type) int {
	if t.Bits() > 8 {
		return 16
	}
	return 8
}

// Blocks returns the size of the grid along x and y, or an error if the kernel does not support
// the sizes.
func (t Tiling) Blocks(e isa.Type, m, n, k int) (x, y int, err error) {
	switch {
	case k%Depth(e) != 0:
		return 0, 0, fmt.Errorf("rows of %d elements of %s, expected a multiple of %d", k, e, Depth(e))
	case n%2 != 0:
		return 0, 0, fmt.Errorf("a result of %d columns, expected an even number", n)
	}
	return (n + t.N - 1) / t.N, (m + t.M - 1) / t.M, nil
}

// Build adds to m a kernel that computes D = A * B' for A (m x k) and B (n x k) of type t, and D
// (m x n) of the accumulator type. Of every four adjacent units in a row of A, at least two are
// zero, where a unit is an element of 8 or 16 bits, a pair of INT4 elements, or half of a TF32
// element. The parameter a (m x k/2) contains the two other units, and e contains their indices,
// in the format of Compress. Tiles are clipped at the edges of D, so all sizes that Blocks
// accepts are supported.
func Build(m *dsl.Module, t isa.Type, tiling Tiling) {
	BuildWith(m, Options{MMA: Shape(t), Tiling: tiling})
}

// Options select what BuildWith builds.
type Options struct {
	// MMA is the instruction: Shape(t), or a variant with half the depth, F16 accumulators or
	// saturation.
	MMA    dsl.MMA
	Tiling Tiling
}

// Shape returns the fastest MMA for a type, with 32-bit accumulators.
func Shape(t isa.Type) dsl.MMA {
	switch t {
	case isa.S8, isa.U8, isa.S4, isa.U4:
		return dsl.SparseMMAFor(t, isa.S32)
	}
	return dsl.SparseMMAFor(t, isa.F32)
}

// BuildWith adds the kernel of Build, with the given options.
func BuildWith(m *dsl.Module, o Options) {
	switch o.MMA.C {
	case isa.S32:
		build[dsl.S32](m, o)
	case isa.F16:
		build[dsl.F16](m, o)
	default:
		build[dsl.F32](m, o)
	}
}

func build[C dsl.Scalar](m *dsl.Module, o Options) {
	t, sums, tiling := o.MMA.A, dsl.TypeOf[C](), o.Tiling
	k := m.Kernel("sparse"+name(t), dsl.Threads(256))
	a, e, b, d := k.Matrix("a", t), k.Matrix("e", isa.B8), k.Matrix("b", t), k.Matrix("d", sums)
	rows, cols, length := dsl.Param[dsl.U32](k, "m"), dsl.Param[dsl.U32](k, "n"),
		dsl.Param[dsl.U32](k, "k")
	row, col := k.CTAID().Y.MulI(int64(tiling.M)), k.CTAID().X.MulI(int64(tiling.N))
	half := Depth(t) / 2
	metadata := 256 / unit(t) // bytes of indices per row of a stage
	steps := length.DivI(int64(Depth(t)))
	a, b = a.Sized(rows, length.ShrI(1)).RowsFrom(row), b.Sized(cols, length).RowsFrom(col)
	// rows past the end repeat the last row, because zero is not a valid pair of indices
	e = e.Sized(rows, steps.MulI(int64(metadata))).RowsFrom(row).ClampRows()

	// A stage has two tiles of B, because a swizzle is at most 128 bytes wide.
	tileB := dsl.Tile{Type: t, Rows: tiling.N, Cols: half, Swizzle: dsl.Swizzle128}
	ab := k.AsyncPipeline("ab", tiling.Stages,
		dsl.Tile{Type: t, Rows: tiling.M, Cols: half, Swizzle: dsl.Swizzle128},
		dsl.Tile{Type: isa.B8, Rows: tiling.M, Cols: metadata},
		tileB, tileB)
	w := dsl.NewWarpTile[C](k, o.MMA, tiling.M/2, tiling.N/4)
	fromA, fromB := w.Origin(k.WarpIndex(), 4)
	ab.Multiply(steps,
		func(step dsl.Reg[dsl.U32], s dsl.AsyncStage) {
			at := step.MulI(int64(half))
			a.CopyAsync(s.Tile(0), at)
			e.CopyAsync(s.Tile(1), step.MulI(int64(metadata)))
			b.CopyAsync(s.Tile(2), at.ShlI(1))
			b.CopyAsync(s.Tile(3), at.ShlI(1).AddI(int64(half)))
		},
		func(s dsl.AsyncStage) dsl.MMAStep {
			return w.SparseMMAStep(s.Tile(0), fromA, s.Tile(1),
				[]dsl.SharedTile{s.Tile(2), s.Tile(3)}, fromB)
		})
	w.Store(d.Sized(rows, cols), row.Add(fromA), col.Add(fromB))
}

// name returns the suffix of the kernel name for a type, such as "_bf16".
func name(t isa.Type) string { return "_" + t.String()[1:] }
