// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package blockscaled

import (
	"fmt"
	"math"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/runtime"
	"github.com/ptxdsl/ptxdsl/runtime/kerneltest"
)

// Targets are the targets that the kernels are built for: Build for sm_100a, BuildSync for the
// others.
var Targets = []string{"sm_100a", "sm_120a", "sm_121a"}

// tolerance is half a unit in the last place of BF16, plus the error of F32 sums. These formats
// have few bits, so the sums are nearly exact; an MMA truncates after 32 products.
var tolerance = kerneltest.BF16.ULPs(0.5).Plus(kerneltest.Abs(0x1p-20).TruncatedEvery(32))

// Check multiplies matrices of every format, with one block and with a CTA pair, in shapes that are
// not all multiples of the tile; on sm_120 the formats that mma.sync supports.
func Check(t *kerneltest.T) error {
	if err := t.Needs("block scaling", 100, 0); err != nil {
		return err
	}
	sizes := kerneltest.Sizes(t, kerneltest.GEMM.Cost, kerneltest.GEMM{M: 5, N: 136, K: 256}, kerneltest.GEMM{M: 133, N: 40, K: 384},
		kerneltest.GEMM{M: 256, N: 256, K: 512}, kerneltest.GEMM{M: 333, N: 520, K: 1280}, kerneltest.GEMM{M: 768, N: 512, K: 2048})
	if t.Device.Info().Capability >= 120 {
		return checkSync(t, sizes...)
	}
	for _, f := range Formats {
		for _, pair := range []bool{false, true} {
			tiling := f.Default(pair)
			k, err := t.Kernel("matmul_"+f.Name, func(m *dsl.Module) { Build(m, f, tiling) })
			if err != nil {
				return err
			}
			for _, g := range sizes {
				if err := multiply(t, k, f, tiling, g); err != nil {
					return fmt.Errorf("%s: %w", f.Name, err)
				}
			}
		}
	}
	epilogue := kerneltest.GEMM{M: 333, N: 544, K: 1280}
	if t.Budget > 0 {
		epilogue = kerneltest.GEMM{M: 69, N: 96, K: 256}
	}
	return checkEpilogues(t, nvfp4, nvfp4.Default(false), epilogue)
}

// checkSync multiplies matrices of the formats that BuildSync supports.
func checkSync(t *kerneltest.T, sizes ...kerneltest.GEMM) error {
	for _, f := range SyncFormats {
		tiling := SyncDefault
		k, err := t.Kernel("matmul_sync_"+f.Name, func(m *dsl.Module) { BuildSync(m, f, tiling) })
		if err != nil {
			return err
		}
		for _, p := range sizes {
			blocks := (p.M + tiling.M - 1) / tiling.M * ((p.N + tiling.N - 1) / tiling.N)
			if err := random(t, k, f, runtime.Grid(blocks), p); err != nil {
				return fmt.Errorf("%s: %w", f.Name, err)
			}
		}
	}
	return nil
}

// multiply runs the kernel for a format on random matrices.
func multiply(t *kerneltest.T, k *runtime.Kernel, f Format, tiling Tiling, p kerneltest.GEMM) error {
	return random(t, k, f, tiling.grid(t, p), p)
}

// grid returns a grid of one cluster per tile, but at most as many clusters as the device runs at
// once.
func (t Tiling) grid(on *kerneltest.T, p kerneltest.GEMM) runtime.Config {
	rows, cols := t.cluster()
	clusters := (p.M + 128*rows - 1) / (128 * rows) * ((p.N + t.N*cols - 1) / (t.N * cols))
	return runtime.Grid(rows*max(1, min(clusters, on.Device.Info().SMs/(rows*cols))), cols)
}

// random runs a kernel on random matrices of a format.
func random(t *kerneltest.T, k *runtime.Kernel, f Format, grid runtime.Config, p kerneltest.GEMM) error {
	a, b := f.random(t, f.A, p.M, p.K), f.random(t, f.B, p.N, p.K)
	more := map[string]kerneltest.Matrix{"sfa": f.scales(a), "sfb": f.scales(b)}
	left := a.matrix()
	if f.Sparse {
		a.drop(t, f.together())
		kept, metadata := a.Compress(f.together())
		left = kerneltest.MatrixOf(p.M, p.K, kept.Packed(), a.Value)
		left.Stored = kept.Cols
		high := (p.M + 127) / 128
		more["e"] = kerneltest.MatrixOf(high, len(metadata)/8/high, metadata, nil)
	}
	return kerneltest.Multiply(t, k, grid, left, b.matrix(), kerneltest.BF16, tolerance, more)
}

// Numbers is a matrix of a block-scaled format: the codes of the elements and of the scale factors,
// in row-major order.
type Numbers struct {
	Type       isa.Type
	Scale      dsl.BlockScale
	Rows, Cols int
	Codes      []uint8
	Factors    []uint8

	number, factor kerneltest.Format[uint8] // formats of the codes
}

// random returns random elements below 8 with scale factors from 1/8 to 1.
func (f Format) random(t *kerneltest.T, typ isa.Type, rows, cols int) Numbers {
	n := Numbers{
		Type: typ, Scale: f.Scale, Rows: rows, Cols: cols, Codes: make([]uint8, rows*cols),
		number: kerneltest.Narrow(typ), factor: kerneltest.Narrow(f.Scale.Type),
	}
	for i := range n.Codes {
		n.Codes[i] = uint8(t.Rand.IntN(1 << typ.Bits()))
		for !(math.Abs(n.number.Float(n.Codes[i])) < 8) { // also NaN
			n.Codes[i] &^= 1 << (typ.Bits() - 2) // the highest exponent bit
		}
	}
	n.Factors = kerneltest.Random(t, n.factor, rows*((cols+f.Scale.Vector-1)/f.Scale.Vector))
	return n
}

// Value returns an element times its scale factor.
func (n Numbers) Value(row, col int) float64 {
	factors := len(n.Factors) / n.Rows
	return n.number.Float(n.Codes[row*n.Cols+col]) * n.factor.Float(n.Factors[row*factors+col/n.Scale.Vector])
}

// Packed returns the elements as stored in global memory, the first in the lowest bits.
func (n Numbers) Packed() []byte {
	bits := n.Type.Bits()
	packed := make([]byte, (len(n.Codes)*bits+7)/8)
	for i, c := range n.Codes {
		at := i * bits
		wide := uint16(c) << (at % 8)
		packed[at/8] |= uint8(wide)
		if wide > 0xff {
			packed[at/8+1] |= uint8(wide >> 8)
		}
	}
	return packed
}

func (n Numbers) matrix() kerneltest.Matrix {
	return kerneltest.MatrixOf(n.Rows, n.Cols, n.Packed(), n.Value)
}

// scales returns the scale factors in the layout that the tensor cores read.
func (f Format) scales(n Numbers) kerneltest.Matrix {
	atoms := make([]byte, n.Scale.Bytes(n.Rows, n.Cols))
	factors := len(n.Factors) / n.Rows
	for i, x := range n.Factors {
		atoms[n.Scale.Offset(i/factors, i%factors*n.Scale.Vector, n.Cols)] = x
	}
	high := (n.Rows + 127) / 128
	return kerneltest.MatrixOf(high, len(atoms)/8/high, atoms, nil)
}

// together returns the size of a sparsity unit in elements: 2 if two elements share a byte,
// otherwise 1.
func (f Format) together() int {
	if f.packed() {
		return 2
	}
	return 1
}

// drop sets two of each four units to zero. A unit has `together` elements.
func (n Numbers) drop(t *kerneltest.T, together int) {
	for i := 0; i < len(n.Codes); i += 4 * together {
		for _, at := range t.Rand.Perm(4)[:2] {
			clear(n.Codes[i+at*together:][:together])
		}
	}
}

// Compress keeps the two nonzero units of each four, and returns them with the metadata in the
// layout of dsl.SparsityOffset. At most two may be nonzero. A unit has `together` elements.
func (n Numbers) Compress(together int) (kept Numbers, metadata []byte) {
	kept = Numbers{Type: n.Type, Rows: n.Rows, Cols: n.Cols / 2}
	// metadata bytes per row: four bits for each group of four units
	bytes := (n.Cols/together + 7) / 8
	metadata = make([]byte, dsl.SparsityBytes(n.Rows, bytes))
	for i := range metadata {
		metadata[i] = 0x44 // the first two of four, past the end of the matrix
	}
	for row := range n.Rows {
		line := n.Codes[row*n.Cols:][:n.Cols]
		for i := 0; i < n.Cols; i += 4 * together {
			first, second := indices(line[i:][:4*together])
			kept.Codes = append(kept.Codes, line[i+first*together:][:together]...)
			kept.Codes = append(kept.Codes, line[i+second*together:][:together]...)
			group := i / (4 * together)
			at := dsl.SparsityOffset(n.Type, row, group/2, bytes)
			shift := group % 2 * 4
			metadata[at] = metadata[at]&^(15<<shift) | uint8(first|second<<2)<<shift
		}
	}
	return kept, metadata
}

// indices returns which two of four units are kept, the lower index first.
func indices(four []uint8) (first, second int) {
	together := len(four) / 4
	var kept []int
	for p := range 4 {
		for _, code := range four[p*together:][:together] {
			if code != 0 {
				kept = append(kept, p)
				break
			}
		}
	}
	switch {
	case len(kept) >= 2:
		return kept[0], kept[1]
	case len(kept) == 1 && kept[0] > 0:
		return 0, kept[0]
	}
	return 0, 1
}
