// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package lower

import (
	"encoding/binary"
	"slices"
	"strconv"
	"unsafe"

	"github.com/ptxdsl/ptxdsl/internal/layout"
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
)

// A class is a group of registers that are declared together.
type class struct {
	typ isa.Type
	vec uint8
}

// numbered splits a name into letters and a number without leading zeros.
func numbered(name string) (letters string, number int, ok bool) {
	i := len(name)
	scale, n := 1, 0
	for i > 0 && name[i-1] >= '0' && name[i-1] <= '9' && scale < 1e9 {
		i--
		n += int(name[i]-'0') * scale
		scale *= 10
	}
	if i == len(name) || i == 0 || name[i] == '0' && i+1 < len(name) || name[i-1] >= '0' &&
		name[i-1] <= '9' {
		return name, 0, false
	}
	return name[:i], n, true
}

// A family is the set of a function's registers whose names have the same prefix and different
// numbers, such as %r1 and %r2.
type family struct {
	class
	letters string
	count   int
	top     int
	apart   bool  // its registers cannot be declared as a range
	done    bool  // already declared
	here    bool  // named by this package, and adjacent in the function
	next    int32 // index of the next register of the range
}

// ranged reports whether the family is declared as a range. The range may include a few unused
// registers.
func (f *family) ranged() bool { return !f.apart && f.top < 2*f.count+16 }

// families holds the families of a function by prefix. Adjacent registers are often of one family.
type families struct {
	of   map[string]*family
	last *family
}

func (l *families) named(letters string) *family {
	if l.last == nil || l.last.letters != letters {
		l.last = l.of[letters]
	}
	return l.last
}

// registers declares the registers of f in order, and reports whether there are any. The order
// affects ptxas without optimization. Registers with a prefix and a number are declared as a range
// if that adds few registers and does not conflict with other names. Others are declared by name;
// adjacent ones of one class share a line.
func (w *writer) registers(f *ir.Func) (any bool) {
	if len(f.Regs) == 0 {
		return false
	}
	l := w.nameRegisters(f)
	parameters := formals(f)
	var of class
	row := 0 // number of names on the current line
	end := func() {
		if row > 0 {
			w.Put(";")
			w.End()
			row = 0
		}
	}
	for i := 0; i < len(f.Regs); i++ {
		r := f.Regs[i]
		c := class{r.Type, r.Vec}
		if letters, _, ok := numbered(r.Name); ok {
			if fam := l.named(letters); fam.ranged() {
				if !fam.done {
					end()
					w.declare(c)
					w.Put(letters)
					w.Put("<")
					w.number(fam.top + 1)
					w.Put(">;")
					w.End()
					fam.done = true
					if fam.here {
						i += fam.count - 1
					}
				}
				any = true
				continue
			}
		}
		if parameters[r] {
			continue
		}
		if c != of || row == 8 {
			end()
		}
		if row == 0 {
			w.declare(c)
		} else {
			w.Put(", ")
		}
		w.Put(r.Name)
		row++
		of, any = c, true
	}
	end()
	return any
}

// declare starts a .reg line, up to the names.
func (w *writer) declare(c class) {
	w.Begin(layout.Decl)
	w.Put(".reg ")
	if c.vec > 1 {
		w.Put(".v")
		w.number(int(c.vec))
		w.Put(" ")
	}
	w.Put(c.typ.String())
	w.Tail()
}

// formals returns the registers that are parameters or results of f.
func formals(f *ir.Func) map[*ir.Reg]bool {
	var regs map[*ir.Reg]bool
	for _, list := range [...][]*ir.Var{f.Params, f.Results} {
		for _, v := range list {
			if v.Reg != nil {
				if regs == nil {
					regs = make(map[*ir.Reg]bool)
				}
				regs[v.Reg] = true
			}
		}
	}
	return regs
}

// rank returns a number by which classes are sorted: predicates first, then by width, with untyped
// bits and integers before floats.
func rank(c class) int {
	n := c.typ.Bits() * 16
	if floating := c.typ.Class() == isa.Float || c.typ.Class() == isa.Half; floating {
		n += 8
	}
	if c.typ == isa.Predicate {
		n = 0
	}
	return (n+int(c.vec))*256 + int(c.typ)
}

// nameRegisters names unnamed registers, and puts them before the others, by class. It returns the
// families of all registers.
func (w *writer) nameRegisters(f *ir.Func) families {
	l := families{of: make(map[string]*family)}
	nameless := false
	for _, r := range f.Regs {
		if r.Name == "" {
			nameless = true
			continue
		}
		letters, n, ok := numbered(r.Name)
		if !ok {
			continue
		}
		fam := l.named(letters)
		if fam == nil {
			fam = &family{class: class{r.Type, r.Vec}, letters: letters}
			l.of[letters] = fam
			l.last = fam
		}
		fam.apart = fam.apart || fam.class != class{r.Type, r.Vec}
		fam.count++
		fam.top = max(fam.top, n)
	}
	others := w.reservedNames(f)
	for letters, fam := range l.of {
		if least, ok := others[letters]; ok && least <= fam.top {
			fam.apart = true
		}
	}
	if nameless {
		l.nameUnnamed(f.Regs, others)
	}
	return l
}

// nameUnnamed names the unnamed registers of regs, and puts them before the others, by class.
func (l *families) nameUnnamed(regs []*ir.Reg, others map[string]int) {
	var fresh []*family
	var last *family // consecutive registers are usually of one class
	for _, r := range regs {
		if r.Name != "" {
			continue
		}
		if last == nil || last.typ != r.Type || last.vec != r.Vec {
			c := class{r.Type, r.Vec}
			if last = find(fresh, c); last == nil {
				last = l.add(c, others)
				fresh = append(fresh, last)
			}
		}
		last.count++
	}
	slices.SortFunc(fresh, func(a, b *family) int { return rank(a.class) - rank(b.class) })
	// Each family gets a part of the list; registers that had names come last. Number is the new
	// index.
	at := int32(0)
	for _, fam := range fresh {
		fam.next = at
		at += int32(fam.count)
	}
	for _, r := range regs {
		if r.Name != "" {
			r.Number = at
			at++
			continue
		}
		if last.typ != r.Type || last.vec != r.Vec {
			last = find(fresh, class{r.Type, r.Vec})
		}
		r.Number = last.next
		last.next++
	}
	for i := range regs {
		// A register that is listed twice keeps its first position.
		for r := regs[i]; int(r.Number) != i && regs[r.Number] != r; r = regs[i] {
			regs[i], regs[r.Number] = regs[r.Number], r
		}
	}
	for _, fam := range fresh {
		fam.number(regs[int(fam.next)-fam.count : fam.next])
	}
}

// find returns the family of a class, or nil.
func find(list []*family, c class) *family {
	for _, fam := range list {
		if fam.class == c {
			return fam
		}
	}
	return nil
}

// add returns a new family of a class, with an unused prefix.
func (l *families) add(c class, others map[string]int) *family {
	fam := &family{class: c, letters: ir.Stem(c.typ), here: true}
	for _, taken := others[fam.letters]; taken ||
		l.of[fam.letters] != nil; _, taken = others[fam.letters] {
		fam.letters += "_"
	}
	l.of[fam.letters] = fam
	return fam
}

// number names the registers of f, with substrings of one text.
func (f *family) number(regs []*ir.Reg) {
	n := len(regs)
	text := make([]byte, n*(len(f.letters)+len(strconv.Itoa(n)))+8)
	for first := 0; first < n; first += 10 {
		var room [32]byte
		name := strconv.AppendInt(append(room[:0], f.letters...), int64(first), 10)
		if ten := regs[first:min(first+10, n)]; len(name) <= 8 {
			text = tenShort(ten, text, binary.LittleEndian.Uint64(room[:]), len(name))
		} else {
			text = tenLong(ten, text, name)
		}
	}
	f.top = n - 1
}

// tenShort names up to ten registers whose names differ in the last digit and have width bytes;
// word holds the first. Names are written to text eight bytes at a time; the next name overwrites
// the excess. It returns the rest of text.
func tenShort(regs []*ir.Reg, text []byte, word uint64, width int) []byte {
	one := uint64(1) << (8 * (width - 1) & 63)
	for _, r := range regs {
		binary.LittleEndian.PutUint64(text, word)
		r.Name = unsafe.String(&text[0], width)
		text = text[width:]
		word += one
	}
	return text
}

// tenLong names up to ten registers as tenShort does, for names of any length.
func tenLong(regs []*ir.Reg, text, name []byte) []byte {
	for _, r := range regs {
		r.Name = unsafe.String(&text[0], copy(text, name))
		text = text[len(name):]
		name[len(name)-1]++
	}
	return text
}

// reservedNames returns the names that consist of a prefix and a number but are not registers
// declared in f, with the smallest number of each prefix. A range of registers must not redeclare
// or hide them.
func (w *writer) reservedNames(f *ir.Func) map[string]int {
	if w.global == nil {
		w.global = make(map[string]int)
		for i := range isa.Specials {
			note(w.global, isa.Specials[i].Name)
		}
		for _, d := range w.m.Decls {
			switch d := d.(type) {
			case *ir.Var:
				note(w.global, d.Name)
			case *ir.Func:
				note(w.global, d.Name)
			}
		}
	}
	all := make(map[string]int, len(w.global)+8)
	for letters, n := range w.global {
		all[letters] = n
	}
	for _, list := range [...][]*ir.Var{f.Params, f.Results, f.Vars} {
		for _, v := range list {
			note(all, v.Name)
		}
	}
	for _, t := range f.Targets {
		note(all, t.Name)
	}
	for _, b := range f.Blocks {
		for i := range b.Labels {
			note(all, b.Labels[i].Name)
		}
	}
	return all
}

func note(to map[string]int, name string) {
	if letters, n, ok := numbered(name); ok {
		if least, known := to[letters]; !known || n < least {
			to[letters] = n
		}
	}
}
