// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package isa

import (
	"weak"

	"github.com/ptxdsl/ptxdsl/internal/slab"
)

// The instruction table is stored in packed form, as bytes without pointers, because the garbage
// collector would otherwise scan all of it, while a program uses a few dozen of a thousand forms.
// Instructions are unpacked on demand, usually only their outlines, and may be garbage-collected
// again. Forms to which opcodes resolve are kept.
//
// The table starts with the number of instructions, the name and length of each, and their order
// by name. Then each instruction follows: repeated modifiers, forms, family and description. A
// struct is encoded as a set of its nonzero fields, followed by their values. A form is preceded
// by its length, and a list by its head. The code for each type is generated, in zread.go.

// An entry is the position of one instruction in a Set.
type entry struct {
	name string
	at   int          // offset in the packed table
	have *Instruction // the instruction, if it is not packed
}

// A unpackedCache caches unpacked instructions and outlines, by entry. Set refers to it weakly.
type unpackedCache struct {
	reader       reader
	instructions []*Instruction
	outlines     []*outline
}

// An outline holds only the modifiers of an instruction's forms, which suffice to reject most
// forms.
type outline struct {
	repeats []Mod
	forms   []formOutline
}

// A formOutline form holds the modifiers of a form, and the position of the full form in the packed
// table.
type formOutline struct {
	Wording
	at   int
	form *Form
}

// unpacked returns the cache. The caller must keep the result as long as it uses cached
// instructions.
func (s *Set) unpacked() *unpackedCache {
	lib := s.cache.Value()
	if lib == nil {
		lib = &unpackedCache{reader{text: packed}, make([]*Instruction, len(s.entries)),
			make([]*outline, len(s.entries))}
		s.cache = weak.Make(lib)
	}
	return lib
}

// instruction returns the instruction of entry i, unpacked.
func (s *Set) instruction(i int) *Instruction {
	if have := s.entries[i].have; have != nil {
		return have
	}
	s.reading.Lock()
	defer s.reading.Unlock()
	lib := s.unpacked()
	if lib.instructions[i] == nil {
		e := &s.entries[i]
		r := &lib.reader
		r.at = e.at
		ins := &Instruction{Name: e.name, Repeats: list(r, &r.mods, (*reader).mod)}
		ins.Forms = list(r, &r.forms, (*reader).form)
		ins.Family, ins.What = r.string(), r.string()
		lib.instructions[i] = ins
	}
	return lib.instructions[i]
}

// outline returns the outline of entry i, unpacked.
func (s *Set) outline(i int) *outline {
	if have := s.entries[i].have; have != nil {
		o := &outline{repeats: have.Repeats, forms: make([]formOutline, len(have.Forms))}
		for j := range have.Forms {
			o.forms[j] = formOutline{Wording: have.Forms[j].Wording, form: &have.Forms[j]}
		}
		return o
	}
	s.reading.Lock()
	defer s.reading.Unlock()
	lib := s.unpacked()
	if lib.outlines[i] == nil {
		r := &lib.reader
		r.at = s.entries[i].at
		lib.outlines[i] = &outline{repeats: list(r, &r.mods, (*reader).mod)}
		lib.outlines[i].forms = list(r, &r.worded, (*reader).words)
	}
	return lib.outlines[i]
}

// form returns the full form of f, unpacking and caching it on first use. The cache lives as long
// as s.
func (s *Set) form(f *formOutline) *Form {
	if f.form != nil {
		return f.form
	}
	s.reading.Lock()
	defer s.reading.Unlock()
	kept := s.formCache[f.at]
	if kept == nil {
		if s.formCache == nil {
			s.formCache, s.formReader = map[int]*Form{}, reader{text: packed, alone: true}
		}
		kept = new(Form)
		s.formCache[f.at] = kept
		s.formReader.at = f.at
		s.formReader.form(kept)
	}
	return kept
}

// unpack reads the list of packed instructions, without unpacking the instructions themselves.
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

// A reader decodes the packed table from position at.
type reader struct {
	text  string
	at    int
	alone bool // do not cache lists that occur several times
	lists
	worded listsOf[formOutline]
}

// uint decodes an unsigned number, seven bits per byte, lowest bits first. All bytes except the
// last have the top bit set.
func (r *reader) uint() uint64 {
	b := r.text[r.at]
	r.at++
	if b < 0x80 {
		return uint64(b)
	}
	return r.longUint(b)
}

// longUint decodes a number of several bytes, of which b is the first.
func (r *reader) longUint(b byte) uint64 {
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

// int decodes a signed number, whose lowest bit is the sign.
func (r *reader) int() int64 {
	x := r.uint()
	return int64(x>>1) ^ -int64(x&1)
}

// string decodes a string: its length and its bytes. If the lowest bit of the length is set, the
// distance to an earlier string follows instead of the bytes.
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

// formEnd reads the length at the start of a form and returns the position of the form's end.
func (r *reader) formEnd() int {
	end := r.at + 2 + int(r.text[r.at]) + int(r.text[r.at+1])<<8
	r.at += 2
	return end
}

// words decodes only the modifiers of a form.
func (r *reader) words(v *formOutline) {
	v.at = r.at
	end := r.formEnd()
	if r.uint()&1 != 0 {
		r.wording(&v.Wording)
	}
	r.at = end
}

// These markers begin a list. Each list is stored once; repetitions hold the distance to it.
const (
	listNil   = iota // nil
	listAgain        // an earlier list; the distance in bytes follows
	listOnce         // a list that occurs once; the marker is increased by two for each element
	// a list that occurs several times; its index among such lists of its type follows
	listOften
)

// A listsOf allocates lists of one type, and caches the lists that occur several times by their
// index.
type listsOf[T any] struct {
	room slab.Of[T]
	met  []cachedList[T]
}

// A cachedList is a cached list and the position of its end. It is zero if the list has not been
// decoded.
type cachedList[T any] struct {
	list []T
	end  int
}

// list decodes a list. The function each decodes one element.
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
		of.met = append(of.met, make([]cachedList[T], more)...)
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
