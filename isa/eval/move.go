// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package eval

import (
	"fmt"

	"github.com/ptxdsl/ptxdsl/isa"
)

// move returns the operation of mov between two registers.
func move(s *spec) *Op {
	if len(s.types) != 1 {
		return nil
	}
	t := s.types[0]
	for _, m := range s.mods {
		if n := m.Elements(); n > 0 && n <= 4 {
			return copies(t, n)
		}
	}
	if t == isa.Predicate {
		return predicateLogic(isa.KindMov)
	}
	if t.Bits() > 64 {
		return moveOf(t.Bits(), 2, 2)
	}
	m := mask(t)
	op := unary(t, t, func(a uint64) uint64 { return a })
	op.Warp = func(f *Frame) {
		d, a := f.Out[0], f.In[0]
		for l := range d {
			d[l] = a[l] & m
		}
	}
	return op
}

// OfMove returns a mov of `bits` bits from a vector of `in` elements to a vector of `out` elements:
// packing, unpacking and copying. Elements of 128 bits are two registers, the low half first.
func OfMove(bits, out, in int) (*Op, error) {
	if op := moveOf(bits, out, in); op != nil {
		return finish(op), nil
	}
	return nil, fmt.Errorf("eval: no mov of %d bits from %d to %d registers", bits, in, out)
}

// moveOf is OfMove, but returns nil instead of an error.
func moveOf(bits, out, in int) *Op {
	types := map[int]isa.Type{8: isa.B8, 16: isa.B16, 32: isa.B32, 64: isa.B64}
	if bits == 128 {
		out, in = max(out, 2), max(in, 2)
	}
	if out < 1 || in < 1 || out > 4 || in > 4 {
		return nil
	}
	wideIn, wideOut := bits/in, bits/out
	from, to := types[wideIn], types[wideOut]
	if from == 0 || to == 0 {
		return nil
	}
	op := &Op{}
	for range in {
		op.In = append(op.In, from)
	}
	for range out {
		op.Out = append(op.Out, to)
	}
	op.Lane = func(c *Cell) {
		var words [2]uint64
		for i := range in {
			at := i * wideIn
			words[at/64] |= c.In[i] & mask(from) << (at % 64)
		}
		for i := range out {
			at := i * wideOut
			c.Out[i] = words[at/64] >> (at % 64) & mask(to)
		}
	}
	return op
}

// copies returns the operation of mov from a vector of n elements to a vector.
func copies(t isa.Type, n int) *Op {
	op := &Op{}
	for range n {
		op.In, op.Out = append(op.In, t), append(op.Out, t)
	}
	m := mask(t)
	op.Lane = func(c *Cell) {
		for i := range n {
			c.Out[i] = c.In[i] & m
		}
	}
	return op
}
