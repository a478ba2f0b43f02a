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

// A frame is the tokens of one item or parameter, as the grammar sees them. The position of a
// token of the grammar is its index here, so that a syntax tree speaks of every frame of its shape.
type frame struct {
	p      *parser
	tokens []token
	base   int // index of the first token on the framer's stack
}

// shapes remembers the syntax trees of the frames seen. A module declares thousands of variables
// and functions in a few dozen shapes: .global .align 8 .b8 name[number] is one. The grammar parses
// each once; names, numbers and parameters come from the frame at hand.
type shapes struct {
	items  map[string]*item
	params map[string]*parameter
	key    []byte
}

// manyShapes is more than the modules of a sane author have, all together.
const manyShapes = 1000

// Symbols of the grammar. The zero type is no token: that of one that was not written.
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

// symbols names the tokens for the grammar. It lexes nothing: frames are cut already.
type symbols struct{}

func (symbols) Symbols() map[string]lexer.TokenType {
	return map[string]lexer.TokenType{
		"EOF": lexer.EOF, "Name": symbolName, "Keyword": symbolKeyword, "Number": symbolNumber, "Float": symbolFloat,
		"String": symbolString, "Dot": symbolDot, "Dwarf": symbolDwarf, "Params": symbolParams,
		"Initial": symbolInitial, "Rest": symbolRest, "Open": symbolOpen, "Unwritten": symbolUnwritten, "Mark": symbolMark,
	}
}

func (symbols) Lex(string, io.Reader) (lexer.Lexer, error) {
	return nil, errors.New("bug: the grammar reads frames only")
}

// symbol returns the type of a token in the grammar.
func (f frame) symbol(t token) lexer.TokenType {
	switch t.kind {
	case name:
		switch w := f.p.textOf(t); {
		case w == "WARP_SZ":
			return symbolNumber
		case reserved(w):
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

// A frameLexer feeds a frame to participle.
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
	// The tree is kept longer than the module may be.
	return lexer.Token{Type: l.symbol(t), Value: strings.Clone(l.p.textOf(t)), Pos: pos}, nil
}

// key appends what the grammar can tell of the frame: the words of dot-words and keywords, the
// kind of all else.
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

// matchItem returns the syntax tree of an item, or nil if it has none; then the error is reported.
func (p *parser) matchItem(f frame) *item {
	return match(f, &p.frame.shapes.items, theGrammar().item, "the end of the directive")
}

// matchParam returns the same for a parameter.
func (p *parser) matchParam(f frame) *parameter {
	return match(f, &p.frame.shapes.params, theGrammar().parameter, `"," or ")"`)
}

// match looks the shape of f up in seen, or asks the grammar.
func match[T any](f frame, seen *map[string]*T, grammar *participle.Parser[T], ending string) *T {
	s := &f.p.frame.shapes
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
