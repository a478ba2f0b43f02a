// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package hostile generates PTX texts that could be slow to process: one construct is repeated or
// nested as often as fits into a size. Tests process them at several sizes and compare the times.
package hostile

import (
	"fmt"
	"strings"
)

// A Text is one kind of hostile text. It consists of Before, then Unit for 0, 1, 2 and so on, then
// Middle, then Close once for each Unit in reverse order, then After.
type Text struct {
	Name   string
	Before string
	Unit   func(i int) string
	Middle string
	Close  string
	After  string
	Valid  bool // the module passes the form checks, so that all commands process it completely
}

// Of returns the text with as many units as fit into size bytes, at least one.
func (t *Text) Of(size int) string {
	var b strings.Builder
	b.WriteString(t.Before)
	left := size - len(t.Before) - len(t.Middle) - len(t.After)
	n := 0
	for ; n == 0 || left > 0; n++ {
		unit := t.Unit(n)
		left -= len(unit) + len(t.Close)
		b.WriteString(unit)
	}
	b.WriteString(t.Middle)
	for range n {
		b.WriteString(t.Close)
	}
	b.WriteString(t.After)
	return b.String()
}

// Texts returns all kinds of hostile text.
func Texts() []Text {
	return append(append(append(scanned(), declared()...), stated()...), valid()...)
}

// same returns a Unit that does not depend on the index.
func same(unit string) func(int) string { return func(int) string { return unit } }

// counted returns a Unit that formats the index with a format whose verbs all print it.
func counted(format string) func(int) string {
	n := strings.Count(format, "%[1]d") // the index is passed once and printed by each verb
	if n == 0 {
		panic("bug: a counted unit does not print its index")
	}
	return func(i int) string { return fmt.Sprintf(format, i) }
}

func repeated(name, unit string) Text { return Text{Name: name, Unit: same(unit)} }

func within(name, before, unit, after string) Text {
	return Text{Name: name, Before: before, Unit: same(unit), After: after}
}

// Headers of modules and kernels.
const (
	head   = ".version 8.8\n.target sm_90a\n.address_size 64\n"
	kernel = head + ".visible .entry k(.param .u64 a)\n{\n"
	regs   = ".reg .pred %p<4>;\n.reg .b16 %h<4>;\n.reg .b32 %r<8>;\n.reg .b64 %rd<8>;\n.reg .f32 %f<4>;\n"
	ending = "\nret;\n}\n"
)

// body returns a text of repeated statements in a kernel that declares registers.
func body(name, unit string) Text {
	return Text{Name: name, Before: kernel + regs, Unit: same(unit), After: ending}
}

// bodyOf is like body, with statements that contain their index.
func bodyOf(name, format string) Text {
	return Text{Name: name, Before: kernel + regs, Unit: counted(format), After: ending}
}

// bare returns a text of repeated statements in a kernel of a module without a header.
func bare(name, unit string) Text {
	return Text{Name: name, Before: ".entry k()\n{\n", Unit: same(unit), After: ending}
}
