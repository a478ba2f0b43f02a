// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package ptx

import (
	"strings"

	"github.com/ptxdsl/ptxdsl/internal/layout"
)

// Words of a section with source text in an intermediate language, which tile compilers emit.
// ptxas accepts the section for PTX 9.4, but it is undocumented; the syntax was found by
// experiment.
const (
	sourcesWord = ".nv_intermediate_source_section"
	blockWord   = ".code_block"
	beginWord   = ".source_begin"
	endWord     = ".source_end"
)

// sources parses .nv_intermediate_source_section { .code_block { ... } ... } and pushes its node.
func (p *parser) sources() {
	start := p.tok
	n := &Sources{Name: p.word(start)}
	p.advance()
	open := p.tok
	if !p.accept('{') {
		p.reportUnexpected(quote("{"))
		p.pushBad(start.at, p.last)
		return
	}
	for {
		t := p.tok
		switch {
		case p.accept('}'):
			n.Span = Span{start.at, p.last}
			p.pushNode(n)
			return
		case t.kind == endOfFile:
			p.fail(open.at, open.to, unclosed, "%s is not closed", quote("{"))
		case t.kind == dot && p.textOf(t) == blockWord:
			if s := p.source(); s != nil {
				n.Blocks = append(n.Blocks, s)
				continue
			}
		default:
			p.reportUnexpected(quote(blockWord) + " or " + quote("}"))
		}
		p.skipSources()
		p.pushBad(start.at, p.last)
		return
	}
}

// skipSources skips a section in which an error was reported, including its source text and
// braces.
func (p *parser) skipSources() {
	if _, end := p.sourceText(int(p.tok.at)); end >= 0 {
		p.jump(end)
	}
	for p.tok.kind != '}' {
		if p.tok.kind == endOfFile || p.tok.kind == dot && p.tok.fresh &&
			opensItem(p.textOf(p.tok)) {
			return
		}
		p.advance()
	}
	for p.accept('}') {
	}
}

// source reads .code_block { .ir_name: "language" .sourceFileName: 1 .source_begin, lines,
// .source_end }. It returns nil after an error.
func (p *parser) source() *Source {
	start := p.tok
	s := &Source{Name: p.word(start)}
	p.advance()
	if !p.accept('{') {
		p.reportUnexpected(quote("{"))
		return nil
	}
	if !p.entry(".ir_name") {
		return nil
	}
	if s.Language = p.word(p.tok); !p.accept(str) {
		p.reportUnexpected("a string")
		return nil
	}
	if !p.entry(".sourceFileName") {
		return nil
	}
	if p.tok.kind != number || !isInteger(p.textOf(p.tok)) {
		p.reportUnexpected("the number of a file")
		return nil
	}
	s.File = p.leaf(Literal)
	begin := p.tok
	if begin.kind != dot || p.textOf(begin) != beginWord {
		p.reportUnexpected(quote(beginWord))
		return nil
	}
	text := p.scan.text
	from := int(begin.to) + len(text[begin.to:]) - len(strings.TrimLeft(text[begin.to:], " \t"))
	if from == len(text) || text[from] != '\n' {
		p.fail(begin.at, begin.to, syntax, "%s must be the last token of its line, which must "+
			"end with a line feed", beginWord)
		return nil
	}
	last, end := p.sourceText(from + 1)
	if end < 0 {
		p.fail(begin.at, begin.to, unclosed, "text has no line with the end mark %s", endWord)
		return nil
	}
	s.Text = Word{Span{Pos(from + 1), Pos(last)}, text[from+1 : last]}
	for i := range len(s.Text.Text) {
		if s.Text.Text[i] >= 0x80 {
			at := s.Text.At + Pos(i)
			p.fail(at, at+1, literal, "the text is not ASCII, which is allowed only in comments")
			break
		}
	}
	p.jump(end)
	if !p.accept('}') {
		p.reportUnexpected(quote("}"))
		return nil
	}
	s.Span = Span{start.at, p.last}
	return s
}

// entry skips a word and the colon after the word, and reports whether they are present.
func (p *parser) entry(word string) bool {
	t := p.tok
	if t.kind != dot || p.textOf(t) != word || !strings.HasPrefix(p.scan.text[t.to:], ":") {
		p.reportUnexpected(quote(word + ":"))
		return false
	}
	p.advance()
	p.advance()
	return true
}

// sourceText searches for a line with .source_end, starting with the line at from. It returns the
// start of that line and the end of the word, or -1 for end.
func sourceText(text string, from int) (last, end int) {
	for from < len(text) {
		line, _, _ := strings.Cut(text[from:], "\n")
		if strings.Trim(line, " \t") == endWord {
			return from, from + strings.IndexByte(line, '.') + len(endWord)
		}
		from += len(line) + 1
	}
	return len(text), -1
}

// sourceText searches the parsed text as the function sourceText does. It does not repeat a
// failed search.
func (p *parser) sourceText(from int) (last, end int) {
	end = -1
	if !p.noSourceEnd {
		last, end = sourceText(p.scan.text, from)
		p.noSourceEnd = end < 0
	}
	return last, end
}

// jump continues scanning at a position of the text, which becomes the end of the previous token.
func (p *parser) jump(at int) {
	p.scan.at, p.tok.to = at, Pos(at)
	p.advance()
}

func (p *printer) sources(n *Sources) {
	p.begin(n.At, layout.Plain)
	p.word(n.Name)
	p.end(n.Name.To)
	p.brace(n.Name.To)
	p.body(n.Blocks, n.To)
}

// source prints a .code_block. Its source text is not changed.
func (p *printer) source(n *Source) {
	p.begin(n.At, layout.Plain)
	p.word(n.Name)
	p.end(n.Name.To)
	p.brace(n.Name.To)
	p.Indent++
	p.open = true
	line := func(w Span, word, text string) {
		p.leading(w.At)
		p.begin(w.At, layout.Plain)
		p.Put(word)
		p.Put(text)
		p.Foreign = true
		p.end(w.To)
	}
	line(n.Language.Span, ".ir_name: ", n.Language.Text)
	line(n.File.Span, ".sourceFileName: ", n.File.Text)
	p.leading(n.Text.At)
	p.open = false
	p.Begin(layout.Plain)
	p.Put(beginWord)
	p.End()
	p.Verbatim(n.Text.Text)
	p.Begin(layout.Plain)
	p.Put(endWord)
	p.End()
	p.prev = p.textEnd(n)
	p.leading(n.To - 1)
	p.Indent--
	p.open = true
	p.begin(n.To-1, layout.Plain)
	p.Put("}")
	p.end(n.To)
}

// textEnd returns the end of the word .source_end after the text of n.
func (p *printer) textEnd(n *Source) Pos {
	_, end := sourceText(p.file.Text, int(n.Text.To))
	return Pos(end)
}
