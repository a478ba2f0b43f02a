// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl

import (
	"fmt"
	"iter"
	"slices"

	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
)

// A Tensor is a kernel parameter that holds a tensor map for a tensor of one to five dimensions.
// In shared memory a box is a Tile whose rows are along the innermost dimension; the rows of all
// outer dimensions follow each other. The launch passes a map from runtime.Tiled or
// runtime.Im2col. All coordinates are in elements.
type Tensor struct {
	m        *TensorMap // the parameter, with the tile that one box fills
	box      []int      // box sizes, outermost dimension first
	im2col   bool
	rows     bool       // rows are gathered individually; see RowTensor
	gathered *TensorMap // tile of gathered rows in a stage; see GatherFeed
}

// Tensor declares a parameter for a tensor map in tiled mode. The box sizes go from the outermost
// dimension to the innermost, whose elements are contiguous. Elements of a box outside the
// tensor are read as zeros and not written. A box that is wider than its swizzle needs one copy
// per swizzle width; its tile consists of several slabs.
func (k *Kernel) Tensor(name string, t isa.Type, box []int, s Swizzle) *Tensor {
	k = k.sound()
	b := slices.Clone(box)
	problem := ""
	if len(b) < 1 || len(b) > 5 {
		problem = fmt.Sprintf("box has %d dimensions, expected 1 to 5", len(b))
		b = []int{64, 64}
	}
	rows := 1
	for _, n := range b {
		if n < 1 || n > 256 {
			problem = fmt.Sprintf(
				"box has the size %v, expected 1 to 256 elements in each dimension", box)
		}
	}
	if problem == "" {
		for _, n := range b[:len(b)-1] {
			rows *= n
		}
	}
	return k.tensor(name, t, b, rows, s, problem)
}

// Im2col declares a parameter for a tensor map in im2col mode: a tensor of three to five
// dimensions, images first and channels last, from which a copy loads the given numbers of pixels
// and channels. The launch specifies the bounding box.
func (k *Kernel) Im2col(name string, t isa.Type, dimensions, pixels, channels int,
	s Swizzle) *Tensor {
	k = k.sound()
	problem := ""
	switch {
	case dimensions < 3 || dimensions > 5:
		problem = fmt.Sprintf("im2col tensor has %d dimensions, expected 3 to 5", dimensions)
		dimensions = 3
	case pixels < 1 || pixels > 1024 || channels < 1 || channels > 256:
		problem = fmt.Sprintf(
			"im2col box has %d channels and %d pixels, expected 1 to 256 and 1 to 1024", channels,
			pixels)
	}
	box := make([]int, dimensions)
	box[dimensions-1] = channels
	x := k.tensor(name, t, box, pixels, s, problem)
	x.im2col = true
	return x
}

// RowTensor declares a parameter for a tensor map in gather mode (sm_100): a copy gathers or
// scatters four arbitrary rows of a matrix, cols elements of each.
func (k *Kernel) RowTensor(name string, t isa.Type, cols int, s Swizzle) *Tensor {
	k = k.sound()
	x := k.Tensor(name, t, []int{1, cols}, s)
	if x.m.tile.Slabs() > 1 {
		k.fault(&ruleShape, "tensor %s: %s: gathered rows must not be wider than the swizzle", name,
			x.m.tile)
	}
	x.rows = true
	return x
}

// tensor declares a tensor map of any mode. If problem is not empty, it reports the problem and
// replaces invalid sizes by valid ones.
func (k *Kernel) tensor(name string, t isa.Type, box []int, rows int, s Swizzle,
	problem string) *Tensor {
	tile := Tile{Type: t, Rows: rows, Cols: box[len(box)-1], Swizzle: s}
	if problem == "" {
		problem = tile.check()
	}
	switch {
	case problem != "":
	case tile.elementBits() != t.Bits():
		problem = tile.String() + ": only a TensorMap supports padded elements"
	case tile.RowBytes()%16 != 0:
		problem = tile.String() +
			": the innermost dimension of a box must be a multiple of 16 bytes"
	}
	if problem != "" {
		k.fault(&ruleShape, "tensor %s: %s", name, problem)
		tile = k.standIn(Tile{Type: isa.F32, Rows: 8, Cols: 16})
	}
	x := &Tensor{m: k.mapParam(name, tile), box: box}
	x.m.tensor, x.m.boxRows, x.m.boxCols = x, tile.Rows, tile.Cols/tile.Slabs()
	return x
}

// copies returns the copies of a box: for each slab of the tile, the coordinates of the first
// element, innermost first, and the address in shared memory.
func (x *Tensor) copies(t SharedTile, at []Reg[U32]) iter.Seq2[[]Operand, Addr] {
	return func(yield func([]Operand, Addr) bool) {
		for slab := range t.Slabs() {
			part := slices.Clone(at)
			part[len(at)-1] = part[len(at)-1].AddI(int64(slab * x.m.boxCols))
			if !yield(innermostFirst(part), t.at.Plus(int64(slab*t.SlabBytes()))) {
				return
			}
		}
	}
}

// kernel returns the kernel of x, or nil for a zero value.
func (x *Tensor) kernel() *Kernel {
	if x == nil || x.m == nil {
		return nil
	}
	return x.m.k
}

// Tile returns the tile that a box fills in shared memory.
func (x *Tensor) Tile() Tile {
	if x.kernel() == nil {
		return Tile{}
	}
	return x.m.tile
}

// Load starts the copy of a box at the given coordinates, outermost dimension first, and
// completes its bytes on the mbarrier full. Coordinates are signed: a box may start before the
// tensor. The innermost coordinate must be a multiple of 16 bytes; otherwise the hardware raises
// an illegal instruction error. One thread must call it. With a mask, the box is multicast to the
// blocks of the cluster whose bits are set.
func (x *Tensor) Load(to SharedTile, at []Reg[U32], full Barrier, mask ...Reg[U16]) {
	x.load(false, to, at, nil, full, mask)
}

// LoadIm2col starts the copy of a box as Load does, for an Im2col tensor. The offsets are those
// of the filter element, outermost dimension first, one per spatial dimension.
func (x *Tensor) LoadIm2col(to SharedTile, at []Reg[U32], offsets []Reg[U16], full Barrier,
	mask ...Reg[U16]) {
	x.load(true, to, at, offsets, full, mask)
}

func (x *Tensor) load(im2col bool, to SharedTile, at []Reg[U32], offsets []Reg[U16], full Barrier,
	mask []Reg[U16]) {
	k := x.kernel()
	switch {
	case !x.checkTile("loaded into", im2col, to, at):
		return
	case x.im2col && len(offsets) != len(x.box)-2:
		k.fault(&ruleShape, "tensor %s is loaded with %d im2col offsets, expected %d", x.m.name,
			len(offsets), len(x.box)-2)
		return
	case !k.checkBarrier(full):
		return
	}
	mode := ""
	if im2col {
		mode = ".im2col"
	}
	op := fmt.Sprintf("cp.async.bulk.tensor.%dd.%s.global%s.mbarrier::complete_tx::bytes",
		len(x.box), k.copySpace(mask, full), mode)
	if len(mask) > 0 {
		op += ".multicast::cluster"
	}
	signal, group := k.completionBarrier(full)
	op += group
	var more []ir.Operand
	if x.im2col {
		o, _ := k.anyOperand(innermostFirst(offsets))
		more = append(more, o)
	}
	for _, m := range mask {
		more = append(more, m.in(k))
	}
	for from, place := range x.copies(to, at) {
		k.ins(op, append([]ir.Operand{place.in(k), x.m.bracket(from...), signal.in(k)}, more...)...)
	}
}

// Store starts the copy of a box from shared memory to the given coordinates, outermost first. One
// thread must call it, after FenceAsync in all threads that wrote the tile. The copy belongs to the
// thread's next CommitStores.
func (x *Tensor) Store(from SharedTile, at ...Reg[U32]) {
	x.store("cp.async.bulk.tensor.%dd.global.shared::cta%s.bulk_group", from, at)
}

// Reduce starts a copy as Store does, but combines the box with the tensor; see
// [TensorMap.Reduce].
func (x *Tensor) Reduce(how Mod, from SharedTile, at ...Reg[U32]) {
	x.store("cp.reduce.async.bulk.tensor.%dd.global.shared::cta."+string(how)+"%s.bulk_group", from,
		at)
}

func (x *Tensor) store(op string, from SharedTile, at []Reg[U32]) {
	if !checkCreated(x.kernel(), "tensor in Store", from.at.k) {
		return
	}
	mode := ""
	if x.im2col {
		mode = ".im2col_no_offs"
	}
	if !x.checkTile("stored from", x.im2col, from, at) {
		return
	}
	x.m.k.noteFirst(&x.m.k.notes.FirstStore)
	for to, place := range x.copies(from, at) {
		x.m.k.ins(fmt.Sprintf(op, len(x.box), mode), x.m.bracket(to...), place.in(x.m.k))
	}
}

// Prefetch starts a prefetch of a box into the L2 cache. One thread must call it.
func (x *Tensor) Prefetch(at ...Reg[U32]) {
	if x.kernel() == nil {
		return
	}
	nowhere := SharedTile{Tile: x.m.tile, at: Addr{k: x.m.k}}
	if !x.checkTile("prefetched into", false, nowhere, at) {
		return
	}
	for from := range x.copies(nowhere, at) {
		x.m.k.ins(fmt.Sprintf("cp.async.bulk.prefetch.tensor.%dd.L2.global", len(x.box)),
			x.m.bracket(from...))
	}
}

// checkTile reports whether a tile can be copied at the given coordinates, and records the reason
// if not. what describes the copy in messages.
func (x *Tensor) checkTile(what string, pixels bool, t SharedTile, at []Reg[U32]) bool {
	k := x.kernel()
	switch {
	case !checkCreated(k, "tensor in the copy", t.at.k):
	case t.at.k == nil:
		k.fault(&ruleValue,
			"tensor %s is %s a tile that is a zero value, not created by a builder call", x.m.name,
			what)
	case t.Tile != x.m.tile:
		k.fault(&ruleShape, "tensor %s has boxes of %s, but is %s %s", x.m.name, x.m.tile, what,
			t.Tile)
	case x.rows:
		k.fault(&ruleShape, "tensor %s is a RowTensor; copy its rows with Gather and Scatter",
			x.m.name)
	case pixels != x.im2col:
		k.fault(&ruleShape,
			"tensor %s is loaded with the wrong method; use LoadIm2col for an Im2col tensor, and Load for all others",
			x.m.name)
	case len(at) != len(x.box):
		k.fault(&ruleShape, "tensor %s has %d dimensions, got %d coordinates", x.m.name, len(x.box),
			len(at))
	case x.isMisaligned(at[len(at)-1]):
		k.fault(&ruleShape,
			"tensor %s is copied from a misaligned box: the innermost coordinate is element %d of %s, expected a multiple of 16 bytes",
			x.m.name, at[len(at)-1].bits, x.m.tile.Type)
	default:
		return true
	}
	return false
}

// isMisaligned reports whether an innermost coordinate is a constant that is not a multiple of 16
// bytes. Boxes of three or more dimensions and at most 32 bytes are never reported, because their
// map may have interleaved channels, for which any coordinate is valid.
func (x *Tensor) isMisaligned(at Reg[U32]) bool {
	if len(x.box) > 2 && x.m.tile.RowBytes() <= 32 {
		return false
	}
	return at.IsConstant() && at.bits*int64(x.m.tile.elementBits())%128 != 0
}

// innermostFirst returns coordinates in the order of PTX, innermost dimension first.
func innermostFirst[T Scalar](at []Reg[T]) []Operand {
	list := List(at...)
	slices.Reverse(list)
	return list
}

// Feed returns the boxes of x as an input of a Pipeline.
func (x *Tensor) Feed() Feed {
	if x == nil {
		return Feed{}
	}
	return Feed{from: x.m}
}

// LoadStage starts the copy of a box at the given coordinates, outermost dimension first, into a
// stage of Produce.
func (x *Tensor) LoadStage(s *Stage, at ...Reg[U32]) {
	x.loadInStage(s, func(to SharedTile) { x.Load(to, at, s.Full()) })
}

// LoadStageIm2col starts the copy of a box as LoadIm2col does, into a stage of Produce. It loads
// the operand of one step of a convolution that is computed as an implicit GEMM.
func (x *Tensor) LoadStageIm2col(s *Stage, at []Reg[U32], offsets []Reg[U16]) {
	x.loadInStage(s, func(to SharedTile) { x.LoadIm2col(to, at, offsets, s.Full()) })
}

// loadInStage emits the copies into a stage, which one thread executes.
func (x *Tensor) loadInStage(s *Stage, load func(to SharedTile)) {
	if !x.checkStage(s) {
		return
	}
	if to, ok := s.fill(x.m); ok {
		k := x.m.k
		k.When(k.Leader(), func() { load(to) })
	}
}

// InStage returns the tile of the box, or of the gathered rows, in a stage.
func (x *Tensor) InStage(s *Stage) SharedTile {
	if !x.checkStage(s) {
		return SharedTile{}
	}
	if x.gathered != nil {
		return s.Tile(x.gathered)
	}
	return s.Tile(x.m)
}

// checkStage reports whether both the tensor and s were created by builder calls, and records a
// finding if not.
func (x *Tensor) checkStage(s *Stage) bool {
	if !checkCreated(x.kernel(), "tile of the tensor", s.kernel()) {
		return false
	}
	if s.kernel() == nil {
		x.m.k.fault(&ruleValue,
			"tile of tensor %s is in a stage that is a zero value, not created by a builder call",
			x.m.name)
		return false
	}
	return true
}
