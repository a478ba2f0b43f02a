// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package isa

import "slices"

// The shape of operands is all that a matcher looks at in them, as words: what took operands once takes others of their shape.

// enough is how many shapes are kept of an opcode. Most have one or two; where constants count, there is no end of them.
const enough = 8

// A taken is the shape of operands, and the form that took them.
type taken struct {
	shape []uint64
	by    *Candidate
}

// recall is the form that took operands of a shape; nil where that is not known.
func (o *opcode) recall(shape []uint64) *Candidate {
	for i := range o.taken {
		if t := &o.taken[i]; slices.Equal(t.shape, shape) {
			return t.by
		}
	}
	return nil
}

// remember keeps the shape at hand as one that c takes.
func (m *Matcher) remember(o *opcode, c *Candidate) {
	if len(o.taken) < enough {
		o.taken = append(o.taken, taken{m.shapes.Copy(m.shape), c})
		return
	}
	t := &o.taken[o.next]
	o.next = (o.next + 1) % enough
	t.shape, t.by = append(t.shape[:0], m.shape...), c
}

// Bits of a word of a shape; below them are kind, type and space, a byte each, above the number of elements.
const (
	shapeNot = 1 << (24 + iota)
	shapeMinus
	shapePlus
	shapeUnified
	shapePart
	shapeOffset
	shapeCount = 30 // a shift
	shapeElems = 46 // likewise
)

// appendShapes appends the shape of args, with constants if they are valued.
func appendShapes(to []uint64, args []Arg, valued bool) []uint64 {
	for i := range args {
		a := &args[i]
		w := uint64(a.Kind) | uint64(a.Type)<<8 | uint64(a.Space)<<16 | uint64(uint16(a.Count))<<shapeCount | uint64(len(a.Elems))<<shapeElems
		if a.Not {
			w |= shapeNot
		}
		if a.Minus {
			w |= shapeMinus
		}
		if a.Plus {
			w |= shapePlus
		}
		if a.Unified {
			w |= shapeUnified
		}
		if a.offset() {
			w |= shapeOffset
		}
		if a.Part != "" {
			w |= shapePart
		}
		to = append(to, w)
		if a.Part != "" {
			to = append(to, part(a.Part))
		}
		if valued && a.Kind == ArgInt {
			to = append(to, uint64(a.Value))
		}
		to = appendShapes(to, a.Elems, valued)
	}
	return to
}

// part is the letters of a part as a word. The longest that there are have six; of more, the first eight tell that it is none.
func part(text string) (word uint64) {
	for i := range min(len(text), 8) {
		word = word<<8 | uint64(text[i])
	}
	return word
}
