// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package ptx

import (
	"errors"
	"slices"
	"strings"

	"github.com/alecthomas/participle/v2"
)

// report converts an error of participle to a diagnostic. If participle did not expect a certain
// token, ending describes the valid endings. If the error is that a line ends too early, parsing
// continues with the next line.
func (f frame) report(err error, ending string) {
	p := f.p
	var e participle.Error
	if !errors.As(err, &e) {
		panic("bug: participle reported an error of its own: " + err.Error())
	}
	want := ending
	if _, after, found := strings.Cut(e.Message(), "(expected "); found {
		want = describeExpected(strings.TrimSuffix(after, ")"))
	}
	i := e.Position().Offset
	t := p.tok
	if i < len(f.tokens) {
		t = f.tokens[i]
	}
	switch {
	case t.kind == illegal: // the scanner has reported the token
	case t.fresh && i > 0 && (t.kind == name || t.kind == dotted || t.kind == dot || t.kind == '@'):
		before := f.tokens[i-1]
		p.fail(before.to, before.to, syntax, "expected %s after %s", want, quote(p.textOf(before)))
		p.rewind(t)
	case t.kind == endOfFile:
		p.fail(t.at, t.to, syntax, "unexpected end of file, expected %s", want)
	default:
		p.fail(t.at, t.to, syntax, "unexpected %s, expected %s", quote(p.textOf(t)), want)
	}
}

// rewind makes the earlier token t the current token.
func (p *parser) rewind(t token) {
	p.scan.at = int(t.to)
	for n := len(p.scan.comments); n > 0 && p.scan.comments[n-1].At > t.at; n-- {
		p.scan.comments = p.scan.comments[:n-1]
	}
	p.tok = t
}

// describeExpected describes the tokens that participle expected. The production is in
// participle's notation; only the symbols with which it can start matter.
func describeExpected(production string) string {
	var list []string
	for _, w := range firstSymbols(&production) {
		if w = describeSymbol(w); w != "" && !slices.Contains(list, w) {
			list = append(list, w)
		}
	}
	if len(list) > 5 {
		list = append(list[:4], "the like")
	}
	if n := len(list); n > 1 {
		return strings.Join(list[:n-1], ", ") + " or " + list[n-1]
	}
	return strings.Join(list, "")
}

// describeSymbol describes a symbol of the grammar for messages.
func describeSymbol(symbol string) string {
	switch symbol {
	case "<name>", "Declarator":
		return "a name"
	case "<number>", "Argument":
		return "a number"
	case "<float>":
		return "a number such as 8.7"
	case "<string>":
		return "a string"
	case "<dot>":
		return "a word with a leading dot"
	case "<params>":
		return `"("`
	case "<initial>":
		return "an initial value"
	case "<open>":
		return `"{"`
	case "<unwritten>", "AloneType":
		return ""
	case "Attribute", "Attribution":
		return "an attribute"
	case "Dimension":
		return `"["`
	case "Directive":
		return "a directive"
	case "Inlined":
		return `"function_name"`
	case "Pointer":
		return `".ptr"`
	case "Mark":
		return "an attribute's name"
	}
	return symbol
}

// firstSymbols returns the symbols with which a production in participle's notation can start.
// The notation has words, groups in parentheses, alternatives separated by |, and suffixes ? * +.
// firstSymbols removes the part of s that it has read.
func firstSymbols(s *string) []string {
	var set []string
	open := true // all symbols so far are optional
	for {
		*s = strings.TrimLeft(*s, " ")
		if *s == "" {
			return set
		}
		var begin []string
		switch c := (*s)[0]; c {
		case ')':
			return set
		case '|':
			*s = (*s)[1:]
			return append(set, firstSymbols(s)...)
		case '(':
			if strings.HasPrefix(*s, "(?") {
				*s = (*s)[2:]
			}
			*s = (*s)[1:]
			begin = firstSymbols(s)
			*s = strings.TrimPrefix(*s, ")")
		default:
			end := symbolEnd(*s)
			begin = []string{(*s)[:end]}
			*s = (*s)[end:]
		}
		if open {
			set = append(set, begin...)
		}
		mark := strings.TrimLeft(*s, "?*+")
		if mark == *s || strings.HasPrefix(*s, "+") {
			open = false
		}
		*s = mark
	}
}

// symbolEnd returns the length of the symbol at the start of s.
func symbolEnd(s string) int {
	switch s[0] {
	case '"':
		if n := strings.IndexByte(s[1:], '"'); n >= 0 {
			return n + 2
		}
	case '<':
		if n := strings.IndexByte(s, '>'); n >= 0 {
			return n + 1
		}
	}
	if n := strings.IndexAny(s[1:], " ()|?*+"); n >= 0 {
		return n + 1
	}
	return len(s)
}
