// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl

import (
	"fmt"
	"strconv"

	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
)

// A Swizzle permutes the 16-byte units of a tile in shared memory so that a column access of
// eight rows has no bank conflicts. It is named by the number of bytes in a row: the index of a
// unit in the row is XORed with the row index, within a period of eight rows. The TMA, the
// descriptors of wgmma and tcgen05, and computed addresses all use it.
type Swizzle int

// The swizzle modes of the TMA.
const (
	NoSwizzle  Swizzle = 0
	Swizzle32  Swizzle = 32
	Swizzle64  Swizzle = 64
	Swizzle128 Swizzle = 128
)

// String returns a description of the swizzle for messages.
func (s Swizzle) String() string {
	if s == NoSwizzle {
		return "no swizzle"
	}
	return fmt.Sprintf("a swizzle of %d bytes", int(s))
}

// mask returns the address bits that the swizzle changes: each is XORed with the bit three
// positions higher.
func (s Swizzle) mask() int {
	switch s {
	case Swizzle32:
		return 0x10
	case Swizzle64:
		return 0x30
	case Swizzle128:
		return 0x70
	}
	return 0
}

// Apply returns the byte offset at which the swizzle places the byte at the given offset. The
// offset is relative to an address that is a multiple of Period.
func (s Swizzle) Apply(offset int) int { return offset ^ offset>>3&s.mask() }

// Period returns the number of bytes after which the swizzle pattern repeats. The address of a
// tile must be a multiple of Period.
func (s Swizzle) Period() int {
	if s == NoSwizzle {
		return 16
	}
	return 8 * int(s)
}

// A Tile is the shape of a row-major matrix in shared memory. A swizzled tile whose rows are
// longer than the swizzle is stored as a sequence of slabs, each as wide as the swizzle.
type Tile struct {
	Type       isa.Type
	Rows, Cols int
	Swizzle    Swizzle
	Pad        int // bytes of padding after each row of a tile without swizzle
	// Padded stores sixteen 4-bit elements in 16 bytes, as MMAs with operands of different widths
	// require. The elements fill the lower bytes; the TMA leaves the upper bytes unchanged (PTX
	// ISA 9.1, section 5.5.1). Elements of 6 bits are always stored in this way.
	Padded bool
}

// elementBits returns the number of bits that an element occupies in shared memory.
func (t Tile) elementBits() int {
	if n := t.Type.Bits(); !t.Padded && n != 6 {
		return n
	}
	return 8
}

// RowBytes returns the size of a row in bytes, without its padding.
func (t Tile) RowBytes() int { return t.Cols * t.elementBits() / 8 }

// Slabs returns the number of slabs of the tile, which is 1 without a swizzle.
func (t Tile) Slabs() int {
	if t.Swizzle == NoSwizzle {
		return 1
	}
	return (t.RowBytes() + int(t.Swizzle) - 1) / int(t.Swizzle)
}

// Pitch returns the distance in bytes between consecutive rows of a slab.
func (t Tile) Pitch() int {
	if t.Swizzle != NoSwizzle {
		return int(t.Swizzle)
	}
	return t.RowBytes() + t.Pad
}

// SlabBytes returns the size of a slab in bytes.
func (t Tile) SlabBytes() int { return t.Rows * t.Pitch() }

// Bytes returns the size of the tile in bytes.
func (t Tile) Bytes() int { return t.Slabs() * t.SlabBytes() }

// CopyBytes returns the number of bytes that a copy of the tile completes on an mbarrier: the
// size of the elements without any padding.
func (t Tile) CopyBytes() int { return t.Rows * t.Cols * t.Type.Bits() / 8 }

// Align returns the alignment in bytes that the tile's address must have.
func (t Tile) Align() int { return max(16, t.Swizzle.Period()) }

// Offset returns the byte offset of an element from the start of the tile, or of its first bit for
// elements smaller than a byte.
func (t Tile) Offset(row, col int) int { return t.offset(row, col, t.SlabBytes()) }

func (t Tile) offset(row, col, slabBytes int) int {
	b := col * t.Type.Bits() / 8
	if t.elementBits() != t.Type.Bits() {
		b = col/16*16 + col%16*t.Type.Bits()/8
	}
	if t.Swizzle == NoSwizzle {
		return row*t.Pitch() + b
	}
	slab := b / int(t.Swizzle)
	return slab*slabBytes + t.Swizzle.Apply(row*t.Pitch()+b%int(t.Swizzle))
}

// DescriptorOffset returns the number of bytes by which a matrix descriptor is advanced to column
// col: the byte offset of the column in the first row, without the swizzle.
func (t Tile) DescriptorOffset(col int) int { return t.rowOffset(col, t.SlabBytes()) }

func (t Tile) rowOffset(col, slabBytes int) int {
	b := col * t.elementBits() / 8
	if t.Swizzle == NoSwizzle {
		return b
	}
	return b/int(t.Swizzle)*slabBytes + b%int(t.Swizzle)
}

// String returns a description of the tile, such as "128x64 .bf16 with a swizzle of 128 bytes".
func (t Tile) String() string {
	s := fmt.Sprintf("%dx%d %s", t.Rows, t.Cols, t.Type)
	if t.Padded {
		s += ", padded,"
	}
	if t.Swizzle != NoSwizzle {
		s += " with " + t.Swizzle.String()
	}
	return s
}

// check returns a description of the problem if the tile is invalid, else "".
func (t Tile) check() string {
	switch {
	case t.Rows < 1 || t.Cols < 1 || t.Type.Bits() == 0 || t.Type == isa.Predicate:
		return fmt.Sprintf(
			"tile has the size %dx%d, expected at least one row and one column, and an element type other than .pred",
			t.Rows, t.Cols)
	case t.Cols*t.Type.Bits()%8 != 0:
		return fmt.Sprintf("%s: a row is not a multiple of 8 bits", t)
	case t.Padded && t.Type.Bits() != 4 && t.Type.Bits() != 6:
		return fmt.Sprintf("%s: only elements of 4 and 6 bits can be padded", t)
	case t.elementBits() != t.Type.Bits() && t.Cols%16 != 0:
		return fmt.Sprintf("%s: a tile of padded elements must have a multiple of 16 columns", t)
	case t.Swizzle != NoSwizzle && t.Swizzle.mask() == 0:
		return fmt.Sprintf("%s: the swizzle must be 32, 64 or 128 bytes", t)
	case t.Pad < 0 || t.Pad*8%t.elementBits() != 0:
		return fmt.Sprintf(
			"%s: the padding is %d bytes per row, expected a multiple of the element size", t,
			t.Pad)
	case t.Swizzle != NoSwizzle && t.Pad != 0:
		return fmt.Sprintf("%s: a tile can have a swizzle or padding, not both", t)
	case t.Swizzle != NoSwizzle && t.RowBytes()%16 != 0:
		return fmt.Sprintf("%s: a row has %d bytes, expected a multiple of 16", t, t.RowBytes())
	case t.Swizzle != NoSwizzle && t.RowBytes() > int(t.Swizzle) &&
		t.RowBytes()%int(t.Swizzle) != 0:
		return fmt.Sprintf("%s: a row has %d bytes, expected a multiple of the swizzle", t,
			t.RowBytes())
	}
	return ""
}

// A SharedTile is a tile at an address in the shared memory of the block.
type SharedTile struct {
	Tile
	at           Addr
	stage        *Stage // stage that contains the tile, or nil
	isTransposed bool   // the tile is a transposed operand; see Transposed
	slab         int    // bytes between slabs if the tile is a part of a larger tile, else 0
	cover        *ir.PipelineTile
	// count is the number of contiguous tiles, of which this is the first, or 0 for a tile that
	// At returned.
	count int
	// halved is set for scale factors of 64 or 192 rows. half is then the offset in tensor memory
	// columns within the atom; see ScaleHalf.
	halved bool
	half   Reg[U32]
	from   *TensorMap // tensor map of a tile of a pipeline, or nil
}

// SlabBytes returns the distance in bytes between slabs.
func (t SharedTile) SlabBytes() int {
	if t.slab != 0 {
		return t.slab
	}
	return t.Tile.SlabBytes()
}

// Offset returns the byte offset of an element from the start of the tile; see [Tile.Offset].
func (t SharedTile) Offset(row, col int) int { return t.offset(row, col, t.SlabBytes()) }

// DescriptorOffset returns the number of bytes by which a matrix descriptor is advanced to column
// col; see [Tile.DescriptorOffset].
func (t SharedTile) DescriptorOffset(col int) int { return t.rowOffset(col, t.SlabBytes()) }

// rows returns the tile of n rows at the address at, which must be in the first slab of t.
func (t SharedTile) rows(at Addr, n int) SharedTile {
	t.noteOtherRead()
	t.slab, t.cover = t.SlabBytes(), nil
	t.at, t.Rows = at, n
	return t
}

// SharedTile declares a tile in the shared memory of the block.
func (k *Kernel) SharedTile(name string, t Tile) SharedTile {
	k = k.sound()
	if problem := t.check(); problem != "" {
		k.fault(&ruleShape, "%s", problem)
		t = k.standIn(Tile{Type: isa.B32, Rows: 1, Cols: 4})
	}
	return SharedTile{Tile: t, at: k.SharedBytes(name, t.Bytes(), t.allocAlign())}
}

// allocAlign returns the alignment of a tile's allocation: at least 128 bytes, as the TMA
// requires, or less for tiles with padded rows.
func (t Tile) allocAlign() int {
	if t.Pad == 0 {
		return max(128, t.Align())
	}
	return t.Align()
}

// stride returns the distance in bytes between contiguous tiles.
func (t Tile) stride() int {
	return (t.Bytes() + t.allocAlign() - 1) / t.allocAlign() * t.allocAlign()
}

// Addr returns the address of the tile's first byte.
func (t SharedTile) Addr() Addr {
	t.noteAddress()
	t.noteOtherRead()
	return t.at
}

// noteAddress records that threads have an address in the tile, and may therefore read the tile.
func (t SharedTile) noteAddress() {
	if t.stage != nil {
		t.stage.addressUsed = true
	}
}

// Kernel returns the kernel that the tile belongs to.
func (t SharedTile) Kernel() *Kernel { return t.at.k }

// RowsFrom returns n rows of the tile, starting at a row that is known at build time. In a
// swizzled tile the row must be a multiple of eight.
func (t SharedTile) RowsFrom(row, n int) SharedTile {
	if t.at.k != nil &&
		(row < 0 || n < 1 || row+n > t.Rows || t.Swizzle != NoSwizzle && row%8 != 0) {
		t.at.k.fault(&ruleShape, "Rows selects rows %d to %d of %s, expected groups of eight rows",
			row, row+n-1, t.Tile)
		return t
	}
	return t.rows(t.at.Plus(int64(row*t.Pitch())), n)
}

// Element returns the tile as an array that starts at an element, with the swizzle applied.
// LoadFirst and StoreFirst access the element; LoadFirstVec and StoreFirstVec access adjacent
// elements in the same 16 bytes.
func Element[T Scalar](t SharedTile, row, col Reg[U32]) Array[T] {
	k := t.at.k
	each := int(size(TypeOf[T]()))
	switch {
	case k == nil:
		return Array[T]{}
	case t.elementBits() != 8*each || t.Type.Bits() != 8*each:
		k.fault(&ruleShape, "element of %s is accessed as %s, whose size of %d bits differs", t.Tile,
			TypeOf[T](), 8*each)
		return Array[T]{at: t.at}
	}
	if row.IsConstant() && (row.bits < 0 || row.bits >= int64(t.Rows)) || col.IsConstant() &&
		(col.bits < 0 || col.bits >= int64(t.Cols)) {
		k.fault(&ruleShape, "out of bounds: an element of %s is accessed at row %s and column %s",
			t.Tile, formatIndex(row), formatIndex(col))
		return Array[T]{at: t.at}
	}
	t.annotateRows(row, 1, t.Rows, ir.Row)
	t.annotateRows(col, 1, t.Cols, ir.Col)
	at := t.Addr()
	if n := int(t.Swizzle) / each; t.Slabs() > 1 {
		at = at.add(col.DivI(int64(n)).MulI(int64(t.SlabBytes())))
		col = col.RemI(int64(n))
	}
	off := row.MadI(int64(t.Pitch()), col.MulI(int64(each)))
	if mask := t.Swizzle.mask(); mask != 0 {
		off = off.Xor(off.ShrI(3).AndI(int64(mask)))
	}
	at = at.add(off)
	at.align = 0 // the alignment of the element is not known
	// because of the swizzle, the next 16 bytes of the row are not adjacent
	return Array[T]{at: at, dims: []int{16 / each}}
}

// formatIndex formats a row or column index for messages.
func formatIndex(x Reg[U32]) string {
	if x.IsConstant() {
		return strconv.FormatInt(x.bits, 10)
	}
	return "(unknown)"
}

// At returns the n-th of the contiguous tiles that SharedTiles declares.
func (t SharedTile) At(n Reg[U32]) SharedTile {
	if t.at.k == nil {
		return t
	}
	if t.count > 0 && n.IsConstant() && (n.bits < 0 || n.bits >= int64(t.count)) {
		t.at.k.fault(&ruleShape, "tile index %d is out of bounds: there are %d tiles", n.bits,
			t.count)
		return t
	}
	if t.count > 0 {
		t.annotateRows(n, 1, t.count, ir.Whole)
	}
	base := Array[B8]{at: t.at}
	t.at, t.count = base.At(n.MulI(int64(t.stride()))).at, 0
	return t
}

// Part returns part i of n equal parts of the tile's rows. A Transposed tile is divided into
// groups of whole slabs.
func (t SharedTile) Part(i Reg[U32], n int) SharedTile {
	if t.at.k == nil {
		return t
	}
	if t.isTransposed {
		return t.transposedPart(i, n)
	}
	if n < 1 || t.Rows%n != 0 || t.Swizzle != NoSwizzle && t.Rows/n%8 != 0 {
		t.at.k.fault(&ruleShape,
			"%s is split into %d parts, expected a multiple of eight rows in each", t.Tile, n)
		return t
	}
	if i.IsConstant() && (i.bits < 0 || i.bits >= int64(n)) {
		t.at.k.fault(&ruleShape, "part %d is out of bounds: the tile has %d parts", i.bits, n)
		return t
	}
	t.annotateRows(i, 1, n, ir.Part)
	each := t.Rows / n
	return t.rows(t.at.add(i.MulI(int64(each*t.Pitch()))), each)
}

// transposedPart implements Part for a transposed tile.
func (t SharedTile) transposedPart(i Reg[U32], n int) SharedTile {
	switch {
	case n < 1 || t.Swizzle == NoSwizzle || t.Slabs()%n != 0:
		t.at.k.fault(&ruleShape,
			"%s is split into %d parts, expected a multiple of the swizzle width in each", t, n)
		return t
	case i.IsConstant() && (i.bits < 0 || i.bits >= int64(n)):
		t.at.k.fault(&ruleShape, "part %d is out of bounds: the tile has %d parts", i.bits, n)
		return t
	}
	t.annotateRows(i, 1, n, ir.Part)
	t.noteOtherRead()
	t.slab, t.cover = t.SlabBytes(), nil
	t.at = t.at.add(i.MulI(int64(t.Slabs() / n * t.slab)))
	t.Cols /= n
	return t
}

// SharedTiles declares n contiguous tiles in shared memory, each aligned for the TMA.
// [SharedTile.At] selects one.
func (k *Kernel) SharedTiles(name string, t Tile, n int) SharedTile {
	k = k.sound()
	problem := t.check()
	if problem == "" && n < 1 {
		problem = fmt.Sprintf("array has %d tiles of %s, expected a positive number", n, t)
	}
	if problem != "" {
		k.fault(&ruleShape, "%s", problem)
		t, n = k.standIn(Tile{Type: isa.B32, Rows: 1, Cols: 4}), 1
	}
	return SharedTile{Tile: t, count: n, at: k.SharedBytes(name, n*t.stride(), t.allocAlign())}
}
