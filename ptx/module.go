// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package ptx

// A framer splits the token stream into declarations and directives, called frames, for the
// grammar. Its fields are stacks: the frame of a parameter is pushed onto that of its function.
type framer struct {
	tokens   []token
	lists    []paramList
	initials []initialValue
	shapes   shapes
}

// reset drops the previous module, but keeps its shapes.
func (f *framer) reset() {
	f.tokens = f.tokens[:0]
	f.lists, f.initials = emptied(f.lists), emptied(f.initials)
	if s := &f.shapes; len(s.items)+len(s.params) > manyShapes {
		*s = shapes{}
	}
}

// A paramList is a parameter list that was read while its function was framed; at is the index of
// the token that represents it.
type paramList struct {
	at   int
	vars []*Var
}

// An initialValue is an initializer, represented by one token in the same way.
type initialValue struct {
	at    int
	value Operand
}

// module reads the whole module.
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
			p.fail(t.at, t.to, structure, "%s has no opening bracket", quoted("}"))
		case ';':
			p.fail(t.at, t.to, syntax, "unexpected %s: no statement precedes it",
				quoted(";"))
		case illegal:
			if p.textOf(t) == "#" { // a preprocessor line
				p.skipStray()
				p.bad(t.at, p.last)
				continue
			}
		default:
			p.fail(t.at, t.to, structure,
				"unexpected %s outside of a function, expected a declaration or a directive%s",
				quoted(p.textOf(t)), p.withDot(t))
			p.skipStray()
			p.bad(t.at, p.last)
			continue
		}
		p.advance()
		p.bad(t.at, t.to)
	}
	p.file.Decls = p.taken(0)
}

// withDot suggests the word with a dot if it is then valid.
func (p *parser) withDot(t token) string {
	if t.kind == name {
		if w := "." + p.textOf(t); opensItem(w) || w == ".version" || w == ".target" ||
			w == ".address_size" {
			return "; did you mean " + quoted(w) + "?"
		}
	}
	return ""
}

// skipStray skips text that is not valid outside of functions, up to a line that starts a
// declaration.
func (p *parser) skipStray() {
	depth := 0 // open braces: a body whose header is missing is skipped
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
				return // closes no open brace
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

// item reads one declaration or directive, with its body if it has one, and puts it on the node
// stack.
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
		// The header is invalid, but errors in the body are reported too.
		p.block()
		p.bad(start, p.last)
	default:
		p.bad(start, p.last)
	}
}

// collect frames one item: it pushes its tokens and stops after its end, or at the "{" of its body.
// It returns false after it has reported an error, at a position where the next item can start.
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

// A header is the state of collect: what was seen of an item.
type header struct {
	p        *parser
	base     int
	function bool // .entry or .func
	callable bool // .func
	listed   bool // the parameter list after the name
	declared bool // the name of a .func
	name     int  // index of the name
}

// A framing step specifies what happens to a token.
type step uint8

const (
	keepToken step = iota // it belongs to the item
	readToken             // it was read
	endItem               // the item ends
	badItem               // an error was reported
)

// next reads one token of an item.
func (h *header) next(t token) step {
	p := h.p
	switch t.kind {
	case name:
		if !h.declared && h.callable && p.depth == 0 {
			h.declared, h.name = true, len(p.frame.tokens)
		}
	case endOfFile, '}':
		h.unwritten()
		return endItem
	case ';':
		return h.semicolon(t)
	case '{':
		p.frame.tokens = append(p.frame.tokens, t)
		return endItem
	case dotted:
		if h.listed && t.fresh && p.bodyFollows() {
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
			h.listed = h.function && p.frame.tokens[len(p.frame.tokens)-1].kind == name
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

// unwritten reports the missing body or ";" of a declared function.
func (h *header) unwritten() {
	if h.declared {
		h.p.unwritten()
	}
}

// semicolon reads a ";", which ends the item unless it belongs to a directive.
func (h *header) semicolon(t token) step {
	p := h.p
	takes := h.function && takesSemicolon(p.lastDot(h.name), h.declared)
	if takes && p.frame.tokens[len(p.frame.tokens)-1].kind == ';' {
		h.unwritten() // the only ";" belongs to the directive
		return endItem
	}
	p.push(t)
	if takes {
		return readToken
	}
	return endItem
}

// directive reads a word with a dot, which may begin the next item.
func (h *header) directive(t token) step {
	p := h.p
	w := p.textOf(t)
	if h.declared && opensItem(w) {
		p.unwritten()
		return endItem
	}
	if h.listed && t.fresh && w == ".reg" && p.bodyFollows() {
		return endItem
	}
	if w == ".entry" || w == ".func" {
		h.function, h.callable = true, w == ".func"
	}
	if t.fresh && len(p.frame.tokens) > h.base && opensStatement(w) &&
		!(h.function && w == ".pragma") && !linkage(p.lastDot(h.base)) {
		return endItem // the grammar will report the missing ";"
	}
	return keepToken
}

// bodyFollows reports a missing "{" before the statements of a function, and frames one.
// Declarations inside of functions have no body.
func (p *parser) bodyFollows() bool {
	if p.depth > 0 {
		return false
	}
	p.fail(p.last, p.last, syntax, "expected %s before the body", quoted("{"))
	p.frame.tokens = append(p.frame.tokens, token{'{', true, p.last, p.last})
	return true
}

// unwritten ends the frame of a declared .func: the assembler requires no ";" after it before
// another declaration. An .entry is always defined.
func (p *parser) unwritten() {
	p.frame.tokens = append(p.frame.tokens, token{unwritten, false, p.last, p.last})
}

// opensItem reports whether a dot-word can only start a declaration or a directive of the module.
func opensItem(word string) bool {
	switch word {
	case ".entry", ".func", ".global", ".const", ".shared", ".tex", ".surf", ".sampler", ".extern",
		".visible", ".weak", ".common",
		".section", ".file", ".alias", sourcesWord:
		return true
	}
	return false
}

// push pushes the current token on the frame's stack and advances.
func (p *parser) push(t token) {
	p.frame.tokens = append(p.frame.tokens, t)
	p.advance()
}

// lastDot returns the last dot-word of the frame that starts at base.
func (p *parser) lastDot(base int) string {
	for i := len(p.frame.tokens) - 1; i >= base; i-- {
		if t := p.frame.tokens[i]; t.kind == dot {
			return p.textOf(t)
		}
	}
	return ""
}

// takesSemicolon reports whether a ";" after a directive in a function header belongs to the
// directive: it does for a pragma and for unknown directives.
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

// How the end of an item is found.
const (
	toSemicolon = iota // up to ";", or the "{" of a body
	toLastArg          // after the last argument
	toLineEnd          // after the last argument on the line, for unknown words
)

// framing returns how the end of an item that starts with word is found.
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

// collectArgs frames a directive without a required semicolon: everything that can be an argument
// belongs to it.
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

// collectDwarf frames a line of @@DWARF, whose rest is one token.
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

// collectInitial reads an initialiser and frames it as one token.
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
