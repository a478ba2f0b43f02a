// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl

import "github.com/ptxdsl/ptxdsl/isa"

// A kernel for matrices that are stored either by rows or transposed declares its boxes and tiles,
// loads them and multiplies them with the methods TransposedIf, and is otherwise the same.

// TransposedIf returns the box with rows and columns exchanged if the matrix is stored transposed.
func (b Box) TransposedIf(stored bool) Box {
	if stored {
		b.Rows, b.Cols = b.Cols, b.Rows
	}
	return b
}

// TransposedIf returns the tile with rows and columns exchanged if the matrix is stored transposed.
func (t Tile) TransposedIf(stored bool) Tile {
	if stored {
		t.Rows, t.Cols = t.Cols, t.Rows
	}
	return t
}

// TransposedIf returns the position with row and column exchanged if the matrix is stored
// transposed.
func (c TileCoord) TransposedIf(stored bool) TileCoord {
	if stored {
		c.Row, c.Col = c.Col, c.Row
	}
	return c
}

// TransposedIf returns the tile as an operand of an MMA: [SharedTile.Transposed] if the matrix is
// stored transposed.
func (t SharedTile) TransposedIf(stored bool) SharedTile {
	if stored {
		return t.Transposed()
	}
	return t
}

// WidestSwizzle returns the widest swizzle for rows of the given number of elements: the largest
// whose width divides the bytes of a row, and at least 32 bytes. An element of 6 bits takes a byte.
func WidestSwizzle(t isa.Type, cols int) Swizzle {
	bits := t.Bits()
	if bits == 6 {
		bits = 8
	}
	s := Swizzle128
	for cols*bits/8%int(s) != 0 && s > Swizzle32 {
		s /= 2
	}
	return s
}
