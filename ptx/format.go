// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package ptx

import (
	"fmt"
	"strings"

	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/internal/layout"
	"github.com/ptxdsl/ptxdsl/isa"
)

// Format formats text in the style that docs/reference/format.md describes, with modifiers in the
// order of the PTX manual. If the module has syntax errors, the result is empty and the errors
// are returned. Formatting is idempotent.
func Format(name, text string) (string, diag.List) {
	f, errs := Parse(name, text)
	if errs.Errors() > 0 {
		return "", errs
	}
	return Print(f), errs
}

// Print prints a parsed module in the style of Format. It uses the tree and its comments. It uses
// the source text only to find blank lines and comments that follow code on the same line.
func Print(f *File) string {
	var p printer
	return p.print(f)
}

// print prints f. It reuses the memory of the previous call.
func (p *printer) print(f *File) string {
	if len(p.spelled) == 0 || len(p.spelled) > maxOpcodes {
		p.spelled = map[string]string{}
	}
	p.Reset(printedLength(f))
	*p = printer{Page: p.Page, file: f, comments: f.Comments, spelled: p.spelled}
	p.due = p.dueAt()
	p.module()
	p.file, p.comments = nil, nil
	return p.Text()
}

// maxOpcodes is the maximum number of cached opcodes; PTX has fewer.
const maxOpcodes = 10_000

// printedLength returns an estimate of the printed length of f. For a tree that was not parsed
// from text, the estimate depends on the number of statements.
func printedLength(f *File) int {
	n := len(f.Text) + len(f.Text)/8
	statements := len(f.Decls)
	for _, d := range f.Decls {
		if fn, ok := d.(*Func); ok && fn.Body != nil {
			statements += len(fn.Body.Stmts)
		}
	}
	const line = 48 // estimated bytes per line
	return max(n, line*statements) + 64
}

// A printer prints the syntax tree of a module.
type printer struct {
	layout.Page
	file     *File
	comments []Comment
	printed  int // number of comments that have been printed
	due      Pos // position of the next comment to print
	spelled  map[string]string
	recent   [64]struct{ op, spelled string }

	prev Pos  // end in the source of the text that was printed last
	open bool // no blank line may follow, because the last line opened a block
}

// op returns an opcode with its modifiers in the order of the PTX manual. Opcodes repeat, so
// recent results are cached.
func (p *printer) op(op string) string {
	if op == "" {
		return ""
	}
	n := len(op)
	recent := &p.recent[(n+int(op[n-1])*7+int(op[n/2])*31+int(op[n/3])*11+int(op[0])*5)%len(
		p.recent)]
	if recent.op == op {
		return recent.spelled
	}
	s, ok := p.spelled[op]
	if !ok {
		op = strings.Clone(op) // the cache may outlive the text of the module
		s, _ = isa.Canonical(op)
		p.spelled[op] = s
	}
	recent.op, recent.spelled = op, s
	return s
}

// module prints all declarations.
func (p *printer) module() {
	header := false // the previous node was .version, .target or .address_size
	for i, n := range p.file.Decls {
		isHeader := headerLine(n)
		switch {
		case i > 0 && header && !isHeader:
			p.blank()
		case i > 0 && (isTall(n) || isTall(p.file.Decls[i-1])):
			p.blank()
		}
		header = isHeader
		p.node(n)
	}
	p.leading(Pos(len(p.file.Text)))
}

// headerLine reports whether n is one of the directives with which a module starts.
func headerLine(n Node) bool {
	d, ok := n.(*Directive)
	if !ok {
		return false
	}
	switch d.Name.Text {
	case ".version", ".target", ".address_size":
		return true
	}
	return false
}

// isTall reports whether n is printed on several lines, and is therefore separated by blank
// lines.
func isTall(n Node) bool {
	switch n := n.(type) {
	case *Func:
		return n.Body != nil
	case *Section, *Sources:
		return true
	}
	return false
}

// node prints a declaration or statement, and the comments before it.
func (p *printer) node(n Node) {
	if at := n.Pos(); p.due < at {
		p.leading(at)
	}
	switch n := n.(type) {
	case *Instr:
		p.instr(n)
	case *Var:
		p.variable(n)
	case *Label:
		p.label(n)
	case *Directive:
		p.directive(n)
	case *Func:
		p.function(n)
	case *Block:
		p.block(n)
	case *Section:
		p.section(n)
	case *Data:
		p.data(n)
	case *Sources:
		p.sources(n)
	case *Source:
		p.source(n)
	default:
		panic(fmt.Sprintf("bug: %T in a tree without errors", n))
	}
}

func (p *printer) instr(n *Instr) {
	p.begin(n.At, layout.Instr)
	if n.Guard.Text != "" {
		p.Put("@")
		if n.Guard.Not {
			p.Put("!")
		}
		p.word(n.Guard.Word)
		p.Put(" ")
	}
	p.interior(n.Op.At)
	p.Put(p.op(n.Op.Text))
	if len(n.Args) > 0 {
		p.Tail()
		p.operands(n.Args)
	}
	p.interior(n.To)
	p.Put(";")
	p.end(n.To)
}

func (p *printer) label(n *Label) {
	was := p.Indent
	p.Indent = max(0, p.Indent-1)
	p.begin(n.At, layout.Plain)
	p.Put(n.Name.Text)
	p.interior(n.To)
	p.Put(":")
	p.end(n.To)
	p.Indent = was
}

func (p *printer) directive(n *Directive) {
	kind := layout.Plain
	if n.Name.Text == ".loc" {
		kind = layout.Pass
	}
	p.begin(n.At, kind)
	p.directiveText(n)
	if n.Semi {
		p.interior(n.To)
		p.Put(";")
	}
	p.end(n.To)
}

func (p *printer) directiveText(n *Directive) {
	if n.Label.Text != "" {
		p.word(n.Label)
		p.Put(": ")
	}
	p.word(n.Name)
	p.Put(n.separator())
	p.Line = p.spacedArgs(p.Line, n.Args)
}

// separator returns the text between a directive and its arguments: "" before a parenthesis,
// otherwise a space.
func (n *Directive) separator() string {
	if len(n.Args) == 0 || n.Args[0].Kind == List && n.Name.Text == ".attribute" {
		return ""
	}
	return " "
}

// spacedArgs appends arguments to b, separated by white space or commas as in the source.
func (p *printer) spacedArgs(b []byte, args []Operand) []byte {
	for i := range args {
		switch {
		case i == 0:
		case args[i].Spaced:
			b = append(b, ' ')
		default:
			b = append(b, ", "...)
		}
		b = p.operand(b, &args[i], false)
	}
	return b
}

func (p *printer) block(n *Block) {
	p.begin(n.At, layout.Plain)
	p.Put("{")
	p.end(n.At + 1)
	p.body(n.Stmts, n.To)
}

// body prints the statements of a block up to the closing brace that ends at to. In a function, a
// blank line follows the declarations at the start.
func (p *printer) body(list []Node, to Pos) {
	p.Indent++
	p.open = true
	head := p.Indent == 1
	for i, n := range list {
		if head && !isVariable(n) {
			if head = false; i > 0 {
				p.blank()
			}
		}
		p.node(n)
	}
	p.leading(to - 1)
	p.Indent--
	p.open = true // no blank line before the brace
	p.begin(to-1, layout.Plain)
	p.Put("}")
	p.end(to)
}

// isVariable reports whether n declares variables.
func isVariable(n Node) bool {
	_, ok := n.(*Var)
	return ok
}

func (p *printer) section(n *Section) {
	p.begin(n.At, layout.Plain)
	p.Put(".section ")
	p.word(n.Name)
	p.end(n.Name.To)
	p.brace(n.Name.To)
	p.body(n.Lines, n.To)
}

// brace prints the "{" after a header on a separate line.
func (p *printer) brace(from Pos) {
	open := p.find(from, '{')
	p.leading(open)
	p.begin(open, layout.Plain)
	p.Put("{")
	p.end(open + 1)
}

// find returns the position of the first c after from that is not in a comment.
func (p *printer) find(from Pos, c byte) Pos {
	comments := p.comments[p.printed:]
	for i := from; int(i) < len(p.file.Text); i++ {
		for len(comments) > 0 && comments[0].At < i {
			comments = comments[1:]
		}
		if len(comments) > 0 && comments[0].At == i {
			i += Pos(len(comments[0].Text)) - 1
			continue
		}
		if p.file.Text[i] == c {
			return i
		}
	}
	return from
}

func (p *printer) data(n *Data) {
	p.begin(n.At, layout.Plain)
	p.word(n.Type)
	p.Put(" ")
	p.Line = p.spacedArgs(p.Line, n.Args)
	p.end(n.To)
}
