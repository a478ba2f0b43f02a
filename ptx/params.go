// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package ptx

// nextParam skips the comma between parameters, or reports that the comma is missing. It returns
// false if no parameter follows.
func (p *parser) nextParam() bool {
	switch {
	case p.accept(','):
		return true
	case p.tok.kind == dot && p.tok.fresh && opensParam(p.textOf(p.tok)):
		p.fail(p.last, p.last, syntax, "expected %s before the next parameter", quote(","))
		return true
	case p.tok.kind == ';':
		ahead := p.scan // a copy, so that comments are only recorded in the second scan
		if next := ahead.next(); next.kind == dot && opensParam(p.textOf(next)) {
			p.fail(p.tok.at, p.tok.to, syntax, "unexpected %s, expected %s between parameters",
				quote(";"), quote(","))
			p.advance()
			return true
		}
	}
	return false
}

// opensParam reports whether a parameter can start with the given word.
func opensParam(word string) bool { return word == ".param" || word == ".reg" || word == ".hidden" }

// isHeaderToken reports whether the current token can only be in the header of a function, after
// the parameter list.
func (p *parser) isHeaderToken() bool {
	switch p.tok.kind {
	case '{':
		return p.tok.fresh
	case dot:
		return p.tok.fresh && framing(p.textOf(p.tok)) == toLastArg
	}
	return false
}

// opensParams reports whether the current "(" opens a parameter list and not the arguments of an
// attribute.
func (p *parser) opensParams(base int) bool {
	if len(p.frame.tokens) == base {
		return false
	}
	before := p.frame.tokens[len(p.frame.tokens)-1]
	if before.kind != dot {
		return before.kind != '('
	}
	w := p.textOf(before)
	return w == ".func" || w == ".callprototype"
}

// collectParams parses a parameter list, which becomes one token. It reports invalid parameters
// and omits them.
func (p *parser) collectParams() bool {
	open := p.tok
	p.advance()
	base := len(p.frame.tokens)
	var vars []*Var
	for p.tok.kind != ')' || len(vars) > 0 {
		for depth := 0; ; {
			t := p.tok
			if t.kind == '(' {
				depth++
			} else if t.kind == ')' {
				depth--
			}
			if t.kind == endOfFile || t.kind == '{' || t.kind == '}' || t.kind == ';' ||
				depth < 0 || depth == 0 && t.kind == ',' {
				break
			}
			if t.kind == dot && t.fresh && depth == 0 && len(p.frame.tokens) > base &&
				p.lastDot(len(p.frame.tokens)-1) != ".hidden" &&
				(opensParam(p.textOf(t)) || p.isHeaderToken()) {
				break // the comma or the parenthesis is missing
			}
			p.push(t)
		}
		f := frame{p, p.frame.tokens[base:], base}
		if tree := p.matchParam(f); tree != nil {
			vars = append(vars, p.buildParam(f, tree))
		} else if len(f.tokens) > 0 {
			// the comma or the parenthesis is missing
			p.pushBad(f.tokens[0].at, p.last)
		}
		p.frame.tokens = p.frame.tokens[:base]
		if !p.nextParam() {
			break
		}
	}
	if p.isHeaderToken() {
		p.fail(p.last, p.last, syntax, "expected %s after the parameters", quote(")"))
	} else if !p.accept(')') {
		p.reportUnexpected(`"," or ")" of the parameters`)
		p.skip()
		return false
	}
	p.frame.lists = append(p.frame.lists, paramList{base, vars})
	p.frame.tokens = append(p.frame.tokens, token{params, false, open.at, p.last})
	return true
}
