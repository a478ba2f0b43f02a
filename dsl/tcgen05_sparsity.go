// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl

import (
	"github.com/ptxdsl/ptxdsl/dsl/internal/atoms"
	"github.com/ptxdsl/ptxdsl/isa"
)

// The size of an atom of sparsity metadata.
const (
	atomRows     = atoms.SparsityRows
	atomRowBytes = atoms.SparsityRowBytes
)

// storedPerByte returns the number of bytes of a sparse tile that one byte of metadata describes.
func (t Tile) storedPerByte() int {
	if t.elementBits() > 8 {
		return 8
	}
	return 4
}

// metadataAtoms returns the number of atoms that hold the metadata of 128 rows of the tile.
func (t Tile) metadataAtoms() int { return t.RowBytes() / (t.storedPerByte() * atomRowBytes) }

// SparsityOffset returns the byte offset in global memory of byte b of the sparsity metadata of
// the given row, for elements of type t. bytes is the number of metadata bytes per row.
//
// One metadata byte describes four stored elements, eight stored 4-bit elements that are packed,
// or two stored TF32 elements. Each four bits describe a group of four elements of the dense
// matrix (pairs of packed elements, halves of TF32): the indices of the first and the second
// stored element, the lower one first. For TF32 they are 0x4 if the first of two elements is
// stored and 0xe if the second is.
//
// As with scale factors, metadata is stored in atoms of 128 rows by 16 bytes, in row-major order.
// Within an atom the 16 bytes of a row are contiguous, except for types of 16 and 32 bits: there
// two rows, eight apart, interleave 16-bit words in 32 bytes.
func SparsityOffset(t isa.Type, row, b, bytes int) int {
	return atoms.SparsityOffset(t.Bits() > 8, row, b, bytes)
}

// SparsityBytes returns the size in bytes of a matrix's sparsity metadata, with the given numbers
// of rows and of metadata bytes per row, rounded up to whole atoms. Metadata in the padding must
// be valid too: use the indices 0 and 1 (the byte 0x44).
func SparsityBytes(rows, bytes int) int { return atoms.SparsityBytes(rows, bytes) }

// SparsityMap declares a parameter for the sparsity metadata of the tiles of a. The tensor map
// copies whole atoms as bytes. A row of the map describes 128 rows of a, and a column consists of
// eight bytes.
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

// Sparsity reserves tensor memory columns for the sparsity metadata of one pipeline stage, which
// holds tiles of a.
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
	t.sparsity = t.k.reserveColumns(t.placed)
	t.k.tmem.addPlan(t.sparsity, t.placed, "%s, sparsity metadata of A", t.name)
	return t
}

// SparseScaledMMA adds a product as ScaledMMA does, for a sparse A operand x, which stores two of
// each four adjacent elements in a row (pairs of elements, if two 4-bit elements share a byte).
// sparsity is a tile of a SparsityMap, the tiles of y have twice as many columns as x, and b must
// come from [BlockScale.Sparse]. Types of 4 bits that share bytes need sm_100a, sm_103a or
// sm_110a.
func (a *AccumulatorStage) SparseScaledMMA(b BlockScale,
	x, sparsity, y, scaleX, scaleY SharedTile) {
	a.issueScaled(tensorProduct{x: x, sparsity: &sparsity, y: y,
		scales: &scales{BlockScale: b, x: scaleX, y: scaleY}})
}

// metadataColumn returns the tensor memory column of a step's metadata, relative to the first
// metadata column. It is an even number.
func (p *tensorProduct) metadataColumn(step int) int {
	if p.x.elementBits() > 8 {
		return step &^ 1
	}
	return 2 * step
}

// checkMetadata reports whether a tile can be the sparsity metadata of x, and records the reason
// if not.
func (a *AccumulatorStage) checkMetadata(x, sparsity SharedTile) bool {
	k := a.t.k
	atoms := x.metadataAtoms()
	switch {
	case x.isTransposed:
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

// copyMetadata emits the copies of a metadata tile's atoms to adjacent columns of tensor memory.
func (k *Kernel) copyMetadata(from SharedTile, to Reg[U32]) {
	d := k.atomDescriptor(from)
	for atom := range from.Bytes() / (atomRows * atomRowBytes) {
		k.ins("tcgen05.cp."+k.tmem.ctaGroup()+".128x128b", tensorAddress(k, to.AddI(int64(4*atom))),
			d.AddI(int64(atomRows*atomRowBytes*atom>>4)).in(k))
	}
}

// atomDescriptor returns the shared-memory descriptor for tcgen05.cp of a non-swizzled tile whose
// 8x16-byte blocks are contiguous: bit 46 is constant, and the stride between blocks is 128
// bytes.
func (k *Kernel) atomDescriptor(t SharedTile) Reg[U64] {
	return k.descriptor(t.at, 1<<46|uint64(128>>4)<<32|1<<16)
}
