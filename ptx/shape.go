// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package ptx

import (
	"errors"
	"io"
	"strings"

	"github.com/alecthomas/participle/v2"
	"github.com/alecthomas/participle/v2/lexer"
)

// A frame has the tokens of one item or parameter, which the grammar matches. In the grammar, the
// position of a token is its index in the frame, so that one syntax tree applies to all frames of
// the same pattern.
type frame struct {
	p      *parser
	tokens []token
	base   int // index of the first token in the framer's stack
}

// patternCache caches the syntax trees of frames by their pattern: the sequence of keywords and
// token kinds. A module has thousands of declarations in a few dozen patterns, such as .global
// .align 8 .b8 name[number]. The grammar parses each pattern once; names, numbers and parameters
// are taken from the current frame.
type patternCache struct {
	items  map[string]*item
	params map[string]*parameter
	key    []byte
}

// maxPatterns is the maximum number of cached trees; real modules have fewer patterns.
const maxPatterns = 1000

// The symbols of the grammar. The zero value means that an optional token is absent.
const (
	symbolName lexer.TokenType = iota + 1
	symbolKeyword
	symbolNumber
	symbolFloat
	symbolString
	symbolDot
	symbolDwarf
	symbolParams
	symbolInitial
	symbolRest
	symbolOpen
	symbolUnwritten
	symbolMark
)

// symbols defines the token types for participle. The tokens come from the scanner of this
// package.
type symbols struct{}

func (symbols) Symbols() map[string]lexer.TokenType {
	return map[string]lexer.TokenType{
		"EOF": lexer.EOF, "Name": symbolName, "Keyword": symbolKeyword, "Number": symbolNumber,
		"Float":  symbolFloat,
		"String": symbolString, "Dot": symbolDot, "Dwarf": symbolDwarf, "Params": symbolParams,
		"Initial": symbolInitial, "Rest": symbolRest, "Open": symbolOpen,
		"Unwritten": symbolUnwritten, "Mark": symbolMark,
	}
}

func (symbols) Lex(string, io.Reader) (lexer.Lexer, error) {
	return nil, errors.New("bug: the grammar reads frames only")
}

// symbol returns the symbol of the grammar for a token.
func (f frame) symbol(t token) lexer.TokenType {
	switch t.kind {
	case name:
		switch w := f.p.textOf(t); {
		case w == "WARP_SZ":
			return symbolNumber
		case isReserved(w):
			return symbolKeyword
		}
		return symbolName
	case number:
		if isInteger(f.p.textOf(t)) {
			return symbolNumber
		}
		return symbolFloat
	case str:
		return symbolString
	case dot:
		return symbolDot
	case dwarf:
		return symbolDwarf
	case params:
		return symbolParams
	case initial:
		return symbolInitial
	case rest:
		return symbolRest
	case '{':
		return symbolOpen
	case unwritten:
		return symbolUnwritten
	}
	return symbolMark
}

// A frameLexer returns the tokens of a frame to participle.
type frameLexer struct {
	frame
	next int
}

func (l *frameLexer) Next() (lexer.Token, error) {
	i := l.next
	pos := lexer.Position{Offset: i}
	if i == len(l.tokens) {
		return lexer.EOFToken(pos), nil
	}
	l.next++
	t := l.tokens[i]
	// the tree may outlive the text of the module
	return lexer.Token{Type: l.symbol(t), Value: strings.Clone(l.p.textOf(t)), Pos: pos}, nil
}

// key appends the pattern of the frame to to: the text of words with dots and keywords, and the
// kind of other tokens.
func (f frame) key(to []byte) []byte {
	for _, t := range f.tokens {
		switch s := f.symbol(t); s {
		case symbolDot, symbolKeyword:
			to = append(to, f.p.textOf(t)...)
			to = append(to, ' ')
		case symbolMark:
			to = append(to, byte(t.kind))
		default:
			to = append(to, byte(s))
		}
	}
	return to
}

// matchItem returns the syntax tree of an item. If the item does not match the grammar, it
// reports an error and returns nil.
func (p *parser) matchItem(f frame) *item {
	return match(f, &p.frame.patterns.items, theGrammar().item, "the end of the directive")
}

// matchParam returns the syntax tree of a parameter, as matchItem does for an item.
func (p *parser) matchParam(f frame) *parameter {
	return match(f, &p.frame.patterns.params, theGrammar().parameter, `"," or ")"`)
}

// match returns the syntax tree for the pattern of f from seen, or parses f with the grammar.
// ending describes the valid endings for messages.
func match[T any](f frame, seen *map[string]*T, grammar *participle.Parser[T], ending string) *T {
	s := &f.p.frame.patterns
	s.key = f.key(s.key[:0])
	if tree, ok := (*seen)[string(s.key)]; ok {
		return tree
	}
	stream, err := lexer.Upgrade(&frameLexer{frame: f})
	if err != nil {
		panic("bug: a frame cannot fail to be lexed: " + err.Error())
	}
	tree, err := grammar.ParseFromLexer(stream)
	if err != nil {
		f.report(err, ending)
		return nil
	}
	if *seen == nil {
		*seen = map[string]*T{}
	}
	(*seen)[string(s.key)] = tree
	return tree
}
