// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package cubin reads the ELF files that ptxas writes, and compares the parts that affect
// execution. A cubin also contains the PTX text, its line numbers, and tables that are sorted by
// line number. These change with white space, so they are ignored.
package cubin

import (
	"bytes"
	"crypto/sha256"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
)

// A Section is a section of the file that is compared.
type Section struct {
	Name string
	Text []byte
}

// A Symbol is a symbol that is compared. Its address is not compared, because it depends on parts
// that are ignored.
type Symbol struct {
	Name string
	Kind elf.SymType
	Size uint64
}

// String names the symbol in a message.
func (s Symbol) String() string {
	return fmt.Sprintf("symbol %s (%v, %d bytes)", s.Name, s.Kind, s.Size)
}

// A Code holds the compared parts of a cubin.
type Code struct {
	Sections []Section // sorted by name
	Symbols  []Symbol  // sorted by their text
}

// Read returns the compared parts of a cubin.
func Read(cubin []byte) (*Code, error) {
	f, err := elf.NewFile(bytes.NewReader(cubin))
	if err != nil {
		return nil, fmt.Errorf("not a cubin: %w", err)
	}
	c := new(Code)
	for _, s := range f.Sections {
		if !isCompared(s.Name) {
			continue
		}
		var text []byte
		if s.Type != elf.SHT_NOBITS {
			if text, err = io.ReadAll(s.Open()); err != nil {
				return nil, fmt.Errorf("section %s: %w", s.Name, err)
			}
		}
		c.Sections = append(c.Sections, Section{s.Name, text})
	}
	slices.SortStableFunc(c.Sections, func(a, b Section) int {
		return strings.Compare(a.Name, b.Name)
	})
	symbols, err := f.Symbols()
	if err != nil && !errors.Is(err, elf.ErrNoSymbols) {
		return nil, fmt.Errorf("symbols: %w", err)
	}
	for _, s := range symbols {
		kind := elf.ST_TYPE(s.Info)
		if kind == elf.STT_SECTION || kind == elf.STT_FILE || s.Name == "" {
			// section symbols; which sections exist depends on debug information
			continue
		}
		c.Symbols = append(c.Symbols, Symbol{withoutLine(s.Name), kind, s.Size})
	}
	slices.SortFunc(c.Symbols,
		func(a, b Symbol) int { return strings.Compare(a.String(), b.String()) })
	return c, nil
}

// isCompared reports whether a section contains code, constants, or information for the loader.
func isCompared(name string) bool {
	for _, prefix := range []string{".text.", ".nv.info", ".nv.constant", ".nv.capmerc.text."} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

var lineSuffix = regexp.MustCompile(`__\d+$`)

// withoutLine removes the line number that ends the name of a variable that is declared in a
// function.
func withoutLine(name string) string {
	if !strings.HasPrefix(name, "$") {
		return name
	}
	return lineSuffix.ReplaceAllString(name, "")
}

// Digest returns a hash of all parts that Diff compares. Programs without differences have the
// same digest.
func (c *Code) Digest() string {
	h := sha256.New()
	for _, s := range c.Sections {
		fmt.Fprintf(h, "%q %d\n", s.Name, len(s.Text))
		h.Write(s.Text)
	}
	for _, s := range c.Symbols {
		fmt.Fprintln(h, s)
	}
	return string(h.Sum(nil))
}

// Diff returns descriptions of the differences between two programs, or nil.
func Diff(a, b *Code) []string {
	var list []string
	merge(a.Sections, b.Sections, func(s Section) string { return s.Name }, func(x, y *Section) {
		switch {
		case y == nil:
			list = append(list, fmt.Sprintf("section %s is gone", x.Name))
		case x == nil:
			list = append(list, fmt.Sprintf("section %s is new", y.Name))
		case len(x.Text) != len(y.Text):
			list = append(list,
				fmt.Sprintf("section %s has %d bytes instead of %d", x.Name, len(y.Text),
					len(x.Text)))
		case !bytes.Equal(x.Text, y.Text):
			list = append(list,
				fmt.Sprintf("section %s differs from byte %#x on", x.Name,
					commonPrefix(x.Text, y.Text)))
		}
	})
	merge(a.Symbols, b.Symbols, Symbol.String, func(x, y *Symbol) {
		switch {
		case y == nil:
			list = append(list, x.String()+" is gone")
		case x == nil:
			list = append(list, y.String()+" is new")
		}
	})
	return list
}

// merge iterates over two sorted lists in parallel. It calls each with two elements that have
// equal keys, or with an element and nil.
func merge[T any](a, b []T, key func(T) string, each func(x, y *T)) {
	for len(a) > 0 || len(b) > 0 {
		switch {
		case len(b) == 0 || len(a) > 0 && key(a[0]) < key(b[0]):
			each(&a[0], nil)
			a = a[1:]
		case len(a) == 0 || key(b[0]) < key(a[0]):
			each(nil, &b[0])
			b = b[1:]
		default:
			each(&a[0], &b[0])
			a, b = a[1:], b[1:]
		}
	}
}

// commonPrefix returns the length of the common prefix of a and b.
func commonPrefix(a, b []byte) int {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return i
		}
	}
	return min(len(a), len(b))
}
