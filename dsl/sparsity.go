// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl

import (
	"github.com/ptxdsl/ptxdsl/isa"
)

// What tells the zeros of a sparse matrix goes to tensor memory in atoms of 128 rows by 16 bytes, for 64 bytes of what the matrix keeps of a row, or 128 where
// numbers have 16 or 32 bits: a lane for each row, and two columns for each instruction, or one (PTX 9.1, 9.7.16.10.8).
const (
	placeRows  = 128
	placeBytes = 16
)

// told is how many bytes that a sparse tile keeps a byte of its places tells about.
func (t Tile) told() int {
	if t.wide() > 8 {
		return 8
	}
	return 4
}

// placeAtoms is how many atoms tell the zeros of 128 rows of a tile.
func (t Tile) placeAtoms() int { return t.RowBytes() / (t.told() * placeBytes) }

// SparsityOffset is where a byte of what tells the zeros of a row lies in global memory, if each row has so many of them, for numbers of
// a type. There is a byte for each four numbers that the row keeps, each eight of 4 bits that are packed, and each two of TF32: four bits for
// four neighbours, which are numbers, or pairs of packed ones, or halves of TF32. They are the places of the first and second that is kept of the four, of
// which the first is lower; of TF32 they are 0x4 where the first of two numbers is kept, and 0xe where the second is. Like scale factors they are
// kept in atoms, of 128 rows by 16 bytes: one behind the other along a row, then row by row of atoms. Within an atom a row's 16 bytes lie together, but
// for types of 16 and 32 bits: there two rows, eight apart, share the 32 bytes of both by halves of words.
func SparsityOffset(t isa.Type, row, b, bytes int) int {
	atoms := (bytes + placeBytes - 1) / placeBytes // along a row
	line, in := row%placeRows, b%placeBytes
	if t.Bits() > 8 {
		lower, word, half := line/8%2, in/4, in/2%2
		line, in = line&^8|half<<3, 4*word+2*lower+in%2
	}
	return placeRows*placeBytes*(row/placeRows*atoms+b/placeBytes) + line*placeBytes + in
}

// SparsityBytes is the bytes of what tells the zeros of so many rows, which are rounded up to whole atoms. The atoms are told where the matrix
// ends too: the places 0 and 1 (the byte 0x44) are as good as any.
func SparsityBytes(rows, bytes int) int {
	high, wide := (rows+placeRows-1)/placeRows, (bytes+placeBytes-1)/placeBytes
	return high * wide * placeRows * placeBytes
}

// SparsityMap is a parameter for what tells the zeros of the tiles of a: the tensor map moves whole atoms, as bytes. Its rows count 128 rows
// of a, its columns eight bytes.
func (k *Kernel) SparsityMap(name string, a *TensorMap) *TensorMap {
	k = k.sound()
	atoms := 1
	switch {
	case a == nil || a.k == nil:
		k.fault(&ruleValue, "a sparsity map %s of a tensor map that no builder call made", name)
	case a.tile.Rows != placeRows || a.tile.placeAtoms() < 1 || a.tile.RowBytes()%(a.tile.told()*placeBytes) != 0:
		k.fault(&ruleShape, "a sparsity map %s for tiles of %s; %d rows of a multiple of %d bytes are expected", name, a.tile, placeRows, a.tile.told()*placeBytes)
	default:
		atoms = a.tile.placeAtoms()
	}
	return k.TensorMap(name, isa.U64, Box{Rows: 1, Cols: placeRows * placeBytes / 8 * atoms}, NoSwizzle)
}

// Sparsity takes the columns of tensor memory that tell the zeros of one stage of a pipeline, for tiles of a.
func (t *TMEM) Sparsity(a *TensorMap) *TMEM {
	if t.kernel() == nil {
		return t
	}
	if a == nil || a.k == nil {
		t.k.fault(&ruleValue, "tensor memory for the zeros of a tensor map that no builder call made")
		return t
	}
	t.placed = placeBytes / 4 * a.tile.placeAtoms()
	t.places = t.k.columns(t.placed)
	return t
}

// SparseScaledMMA is ScaledMMA of a matrix x of which half is zero and left out: of each four neighbours in a row, which are pairs of numbers
// where two of 4 bits share a byte, x has two. Places, from a SparsityMap, tell which. Tiles of y have twice as many columns, and
// the scaling is a Sparse one. Types of 4 bits that share bytes need sm_100a, sm_103a or sm_110a.
func (a *AccumulatorStage) SparseScaledMMA(b BlockScale, x, places, y, scaleX, scaleY SharedTile) {
	a.scaled(tensorProduct{x: x, places: &places, y: y, scales: &scales{BlockScale: b, x: scaleX, y: scaleY}})
}

// place is the column, counted from the first, that tells the zeros of a step: an even one.
func (p *tensorProduct) place(step int) int {
	if p.x.wide() > 8 {
		return step &^ 1
	}
	return 2 * step
}

// fitsPlaces reports what keeps places from telling the zeros of x.
func (a *AccumulatorStage) fitsPlaces(x, places SharedTile) bool {
	k := a.t.k
	atoms := x.placeAtoms()
	switch {
	case x.turned:
		k.fault(&ruleShape, "sparse MMA of %s; the first factor lies as it is read", x)
	case places.at.k == nil || places.Type != isa.U64 || places.Rows != 1 || places.Cols != placeRows*placeBytes/8*atoms:
		k.fault(&ruleShape, "the zeros of %s are told by %s; a tile of its SparsityMap is expected", x.Tile, places.Tile)
	case places.stage == nil:
		k.fault(&ruleProtocol, "the zeros of %s are told by a tile that belongs to no stage of a pipeline: nothing would wait for it", x.Tile)
	case a.t.placed != placeBytes/4*atoms:
		k.fault(&ruleProtocol, "%d columns of tensor memory tell the zeros of %s, which takes %d; say Sparsity when the accumulators are made", a.t.placed, x.Tile, placeBytes/4*atoms)
	default:
		return true
	}
	return false
}

// copyPlaces copies the atoms of a tile that tells zeros into tensor memory, side by side.
func (k *Kernel) copyPlaces(from SharedTile, to Reg[U32]) {
	d := k.atomDescriptor(from)
	for atom := range from.Bytes() / (placeRows * placeBytes) {
		k.ins("tcgen05.cp."+k.tmem.group()+".128x128b", tensorAddress(k, to.AddI(int64(4*atom))), d.AddI(int64(placeRows*placeBytes*atom>>4)).in(k))
	}
}

// atomDescriptor is the descriptor of a tile of atoms for tcgen05.cp: no swizzle, and eight rows of 16 bytes each follow one another.
func (k *Kernel) atomDescriptor(t SharedTile) Reg[U64] {
	return k.descriptor(t.at, 1<<46|uint64(128>>4)<<32|1<<16)
}
