// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package hostile generates PTX texts that a quadratic algorithm would process slowly: one
// construct is repeated or nested as often as fits into a given size. Tests process such texts at
// several sizes and compare the times.
package hostile

import (
	"fmt"
	"strings"
)

// A Text is a kind of hostile text. It consists of Before, then Unit(0), Unit(1) and so on, then
// Middle, then Close once for each unit, then After.
type Text struct {
	Name   string
	Before string
	Unit   func(i int) string
	Middle string
	Close  string
	After  string
	Valid  bool // the module passes the form checks, so that later phases process it too
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
	return append(append(append(tokenTexts(), declarationTexts()...), statementTexts()...),
		validTexts()...)
}

// constantUnit returns a Unit function that ignores the index.
func constantUnit(unit string) func(int) string { return func(int) string { return unit } }

// indexedUnit returns a Unit function that formats the index. The format may contain it several
// times.
func indexedUnit(format string) func(int) string {
	n := strings.Count(format, "%[1]d") // all verbs refer to the first argument
	if n == 0 {
		panic("bug: a counted unit does not print its index")
	}
	return func(i int) string { return fmt.Sprintf(format, i) }
}

func repeatedText(name, unit string) Text { return Text{Name: name, Unit: constantUnit(unit)} }

func enclosedText(name, before, unit, after string) Text {
	return Text{Name: name, Before: before, Unit: constantUnit(unit), After: after}
}

// Beginnings and ends of modules and kernels.
const (
	head   = ".version 8.8\n.target sm_90a\n.address_size 64\n"
	kernel = head + ".visible .entry k(.param .u64 a)\n{\n"
	regs   = ".reg .pred %p<4>;\n.reg .b16 %h<4>;\n.reg .b32 %r<8>;\n.reg .b64 %rd<8>;\n.reg .f32 %f<4>;\n"
	ending = "\nret;\n}\n"
)

// body returns a text that repeats a statement in a kernel that declares registers.
func body(name, unit string) Text {
	return Text{Name: name, Before: kernel + regs, Unit: constantUnit(unit), After: ending}
}

// bodyOf returns a text that repeats a statement with an index in a kernel that declares
// registers.
func bodyOf(name, format string) Text {
	return Text{Name: name, Before: kernel + regs, Unit: indexedUnit(format), After: ending}
}

// bareBody returns a text that repeats a statement in a kernel of a module without header
// directives.
func bareBody(name, unit string) Text {
	return Text{Name: name, Before: ".entry k()\n{\n", Unit: constantUnit(unit), After: ending}
}
