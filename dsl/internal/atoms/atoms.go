// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package atoms computes the memory layout of scale factors and sparsity metadata. Both are
// stored in atoms, which are the units that tensor cores copy to tensor memory.
package atoms

// Sparsity metadata is copied to tensor memory in atoms of 128 rows by 16 bytes. An atom
// describes 64 stored bytes of each row, or 128 for elements of 16 or 32 bits. In tensor memory
// it occupies one lane per row; an instruction uses one or two of its columns (PTX 9.1,
// 9.7.16.10.8).
const (
	SparsityRows     = 128
	SparsityRowBytes = 16
)

// SparsityOffset returns the byte offset of byte b of a row's metadata, which has the given
// number of bytes. wide is set if elements have 16 or 32 bits.
func SparsityOffset(wide bool, row, b, bytes int) int {
	atoms := (bytes + SparsityRowBytes - 1) / SparsityRowBytes // atoms per row
	line, in := row%SparsityRows, b%SparsityRowBytes
	if wide {
		lower, word, half := line/8%2, in/4, in/2%2
		line, in = line&^8|half<<3, 4*word+2*lower+in%2
	}
	return SparsityRows*SparsityRowBytes*(row/SparsityRows*atoms+b/SparsityRowBytes) +
		line*SparsityRowBytes + in
}

// SparsityBytes returns the size in bytes of the metadata of a matrix, with the given number of
// metadata bytes per row, rounded up to whole atoms.
func SparsityBytes(rows, bytes int) int {
	high, wide := (rows+SparsityRows-1)/SparsityRows, (bytes+SparsityRowBytes-1)/SparsityRowBytes
	return high * wide * SparsityRows * SparsityRowBytes
}

// An atom of scale factors holds four factors of each of 128 rows.
const (
	scaleRows    = 128
	scaleFactors = 4
	scaleBytes   = scaleRows * scaleFactors
)

// ScaleOffset returns the byte offset of the scale factor of an element, in a matrix with cols
// columns. Each factor applies to vector adjacent elements of a row.
func ScaleOffset(vector, row, col, cols int) int {
	vector = max(1, vector)
	each := scaleFactors * vector
	atoms := (cols + each - 1) / each // atoms per row
	factor := col / vector
	return scaleBytes*(row/scaleRows*atoms+factor/scaleFactors) + row%32*16 + row%scaleRows/32*4 +
		factor%scaleFactors
}

// ScaleBytes returns the size in bytes of the scale factors of a matrix, rounded up to whole
// atoms.
func ScaleBytes(vector, rows, cols int) int {
	last := ScaleOffset(vector, (rows-1)/scaleRows*scaleRows+scaleRows-1, cols-1, cols)
	return last/scaleBytes*scaleBytes + scaleBytes
}
