// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package isa

import "slices"

// A matcher checks only some properties of operands. The shape of operands encodes these
// properties as words: a form that accepted operands also accepts other operands with the same
// shape.

// maxShapes limits the shapes that are cached per opcode. Most opcodes have one or two shapes, but
// if the values of constants matter there may be arbitrarily many.
const maxShapes = 32

// An acceptedShape is an operand shape, and the form that accepted it.
type acceptedShape struct {
	shape []Word
	by    *Candidate
}

// Took returns the form that accepted operands with the given shape before, or nil if no such
// form is cached.
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

// addShape records that c accepts operands with the given shape.
func (o *Opcode) addShape(shape []Word, c *Candidate) {
	var list []acceptedShape
	known := o.accepted.Load()
	if known != nil {
		list = slices.Clip(*known)
	}
	if len(list) < maxShapes {
		list = append(list, acceptedShape{slices.Clone(shape), c})
		// if another goroutine has added a shape in the meantime, this shape is added at its next
		// use
		o.accepted.CompareAndSwap(known, &list)
	}
}

// Valued reports whether shapes must include the values of constants.
func (o *Opcode) Valued() bool { return o.valued }

// Problems returns the problems of the opcode itself. If some form fits, they are only warnings.
func (o *Opcode) Problems() []Problem { return o.problems }

// A Word encodes the kind and type of an operand. The operand's register part, the value of a
// constant, and its elements are encoded in separate words.
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

// AppendShape appends the shape of args to the list to. It includes the values of constants if
// valued is set.
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
		if a.hasOffset() || a.Plus {
			w |= WordOffset
		}
		if a.Part != "" {
			w |= wordPart
		}
		to = append(to, w)
		if a.Part != "" {
			to = append(to, partWord(a.Part))
		}
		if valued && a.Kind == ArgInt {
			to = append(to, Word(a.Value))
		}
		to = AppendShape(to, a.Elems, valued)
	}
	return to
}

// partWord encodes the text of a register part as a word. The longest valid part has six letters.
// For a longer text, the first eight letters are encoded, which show that it is invalid.
func partWord(text string) (word Word) {
	for i := range min(len(text), 8) {
		word = word<<8 | Word(text[i])
	}
	return word
}
