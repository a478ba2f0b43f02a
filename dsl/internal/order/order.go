// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package order stores the instructions of a kernel under construction in the order in which they
// are created, and appends them to the basic blocks that contain them.
package order

import (
	"iter"
	"slices"

	"github.com/ptxdsl/ptxdsl/ir"
)

// An Order stores the instructions of a kernel in the order in which they are created, and
// records the block of each. The instruction lists of the blocks are built on demand by Gather,
// usually when all instructions exist and the lengths are known.
type Order struct {
	pages     [][]ir.Instr
	last      []ir.Instr // the last page
	used      int        // number of instructions in last
	before    int        // number of instructions on all pages but the last
	stretches []stretch  // instructions that Gather has not yet appended to their blocks
	page, at  int        // page and index of the first of these instructions
	placed    *ir.Block  // block that was placed last
	from      int        // index of the first stretch after placed was placed
}

// A stretch is a sequence of consecutively created instructions in one block.
type stretch struct {
	block *ir.Block
	n     int
}

// firstPage and longestPage are the capacities of the first page and of the largest page. Each
// page has twice the capacity of the previous page.
const (
	firstPage   = 16
	longestPage = 512
)

// Next returns a new instruction. It must be added to a block with Put before the next call.
func (o *Order) Next() *ir.Instr {
	if o.used == len(o.last) {
		o.addPage()
	}
	o.used++
	return &o.last[o.used-1]
}

// addPage allocates a new page.
//
//go:noinline
func (o *Order) addPage() {
	o.before += len(o.last)
	o.last, o.used = make([]ir.Instr, min(max(2*len(o.last), firstPage), longestPage)), 0
	o.pages = append(o.pages, o.last)
}

// Count returns the number of instructions that have been created.
func (o *Order) Count() int { return o.before + o.used }

// All returns the instructions in the order of creation.
func (o *Order) All() iter.Seq[*ir.Instr] {
	return func(yield func(*ir.Instr) bool) {
		for i, page := range o.pages {
			if i == len(o.pages)-1 {
				page = page[:o.used]
			}
			for j := range page {
				if !yield(&page[j]) {
					return
				}
			}
		}
	}
}

// Put appends the most recently created instruction to a block.
func (o *Order) Put(b *ir.Block) {
	if n := len(o.stretches); n > 0 && o.stretches[n-1].block == b {
		o.stretches[n-1].n++
		return
	}
	o.stretches = append(o.stretches, stretch{b, 1})
}

// Place records that the empty block b becomes the current block, so that instructions of b can
// only be in later stretches.
func (o *Order) Place(b *ir.Block) { o.placed, o.from = b, len(o.stretches) }

// stretchesOf returns the stretches that may contain instructions of block b.
func (o *Order) stretchesOf(b *ir.Block) []stretch {
	if b == o.placed {
		return o.stretches[o.from:]
	}
	return o.stretches
}

// Empty reports whether a block has no instructions.
func (o *Order) Empty(b *ir.Block) bool {
	return len(b.Instrs) == 0 &&
		!slices.ContainsFunc(o.stretchesOf(b), func(s stretch) bool { return s.block == b })
}

// Backward returns the pending instructions of a block, the latest first.
func (o *Order) Backward(b *ir.Block) iter.Seq[*ir.Instr] {
	return func(yield func(*ir.Instr) bool) {
		page, end := len(o.pages)-1, o.used
		for _, s := range slices.Backward(o.stretchesOf(b)) {
			for left := s.n; left > 0; {
				if end == 0 {
					page--
					end = len(o.pages[page])
				}
				some := o.pages[page][max(0, end-left):end]
				left -= len(some)
				end -= len(some)
				for i := len(some) - 1; i >= 0 && s.block == b; i-- {
					if !yield(&some[i]) {
						return
					}
				}
			}
		}
		for _, in := range slices.Backward(b.Instrs) {
			if !yield(in) {
				return
			}
		}
	}
}

// Gather appends the pending instructions to the instruction lists of their blocks.
func (o *Order) Gather() {
	sizes, total := make(map[*ir.Block]int), 0
	for _, s := range o.stretches {
		if _, met := sizes[s.block]; !met {
			sizes[s.block] = len(s.block.Instrs)
			total += len(s.block.Instrs)
		}
		sizes[s.block] += s.n
		total += s.n
	}
	room := make([]*ir.Instr, total)
	for _, s := range o.stretches {
		list := s.block.Instrs
		if n := sizes[s.block]; n > 0 {
			list = append(room[:0:n], list...)
			room, sizes[s.block] = room[n:], 0
		}
		for n := s.n; n > 0; {
			if o.at == len(o.pages[o.page]) {
				o.page, o.at = o.page+1, 0
			}
			some := o.pages[o.page][o.at:]
			some = some[:min(n, len(some))]
			for i := range some {
				list = append(list, &some[i])
			}
			o.at += len(some)
			n -= len(some)
		}
		s.block.Instrs = list
	}
	o.stretches, o.from = o.stretches[:0], 0
}
