// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package lift converts syntax trees of PTX to modules of package ir. It resolves names,
// merges nested scopes into one, evaluates constant expressions and splits statements into
// blocks. It expects a module that passes the form checks; otherwise it reports what it cannot
// resolve.
package lift

import (
	"embed"
	"fmt"
	"strings"

	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/internal/slab"
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/ptx"
	"github.com/ptxdsl/ptxdsl/ptx/constant"
)

// Module converts f to a module of package ir. If the list has errors, the module is
// incomplete.
func Module(f *ptx.File) (*ir.Module, diag.List) {
	l := &lifter{file: f, m: &ir.Module{Name: f.Name}, comments: f.Comments,
		unused: make(map[*ir.Reg]bool)}
	l.m.Source = source{f}
	l.push()
	l.read()
	return l.m, l.list.Sort()
}

// pages holds the page of each rule.
//
//go:embed rules/*.md
var pages embed.FS

// Rules returns the rules that lifting reports.
func Rules() diag.Rules {
	return diag.Rules{ruleName, ruleStatement, ruleOdd}.WithPages(pages)
}

var (
	ruleName      = diag.Rule{ID: "L101", Layer: "lift"} // undeclared name
	ruleStatement = diag.Rule{ID: "L102", Layer: "lift"} // unsupported statement
	ruleOdd       = diag.Rule{ID: "L103", Layer: "lift"} // valid PTX that is not supported
)

// source maps positions to lines of a parsed file. A position is an offset plus one, so that zero
// means unknown.
type source struct{ f *ptx.File }

// Place returns the line and column of a position. A PTX text has no callers, so from is nil.
func (s source) Place(pos ir.Pos) (at diag.Place, from []diag.Place) {
	return s.f.Place(ptx.Pos(pos-1), ptx.Pos(pos)), nil
}

func position(n ptx.Node) ir.Pos { return ir.Pos(n.Pos()) + 1 }

// A lifter is the state of one call of Module.
type lifter struct {
	file     *ptx.File
	m        *ir.Module
	list     diag.List
	comments []ptx.Comment // comments not yet assigned
	binder   *ir.Binder
	mores    slab.Of[ir.More]

	scopes []*scope // starting with the module's scope

	// the function that is being lifted
	f       *ir.Func
	used    map[string]int // names in it, with a counter for making similar names unique
	heading bool           // its parameters are being lifted
	block   *ir.Block
	begun   bool          // an instruction has been lifted
	waiting []*ir.Targets // target lists declared since the last instruction
	merged  map[*ir.Block]merged
	ordered []regPlace
	unused  map[*ir.Reg]bool // registers declared but not yet used
	pending []string         // comments of removed statements
}

// fault reports that a node cannot be lifted.
func (l *lifter) fault(r *diag.Rule, n ptx.Node, format string, args ...any) {
	l.list = append(l.list,
		diag.Diagnostic{Place: l.file.PlaceOf(n), Rule: r.ID, Severity: diag.Error,
			Message: fmt.Sprintf(format, args...)})
}

// doc returns the comments before a position that have not been assigned yet, and marks them as
// assigned.
func (l *lifter) doc(at ptx.Pos) []string {
	var lines []string
	for len(l.comments) > 0 && l.comments[0].At < at {
		lines = append(lines, l.takeComments())
	}
	return lines
}

func (l *lifter) takeComments() string {
	text := strings.TrimRight(l.comments[0].Text, " \t\r")
	l.comments = l.comments[1:]
	return text
}

// note returns the comment that follows a statement on the same line, and marks it as assigned.
// Comments inside the statement are appended to doc.
func (l *lifter) note(to ptx.Pos, doc *[]string) string {
	*doc = append(*doc, l.doc(to)...)
	if len(l.comments) == 0 {
		return ""
	}
	c := l.comments[0]
	if between := l.file.Text[to:c.At]; strings.Trim(between, " \t\r;,") != "" ||
		strings.Contains(c.Text, "\n") {
		return ""
	}
	if strings.HasPrefix(c.Text, "/*") && !l.endsLine(c) {
		return ""
	}
	return l.takeComments()
}

// endsLine reports whether only white space follows a comment on its line.
func (l *lifter) endsLine(c ptx.Comment) bool {
	rest := l.file.Text[int(c.At)+len(c.Text):]
	line, _, _ := strings.Cut(rest, "\n")
	return strings.TrimSpace(line) == ""
}

func (l *lifter) read() {
	for _, n := range l.file.Decls {
		switch n := n.(type) {
		case *ptx.Directive:
			l.directive(n)
		case *ptx.Var:
			l.variables(n, func(v *ir.Var) { l.m.Decls = append(l.m.Decls, v) })
		case *ptx.Func:
			l.function(n)
		case *ptx.Section:
			l.section(n)
		case *ptx.Sources:
			l.sources(n)
		default:
			l.fault(&ruleStatement, n, "this statement cannot be parsed")
		}
	}
	l.m.Tail = l.doc(ptx.Pos(len(l.file.Text)) + 1)
}

// directive lifts the module header, or a directive that declares nothing.
func (l *lifter) directive(n *ptx.Directive) {
	if l.binder == nil {
		l.m.Doc = append(l.m.Doc, l.doc(n.At)...)
	}
	words := make([]string, len(n.Args))
	for i := range n.Args {
		words[i] = n.Args[i].Text
	}
	switch {
	case n.Name.Text == ".version" && len(words) == 1 && l.m.Version == 0:
		l.m.Version, _ = isa.ParseVersion(words[0])
	case n.Name.Text == ".target" && len(words) > 0 && l.binder == nil:
		target, ok := isa.ParseTarget(strings.Replace(words[0], "compute_", "sm_", 1))
		if !ok || l.m.Version == 0 {
			l.fault(&ruleStatement, n, "%s %s is unknown", l.m.Version, words[0])
			return
		}
		l.m.Target, l.m.Options = target, words[1:]
		l.binder = ir.NewBinder(l.m.Version, target)
	case n.Name.Text == ".address_size" && len(words) == 1:
		l.m.Bits = int(constant.Of(&n.Args[0]).Bits)
	default:
		l.m.Decls = append(l.m.Decls, l.plain(n))
	}
}

// plain returns a directive with its name and its arguments as text.
func (l *lifter) plain(n *ptx.Directive) *ir.Directive {
	d := &ir.Directive{Name: n.Name.Text, Semi: n.Semi, Pos: position(n)}
	d.Doc = l.doc(n.Name.To)
	d.Text = l.textOf(n.Args)
	if d.Name == ".attribute" {
		d.Text = "(" + d.Text + ")"
	}
	d.Note = l.note(n.To, &d.Doc)
	return d
}

func (l *lifter) section(n *ptx.Section) {
	s := &ir.Section{Name: n.Name.Text, Pos: position(n), Doc: l.doc(n.At)}
	for _, line := range n.Lines {
		switch line := line.(type) {
		case *ptx.Label:
			s.Lines = append(s.Lines, ir.Line{Label: line.Name.Text})
		case *ptx.Data:
			d := ir.Line{Type: line.Type.Text}
			for i := range line.Args {
				d.Values = append(d.Values, l.textOf(line.Args[i:i+1]))
			}
			s.Lines = append(s.Lines, d)
		}
	}
	s.Doc = append(s.Doc, l.doc(n.To)...)
	l.m.Decls = append(l.m.Decls, s)
}

func (l *lifter) sources(n *ptx.Sources) {
	s := &ir.Section{Name: n.Name.Text, Pos: position(n), Doc: l.doc(n.At),
		Sources: []ir.CodeBlock{}}
	for _, b := range n.Blocks {
		if b, ok := b.(*ptx.Source); ok {
			s.Sources = append(s.Sources,
				ir.CodeBlock{Language: b.Language.Text, File: l.textOf([]ptx.Operand{b.File}),
					Text: b.Text.Text})
		}
	}
	s.Doc = append(s.Doc, l.doc(n.To)...)
	l.m.Decls = append(l.m.Decls, s)
}
