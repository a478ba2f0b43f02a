// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package atoms_test

import (
	"testing"

	"github.com/ptxdsl/ptxdsl/dsl/internal/atoms"
)

// TestSparsityOffset checks that the bytes of the metadata have different places and fill their
// atoms, and compares some places with the manual.
func TestSparsityOffset(t *testing.T) {
	for _, wide := range []bool{false, true} {
		const rows, bytes = 256, 32
		seen := make([]bool, atoms.SparsityBytes(rows, bytes))
		for row := range rows {
			for b := range bytes {
				at := atoms.SparsityOffset(wide, row, b, bytes)
				if seen[at] {
					t.Fatalf("wide=%t: byte %d of row %d shares offset %d", wide, b, row, at)
				}
				seen[at] = true
			}
		}
		for at, ok := range seen {
			if !ok {
				t.Fatalf("wide=%t: nothing is at offset %d", wide, at)
			}
		}
	}
	for _, test := range []struct {
		wide         bool
		row, b, want int
	}{
		{false, 3, 5, 3*16 + 5},
		{false, 0, 16, 2048},
		{true, 0, 2, 8 * 16}, // the second word of row 0 is in the line of row 8
		{true, 8, 0, 2},      // the first word of row 8 follows that of row 0
		{true, 8, 2, 8*16 + 2},
		{true, 1, 4, 16 + 4},
	} {
		if got := atoms.SparsityOffset(test.wide, test.row, test.b, 32); got != test.want {
			t.Errorf("wide=%t: byte %d of row %d is at %d, want %d", test.wide, test.b, test.row,
				got, test.want)
		}
	}
}

// TestScaleOffset checks that the factors have different places and fill their atoms.
func TestScaleOffset(t *testing.T) {
	for _, vector := range []int{16, 32} {
		rows, cols := 256, 8*vector
		seen := make([]bool, atoms.ScaleBytes(vector, rows, cols))
		for row := range rows {
			for col := 0; col < cols; col += vector {
				at := atoms.ScaleOffset(vector, row, col, cols)
				if seen[at] {
					t.Fatalf("%d elements: the factor at %d, %d shares offset %d", vector, row, col,
						at)
				}
				seen[at] = true
				if atoms.ScaleOffset(vector, row, col+vector-1, cols) != at {
					t.Fatalf("%d elements: the last element at %d, %d has another factor", vector,
						row, col)
				}
			}
		}
		for at, ok := range seen {
			if !ok {
				t.Fatalf("%d elements: nothing is at offset %d", vector, at)
			}
		}
	}
	// Factor c of row r of an atom is at byte (r mod 32)*16 + (r/32)*4 + c.
	if got := atoms.ScaleOffset(32, 70, 3*32, 128); got != 6*16+2*4+3 {
		t.Errorf("factor 3 of row 70 is at %d", got)
	}
	if atoms.ScaleBytes(32, 1, 1) != 512 {
		t.Errorf("one factor takes %d bytes, want one atom", atoms.ScaleBytes(32, 1, 1))
	}
}
