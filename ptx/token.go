// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package ptx

// A kind classifies a token. The kind of punctuation that consists of one byte is that byte.
type kind uint8

// The kinds other than punctuation of one byte.
const (
	endOfFile    kind = iota + 128
	illegal           // an invalid byte or malformed literal
	name              // an identifier, or the sink _
	dotted            // an identifier with modifiers or a field: ld.global.u32, %tid.x
	dot               // .word, .word::word
	number            // any literal that starts with a digit
	str               // "..."
	dwarf             // @@DWARF
	shiftLeft         // <<
	shiftRight        // >>
	lessEqual         // <=
	greaterEqual      // >=
	equal             // ==
	unequal           // !=
	andAnd            // &&
	orOr              // ||
	initial           // an initializer, which was parsed when its declaration was read
	params            // a parameter list, which was parsed when its function was read
	rest              // the rest of a line of @@DWARF
	unwritten         // an omitted optional semicolon
)

// A token is a range of the text. It has no copy of the text, so that scanning does not allocate
// memory.
type token struct {
	kind  kind
	fresh bool // whether it is the first token on its line
	at    Pos
	to    Pos
}

// Classes of bytes within tokens.
const (
	digit  = 1 << iota // 0-9
	hex                // 0-9 a-f A-F
	inWord             // can continue an identifier
	dollar             // cannot start a modifier
)

// The kinds of tokens that a byte can start.
const (
	leadOther  = iota // no token, a comment, or punctuation that may have a second byte
	leadBlank         // white space other than a line feed
	leadLine          // line feed
	leadLetter        // an identifier
	leadDigit
	leadDot
	leadMark // punctuation of one byte
)

// blanks is the white space within a line. ptxas accepts form feeds, which separate pages in old
// sources, and Control-Z, which old editors wrote at the end of a file.
const blanks = " \t\r\f\x1a"

// classes has the class of each byte, and leads the kind of token that the byte can start.
var classes, leads = func() (classes, leads [256]uint8) {
	for c := range 256 {
		switch {
		case c >= '0' && c <= '9':
			classes[c], leads[c] = digit|hex|inWord, leadDigit
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			classes[c], leads[c] = hex|inWord, leadLetter
		case c|0x20 > 'f' && c|0x20 <= 'z' || c == '_':
			classes[c], leads[c] = inWord, leadLetter
		}
	}
	classes['$'] = inWord | dollar
	for text, lead := range map[string]uint8{
		"$%": leadLetter, blanks: leadBlank, "\n": leadLine, ".": leadDot,
		",;:()[]{}+-*~?^": leadMark,
	} {
		for _, c := range []byte(text) {
			leads[c] = lead
		}
	}
	return
}()

// opposite returns the closing bracket of an opening one.
func opposite(open kind) kind {
	switch open {
	case '(':
		return ')'
	case '[':
		return ']'
	case '{':
		return '}'
	case '<':
		return '>'
	}
	panic("bug: opposite of no bracket")
}
