// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package lower writes modules of package ir as PTX, formatted as `ptxdsl fmt` does. It
// chooses names, order and layout, and does not change instructions.
package lower

import (
	"strconv"
	"strings"
	"unsafe"

	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/internal/layout"
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
)

// An Option is an option for the output of Text.
type Option func(*writer)

// Lines adds .file and .loc directives, with which debuggers and profilers find the source of
// instructions.
func Lines() Option { return func(w *writer) { w.lines = true } }

// Text returns m as PTX. It names unnamed registers and blocks that need a name.
func Text(m *ir.Module, options ...Option) string {
	w := &writer{m: m, Page: new(layout.Page)}
	for _, option := range options {
		option(w)
	}
	w.Reset(textLength(m))
	w.module()
	return w.Give()
}

// textLength estimates the length of the text of m.
func textLength(m *ir.Module) int {
	const line = 48 // average bytes per line, including indentation
	n := 512
	for _, d := range m.Decls {
		if f, ok := d.(*ir.Func); ok {
			for _, b := range f.Blocks {
				n += line * (len(b.Labels) + len(b.Instrs))
			}
		}
	}
	return n
}

// A writer writes a module as text.
type writer struct {
	*layout.Page
	m       *ir.Module
	lines   bool
	files   map[string]int              // .file numbers by name
	names   []string                    // names of files by number
	at      ir.Pos                      // position of the last .loc
	place   diag.Place                  // its source line
	lists   map[*ir.Instr][]*ir.Targets // target lists to be declared before an instruction
	global  map[string]int              // names at module level, as reservedNames returns them
	spelled map[string]string           // opcodes in the manual's order of modifiers
}

// comments puts comments on lines of their own.
func (w *writer) comments(lines []string) {
	for _, line := range lines {
		w.Comment(line)
	}
}

// end ends a line, with an optional comment.
func (w *writer) end(note string) {
	w.End()
	if note != "" {
		w.Note(note)
	}
}

// number writes an integer.
func (w *writer) number(n int) { w.Line = strconv.AppendInt(w.Line, int64(n), 10) }

// module writes all declarations of the module. Blank lines separate declarations of several
// lines.
func (w *writer) module() {
	m := w.m
	w.comments(m.Doc)
	w.header(".version", m.Version.String())
	w.header(".target", m.Target.String(), m.Options...)
	if m.Bits != 0 {
		w.header(".address_size", strconv.Itoa(m.Bits))
	}
	set := true // the next declaration is separated by a blank line
	for _, d := range m.Decls {
		was := set
		f, function := d.(*ir.Func)
		_, set = d.(*ir.Section)
		set = set || function && f.Defined
		if was || set {
			w.Blank()
		}
		switch d := d.(type) {
		case *ir.Var:
			w.comments(d.Doc)
			w.variable(d)
		case *ir.Directive:
			w.comments(d.Doc)
			w.directive(d.Name, d.Text, d.Semi)
			w.end(d.Note)
		case *ir.Section:
			w.section(d)
		case *ir.Func:
			w.function(d)
		}
	}
	if set && len(w.names) > 0 {
		w.Blank()
	}
	for _, name := range w.names {
		w.directive(".file", strconv.Itoa(w.files[name])+" "+quoted(name), false)
		w.end("")
	}
	if set && len(m.Decls) == 0 && len(w.names) == 0 && len(m.Tail) > 0 {
		w.Blank()
	}
	w.comments(m.Tail)
}

func (w *writer) header(name, arg string, more ...string) {
	w.Begin(layout.Plain)
	w.Put(name)
	w.Put(" ")
	w.Put(arg)
	for _, a := range more {
		w.Put(", ")
		w.Put(a)
	}
	w.End()
}

// directive writes a directive; the caller ends the line.
func (w *writer) directive(name, text string, semicolon bool) {
	kind := layout.Plain
	if name == ".loc" {
		kind = layout.Pass
	}
	w.Begin(kind)
	w.words(name, text)
	if semicolon {
		w.Put(";")
	}
}

// words writes a directive with its name and arguments.
func (w *writer) words(name, text string) {
	w.Put(name)
	switch {
	case name == ".attribute": // the parenthesis follows without a space
		w.Put("(")
		w.Put(strings.TrimSuffix(strings.TrimPrefix(text, "("), ")"))
		w.Put(")")
	case text != "":
		w.Put(" ")
		w.Put(text)
		w.Foreign = true // the text may contain a string
	}
}

func (w *writer) section(s *ir.Section) {
	w.comments(s.Doc)
	w.Begin(layout.Plain)
	if s.Sources == nil {
		w.Put(".section ")
	}
	w.Put(s.Name)
	w.End()
	w.open()
	for i := range s.Sources {
		w.source(&s.Sources[i])
	}
	for i := range s.Lines {
		if l := &s.Lines[i]; l.Label != "" {
			w.label(l.Label, "")
		} else {
			w.Begin(layout.Plain)
			w.Put(l.Type)
			w.Put(" ")
			for i, v := range l.Values {
				if i > 0 {
					w.Put(", ")
				}
				w.Put(v)
			}
			w.End()
		}
	}
	w.shut()
}

// source writes text in an intermediate language.
func (w *writer) source(s *ir.CodeBlock) {
	line := func(parts ...string) {
		w.Begin(layout.Plain)
		for _, p := range parts {
			w.Put(p)
		}
		w.Foreign = true
		w.End()
	}
	line(".code_block")
	w.open()
	line(".ir_name: ", s.Language)
	line(".sourceFileName: ", s.File)
	line(".source_begin")
	w.Verbatim(s.Text)
	line(".source_end")
	w.shut()
}

// open writes an opening brace and indents the following lines. shut writes the closing brace.
func (w *writer) open() {
	w.Begin(layout.Plain)
	w.Put("{")
	w.End()
	w.Indent++
}

func (w *writer) shut() {
	w.Indent--
	w.Begin(layout.Plain)
	w.Put("}")
	w.End()
}

// label writes a label, indented less than the instructions.
func (w *writer) label(name, note string) {
	w.Indent--
	w.Begin(layout.Plain)
	w.Put(name)
	w.Put(":")
	w.end(note)
	w.Indent++
}

// spelled reports whether the opcode of an instruction is the same string, in memory, as the opcode
// of its form. This is the usual case; the modifiers are then in the manual's order.
func spelled(in *ir.Instr) bool {
	f := in.Form
	return f != nil && len(f.Opcode) == len(in.Op) &&
		unsafe.StringData(f.Opcode) == unsafe.StringData(in.Op)
}

// opcode returns the opcode of an instruction with its modifiers in the manual's order.
func (w *writer) opcode(in *ir.Instr) string {
	if spelled(in) || in.Form != nil && in.Form.Opcode == in.Op {
		return in.Op
	}
	s, ok := w.spelled[in.Op]
	if !ok {
		if w.spelled == nil {
			w.spelled = make(map[string]string)
		}
		s, _ = isa.Canonical(in.Op)
		w.spelled[in.Op] = s
	}
	return s
}
