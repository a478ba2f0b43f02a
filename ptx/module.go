// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package ptx

// A framer divides the tokens into declarations and directives, called frames, which are then
// matched with the grammar. Its fields are stacks: the frame of a parameter is on top of that of
// its function.
type framer struct {
	tokens   []token
	lists    []paramList
	initials []initialValue
	patterns patternCache
}

// reset clears the state of the previous module. The cache of syntax trees is kept, unless it has
// grown beyond maxPatterns.
func (f *framer) reset() {
	f.tokens = f.tokens[:0]
	f.lists, f.initials = clearStack(f.lists), clearStack(f.initials)
	if s := &f.patterns; len(s.items)+len(s.params) > maxPatterns {
		*s = patternCache{}
	}
}

// A paramList is a parameter list that has been parsed. at is the index of the token that
// represents the list in the frame of its function.
type paramList struct {
	at   int
	vars []*Var
}

// An initialValue is an initializer that has been parsed, and the index of the token that
// represents it.
type initialValue struct {
	at    int
	value Operand
}

// module parses the whole module.
func (p *parser) module() {
	for p.tok.kind != endOfFile {
		t := p.tok
		switch t.kind {
		case dot, dwarf:
			if p.textOf(t) == sourcesWord {
				p.sources()
			} else {
				p.item(absent())
			}
			continue
		case '}':
			p.fail(t.at, t.to, structure, "%s has no opening bracket", quote("}"))
		case ';':
			p.fail(t.at, t.to, syntax, "unexpected %s: no statement precedes it",
				quote(";"))
		case illegal:
			if p.textOf(t) == "#" { // a line of a preprocessor
				p.skipStray()
				p.pushBad(t.at, p.last)
				continue
			}
		default:
			p.fail(t.at, t.to, structure,
				"unexpected %s outside of a function, expected a declaration or a directive%s",
				quote(p.textOf(t)), p.withDot(t))
			p.skipStray()
			p.pushBad(t.at, p.last)
			continue
		}
		p.advance()
		p.pushBad(t.at, t.to)
	}
	p.file.Decls = p.popNodes(0)
}

// withDot returns a suggestion to write the word with a dot, if that makes it a valid declaration
// or directive, and otherwise "".
func (p *parser) withDot(t token) string {
	if t.kind == name {
		if w := "." + p.textOf(t); opensItem(w) || w == ".version" || w == ".target" ||
			w == ".address_size" {
			return "; did you mean " + quote(w) + "?"
		}
	}
	return ""
}

// skipStray skips text that is not valid outside functions, up to a line that starts a
// declaration.
func (p *parser) skipStray() {
	depth := 0 // number of open braces: a body whose header is missing is skipped
	for p.advance(); p.tok.kind != endOfFile; p.advance() {
		switch p.tok.kind {
		case '{':
			depth++
			continue
		case '}':
			if depth--; depth == 0 {
				p.advance()
				return
			}
			if depth < 0 {
				return // the brace closes no open brace
			}
		}
		if p.tok.kind != dot || !p.tok.fresh {
			continue
		}
		switch w := p.textOf(p.tok); w {
		case ".reg", ".param", ".local", ".loc", ".pragma":
		case ".global", ".shared", ".const":
			if depth == 0 {
				return
			}
		default:
			if opensStatement(w) {
				return
			}
		}
	}
}

// item parses one declaration or directive, including its body, and pushes its node. label is the
// label before it, if any.
func (p *parser) item(label Word) {
	start := p.tok.at
	if label.At >= 0 {
		start = label.At
	}
	base := len(p.frame.tokens)
	lists, initials := len(p.frame.lists), len(p.frame.initials)
	ok := p.collect(base)
	open := ok && p.frame.tokens[len(p.frame.tokens)-1].kind == '{'
	if ok {
		f := frame{p, p.frame.tokens[base:], base}
		if tree := p.matchItem(f); tree != nil {
			p.build(f, tree, Span{start, p.last}, label)
		} else {
			ok = false
		}
	}
	p.frame.tokens = p.frame.tokens[:base]
	p.frame.lists = p.frame.lists[:lists]
	p.frame.initials = p.frame.initials[:initials]
	switch {
	case ok:
	case open:
		// the header is invalid, but errors in the body are reported too
		p.block()
		p.pushBad(start, p.last)
	default:
		p.pushBad(start, p.last)
	}
}

// collect pushes the tokens of one item. It stops after the end of the item, or at the "{" of its
// body. If it reports an error, it returns false and stops at a position where the next item can
// start.
func (p *parser) collect(base int) bool {
	first := p.tok
	switch framing(p.textOf(first)) {
	case toLineEnd:
		return p.collectArgs(base, true)
	case toLastArg:
		return p.collectArgs(base, false)
	}
	h := header{p: p, base: base, name: base}
	for {
		switch h.next(p.tok) {
		case keepToken:
			p.push(p.tok)
		case endItem:
			return true
		case badItem:
			return false
		}
	}
}

// A header is the state of collect: the parts of the item that have been read.
type header struct {
	p          *parser
	base       int
	isFunction bool // the item is an .entry or .func
	isFunc     bool // the item is a .func
	hasParams  bool // the parameter list after the name has been read
	isDeclared bool // the name of a .func has been read
	name       int  // index of the name's token
}

// A step is the action for a token of an item.
type step uint8

const (
	keepToken step = iota // the token belongs to the item
	readToken             // the token has been read
	endItem               // the item ends before the token
	badItem               // an error has been reported
)

// next processes one token of an item.
func (h *header) next(t token) step {
	p := h.p
	switch t.kind {
	case name:
		if !h.isDeclared && h.isFunc && p.depth == 0 {
			h.isDeclared, h.name = true, len(p.frame.tokens)
		}
	case endOfFile, '}':
		h.reportUnwritten()
		return endItem
	case ';':
		return h.semicolon(t)
	case '{':
		p.frame.tokens = append(p.frame.tokens, t)
		return endItem
	case dotted:
		if h.hasParams && t.fresh && p.bodyFollows() {
			return endItem
		}
	case '=':
		p.push(t)
		if !p.collectInitial() {
			return badItem
		}
		return readToken
	case '(':
		if p.opensParams(h.base) {
			h.hasParams = h.isFunction && p.frame.tokens[len(p.frame.tokens)-1].kind == name
			if !p.collectParams() {
				return badItem
			}
			return readToken
		}
	case dot:
		return h.directive(t)
	}
	return keepToken
}

// reportUnwritten adds a token for the missing ";" or body of a declared .func.
func (h *header) reportUnwritten() {
	if h.isDeclared {
		h.p.endUnwritten()
	}
}

// semicolon processes a ";", which ends the item unless it belongs to a directive.
func (h *header) semicolon(t token) step {
	p := h.p
	takes := h.isFunction && takesSemicolon(p.lastDot(h.name), h.isDeclared)
	if takes && p.frame.tokens[len(p.frame.tokens)-1].kind == ';' {
		h.reportUnwritten() // the only ";" belongs to the directive
		return endItem
	}
	p.push(t)
	if takes {
		return readToken
	}
	return endItem
}

// directive processes a word with a dot, which may be the start of the next item.
func (h *header) directive(t token) step {
	p := h.p
	w := p.textOf(t)
	if h.isDeclared && opensItem(w) {
		p.endUnwritten()
		return endItem
	}
	if h.hasParams && t.fresh && w == ".reg" && p.bodyFollows() {
		return endItem
	}
	if w == ".entry" || w == ".func" {
		h.isFunction, h.isFunc = true, w == ".func"
	}
	if t.fresh && len(p.frame.tokens) > h.base && opensStatement(w) &&
		!(h.isFunction && w == ".pragma") && !linkage(p.lastDot(h.base)) {
		return endItem // the grammar will report the missing ";"
	}
	return keepToken
}

// bodyFollows reports a missing "{" before the statements of a function, and adds the brace to
// the frame. It returns false inside a function, where declarations have no body.
func (p *parser) bodyFollows() bool {
	if p.depth > 0 {
		return false
	}
	p.fail(p.last, p.last, syntax, "expected %s before the body", quote("{"))
	p.frame.tokens = append(p.frame.tokens, token{'{', true, p.last, p.last})
	return true
}

// endUnwritten ends the frame of a declared .func that has no ";", which ptxas does not require
// before another declaration. An .entry always has a body.
func (p *parser) endUnwritten() {
	p.frame.tokens = append(p.frame.tokens, token{unwritten, false, p.last, p.last})
}

// opensItem reports whether a word with a dot can only be the start of a declaration or directive
// at module scope.
func opensItem(word string) bool {
	switch word {
	case ".entry", ".func", ".global", ".const", ".shared", ".tex", ".surf", ".sampler", ".extern",
		".visible", ".weak", ".common",
		".section", ".file", ".alias", sourcesWord:
		return true
	}
	return false
}

// push adds the current token t to the frame and advances to the next token.
func (p *parser) push(t token) {
	p.frame.tokens = append(p.frame.tokens, t)
	p.advance()
}

// lastDot returns the last word with a dot in the frame that starts at base, or "".
func (p *parser) lastDot(base int) string {
	for i := len(p.frame.tokens) - 1; i >= base; i-- {
		if t := p.frame.tokens[i]; t.kind == dot {
			return p.textOf(t)
		}
	}
	return ""
}

// takesSemicolon reports whether a ";" after a directive in a function header belongs to the
// directive. That is the case for .pragma and unknown directives.
func takesSemicolon(word string, declared bool) bool {
	return word == ".pragma" || declared && word != "" && framing(word) == toLineEnd
}

// linkage reports whether word is a linkage directive.
func linkage(word string) bool {
	switch word {
	case ".extern", ".visible", ".weak", ".common":
		return true
	}
	return false
}

// Ways in which the end of an item is found.
const (
	toSemicolon = iota // up to a ";" or the "{" of a body
	toLastArg          // after the last argument
	toLineEnd          // after the last argument on the line, for an unknown word
)

// framing returns how the end of an item is found that starts with word.
func framing(word string) int {
	switch word {
	case ".global", ".shared", ".const", ".local", ".reg", ".param", ".tex", ".sreg", ".surf",
		".sampler", ".extern", ".visible", ".weak", ".common", ".entry", ".func", ".section",
		".align", ".attribute", ".pragma", ".alias", ".branchtargets", ".calltargets",
		".callprototype", ".v2", ".v4",
		".pred", ".b8", ".b16", ".b32", ".b64", ".b128", ".u8", ".u16", ".u32", ".u64", ".s8",
		".s16", ".s32", ".s64", ".f16", ".f16x2", ".f32", ".f32x2", ".f64", ".u16x2", ".s16x2",
		".e4m3", ".e5m2", ".e4m3x2", ".e5m2x2", ".texref", ".samplerref", ".surfref":
		return toSemicolon
	case ".version", ".target", ".address_size", ".file", ".loc", ".minnctapersm", ".maxnctapersm",
		".maxnreg", ".maxclusterrank", ".maxntid", ".reqntid", ".reqnctapercluster", ".noreturn",
		".explicitcluster", ".blocksareclusters", ".unique", ".abi_preserve",
		".abi_preserve_control":
		return toLastArg
	}
	return toLineEnd
}

// collectArgs reads a directive without a required semicolon. All tokens that can be arguments
// belong to the directive; if line is set, only those on the same line.
func (p *parser) collectArgs(base int, line bool) bool {
	if p.tok.kind == dwarf {
		p.collectDwarf()
		return true
	}
	p.push(p.tok)
	for {
		t, before := p.tok, p.frame.tokens[len(p.frame.tokens)-1]
		if line && t.fresh && before.kind != ',' {
			return true
		}
		switch t.kind {
		case number, str:
		case ',':
		case '+':
			if before.kind != name {
				return true
			}
		case name:
			if before.kind != ',' && before.kind != dot && !line &&
				p.textOf(before) != "function_name" && p.textOf(t) != "WARP_SZ" {
				return true
			}
		case ';':
			if line {
				p.push(t)
			}
			return true
		default:
			return true
		}
		p.push(t)
	}
}

// collectDwarf reads a line of @@DWARF, whose rest becomes one token.
func (p *parser) collectDwarf() {
	t := p.tok
	p.frame.tokens = append(p.frame.tokens, t)
	start, end := p.scan.restOfLine()
	p.advance()
	if start < end {
		p.frame.tokens = append(p.frame.tokens, token{rest, false, start, end})
		p.last = end
	}
}

// collectInitial parses an initializer, which becomes one token.
func (p *parser) collectInitial() bool {
	start := p.tok.at
	x, ok := p.initializer()
	if !ok {
		p.skip()
		return false
	}
	p.frame.initials = append(p.frame.initials, initialValue{len(p.frame.tokens), x})
	p.frame.tokens = append(p.frame.tokens, token{initial, false, start, p.last})
	return true
}
