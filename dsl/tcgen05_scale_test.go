// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl_test

import (
	"testing"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/isa"
)

// TestScaleOffset lays out the scale factors of a matrix as in the PTX manual, atom by atom, and
// compares with Offset.
func TestScaleOffset(t *testing.T) {
	const rows, cols = 300, 640
	for _, b := range []dsl.BlockScale{dsl.MXFP8, dsl.NVFP4} {
		factors := (cols + b.Vector - 1) / b.Vector
		type factor struct{ row, col int }
		var memory []factor // indexed by byte
		for top := 0; top < rows; top += 128 {
			for left := 0; left < factors; left += 4 {
				// An atom has 32 lines of 16 bytes: four rows, 32 apart, with four factors each.
				for line := range 32 {
					for part := range 4 {
						for c := range 4 {
							memory = append(memory, factor{top + 32*part + line, left + c})
						}
					}
				}
			}
		}
		if got := b.Bytes(rows, cols); got != len(memory) {
			t.Errorf("%s: %d bytes; %d are expected", b, got, len(memory))
		}
		for row := range rows {
			for col := 0; col < cols; col += 7 {
				if got := memory[b.Offset(row, col, cols)]; got != (factor{row, col / b.Vector}) {
					t.Fatalf("%s: the factor of %d, %d has the place of the factor of row %d, block %d", b, row, col, got.row, got.col)
				}
			}
		}
	}
}

// TestPadded checks padded tiles: sixteen elements take sixteen bytes, use the first of them, and
// do not overlap.
func TestPadded(t *testing.T) {
	for _, tile := range []dsl.Tile{
		{Type: isa.E2m3, Rows: 16, Cols: 128, Swizzle: dsl.Swizzle128},
		{Type: isa.E2m1, Rows: 16, Cols: 256, Swizzle: dsl.Swizzle128, Padded: true},
		{Type: isa.E3m2, Rows: 16, Cols: 128},
	} {
		if tile.RowBytes() != tile.Cols || tile.Bytes() != tile.Rows*tile.Cols ||
			tile.CopyBytes() != tile.Bytes()*tile.Type.Bits()/8 {
			t.Errorf("%s: %d bytes per row, %d in total, of which copies transfer %d", tile,
				tile.RowBytes(), tile.Bytes(), tile.CopyBytes())
		}
		seen := make(map[int]bool) // start of each group of sixteen
		for row := range tile.Rows {
			for col := 0; col < tile.Cols; col += 16 {
				at := tile.Offset(row, col)
				if at%16 != 0 || at >= tile.Bytes() || seen[at] {
					t.Errorf("%s: element %d, %d is at byte %d", tile, row, col, at)
				}
				seen[at] = true
				if last := tile.Offset(row, col+15) - at; last != 15*tile.Type.Bits()/8 {
					t.Errorf("%s: the last of sixteen elements is %d bytes after the first", tile, last)
				}
			}
		}
	}
}

// TestSparsityOffset checks the layout of sparsity metadata. An atom holds 128 rows, with 16 bytes
// of each; for elements of 16 and 32 bits, two rows interleave 16-bit words. It is layout E of
// CUTLASS 4 (sm1xx_sparse_config.inl, TensorEAtom_MMA_F16 and its neighbors), whose strides the
// test gives in bytes.
func TestSparsityOffset(t *testing.T) {
	const rows, bytes = 300, 40
	for _, typ := range []isa.Type{isa.E4m3, isa.S8, isa.E2m1, isa.Bf16, isa.Tf32} {
		seen := make(map[int]bool)
		for row := range rows {
			for b := range bytes {
				in := row%128*16 + b%16
				if typ.Bits() > 8 {
					in = row%8*16 + row/8%2*2 + row%128/16*256 + b%2 + b/2%2*128 + b%16/4*4
				}
				want := 2048*(row/128*3+b/16) + in
				got := dsl.SparsityOffset(typ, row, b, bytes)
				if got != want || seen[got] {
					t.Fatalf("%s: byte %d of row %d is at byte %d, expected %d", typ, b, row, got,
						want)
				}
				seen[got] = true
			}
		}
	}
	if got, want := dsl.SparsityBytes(rows, bytes), 3*3*2048; got != want {
		t.Errorf("%d bytes; %d are expected", got, want)
	}
}
