// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package isa

import (
	"weak"

	"github.com/ptxdsl/ptxdsl/internal/slab"
)

// The instruction table is kept in packed form, as bytes without pointers, because the garbage
// collector would otherwise scan all of it; a program uses a few dozen forms of a thousand.
// Instructions are unpacked on demand, usually only their outlines, and may be garbage-collected.
// Forms that opcodes resolved to are kept.
//
// The table starts with the number of instructions, the name and length of each, and their order by
// name. Then each instruction follows: repeated modifiers, forms, family and description. A struct
// is a set of its non-zero fields, and their values. A form is preceded by its length, and a list
// by its head. The code for each type is generated, in zread.go.

// An entry is the position of one instruction in a Set.
type entry struct {
	name string
	at   int          // offset in the packed table
	have *Instruction // the instruction, if it is not packed
}

// A library caches unpacked instructions and outlines, by entry.
type library struct {
	pages reader
	read  []*Instruction
	brief []*outline
}

// An outline holds the modifiers of an instruction's forms, which suffices to reject most forms.
type outline struct {
	repeats []Mod
	forms   []worded
}

// A worded form holds the modifiers of a form, and the offset of the whole form.
type worded struct {
	Wording
	at   int
	form *Form
}

// books returns the library, which stays in memory as long as it is referenced.
func (s *Set) books() *library {
	lib := s.library.Value()
	if lib == nil {
		lib = &library{reader{text: packed}, make([]*Instruction, len(s.entries)),
			make([]*outline, len(s.entries))}
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

// form returns the whole form. It stays in memory as long as the set.
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
		return // the generator has no packed table
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

// A reader decodes the packed table.
type reader struct {
	text  string
	at    int
	alone bool // do not cache lists that occur several times
	lists
	worded listsOf[worded]
}

// uint decodes an unsigned number, seven bits per byte, the lowest first. All bytes except the last
// have the top bit set.
func (r *reader) uint() uint64 {
	b := r.text[r.at]
	r.at++
	if b < 0x80 {
		return uint64(b)
	}
	return r.longer(b)
}

// longer decodes a number of several bytes, of which b is the first.
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

// int decodes a signed number; its lowest bit is the sign.
func (r *reader) int() int64 {
	x := r.uint()
	return int64(x>>1) ^ -int64(x&1)
}

// string decodes a string: its length and its bytes. If the lowest bit of the length is set, it is
// a reference to an earlier string, followed by the distance to it.
func (r *reader) string() string {
	at := r.at
	n := r.uint()
	if n&1 == 0 {
		return r.bytes(n >> 1)
	}
	at -= int(r.uint())
	return r.text[at : at+int(n>>1)]
}

// bytes returns the next n bytes without copying them.
func (r *reader) bytes(n uint64) string {
	r.at += int(n)
	return r.text[r.at-int(n) : r.at]
}

// next reads the length at the start of a form and returns its end.
func (r *reader) next() int {
	end := r.at + 2 + int(r.text[r.at]) + int(r.text[r.at+1])<<8
	r.at += 2
	return end
}

// words decodes only the modifiers of a form.
func (r *reader) words(v *worded) {
	v.at = r.at
	end := r.next()
	if r.uint()&1 != 0 {
		r.wording(&v.Wording)
	}
	r.at = end
}

// Markers that begin a list. Each list is stored once; repetitions hold the distance to it.
const (
	listNil   = iota // nil
	listAgain        // an earlier list; the distance in bytes follows
	listOnce         // a list that occurs once; the marker is increased by two for each element
	// a list that occurs several times; its index among such lists of its type follows
	listOften
)

// listsOf allocates lists of one type, and caches those that occur several times by their index.
type listsOf[T any] struct {
	room slab.Of[T]
	met  []metList[T]
}

// A metList is a cached list and its end; zero if it has not been decoded.
type metList[T any] struct {
	list []T
	end  int
}

// list decodes a list; each decodes an element.
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

// elements decodes the elements of a list.
func elements[T any](r *reader, l []T, each func(*reader, *T)) []T {
	for i := range l {
		each(r, &l[i])
	}
	return l
}
