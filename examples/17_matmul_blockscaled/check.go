// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package blockscaled

import (
	"fmt"
	"math"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/internal/trial"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/runtime"
)

// Check multiplies matrices of every format on one multiprocessor and on two, in shapes of which some end within a tile; on sm_120 those formats that
// mma.sync has.
func Check(t *trial.T) error {
	if err := t.Needs("block scaling", 100, 0); err != nil {
		return err
	}
	if t.Device.Info().Capability >= 120 {
		return checkSync(t, trial.Product{M: 256, N: 256, K: 512}, trial.Product{M: 768, N: 512, K: 2048}, trial.Product{M: 333, N: 520, K: 1280})
	}
	for _, f := range Formats {
		for _, pair := range []bool{false, true} {
			tiling := f.Default(pair)
			k, err := t.Kernel("matmul_"+f.Name, func(m *dsl.Module) { Build(m, f, tiling) })
			if err != nil {
				return err
			}
			for _, p := range []trial.Product{{M: 256, N: 256, K: 512}, {M: 768, N: 512, K: 2048}, {M: 333, N: 520, K: 1280}} {
				if err := multiply(t, k, f, tiling, p); err != nil {
					return fmt.Errorf("%s: %w", f.Name, err)
				}
			}
		}
	}
	return checkEpilogues(t, nvfp4, nvfp4.Default(false), trial.Product{M: 333, N: 544, K: 1280})
}

// checkSync multiplies matrices of the formats of BuildSync.
func checkSync(t *trial.T, sizes ...trial.Product) error {
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

// multiply runs the kernel of a format on random matrices.
func multiply(t *trial.T, k *runtime.Kernel, f Format, tiling Tiling, p trial.Product) error {
	return random(t, k, f, tiling.grid(t, p), p)
}

// grid is as many clusters as there is work for, and room.
func (t Tiling) grid(on *trial.T, p trial.Product) runtime.Config {
	rows, cols := t.cluster()
	clusters := (p.M + 128*rows - 1) / (128 * rows) * ((p.N + t.N*cols - 1) / (t.N * cols))
	return runtime.Grid(rows*max(1, min(clusters, on.Device.Info().SMs/(rows*cols))), cols)
}

// tolerance is how far a result may be off, as a part of it. Products of numbers and scale factors of these formats have few
// bits, so that sums of them in single precision are nearly exact; what remains is the rounding to bfloat16, half a unit in
// the last of 8 bits: 1/256. A quarter more leaves room for sums that the tensor cores cut off.
const tolerance = 1.0 / 200

// random runs a kernel on random matrices of a format.
func random(t *trial.T, k *runtime.Kernel, f Format, grid runtime.Config, p trial.Product) error {
	a, b := f.random(t, f.A, p.M, p.K), f.random(t, f.B, p.N, p.K)
	more := map[string]trial.Matrix{"sfa": f.scales(a), "sfb": f.scales(b)}
	left := a.matrix()
	if f.Sparse {
		a.drop(t, f.together())
		kept, told := a.Compress(f.together())
		left = trial.MatrixOf(p.M, p.K, kept.Packed(), a.Worth)
		left.Kept = kept.Cols
		atoms := len(told) / (2048 * ((p.M + 127) / 128))
		more["e"] = trial.Bytes((p.M+127)/128, 256*atoms, told)
	}
	return trial.Multiply(t, k, grid, left, b.matrix(), trial.Brain, tolerance, more)
}

// Numbers are a matrix of a block-scaled format: the bits of each number, and of each scale factor, by rows.
type Numbers struct {
	Type       isa.Type
	Scale      dsl.BlockScale
	Rows, Cols int
	Codes      []uint8
	Factors    []uint8
}

// random is numbers of a type, none above 8, with scale factors from 1/8 to 1.
func (f Format) random(t *trial.T, typ isa.Type, rows, cols int) Numbers {
	factors := (cols + f.Scale.Vector - 1) / f.Scale.Vector
	n := Numbers{Type: typ, Scale: f.Scale, Rows: rows, Cols: cols, Codes: make([]uint8, rows*cols), Factors: make([]uint8, rows*factors)}
	for i, x := range t.Integers(len(n.Codes)) {
		n.Codes[i] = uint8(x) & (1<<typ.Bits() - 1)
		for math.Abs(Value(typ, n.Codes[i])) >= 8 {
			n.Codes[i] &^= 1 << (typ.Bits() - 2) // the highest bit of the exponent
		}
	}
	for i, x := range t.Integers(len(n.Factors)) {
		if n.Factors[i] = 124 + uint8(x%4); f.Scale.Type == isa.Ue4m3 { // powers of two from 1/8 on
			n.Factors[i] = 4<<3 + uint8(x%25) // 1/8 to 1
		}
	}
	return n
}

// Value is what the bits of a small floating-point number are worth, of a type that has no infinities.
func Value(t isa.Type, code uint8) float64 {
	exponents, mantissas := 4, 3 // E4M3
	switch t {
	case isa.Ue8m0:
		return trial.Power(int(code) - 127)
	case isa.E2m1:
		exponents, mantissas = 2, 1
	case isa.E2m3:
		exponents, mantissas = 2, 3
	case isa.E3m2:
		exponents, mantissas = 3, 2
	}
	sign := 1.0
	if code>>(exponents+mantissas)&1 == 1 {
		sign = -1
	}
	m, e := int(code)&(1<<mantissas-1), int(code)>>mantissas&(1<<exponents-1)
	if e > 0 {
		m |= 1 << mantissas
	}
	return sign * float64(m) * trial.Power(max(e, 1)-(1<<(exponents-1)-1)-mantissas)
}

// Worth is what a number is worth, its scale factor in it.
func (n Numbers) Worth(row, col int) float64 {
	factors := len(n.Factors) / n.Rows
	return Value(n.Type, n.Codes[row*n.Cols+col]) * Value(n.Scale.Type, n.Factors[row*factors+col/n.Scale.Vector])
}

// Packed is the numbers as they lie in global memory: one behind the other, the first in the lowest bits.
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

func (n Numbers) matrix() trial.Matrix { return trial.MatrixOf(n.Rows, n.Cols, n.Packed(), n.Worth) }

// scales are the scale factors in their atoms.
func (f Format) scales(n Numbers) trial.Matrix {
	atoms := make([]byte, n.Scale.Bytes(n.Rows, n.Cols))
	factors := len(n.Factors) / n.Rows
	for i, x := range n.Factors {
		atoms[n.Scale.Offset(i/factors, i%factors*n.Scale.Vector, n.Cols)] = x
	}
	high := (n.Rows + 127) / 128
	return trial.Bytes(high, len(atoms)/8/high, atoms)
}

// together is how many numbers are kept or left out together: two that share a byte, or one.
func (f Format) together() int {
	if f.packed() {
		return 2
	}
	return 1
}

// drop makes two of each four neighbours zero, of so many numbers each.
func (n Numbers) drop(t *trial.T, together int) {
	for i := 0; i < len(n.Codes); i += 4 * together {
		for _, at := range t.Rand.Perm(4)[:2] {
			clear(n.Codes[i+at*together:][:together])
		}
	}
}

// Compress keeps two of each four neighbours, of so many numbers each, those that are not zero, and tells their places in atoms, as
// dsl.SparsityOffset has them. More than two that are not zero would be lost.
func (n Numbers) Compress(together int) (kept Numbers, told []byte) {
	kept = Numbers{Type: n.Type, Rows: n.Rows, Cols: n.Cols / 2}
	bytes := (n.Cols/together + 7) / 8 // of a row: four bits for four neighbours
	told = make([]byte, dsl.SparsityBytes(n.Rows, bytes))
	for i := range told {
		told[i] = 0x44 // the first two of four, where the matrix ends
	}
	for row := range n.Rows {
		line := n.Codes[row*n.Cols:][:n.Cols]
		for i := 0; i < n.Cols; i += 4 * together {
			first, second := places(line[i:][:4*together])
			kept.Codes = append(kept.Codes, line[i+first*together:][:together]...)
			kept.Codes = append(kept.Codes, line[i+second*together:][:together]...)
			group := i / (4 * together)
			at := dsl.SparsityOffset(n.Type, row, group/2, bytes)
			shift := group % 2 * 4
			told[at] = told[at]&^(15<<shift) | uint8(first|second<<2)<<shift
		}
	}
	return kept, told
}

// places are which two of four neighbours are kept, the first the lower one.
func places(four []uint8) (first, second int) {
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
