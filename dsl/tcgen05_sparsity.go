// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl

import (
	"github.com/ptxdsl/ptxdsl/dsl/internal/atoms"
	"github.com/ptxdsl/ptxdsl/isa"
)

// The shape of an atom of sparsity metadata.
const (
	atomRows     = atoms.SparsityRows
	atomRowBytes = atoms.SparsityRowBytes
)

// storedPerByte returns the number of stored bytes of a sparse tile that one byte of metadata
// describes.
func (t Tile) storedPerByte() int {
	if t.wide() > 8 {
		return 8
	}
	return 4
}

// metadataAtoms returns the number of atoms that hold the metadata of 128 rows of the tile.
func (t Tile) metadataAtoms() int { return t.RowBytes() / (t.storedPerByte() * atomRowBytes) }

// SparsityOffset returns the byte offset in global memory of byte b of the sparsity metadata of a
// row, for elements of type t and rows with the given number of metadata bytes.
//
// One metadata byte describes four stored elements, eight stored 4-bit elements that are packed, or
// two stored TF32 elements. Each four bits describe a group of four elements of the dense matrix
// (pairs of packed elements, halves of TF32): the indices of the first and the second stored
// element, the lower one first. For TF32 they are 0x4 if the first of two elements is stored and
// 0xe if the second is.
//
// As with scale factors, metadata is stored in atoms of 128 rows by 16 bytes, in row-major order.
// Within an atom the 16 bytes of a row are contiguous, except for types of 16 and 32 bits: there
// two rows, eight apart, interleave 16-bit words in 32 bytes.
func SparsityOffset(t isa.Type, row, b, bytes int) int {
	return atoms.SparsityOffset(t.Bits() > 8, row, b, bytes)
}

// SparsityBytes returns the size in bytes of the sparsity metadata of a matrix with the given rows
// and metadata bytes per row, rounded up to whole atoms. Metadata of padding must be valid too: use
// the indices 0 and 1 (the byte 0x44).
func SparsityBytes(rows, bytes int) int { return atoms.SparsityBytes(rows, bytes) }

// SparsityMap declares a parameter for the sparsity metadata of the tiles of a. The tensor map
// copies whole atoms as bytes. A row of it covers 128 rows of a, a column eight bytes.
func (k *Kernel) SparsityMap(name string, a *TensorMap) *TensorMap {
	k = k.sound()
	atoms := 1
	switch {
	case a == nil || a.k == nil:
		k.fault(&ruleValue,
			"tensor map of sparsity map %s is a zero value, not created by a builder call", name)
	case a.tile.Rows != atomRows || a.tile.metadataAtoms() < 1 ||
		a.tile.RowBytes()%(a.tile.storedPerByte()*atomRowBytes) != 0:
		k.fault(&ruleShape,
			"sparsity map %s does not fit tiles of %s, expected %d rows of a multiple of %d bytes",
			name, a.tile, atomRows, a.tile.storedPerByte()*atomRowBytes)
	default:
		atoms = a.tile.metadataAtoms()
	}
	return k.TensorMap(name, isa.U64, Box{Rows: 1, Cols: atomRows * atomRowBytes / 8 * atoms},
		NoSwizzle)
}

// Sparsity reserves tensor memory columns for the sparsity metadata of one pipeline stage, for
// tiles of a.
func (t *TMEM) Sparsity(a *TensorMap) *TMEM {
	if t.kernel() == nil {
		return t
	}
	if a == nil || a.k == nil {
		t.k.fault(&ruleValue,
			"tensor map in Sparsity is a zero value, not created by a builder call")
		return t
	}
	t.placed = atomRowBytes / 4 * a.tile.metadataAtoms()
	t.sparsity = t.k.columns(t.placed)
	t.k.tmem.plans(t.sparsity, t.placed, "%s, sparsity metadata of A", t.name)
	return t
}

// SparseScaledMMA is ScaledMMA for a sparse A operand x, which stores two of each four adjacent
// elements in a row (pairs of elements, if two 4-bit elements share a byte). The sparsity metadata
// comes from a SparsityMap, the tiles of y have twice as many columns, and b must come from
// [BlockScale.Sparse]. Types of 4 bits that share bytes need sm_100a, sm_103a or sm_110a.
func (a *AccumulatorStage) SparseScaledMMA(b BlockScale,
	x, sparsity, y, scaleX, scaleY SharedTile) {
	a.scaled(tensorProduct{x: x, sparsity: &sparsity, y: y,
		scales: &scales{BlockScale: b, x: scaleX, y: scaleY}})
}

// place returns the tensor memory column of the metadata of a step, relative to the first column.
// It is an even number.
func (p *tensorProduct) place(step int) int {
	if p.x.wide() > 8 {
		return step &^ 1
	}
	return 2 * step
}

// fitsMetadata reports whether a tile can be the sparsity metadata of x, and records the reason if
// not.
func (a *AccumulatorStage) fitsMetadata(x, sparsity SharedTile) bool {
	k := a.t.k
	atoms := x.metadataAtoms()
	switch {
	case x.turned:
		k.fault(&ruleShape, "A operand %s of a sparse MMA cannot be transposed", x)
	case sparsity.at.k == nil || sparsity.Type != isa.U64 || sparsity.Rows != 1 ||
		sparsity.Cols != atomRows*atomRowBytes/8*atoms:
		k.fault(&ruleShape, "sparsity metadata of %s is in %s, expected a tile of its SparsityMap",
			x.Tile, sparsity.Tile)
	case sparsity.stage == nil:
		k.fault(&ruleProtocol,
			"sparsity metadata of %s belongs to no pipeline stage: nothing waits for the MMA before it is overwritten",
			x.Tile)
	case a.t.placed != atomRowBytes/4*atoms:
		k.fault(&ruleProtocol,
			"%d columns of tensor memory are reserved for the sparsity metadata of %s, expected %d; call Sparsity when the accumulators are declared",
			a.t.placed, x.Tile, atomRowBytes/4*atoms)
	default:
		return true
	}
	return false
}

// copyMetadata copies the atoms of a metadata tile into adjacent columns of tensor memory.
func (k *Kernel) copyMetadata(from SharedTile, to Reg[U32]) {
	d := k.atomDescriptor(from)
	for atom := range from.Bytes() / (atomRows * atomRowBytes) {
		k.ins("tcgen05.cp."+k.tmem.group()+".128x128b", tensorAddress(k, to.AddI(int64(4*atom))),
			d.AddI(int64(atomRows*atomRowBytes*atom>>4)).in(k))
	}
}

// atomDescriptor returns the descriptor of a tile of atoms for tcgen05.cp: no swizzle, with eight
// consecutive rows of 16 bytes.
func (k *Kernel) atomDescriptor(t SharedTile) Reg[U64] {
	return k.descriptor(t.at, 1<<46|uint64(128>>4)<<32|1<<16)
}
