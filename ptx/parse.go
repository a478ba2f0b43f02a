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

// Limits for one file. Real modules are far below them; they prevent hostile input from exhausting
// stack and memory.
const (
	maxErrors = 10_000 // number of errors after which the parser gives up
	// maximum number of operators in an expression, and so the depth of its tree
	maxOperators = 1_000_000
	maxText      = math.MaxInt32 - 16
)

// The parser of ptxas has a stack of 10000 symbols, and reports an error if a module is nested more
// deeply. These constants are the symbols that each nesting level adds, found by experiment.
const (
	stackSize    = 9988 // available at module level for nesting in a declaration
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

// Parse parses one module. The File is never nil: it holds what could be parsed, with a Bad
// node for each part that could not. The list holds every syntax error, sorted by position.
func Parse(name, text string) (*File, diag.List) {
	var p parser
	return p.parse(name, text)
}

// A Parser parses modules one after another and reuses its memory. A tree is ten times as large as
// its text, and allocating it takes as long as parsing. The tree of a module becomes invalid when
// the next module is parsed; errors and printed text stay valid. The zero Parser is ready for use
// by one goroutine at a time.
type Parser struct {
	parser  parser
	printer printer
}

// Parse is like the function Parse, but uses the memory of p.
func (p *Parser) Parse(name, text string) (*File, diag.List) {
	p.parser.reset()
	return p.parser.parse(name, text)
}

// Format is like the function Format, but uses the memory of p.
func (p *Parser) Format(name, text string) (string, diag.List) {
	f, errs := p.Parse(name, text)
	if errs.Errors() > 0 {
		return "", errs
	}
	return p.printer.print(f), errs
}

// parse reads a module; the parser must be new or reset.
func (p *parser) parse(name, text string) (*File, diag.List) {
	p.file = &File{Name: name, Text: text}
	if len(text) > maxText {
		p.file.Text = ""
		p.fail(0, 0, tooLarge, "file is %d bytes long, expected at most %d", len(text), maxText)
		return p.file, p.errors
	}
	p.scan.text = text
	// One comment per hundred bytes is usual; this avoids growing the table repeatedly.
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

// A parser parses one file. It looks one token ahead.
type parser struct {
	scan      scanner
	file      *File
	tok       token // the current token
	last      Pos   // end of the previous token
	errors    diag.List
	depth     int   // number of open scopes
	shifted   token // the first brace of this function whose "}" is indented less
	torn      bool  // an unclosed comment or string reaches the end of the file
	operators int   // number of operators in the current expression
	stack     int   // symbols on the stack of ptxas's parser for the current nesting

	textless bool // there is no more line with .source_end

	// Stacks on which lists grow until their length is known.
	nodes    []Node
	operands []Operand

	frame  framer
	instrs slab.Of[Instr]
	labels slab.Of[Label]
	lines  slab.Of[dataLine]
	args   slab.Of[Operand] // operands of instructions, and of everything parsed from tokens
	parts  slab.Of[Operand] // operands inside of plain operands
	notes  slab.Of[Directive]
	vars   slab.Of[Var]
	names  slab.Of[Declarator]
	stmts  slab.Of[Node]
}

// reset reclaims the memory of the previous module.
func (p *parser) reset() {
	clear(p.scan.comments)
	p.scan = scanner{comments: p.scan.comments[:0]}
	p.file, p.errors, p.tok, p.last, p.depth, p.stack, p.torn, p.textless, p.shifted = nil, nil,
		token{}, 0, 0, 0, false, false, token{}
	p.nodes, p.operands = emptied(p.nodes), emptied(p.operands)
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

// emptied returns the memory of a stack, without pointers in it.
func emptied[T any](stack []T) []T {
	clear(stack[:cap(stack)])
	return stack[:0]
}

// advance moves to the next token. It is the only place that reports illegal tokens.
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

// word returns a token's text with its position.
func (p *parser) word(t token) Word {
	return Word{Span{t.at, t.to}, p.scan.text[t.at:t.to]}
}

// textOf returns a token's text.
func (p *parser) textOf(t token) string { return p.scan.text[t.at:t.to] }

// absent returns a word that was not written.
func absent() Word { return Word{Span: Span{NoPos, NoPos}} }

// fail reports an error from at to just before to.
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

// unexpected reports the current token, and what was expected instead.
func (p *parser) unexpected(want string) {
	t := p.tok
	switch {
	case t.kind == illegal: // reported by the scanner
	case t.kind == endOfFile:
		p.fail(t.at, t.to, syntax, "unexpected end of file, expected %s", want)
	case strings.HasPrefix(p.file.Text[t.at:], "*/"):
		p.fail(t.at, t.at+2, syntax,
			"unexpected %s: comments do not nest, and the first */ has already ended the comment",
			quoted("*/"))
	default:
		p.fail(t.at, t.to, syntax, "unexpected %s, expected %s", quoted(p.textOf(t)), want)
	}
}

// quoted returns text in quotes, shortened if it is long.
func quoted(text string) string {
	if len(text) > 40 {
		text = text[:37] + "..."
	}
	return fmt.Sprintf("%q", text)
}

// accept skips a token of kind k, if it is next.
func (p *parser) accept(k kind) bool {
	if p.tok.kind != k {
		return false
	}
	p.advance()
	return true
}

// close skips the bracket that closes the bracket open, or reports that it is missing.
func (p *parser) close(open token, want string) bool {
	if p.accept(opposite(open.kind)) {
		return true
	}
	if p.resumable() {
		p.fail(p.last, p.last, syntax, "expected %s before the next statement", want)
		return false
	}
	p.unexpected(want)
	return false
}

// resumable reports whether the current token looks like the start of a new statement, so that an
// unfinished one before it can be dropped without skipping text.
func (p *parser) resumable() bool {
	switch p.tok.kind {
	case endOfFile:
		return true
	case '}':
		return !p.strayBrace()
	case name, dotted, '@', dot, dwarf:
		return p.tok.fresh
	}
	return false
}

// strayBrace reports whether the current "}" is among operands and closes nothing, so that the
// scope continues.
func (p *parser) strayBrace() bool {
	if p.tok.fresh {
		return false
	}
	ahead := p.scan // a copy: comments are recorded when the text is scanned again
	next := ahead.next()
	return (next.kind == ',' || next.kind == ';') && !next.fresh
}

// semicolon skips the ";" that ends the text from start. If it is missing, it reports that and
// continues at the apparent start of the next statement.
func (p *parser) semicolon(want string) bool {
	if p.tok.kind == ';' {
		p.advance()
		return true
	}
	if p.resumable() {
		p.fail(p.last, p.last, syntax, "expected %s before the next statement", want)
		return true
	}
	p.unexpected(want)
	return false
}

// skip advances to where a statement can start: after the next ";", at the "}" that closes the
// scope, or at a line that looks like a statement. It returns the end of the skipped text.
func (p *parser) skip() Pos {
	if p.resumable() {
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
			} else if !p.strayBrace() {
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

// opensStatement reports whether a dot-word at the start of a line starts a statement; it may also
// be a modifier of an opcode.
func opensStatement(word string) bool {
	switch word {
	case ".reg", ".param", ".local", ".loc", ".pragma", ".entry", ".func", ".visible", ".extern",
		".weak", ".common", ".section", ".file", ".version", ".target", ".address_size", ".alias",
		sourcesWord:
		return true
	}
	return false
}

// bad adds a Bad node for text that could not be parsed.
func (p *parser) bad(at, to Pos) {
	p.keep(&Bad{Span{at, max(at, to)}})
}

// keep pushes a node on the stack.
func (p *parser) keep(n Node) {
	if len(p.nodes) == cap(p.nodes) {
		p.nodes = slices.Grow(p.nodes, max(64, len(p.nodes)))
	}
	p.nodes = append(p.nodes, n)
}

// taken returns the nodes that were pushed since the stack had the height base.
func (p *parser) taken(base int) []Node {
	list := slab.Copy(&p.stmts, p.nodes[base:])
	clear(p.nodes[base:])
	p.nodes = p.nodes[:base]
	return list
}
