// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package emu

import (
	"fmt"
	"math/bits"

	"github.com/ptxdsl/ptxdsl/isa"
)

// Tensor memory of a block has 128 lanes and 512 columns of 32 bits.
const (
	tensorLanes   = 128
	tensorColumns = 512
	tensorUnit    = 32 // allocation granularity in columns
)

// A tensorMemory is the tensor memory of a block. An address has the lane in its upper half and the
// column in its lower half.
type tensorMemory struct {
	cells     [tensorLanes][tensorColumns]uint32
	known     [tensorLanes][tensorColumns]byte // 0xff if a cell is initialized
	held      []tensorRange
	last      int // number of columns of the last allocation
	gaveUp    bool
	requested int // collective allocations and deallocations started by the block
	columns   int // number of columns of the last one
}

// A tensorRange is an allocated range of columns.
type tensorRange struct {
	base, columns int
	in            *command
}

// poison is the value of uninitialized cells, a NaN in all formats that have one.
const poison = 0xffff_ffff

// reset initializes t as the tensor memory of a new block.
func (t *tensorMemory) reset() {
	t.held, t.last, t.gaveUp, t.requested = t.held[:0], 0, false, 0
}

// find returns the first of n free columns. It prefers the highest, so that a kernel that ignores
// the returned address does not work by chance.
func (t *tensorMemory) find(n int) (base int, ok bool) {
	for base = tensorColumns - n; base >= 0; base -= tensorUnit {
		free := true
		for _, r := range t.held {
			free = free && (base+n <= r.base || r.base+r.columns <= base)
		}
		if free {
			return base, true
		}
	}
	return 0, false
}

// take records the allocation of a range of columns.
func (t *tensorMemory) take(r tensorRange) {
	t.held = append(t.held, r)
	t.last = r.columns
	for l := range t.cells {
		clear(t.known[l][r.base : r.base+r.columns])
		for i := r.base; i < r.base+r.columns; i++ {
			t.cells[l][i] = poison
		}
	}
}

// drop frees a range of columns. It returns false if the range is not exactly one allocation.
func (t *tensorMemory) drop(base, columns int) bool {
	for i, r := range t.held {
		if r.base == base && r.columns == columns {
			t.held = append(t.held[:i], t.held[i+1:]...)
			return true
		}
	}
	return false
}

// check returns an error message for an access to n columns of a lane if they are not allocated,
// or "".
func (t *tensorMemory) check(lane, column, n int) string {
	if t != nil && lane >= 0 && lane < tensorLanes {
		for _, r := range t.held {
			if column >= r.base && column+n <= r.base+r.columns {
				return ""
			}
		}
	}
	return fmt.Sprintf("tensor memory out of bounds: lane %d, columns %d to %d; %s", lane, column,
		column+n-1, t)
}

// String describes the allocations.
func (t *tensorMemory) String() string {
	if t == nil || len(t.held) == 0 {
		return "nothing is allocated"
	}
	s := "allocated are columns"
	for i, r := range t.held {
		if i > 0 {
			s += ","
		}
		s += fmt.Sprintf(" %d to %d", r.base, r.base+r.columns-1)
	}
	return s
}

// row returns n cells of a lane, and for each cell 0xff if it is initialized. why is an error
// message if the cells are not allocated, or "".
func (t *tensorMemory) row(lane, column, n int) (cells []uint32, known []byte, why string) {
	if why = t.check(lane, column, n); why != "" {
		return nil, nil, why
	}
	return t.cells[lane][column : column+n], t.known[lane][column : column+n], ""
}

// tensorCell returns a cell of tensor memory, or an error message if the cell is uninitialized.
func (b *block) tensorCell(lane, column int, what string) (uint32, string) {
	c, known, why := b.tensor().row(lane, column, 1)
	switch {
	case why != "":
		return 0, why
	case known[0] == 0:
		return 0, fmt.Sprintf("%s in lane %d, column %d of tensor memory was never written", what,
			lane, column)
	}
	b.tellTensor(EventRead, lane, column, 1)
	return c[0], ""
}

// laneOf and columnOf return the parts of a tensor memory address.
func laneOf(address uint32) int   { return int(address >> 16) }
func columnOf(address uint32) int { return int(address & 0xffff) }

// tensor returns the tensor memory of the block, which it creates on first use.
func (b *block) tensor() *tensorMemory {
	if b.tensorMemory == nil {
		b.tensorMemory = new(tensorMemory)
	}
	return b.tensorMemory
}

// tellTensor reports to observers that the current operation accesses n cells of a lane of the
// block's tensor memory.
func (b *block) tellTensor(kind EventKind, lane, column, n int) {
	g, o := b.grid, b.cluster.queue.running
	if g.observer == nil || o == nil {
		return
	}
	e := &g.event
	*e = Event{
		Kind: kind, Mask: o.threads & -o.threads, Block: uint32(o.warp.block.number()),
		Warp:      uint32(o.warp.index),
		Operation: o.serial, At: &g.addresses, Size: uint64(4 * n), Instr: o.at, Source: o.source,
	}
	e.At[bits.TrailingZeros32(e.Mask)] = Address{isa.Tensor, uint32(b.number()),
		uint64(lane)<<16 | uint64(column)}
	g.observer.Observe(e)
}

// leak reports a fault if a block exits with allocated columns.
func (b *block) leak(w *warp) {
	if b.tensorMemory == nil || len(b.tensorMemory.held) == 0 {
		return
	}
	r := b.tensorMemory.held[0]
	f := w.describeAt(r.in, -1)
	f.Message = fmt.Sprintf(
		"tensor memory leak: the block exits without deallocating %d columns that it allocated",
		r.columns)
	b.fail(f)
}
