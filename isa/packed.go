// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package isa

import (
	"weak"

	"github.com/ptxdsl/ptxdsl/internal/slab"
)

// The table of instructions is kept as the generator packs it: as bytes, in which there is no
// pointer. A program uses a few dozen forms of a thousand, and each collection of garbage would
// look through all of them. So instructions are read where they are asked for, outlines of them
// mostly, and go with the next collection of garbage; forms that opcodes were found to have stay.
//
// In front is how many instructions there are, for each its name and how many bytes it has, and
// their places as their names sort; then they follow: each as what may be repeated, its forms, its
// family and what it does. A struct is a set of the fields that are not zero, and those; of a form
// stands in front how many bytes that is. A list is reported by its head. What differs from type to
// type is generated, in zread.go.

// An entry is the place of one instruction in a Set.
type entry struct {
	name string
	at   int          // where it begins in the packed table
	have *Instruction // where it is not packed
}

// A library is the instructions that were read, by their entries, and the outlines of such.
type library struct {
	pages reader
	read  []*Instruction
	brief []*outline
}

// An outline is what most opcodes are judged by: which modifiers the forms of an instruction have.
type outline struct {
	repeats []Mod
	forms   []worded
}

// A worded form is the modifiers of a form, and where it is: packed, or as it is.
type worded struct {
	Wording
	at   int
	form *Form
}

// books returns the library; it stays while somebody has it.
func (s *Set) books() *library {
	lib := s.library.Value()
	if lib == nil {
		lib = &library{reader{text: packed}, make([]*Instruction, len(s.entries)), make([]*outline, len(s.entries))}
		s.library = weak.Make(lib)
	}
	return lib
}

// instruction returns the instruction of entry i.
func (s *Set) instruction(i int) *Instruction {
	if have := s.entries[i].have; have != nil {
		return have
	}
	s.reading.Lock()
	defer s.reading.Unlock()
	lib := s.books()
	if lib.read[i] == nil {
		e := &s.entries[i]
		r := &lib.pages
		r.at = e.at
		ins := &Instruction{Name: e.name, Repeats: list(r, &r.mods, (*reader).mod)}
		ins.Forms = list(r, &r.forms, (*reader).form)
		ins.Family, ins.What = r.string(), r.string()
		lib.read[i] = ins
	}
	return lib.read[i]
}

// outline returns the outline of entry i.
func (s *Set) outline(i int) *outline {
	if have := s.entries[i].have; have != nil {
		o := &outline{repeats: have.Repeats, forms: make([]worded, len(have.Forms))}
		for j := range have.Forms {
			o.forms[j] = worded{Wording: have.Forms[j].Wording, form: &have.Forms[j]}
		}
		return o
	}
	s.reading.Lock()
	defer s.reading.Unlock()
	lib := s.books()
	if lib.brief[i] == nil {
		r := &lib.pages
		r.at = s.entries[i].at
		lib.brief[i] = &outline{repeats: list(r, &r.mods, (*reader).mod)}
		lib.brief[i].forms = list(r, &r.worded, (*reader).words)
	}
	return lib.brief[i]
}

// form returns the whole form. It stays as long as the set.
func (s *Set) form(f *worded) *Form {
	if f.form != nil {
		return f.form
	}
	s.reading.Lock()
	defer s.reading.Unlock()
	kept := s.keeps[f.at]
	if kept == nil {
		if s.keeps == nil {
			s.keeps, s.keeper = map[int]*Form{}, reader{text: packed, alone: true}
		}
		kept = new(Form)
		s.keeps[f.at] = kept
		s.keeper.at = f.at
		s.keeper.form(kept)
	}
	return kept
}

// unpack lists the packed instructions.
func (s *Set) unpack() {
	if packed == "" {
		return // the generator is without
	}
	r := reader{text: packed}
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
	text  string
	at    int
	alone bool // remembers nothing of lists that stand elsewhere too
	lists
	worded listsOf[worded]
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

// bytes returns the next n bytes, which go on standing where they stand.
func (r *reader) bytes(n uint64) string {
	r.at += int(n)
	return r.text[r.at-int(n) : r.at]
}

// next reads where a form ends, with which it begins.
func (r *reader) next() int {
	end := r.at + 2 + int(r.text[r.at]) + int(r.text[r.at+1])<<8
	r.at += 2
	return end
}

// words reads the modifiers of a form alone.
func (r *reader) words(v *worded) {
	v.at = r.at
	end := r.next()
	if r.uint()&1 != 0 {
		r.wording(&v.Wording)
	}
	r.at = end
}

// Heads of lists. Lists are written once: where one stands again there is only how far before that was.
const (
	listNil   = iota // no list
	listAgain        // one that precedes: how many bytes before this head
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
	n := (head - listOnce) / 2
	if n == 0 {
		return []T{}
	}
	number := 0
	often := head&1 == listOften&1
	if often {
		number = int(r.uint())
	}
	if !often || r.alone {
		return elements(r, slab.Many(&of.room, n), each)
	}
	if more := number + 1 - len(of.met); more > 0 {
		of.met = append(of.met, make([]metList[T], more)...)
	}
	met := of.met[number]
	if met.list == nil {
		met.list = elements(r, slab.Many(&of.room, n), each)
		met.end = r.at
		of.met[number] = met
	}
	r.at = met.end
	return met.list
}

// elements reads the elements of a list.
func elements[T any](r *reader, l []T, each func(*reader, *T)) []T {
	for i := range l {
		each(r, &l[i])
	}
	return l
}
