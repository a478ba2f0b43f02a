// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package blackwell

import (
	"errors"
	"fmt"
	"math/bits"

	"github.com/ptxdsl/ptxdsl/ir"
)

// tensor is the tensor memory of a block: 128 lanes of 512 columns of 32 bits. An address has the lane in its upper half.
type tensor struct {
	cells         [128][512]uint32
	base, columns int // what is allocated
}

func (t *tensor) clear() {
	for i := range t.cells {
		for j := range t.cells[i] {
			t.cells[i][j] = 0xffffffff // NaN, as a number and as a factor
		}
	}
}

// cell is a cell so many lanes and columns from an address.
func (t *tensor) cell(at uint64, lane, column int) (*uint32, error) {
	lane, column = lane+int(at>>16), column+int(at&0xffff)
	if lane > 127 || column < t.base || column >= t.base+t.columns {
		return nil, fmt.Errorf("lane %d, column %d of tensor memory is not allocated", lane, column)
	}
	return &t.cells[lane][column], nil
}

// tensors are the instructions of tcgen05.
func (k *kernel) tensors(s *step) error {
	switch s.op[1] {
	case "fence::before_thread_sync", "fence::after_thread_sync", "wait::ld", "wait::st", "relinquish_alloc_permit":
		s.run = func(*warp, uint32) (effect, error) { return goOn, nil }
		return nil
	case "alloc", "dealloc":
		return k.allocation(s)
	case "ld", "st":
		return k.rows(s)
	case "cp":
		return k.tensorFill(s)
	case "commit":
		return k.commit(s)
	case "mma":
		return k.product(s)
	}
	return errModel
}

// blocks are those that an instruction works on: its own, or both of a pair.
func (s *step) blocks(w *warp) ([]*block, error) {
	all := w.b.c.blocks
	if !s.has("cta_group::2") {
		return all[w.b.rank:][:1], nil
	}
	if len(all) < 2 {
		return nil, errors.New("a pair of blocks in a cluster of one")
	}
	return all[w.b.rank&^1:][:2], nil
}

func (k *kernel) allocation(s *step) error {
	src, err := k.sources(s.in.Args)
	if err != nil {
		return err
	}
	gives := s.op[1] == "dealloc"
	s.run = func(w *warp, lanes uint32) (effect, error) {
		t := &w.b.tensor
		at, err := w.one(lanes, src[0])
		if err != nil {
			return goOn, err
		}
		n := int(src[1](w, 0))
		switch {
		case n < 32 || n > 512 || n&(n-1) != 0:
			return goOn, fmt.Errorf("%d columns", n)
		case gives && (t.columns != n || t.base != int(at)):
			return goOn, fmt.Errorf("%d columns from %#x on; %d were taken, from %#x on", n, at, t.columns, t.base)
		case gives:
			t.columns = 0
			return goOn, nil
		case t.columns != 0:
			return goOn, errors.New("columns are taken twice")
		}
		t.base, t.columns = 512-n, n // not zero, where that can be
		b, err := w.place(at, 4, false)
		if err == nil {
			put(b, uint64(t.base))
		}
		return goOn, err
	}
	return nil
}

// rows are tcgen05.ld and st of the shape 32x32b: a lane has a row, and a register for each column.
func (k *kernel) rows(s *step) error {
	if !s.has("32x32b") || s.has("pack::16b") || s.has("unpack::16b") {
		return errModel
	}
	loads := s.op[1] == "ld"
	address, data := &s.in.Args[0], &s.in.Args[1]
	if loads {
		address, data = data, address
	}
	at, err := k.source(address)
	if err != nil {
		return err
	}
	regs, err := k.sources(vector(data))
	to := targets(data)
	s.run = func(w *warp, lanes uint32) (effect, error) {
		base, err := w.one(lanes, at)
		if err != nil {
			return goOn, err
		}
		// A warp reaches a quarter of the lanes, and the address names the first of them.
		if int(base>>16) != w.index%4*32 {
			return goOn, fmt.Errorf("warp %d at lane %d of tensor memory", w.index, base>>16)
		}
		for l := range each(lanes) {
			for i := range regs {
				c, err := w.b.tensor.cell(base, l, i)
				switch {
				case err != nil:
					return goOn, err
				case !loads:
					*c = uint32(regs[i](w, l))
				case to[i] >= 0:
					w.regs[to[i]][l] = uint64(*c)
				}
			}
		}
		return goOn, nil
	}
	return err
}

// A spread is where tcgen05.cp puts the rows of a matrix: row i goes to these lanes.
func spread(s *step) (rows, bytes int, lanes func(row int) []int, err error) {
	four := func(from int) func(int) []int {
		return func(row int) []int { return []int{row, row + 32, row + 64, row + 96}[:from] }
	}
	switch {
	case s.has("128x256b"):
		return 128, 32, func(row int) []int { return []int{row} }, nil
	case s.has("128x128b"):
		return 128, 16, func(row int) []int { return []int{row} }, nil
	case s.has("4x256b"):
		return 4, 32, func(row int) []int { return []int{32 * row} }, nil
	case s.has("64x128b") && s.has("warpx2::02_13"):
		return 64, 16, func(row int) []int { return []int{row, row + 64} }, nil
	case s.has("64x128b") && s.has("warpx2::01_23"):
		return 64, 16, func(row int) []int { return []int{row/32*64 + row%32, row/32*64 + row%32 + 32} }, nil
	case s.has("32x128b") && s.has("warpx4"):
		return 32, 16, four(4), nil
	}
	return 0, 0, nil, errModel
}

// tensorFill is tcgen05.cp: each block copies from its own shared memory to its own tensor memory.
func (k *kernel) tensorFill(s *step) error {
	if s.starting("b8x16") != "" || s.has("b8x16") {
		return errModel
	}
	rows, bytes, where, err := spread(s)
	if err != nil {
		return err
	}
	src, err := k.sources(s.in.Args)
	s.run = func(w *warp, lanes uint32) (effect, error) {
		l := bits.TrailingZeros32(lanes)
		blocks, err := s.blocks(w)
		if err != nil || bits.OnesCount32(lanes) != 1 {
			return goOn, errors.Join(err, fmt.Errorf("%d lanes copy", bits.OnesCount32(lanes)))
		}
		m, err := decodeMatrix(src[1](w, l))
		if err != nil {
			return goOn, err
		}
		for _, b := range blocks {
			for row := range rows {
				for column := range bytes / 4 {
					from, _, err := w.b.c.shared(uint64(b.rank)<<rankShift|m.along(row, 4*column), 4)
					if err != nil {
						return goOn, err
					}
					for _, lane := range where(row) {
						c, err := b.tensor.cell(src[0](w, l), lane, column)
						if err != nil {
							return goOn, err
						}
						*c = uint32(word(from))
					}
				}
			}
		}
		return goOn, nil
	}
	return err
}

// commit tells barriers that all is done: at the same place in each block that the mask names, or where the address says.
func (k *kernel) commit(s *step) error {
	src, err := k.sources(s.in.Args)
	many := s.has("multicast::cluster")
	s.run = func(w *warp, lanes uint32) (effect, error) {
		l := bits.TrailingZeros32(lanes)
		if _, err := s.blocks(w); err != nil || bits.OnesCount32(lanes) != 1 {
			return goOn, errors.Join(err, fmt.Errorf("%d lanes commit", bits.OnesCount32(lanes)))
		}
		at := src[0](w, l)
		if !many {
			return goOn, w.b.c.arrive(at, 1, 0, 0)
		}
		for rank := range w.b.c.blocks {
			if src[1](w, l)>>rank&1 == 1 {
				if err := w.b.c.arrive(at&(1<<rankShift-1)|uint64(rank)<<rankShift, 1, 0, 0); err != nil {
					return goOn, err
				}
			}
		}
		return goOn, nil
	}
	return err
}

// operands are those of tcgen05.mma.
type operands struct {
	d, a, b, places, order, scaleA, scaleB, used source
	leftInTensor                                 bool
}

func (k *kernel) operands(s *step) (o operands, err error) {
	args := s.in.Args
	next := func() source {
		if err != nil || len(args) == 0 {
			err = errors.Join(err, errModel)
			return nil
		}
		var x source
		x, err = k.source(&args[0])
		args = args[1:]
		return x
	}
	o.d = next()
	o.leftInTensor = len(args) > 0 && args[0].Kind == ir.Address
	o.a, o.b = next(), next()
	if s.has("sp") {
		o.places = next()
	}
	o.order = next()
	if s.has("block_scale") {
		o.scaleA, o.scaleB = next(), next()
	}
	o.used = next()
	if err == nil && len(args) > 0 {
		err = errModel // lanes that are left out, sums that are scaled
	}
	return o, err
}
