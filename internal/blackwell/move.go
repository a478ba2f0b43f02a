// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package blackwell

import (
	"errors"
	"fmt"
	"math/bits"
	"strings"

	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/runtime/device"
)

// moves are copies between memory and registers, and from memory to memory.
func (k *kernel) moves(s *step) error {
	switch {
	case s.op[0] == "ldmatrix":
		return k.ldmatrix(s)
	case s.op[0] == "cp":
		return k.copies(s)
	case s.op[0] == "ld":
		return k.load(s)
	}
	return k.store(s)
}

// place is n bytes at an address of any space.
func (w *warp) place(at uint64, n int, global bool) ([]byte, error) {
	if at%uint64(n) != 0 {
		return nil, errLane
	}
	if global || at >= bottom {
		return w.b.c.d.memory.at(at, n)
	}
	b, _, err := w.b.c.shared(at, n)
	return b, err
}

func (k *kernel) load(s *step) error {
	args, n := s.in.Args, width(s.typ(0))
	to := targets(&args[0])
	src, err := k.source(&args[1])
	if err != nil {
		return err
	}
	param, global := s.has("param"), s.has("global")
	signed := s.typ(0)[0] == 's' && n < 4
	s.run = func(w *warp, lanes uint32) (effect, error) {
		for l := range each(lanes) {
			at := src(w, l)
			var b []byte
			var err error
			if param {
				at -= parameters
				if at+uint64(n*len(to)) > uint64(len(w.b.c.values)) {
					return goOn, fmt.Errorf("a parameter at %d", at)
				}
				b = w.b.c.values[at:][:n*len(to)]
			} else if b, err = w.place(at, n*len(to), global); err != nil {
				return goOn, err
			}
			for i, r := range to {
				switch part := b[n*i:][:n]; {
				case r < 0:
				case n == 16:
					w.wide[r] = [16]byte(part)
				case signed:
					w.regs[r][l] = uint64(int64(word(part))<<(64-8*n)>>(64-8*n)) & (1<<32 - 1)
				default:
					w.regs[r][l] = word(part)
				}
			}
		}
		return goOn, nil
	}
	return nil
}

func (k *kernel) store(s *step) error {
	n := width(s.typ(0))
	at, err := k.source(&s.in.Args[0])
	if err != nil {
		return err
	}
	values, err := k.sources(vector(&s.in.Args[1]))
	if n > 8 {
		return errModel
	}
	global := s.has("global")
	s.run = func(w *warp, lanes uint32) (effect, error) {
		for l := range each(lanes) {
			b, err := w.place(at(w, l), n*len(values), global)
			if err != nil {
				return goOn, err
			}
			for i, v := range values {
				put(b[n*i:][:n], v(w, l))
			}
		}
		return goOn, nil
	}
	return err
}

// ldmatrix knows matrices of 8 rows of 16 bytes, and of sixteen numbers of 4 or 6 bits, which become bytes: lane l points to row l%8 of matrix l/8, and gets 4 bytes of row l/4; or, transposed, numbers of 16 bits
// of column l/4.
func (k *kernel) ldmatrix(s *step) error {
	bits := 8
	switch {
	case s.has("m8n16") && s.typ(0) == "b4x16_p64":
		bits = 4
	case s.has("m8n16") && s.typ(0) == "b6x16_p32":
		bits = 6
	case !s.has("m8n8") || s.typ(0) != "b16":
		return errModel
	}
	to := targets(&s.in.Args[0])
	src, err := k.source(&s.in.Args[1])
	trans := s.has("trans")
	s.run = func(w *warp, lanes uint32) (effect, error) {
		for i, r := range to {
			var rows [8][]byte
			for row := range rows {
				b, err := w.place(src(w, 8*i+row), 16, false)
				if err != nil {
					return goOn, err
				}
				rows[row] = b
			}
			for l := range each(lanes) {
				x := uint64(0)
				for j := range 4 {
					at := (l%4*4 + j) * bits
					x |= word(rows[l/4][at/8:][:(at%8+bits+7)/8]) >> (at % 8) & (1<<bits - 1) << (8 * j)
				}
				if trans {
					x = word(rows[l%4*2][l/4*2:][:2]) | word(rows[l%4*2+1][l/4*2:][:2])<<16
				}
				w.regs[r][l] = x
			}
		}
		return goOn, nil
	}
	return err
}

// copies are cp.async in all its kinds.
func (k *kernel) copies(s *step) error {
	rest := strings.Join(s.op[2:], ".")
	switch {
	case strings.HasPrefix(rest, "bulk.tensor."):
		return k.tensorCopy(s)
	case strings.HasPrefix(rest, "bulk.commit_group"), strings.HasPrefix(rest, "bulk.wait_group"), strings.HasPrefix(rest, "wait_group"),
		strings.HasPrefix(rest, "wait_all"), strings.HasPrefix(rest, "commit_group"):
		s.run = func(*warp, uint32) (effect, error) { return goOn, nil }
		return nil
	case strings.HasPrefix(rest, "ca.") || strings.HasPrefix(rest, "cg."):
		src, err := k.sources(s.in.Args)
		s.run = func(w *warp, lanes uint32) (effect, error) {
			for l := range each(lanes) {
				n := int(src[2](w, l))
				to, err := w.place(src[0](w, l), n, false)
				if err != nil {
					return goOn, err
				}
				clear(to)
				if len(src) > 3 {
					n = int(src[3](w, l))
				}
				if n == 0 {
					continue
				}
				from, err := w.b.c.d.memory.at(src[1](w, l), n)
				if err != nil {
					return goOn, err
				}
				copy(to, from)
			}
			return goOn, nil
		}
		return err
	}
	return errModel
}

// tensorCopy is a copy of a box, by one lane.
func (k *kernel) tensorCopy(s *step) error {
	args := s.in.Args
	if s.has("im2col") || s.has("tile::gather4") || s.has("tile::scatter4") {
		return errModel
	}
	many, pair := s.has("multicast::cluster"), s.has("cta_group::2")
	from, err := k.sources(args)
	if err != nil {
		return err
	}
	// A source is the first word of its brackets; the coordinates are the second.
	corner := func(o *ir.Operand) ([]source, error) { return k.sources(vector(&o.Args()[1])) }
	stores := s.op[4] == "global" // cp.async.bulk.tensor.2d: the first space is the destination
	if len(s.op) < 6 {
		return errModel
	}
	at := 1
	if s.op[4] == "2d" || s.op[4] == "3d" || s.op[4] == "1d" || s.op[4] == "4d" || s.op[4] == "5d" {
		stores = s.op[5] == "global"
	}
	if stores {
		at = 0
	}
	coordinates, err := corner(&args[at])
	if err != nil {
		return err
	}
	s.run = func(w *warp, lanes uint32) (effect, error) {
		l, c := bits.TrailingZeros32(lanes), w.b.c
		if bits.OnesCount32(lanes) != 1 {
			return goOn, fmt.Errorf("%d lanes copy", bits.OnesCount32(lanes))
		}
		m, err := c.tensorMap(from[at](w, l))
		if err != nil {
			return goOn, err
		}
		var where []int64
		for _, x := range coordinates {
			where = append(where, int64(int32(x(w, l))))
		}
		if len(where) != len(m.Sizes) {
			return goOn, fmt.Errorf("%d coordinates for %d dimensions", len(where), len(m.Sizes))
		}
		if stores {
			return goOn, c.storeBox(m, where, from[1](w, l))
		}
		to, signal := from[0](w, l), from[2](w, l)
		switch here := uint64(w.b.rank); {
		case many && to>>rankShift != here:
			return goOn, errors.New("a copy for many blocks to an address in another")
		case !pair && to>>rankShift != signal>>rankShift, pair && to>>rankShift&^1 != signal>>rankShift&^1:
			return goOn, fmt.Errorf("a copy to %#x tells a barrier of another block, at %#x", to, signal)
		}
		blocks := uint64(1) << (to >> rankShift)
		if many {
			blocks = from[3](w, l) & 0xffff
		}
		return goOn, c.loadBoxes(m, where, to, signal, blocks, pair)
	}
	return nil
}

// loadBoxes copies a box to the same place in some blocks, given as a mask, and tells the barrier at the same place in each. With a pair's copies a barrier
// is that of the block of the destination's pair that has the address's parity (PTX ISA 9.1, 9.7.9.27.1.2).
func (c *cluster) loadBoxes(m *device.TensorMap, where []int64, to, signal, blocks uint64, pair bool) error {
	if blocks>>len(c.blocks) != 0 || blocks == 0 {
		return fmt.Errorf("blocks %#x of a cluster of %d", blocks, len(c.blocks))
	}
	const offset = 1<<rankShift - 1
	for rank := range uint64(len(c.blocks)) {
		if blocks>>rank&1 == 0 {
			continue
		}
		bytes, err := c.loadBox(m, where, to&offset|rank<<rankShift)
		if err != nil {
			return err
		}
		told := rank
		if pair {
			told = rank&^1 | signal>>rankShift&1
		}
		if err := c.arrive(signal&offset|told<<rankShift, 0, 0, bytes); err != nil {
			return err
		}
	}
	return nil
}
