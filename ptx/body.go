// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package ptx

import (
	"strings"

	"github.com/ptxdsl/ptxdsl/internal/slab"
)

// block parses { ... }: the body of a function or a nested block.
func (p *parser) block() *Block {
	open := p.tok
	if p.depth == 0 {
		p.suspectBrace = token{}
	}
	if open.kind == '{' {
		p.advance()
	} else {
		open = token{'{', true, p.last, p.last} // the missing brace has been reported
	}
	b := &Block{Span: Span{open.at, open.to}}
	symbols := inScope
	if p.depth == 0 {
		symbols = inFunction
	}
	if !p.pushSymbols(symbols, open) {
		p.skipBlock()
		b.To = p.last
		return b
	}
	p.depth++
	base := len(p.nodes)
	for {
		switch p.tok.kind {
		case '}':
			if i := p.indent(p.tok); i >= 0 && i < p.indent(open) && p.suspectBrace.to == 0 {
				p.suspectBrace = open
			}
			p.advance()
		case endOfFile:
			if !p.unclosed {
				at := p.unclosedAt(open)
				p.fail(at.at, at.to, unclosed, "%s is not closed", quote("{"))
			}
		default:
			if p.tok.kind == dot && p.tok.fresh && p.opensModule() {
				at := p.unclosedAt(open)
				p.fail(at.at, at.to, unclosed, "%s is not closed before %s",
					quote("{"), quote(p.textOf(p.tok)))
				break
			}
			p.statement()
			continue
		}
		break
	}
	p.depth--
	p.stack -= symbols
	b.To = p.last
	b.Stmts = p.popNodes(base)
	return b
}

// unclosedAt returns the brace that most likely lacks its "}" if the block that starts at open is
// not closed. If the indentation shows that the last "}" was intended for the outer block, that
// is the brace of an inner block.
func (p *parser) unclosedAt(open token) token {
	if p.suspectBrace.at > open.at {
		return p.suspectBrace
	}
	return open
}

// indent returns the column of a token that is the first on its line, and 0 for other tokens.
func (p *parser) indent(t token) int {
	if t.fresh {
		for i := int(t.at); i >= 0 && i > int(t.at)-100; i-- {
			if i == 0 || p.scan.text[i-1] == '\n' {
				return int(t.at) - i
			}
		}
	}
	return notPlain
}

// skipBlock skips the rest of a block, including its closing brace.
func (p *parser) skipBlock() {
	for depth := 1; depth > 0 && p.tok.kind != endOfFile; p.advance() {
		switch p.tok.kind {
		case '{':
			depth++
		case '}':
			depth--
		}
	}
}

// opensModule reports whether the current word, which starts with a dot at the start of a line,
// is only valid outside functions. Then the "}" before it is missing.
func (p *parser) opensModule() bool {
	switch p.textOf(p.tok) {
	case ".entry", ".version", ".target", ".address_size", ".section":
		return true
	case ".visible", ".weak", ".extern":
		ahead := p.scan // a copy, so that comments are only recorded in the second scan
		next := ahead.next()
		return next.kind == dot && p.textOf(next) == ".entry"
	}
	return false
}

// statement parses one statement of a function and pushes its node.
func (p *parser) statement() {
	first := p.tok
	switch first.kind {
	case name, dotted:
		unguarded := Guard{Word: absent()}
		if p.plainInstr(first.at, unguarded, first) {
			return
		}
		p.advance()
		if p.tok.kind == ':' && first.kind == name {
			p.label(first)
			return
		}
		p.instruction(first.at, unguarded, first)
	case '@':
		p.guardedInstr()
	case dot, dwarf:
		p.item(absent())
	case '{':
		b := p.block()
		p.pushNode(b)
	case ';':
		p.fail(first.at, first.to, syntax, "empty statement: no statement before %s", quote(";"))
		p.advance()
	default:
		want := "a statement"
		if ahead := p.scan; first.kind == '!' && ahead.next().kind == '@' {
			want = "the ! after the @, as in @!%p1"
		}
		p.reportUnexpected(want)
		p.advance()
		p.pushBad(first.at, p.skip())
	}
}

// label parses the rest of `name :`. The current token is the ":".
func (p *parser) label(first token) {
	w := p.word(first)
	if isReserved(w.Text) {
		p.fail(first.at, first.to, syntax, "%s cannot be a label", quote(w.Text))
	}
	p.advance()
	if p.tok.kind == dot && isNamedByLabel(p.textOf(p.tok)) {
		p.item(w)
		return
	}
	l := slab.One(&p.labels)
	l.Span, l.Name = Span{first.at, p.last}, w
	p.pushNode(l)
}

// isNamedByLabel reports whether a label before the directive is the name of the directive.
func isNamedByLabel(word string) bool {
	return word == ".branchtargets" || word == ".calltargets" || word == ".callprototype"
}

// isReserved reports whether a word that has the form of a name is reserved.
func isReserved(word string) bool {
	switch word[0] {
	case '_', 'W', 'f', 'i':
		return word == "_" || word == "WARP_SZ" || word == "function_name" || word == "inlined_at"
	}
	return false
}

// guardedInstr parses an instruction with a guard @p or @!p.
func (p *parser) guardedInstr() {
	start := p.tok.at
	p.advance()
	guard := Guard{Not: p.accept('!')}
	if p.tok.kind != name || isReserved(p.textOf(p.tok)) {
		p.reportUnexpected("the predicate of a guard")
		p.pushBad(start, p.skip())
		return
	}
	guard.Word = p.word(p.tok)
	p.advance()
	op := p.tok
	if op.kind != name && op.kind != dotted {
		p.reportUnexpected("an instruction after its guard")
		p.pushBad(start, p.skip())
		return
	}
	if p.plainInstr(start, guard, op) {
		return
	}
	p.advance()
	p.instruction(start, guard, op)
}

// instruction parses the rest of an instruction that starts at start. op, the previous token, is
// the start of the opcode.
func (p *parser) instruction(start Pos, guard Guard, op token) {
	in := slab.One(&p.instrs)
	in.At, in.Guard, in.Op = start, guard, p.word(op)
	if p.tok.kind == dot {
		p.opcode(in)
	}
	base := len(p.operands)
	ok := !isReserved(in.Op.Text)
	if !ok {
		p.fail(op.at, op.to, syntax, "%s is reserved and cannot start an instruction",
			quote(in.Op.Text))
	} else if ok = !p.reportForeignSyntax(op, in.Op); !ok {
		// the error has been reported
	} else if want := p.missingEnd(in.Op.Text); want != "" {
		p.fail(p.last, p.last, syntax, "expected %s before the next statement", want)
		// a label is kept, because branches may refer to it
		if op.kind == name && want != quote(";") && guard.Text == "" {
			l := slab.One(&p.labels)
			l.Span, l.Name = in.Op.Span, in.Op
			p.pushNode(l)
			return
		}
		p.pushBad(in.At, p.last)
		return
	} else if isCall(in.Op.Text) {
		ok = p.callOperands()
	} else if k := p.tok.kind; k != ';' && k != '}' && k != endOfFile {
		ok = p.instrOperands()
	}
	in.Args = slab.Copy(&p.args, p.operands[base:])
	p.operands = p.operands[:base]
	if ok && op.kind == name && p.scan.text[op.at] == '%' && p.tok.kind == name && !p.tok.fresh {
		p.fail(op.at, op.to, syntax, "%s is not an instruction: a guard is written %s",
			quote(in.Op.Text), quote("@"+in.Op.Text))
		ok = false
	}
	if ok && p.semicolon(`"," or ";"`) {
		in.To = p.last
		p.pushNode(in)
		return
	}
	p.pushBad(in.At, p.skip())
}

// missingEnd returns a description of the token that is missing after an opcode or a label, if
// the next statement follows where operands are expected, and otherwise "". That is the case if
// the next line has two adjacent words, of which the first is an opcode.
func (p *parser) missingEnd(op string) string {
	if t := p.tok; !t.fresh || t.kind != name && t.kind != dotted || p.scan.text[t.at] == '%' {
		return ""
	}
	switch op {
	case "ret", "exit", "trap", "brkpt":
		return quote(";")
	}
	ahead := p.scan // a copy, so that comments are only recorded in the second scan
	if next := ahead.next(); next.fresh || next.kind != name && next.kind != dotted {
		return ""
	}
	return quote(":") + " or " + quote(";")
}

// reportForeignSyntax reports syntax that other languages have, and returns false if the
// statement has no such syntax. The current token is the token after op, the first word of the
// statement.
func (p *parser) reportForeignSyntax(op token, w Word) bool {
	t := p.tok
	switch {
	case t.kind == ':' && op.kind == dotted && t.at == op.to:
		p.fail(t.at, t.to, syntax, "unexpected %s: the parts of a modifier are separated by %s, "+
			"as in .shared::cta", quote(":"), quote("::"))
	case op.kind == name &&
		DeclaresWithoutDot(p.scan.text[op.at:min(len(p.scan.text), int(op.to)+1)]):
		p.fail(op.at, op.to, syntax, "%s is not an instruction; did you mean %s?",
			quote(p.textOf(op)), quote("."+p.textOf(op)))
	case t.kind == '=':
		p.fail(t.at, t.to, syntax, "unexpected %s: PTX has no assignments; the result is the "+
			"first operand, as in mov.b32 %%r1, %%r2", quote("="))
	case t.kind == '(' && w.Text == "if":
		p.fail(op.at, op.to, syntax,
			"PTX has no %s: an instruction is guarded by a predicate, as in @%%p1", quote("if"))
	case p.textOf(t) == "." && t.kind != illegal:
		p.fail(t.at, t.to, syntax, "unexpected %s: a modifier must directly follow its dot",
			quote("."))
	default:
		return false
	}
	return true
}

// DeclaresWithoutDot reports whether a text starts with the state space of a declaration without
// its dot, followed by a space.
func DeclaresWithoutDot(text string) bool {
	word, _, ok := strings.Cut(text, " ")
	switch word {
	case "reg", "shared", "local", "param", "global", "const":
		return ok
	}
	return false
}

// opcode adds modifiers that white space separates from the opcode, as in `add .u32`.
func (p *parser) opcode(in *Instr) {
	var b strings.Builder
	b.WriteString(in.Op.Text)
	for p.tok.kind == dot {
		b.WriteString(p.textOf(p.tok))
		in.Op.To = p.tok.to
		p.advance()
	}
	in.Op.Text = b.String()
}

// isCall reports whether an opcode is that of call, whose operands have a syntax of their own.
func isCall(op string) bool {
	return strings.HasPrefix(op, "call") && (len(op) == 4 || op[4] == '.')
}

// instrOperands parses the operands up to the ";" and pushes them.
func (p *parser) instrOperands() bool {
	for first := true; ; first = false {
		x, ok := p.operand(first)
		p.operands = append(p.operands, x)
		if !ok {
			return false
		}
		if p.tok.kind != ',' {
			return true
		}
		p.advance()
	}
}
