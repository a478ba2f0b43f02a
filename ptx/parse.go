// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package ptx

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/internal/slab"
)

// Limits for one file. Real modules are far below them. They prevent hostile input from
// exhausting stack and memory.
const (
	maxErrors = 10_000 // number of errors at which parsing ends
	// maximum number of operators in an expression, which limits the depth of its tree
	maxOperators = 1_000_000
	maxText      = math.MaxInt32 - 16
)

// The parser of ptxas has a stack of 10000 symbols, and rejects a module that is nested more
// deeply. These constants are the numbers of symbols that each level of nesting adds to the
// stack, found by experiment.
const (
	stackSize    = 9988 // available for a declaration at module scope
	inFunction   = 10
	inScope      = 6
	inParens     = 1
	inUnary      = 2
	inCast       = 4
	inBinary     = 2 // in the right operand
	inBranch     = 2 // between ? and :
	inElse       = 4 // after the :
	inInitialize = 2 // between braces
)

// Parse parses one module. The File is never nil. It has a Bad node for each part that could not
// be parsed. The list has the syntax errors, sorted by position.
func Parse(name, text string) (*File, diag.List) {
	var p parser
	return p.parse(name, text)
}

// A Parser parses modules one after another and reuses its memory. A syntax tree is ten times as
// large as its text, and its allocation takes as long as parsing. The tree of a module becomes
// invalid when the next module is parsed. Errors and printed text stay valid. The zero Parser is
// ready for use by one goroutine at a time.
type Parser struct {
	parser  parser
	printer printer
}

// Parse parses a module as the function Parse does, but reuses the memory of p.
func (p *Parser) Parse(name, text string) (*File, diag.List) {
	p.parser.reset()
	return p.parser.parse(name, text)
}

// Format formats a module as the function Format does, but reuses the memory of p.
func (p *Parser) Format(name, text string) (string, diag.List) {
	f, errs := p.Parse(name, text)
	if errs.Errors() > 0 {
		return "", errs
	}
	return p.printer.print(f), errs
}

// parse parses a module. The parser must be new or reset.
func (p *parser) parse(name, text string) (*File, diag.List) {
	p.file = &File{Name: name, Text: text}
	if len(text) > maxText {
		p.file.Text = ""
		p.fail(0, 0, tooLarge, "file is %d bytes long, expected at most %d", len(text), maxText)
		return p.file, p.errors
	}
	p.scan.text = text
	// Modules usually have one comment per hundred bytes; this avoids most reallocations.
	p.scan.comments = slices.Grow(p.scan.comments, len(text)/200)
	if n := strings.IndexByte(text, 0); n >= 0 {
		p.fail(Pos(n), Pos(n)+1, literal, "NUL byte: the assembler stops reading here, even in a "+
			"comment")
	}
	p.advance()
	p.module()
	p.file.Comments = p.scan.comments
	return p.file, p.errors.Sort()
}

// A parser parses one file. It reads one token ahead.
type parser struct {
	scan         scanner
	file         *File
	tok          token // the current token
	last         Pos   // end of the previous token
	errors       diag.List
	depth        int   // number of open blocks
	suspectBrace token // first brace of the function whose "}" is indented less
	unclosed     bool  // an unclosed comment or string extends to the end of the file
	operators    int   // number of operators in the current expression
	stack        int   // number of symbols on the parser stack of ptxas at the current nesting

	noSourceEnd bool // no line with .source_end follows

	// Stacks for lists whose length is not known yet.
	nodes    []Node
	operands []Operand

	frame  framer
	instrs slab.Of[Instr]
	labels slab.Of[Label]
	lines  slab.Of[dataLine]
	args   slab.Of[Operand] // operands of instructions, and those parsed from tokens
	parts  slab.Of[Operand] // operands inside operands of plain instructions
	notes  slab.Of[Directive]
	vars   slab.Of[Var]
	names  slab.Of[Declarator]
	stmts  slab.Of[Node]
}

// reset prepares the parser for another module, and reuses the memory of the previous one.
func (p *parser) reset() {
	clear(p.scan.comments)
	p.scan = scanner{comments: p.scan.comments[:0]}
	p.file, p.errors, p.tok, p.last, p.depth, p.stack, p.unclosed, p.noSourceEnd, p.suspectBrace =
		nil, nil,
		token{}, 0, 0, 0, false, false, token{}
	p.nodes, p.operands = clearStack(p.nodes), clearStack(p.operands)
	p.frame.reset()
	slab.Reset(&p.instrs)
	slab.Reset(&p.labels)
	slab.Reset(&p.lines)
	slab.Reset(&p.args)
	slab.Reset(&p.parts)
	slab.Reset(&p.notes)
	slab.Reset(&p.vars)
	slab.Reset(&p.names)
	slab.Reset(&p.stmts)
}

// clearStack returns an empty stack with the memory of the given one, which is cleared so that it
// contains no pointers.
func clearStack[T any](stack []T) []T {
	clear(stack[:cap(stack)])
	return stack[:0]
}

// advance moves to the next token. Illegal tokens are only reported here.
func (p *parser) advance() {
	p.last = p.tok.to
	p.tok = p.scan.next()
	switch p.tok.kind {
	case illegal:
		p.reportIllegal(p.tok)
	case str:
		p.checkString(p.tok)
	}
}

// word returns the text of a token with its position.
func (p *parser) word(t token) Word {
	return Word{Span{t.at, t.to}, p.scan.text[t.at:t.to]}
}

// textOf returns the text of a token.
func (p *parser) textOf(t token) string { return p.scan.text[t.at:t.to] }

// absent returns a word that is not in the text.
func absent() Word { return Word{Span: Span{NoPos, NoPos}} }

// fail reports an error in the range from at to before to.
func (p *parser) fail(at, to Pos, rule, format string, args ...any) {
	if len(p.errors) >= maxErrors {
		return
	}
	message := fmt.Sprintf(format, args...)
	if len(p.errors) == maxErrors-1 {
		rule, message = tooMany, fmt.Sprintf("more than %d errors; the others are not shown",
			maxErrors-1)
	}
	p.errors = append(p.errors, diag.Diagnostic{
		Place: p.file.Place(at, to), Rule: rule, Severity: diag.Error, Message: message,
	})
}

// reportUnexpected reports the current token as unexpected. want describes the expected tokens.
func (p *parser) reportUnexpected(want string) {
	t := p.tok
	switch {
	case t.kind == illegal: // the scanner has reported the token
	case t.kind == endOfFile:
		p.fail(t.at, t.to, syntax, "unexpected end of file, expected %s", want)
	case strings.HasPrefix(p.file.Text[t.at:], "*/"):
		p.fail(t.at, t.at+2, syntax,
			"unexpected %s: comments do not nest, and the first */ has already ended the comment",
			quote("*/"))
	default:
		p.fail(t.at, t.to, syntax, "unexpected %s, expected %s", quote(p.textOf(t)), want)
	}
}

// quote returns text in quotation marks, shortened to 40 bytes.
func quote(text string) string {
	if len(text) > 40 {
		text = text[:37] + "..."
	}
	return fmt.Sprintf("%q", text)
}

// accept skips the current token if it has kind k, and reports whether it has.
func (p *parser) accept(k kind) bool {
	if p.tok.kind != k {
		return false
	}
	p.advance()
	return true
}

// close skips the bracket that closes open, or reports that the bracket is missing.
func (p *parser) close(open token, want string) bool {
	if p.accept(opposite(open.kind)) {
		return true
	}
	if p.isResumable() {
		p.fail(p.last, p.last, syntax, "expected %s before the next statement", want)
		return false
	}
	p.reportUnexpected(want)
	return false
}

// isResumable reports whether the current token looks like the start of a new statement, so that
// the statement before it can be dropped without skipping text.
func (p *parser) isResumable() bool {
	switch p.tok.kind {
	case endOfFile:
		return true
	case '}':
		return !p.isStrayBrace()
	case name, dotted, '@', dot, dwarf:
		return p.tok.fresh
	}
	return false
}

// isStrayBrace reports whether the current "}" is among operands and closes no brace, so that the
// block continues.
func (p *parser) isStrayBrace() bool {
	if p.tok.fresh {
		return false
	}
	ahead := p.scan // a copy, so that comments are only recorded in the second scan
	next := ahead.next()
	return (next.kind == ',' || next.kind == ';') && !next.fresh
}

// semicolon skips a ";". If the ";" is missing, it reports that and continues at the apparent
// start of the next statement.
func (p *parser) semicolon(want string) bool {
	if p.tok.kind == ';' {
		p.advance()
		return true
	}
	if p.isResumable() {
		p.fail(p.last, p.last, syntax, "expected %s before the next statement", want)
		return true
	}
	p.reportUnexpected(want)
	return false
}

// skip advances to a position where a statement can start: after the next ";", at the "}" that
// closes the block, or at a line that looks like a statement. It returns the end of the skipped
// text.
func (p *parser) skip() Pos {
	if p.isResumable() {
		return p.last
	}
	for depth := 0; ; {
		switch p.tok.kind {
		case endOfFile:
			return p.last
		case ';':
			p.advance()
			if depth == 0 {
				return p.last
			}
			continue
		case '{':
			depth++
		case '}':
			if depth > 0 {
				depth--
			} else if !p.isStrayBrace() {
				return p.last
			}
		case dot:
			if p.tok.fresh && depth == 0 && opensStatement(p.textOf(p.tok)) {
				return p.last
			}
		}
		p.advance()
	}
}

// opensStatement reports whether a word with a dot at the start of a line starts a statement and
// is not a modifier of an opcode.
func opensStatement(word string) bool {
	switch word {
	case ".reg", ".param", ".local", ".loc", ".pragma", ".entry", ".func", ".visible", ".extern",
		".weak", ".common", ".section", ".file", ".version", ".target", ".address_size", ".alias",
		sourcesWord:
		return true
	}
	return false
}

// pushBad pushes a Bad node for text that could not be parsed.
func (p *parser) pushBad(at, to Pos) {
	p.pushNode(&Bad{Span{at, max(at, to)}})
}

// pushNode pushes a node on the stack.
func (p *parser) pushNode(n Node) {
	if len(p.nodes) == cap(p.nodes) {
		p.nodes = slices.Grow(p.nodes, max(64, len(p.nodes)))
	}
	p.nodes = append(p.nodes, n)
}

// popNodes removes the nodes above height base from the stack and returns them.
func (p *parser) popNodes(base int) []Node {
	list := slab.Copy(&p.stmts, p.nodes[base:])
	clear(p.nodes[base:])
	p.nodes = p.nodes[:base]
	return list
}
