// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package isa

import "slices"

// A matcher checks only some properties of operands. Encoded as words they are the shape of the
// operands: a form that accepted operands accepts others of the same shape.

// enough limits the shapes that are cached per opcode. Most opcodes have one or two, but if the
// values of constants matter there may be arbitrarily many.
const enough = 32

// An acceptedShape is an operand shape, and the form that accepted it.
type acceptedShape struct {
	shape []Word
	by    *Candidate
}

// Took returns a form that accepted operands of a shape before, or nil if none is known.
func (o *Opcode) Took(shape []Word) *Candidate {
	if known := o.accepted.Load(); known != nil {
		for i := range *known {
			if t := &(*known)[i]; slices.Equal(t.shape, shape) {
				return t.by
			}
		}
	}
	return nil
}

// takes caches that c accepts a shape.
func (o *Opcode) takes(shape []Word, c *Candidate) {
	var list []acceptedShape
	known := o.accepted.Load()
	if known != nil {
		list = slices.Clip(*known)
	}
	if len(list) < enough {
		list = append(list, acceptedShape{slices.Clone(shape), c})
		// another goroutine was faster: the shape is added another time
		o.accepted.CompareAndSwap(known, &list)
	}
}

// Valued reports whether shapes include the values of constants.
func (o *Opcode) Valued() bool { return o.valued }

// Problems returns the problems of the opcode itself. If a form exists, they are only warnings.
func (o *Opcode) Problems() []Problem { return o.problems }

// A Word encodes the kind and type of an operand. Its register part, the value of a constant,
// and its elements are separate words.
type Word uint64

// Flags of a Word. The lower 24 bits hold the kind, the type and the space, one byte each, and the
// bits above the flags hold the number of elements.
const (
	WordNot Word = 1 << (24 + iota)
	WordMinus
	wordPlus
	WordUnified
	wordPart
	WordOffset
	wordCount = 30
	wordElems = 46
)

// WordOf returns the Word of an operand.
func WordOf(k ArgKind, t Type, s Space, count, elems int) Word {
	return Word(k) | Word(t)<<8 | Word(s)<<16 | Word(uint16(count))<<wordCount |
		Word(elems)<<wordElems
}

// AppendShape appends the shape of args, including constants if valued.
func AppendShape(to []Word, args []Arg, valued bool) []Word {
	for i := range args {
		a := &args[i]
		w := WordOf(a.Kind, a.Type, a.Space, a.Count, len(a.Elems))
		if a.Not {
			w |= WordNot
		}
		if a.Minus {
			w |= WordMinus
		}
		if a.Plus {
			w |= wordPlus
		}
		if a.Unified {
			w |= WordUnified
		}
		if a.offset() || a.Plus {
			w |= WordOffset
		}
		if a.Part != "" {
			w |= wordPart
		}
		to = append(to, w)
		if a.Part != "" {
			to = append(to, part(a.Part))
		}
		if valued && a.Kind == ArgInt {
			to = append(to, Word(a.Value))
		}
		to = AppendShape(to, a.Elems, valued)
	}
	return to
}

// part encodes the text of a register part as a word. The longest valid part has six letters; of a
// longer one, the first eight letters show that it is invalid.
func part(text string) (word Word) {
	for i := range min(len(text), 8) {
		word = word<<8 | Word(text[i])
	}
	return word
}
