// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package isa

import (
	"sync/atomic"
	"unsafe"

	"github.com/ptxdsl/ptxdsl/internal/slab"
)

// The table of instructions is kept as the generator packs it: as bytes, in which there is no pointer. A program uses a few
// dozen instructions of some three hundred, and each collection of garbage would look through all of them. So an instruction is
// read where it is first asked for.
//
// In front is how many instructions there are, for each its name and how many bytes it has, and their places as their names sort;
// then they follow. A struct is a set of the fields that are not zero, and those; a list is told by its head. What differs from type
// to type is generated, in zread.go.

// An entry is the place of one instruction in a Set.
type entry struct {
	name string
	at   int // where it begins in the packed table
	have atomic.Pointer[Instruction]
}

// instruction is the instruction of an entry, read now if nobody asked before.
func (s *Set) instruction(e *entry) *Instruction {
	if have := e.have.Load(); have != nil {
		return have
	}
	s.reading.Lock()
	defer s.reading.Unlock()
	if have := e.have.Load(); have != nil {
		return have
	}
	have := new(Instruction)
	s.reader.at = e.at
	s.reader.instruction(have)
	e.have.Store(have)
	return have
}

// unpack lists the packed instructions.
func (s *Set) unpack() {
	if packed == "" {
		return // the generator is without
	}
	r := &s.reader
	r.text = packed
	s.entries = make([]entry, r.uint())
	for i, at := 0, 0; i < len(s.entries); i++ {
		e := &s.entries[i]
		e.name, e.at = r.bytes(r.uint()), at
		at += int(r.uint())
	}
	s.byName = make([]uint16, len(s.entries))
	for i := range s.byName {
		s.byName[i] = uint16(r.uint())
	}
	for i := range s.entries {
		s.entries[i].at += r.at
	}
}

// A reader reads what is packed.
type reader struct {
	text string
	at   int
	lists
}

// uint reads an unsigned number: seven bits a byte, the lowest first, the highest bit of all bytes but the last set.
func (r *reader) uint() uint64 {
	b := r.text[r.at]
	r.at++
	if b < 0x80 {
		return uint64(b)
	}
	return r.longer(b)
}

// longer reads a number whose first byte is b, and which has more.
func (r *reader) longer(b byte) uint64 {
	x := uint64(b & 0x7f)
	for shift := 7; ; shift += 7 {
		b := r.text[r.at]
		r.at++
		x |= uint64(b&0x7f) << shift
		if b < 0x80 {
			return x
		}
	}
}

// int reads a signed number: its sign is the lowest bit.
func (r *reader) int() int64 {
	x := r.uint()
	return int64(x>>1) ^ -int64(x&1)
}

// string reads a text: how many bytes it has, and these. The lowest bit says that they stand before: how many bytes before this
// then follows.
func (r *reader) string() string {
	at := r.at
	n := r.uint()
	if n&1 == 0 {
		return r.bytes(n >> 1)
	}
	at -= int(r.uint())
	return r.text[at : at+int(n>>1)]
}

// bytes are the next n bytes, which go on standing where they stand.
func (r *reader) bytes(n uint64) string {
	r.at += int(n)
	return r.text[r.at-int(n) : r.at]
}

// Heads of lists. Lists are written once: where one stands again there is only how far before that was.
const (
	listNil   = iota // no list
	listAgain        // one that stands before: how many bytes before this head
	listOnce         // one that stands nowhere else; each element more adds two, as it does for
	listOften        // one that stands elsewhere too: its number among those of its type follows
)

// listsOf are lists of one type: room for them, and those that stand in several places, by their numbers.
type listsOf[T any] struct {
	room slab.Of[T]
	met  []metList[T]
}

// A metList is a list that was read, and where it ends; none where the reader has not met it.
type metList[T any] struct {
	list []T
	end  int
}

// make is a new list.
func (l *listsOf[T]) make(n int) []T {
	var elem T
	if uintptr(n)*unsafe.Sizeof(elem) > 200 {
		return make([]T, n) // leaves no room over
	}
	return l.room.Many(n)
}

// list reads a list whose elements each reads.
func list[T any](r *reader, of *listsOf[T], each func(*reader, *T)) []T {
	at := r.at
	head := int(r.uint())
	switch head {
	case listNil:
		return nil
	case listAgain:
		there := at - int(r.uint())
		after := r.at
		r.at = there
		l := list(r, of, each)
		r.at = after
		return l
	}
	number := -1
	if head&1 == listOften&1 {
		if number = int(r.uint()); number < len(of.met) && of.met[number].list != nil {
			r.at = of.met[number].end
			return of.met[number].list
		}
	}
	l := of.make((head - listOnce) / 2)
	for i := range l {
		each(r, &l[i])
	}
	if number >= 0 {
		if more := number + 1 - len(of.met); more > 0 {
			of.met = append(of.met, make([]metList[T], more)...)
		}
		of.met[number] = metList[T]{l, r.at}
	}
	return l
}
