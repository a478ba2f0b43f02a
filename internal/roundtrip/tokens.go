// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package roundtrip

import "strings"

// Lines rewrites PTX with one token a line and without comments, so that two spellings of one
// program have equal line numbers: ptxas lets line numbers reach the names of symbols, the debug
// text and, with debug information, even the code. It shares nothing with the parser and the
// formatter, whose judge it serves: a token that they lose must not be lost here.
func Lines(text string) string {
	var b strings.Builder
	b.Grow(len(text) + len(text)/8)
	space := byte('\n')
	for i := 0; i < len(text); {
		n := tokenLength(text[i:])
		token := text[i : i+n]
		i += n
		if strings.Contains(" \t\r\n\f\x1a", token[:1]) || strings.HasPrefix(token, "//") || strings.HasPrefix(token, "/*") {
			continue
		}
		b.WriteString(token)
		if token == ".source_begin" {
			n := sourceLength(text[i:])
			b.WriteString(text[i : i+n])
			i += n
		}
		// The scanner of ptxas wants the number of .version on its line.
		space = '\n'
		if token == ".version" {
			space = ' '
		}
		b.WriteByte(space)
	}
	return b.String()
}

// sourceLength returns the length of the text in an intermediate language that follows
// .source_begin, with the line that ends it.
func sourceLength(text string) int {
	n := 0
	for line := range strings.SplitAfterSeq(text, "\n") {
		if n += len(line); strings.TrimSpace(line) == ".source_end" {
			return n
		}
	}
	return n
}

// tokenLength returns the length of what text begins with: white space, a comment, a string, a
// number, a word or one byte.
func tokenLength(text string) int {
	until := func(end string, from int) int {
		if i := strings.Index(text[from:], end); i >= 0 {
			return from + i + len(end)
		}
		return len(text)
	}
	switch c := text[0]; {
	case c <= ' ':
		return 1
	case strings.HasPrefix(text, "//"):
		return until("\n", 0)
	case strings.HasPrefix(text, "/*"):
		return until("*/", 2)
	case c == '"':
		for i := 1; i < len(text); i++ {
			switch text[i] {
			case '\\':
				i++
			case '"':
				return i + 1
			}
		}
		return len(text)
	case strings.HasPrefix(text, "@@"):
		return until("\n", 0) // a DWARF line of old modules; its line feed ends it
	case isDigit(c):
		return numberLength(text)
	case c == '.' || isLetter(c):
		n := wordLength(text)
		if c == '.' && strings.HasPrefix(text[n:], ":") {
			n++ // .ir_name: is one word
		}
		return n
	case len(text) > 1 && (c == '<' || c == '>' || c == '=' || c == '!' || c == '&' || c == '|'):
		switch text[:2] {
		case "<<", ">>", "<=", ">=", "==", "!=", "&&", "||":
			return 2
		}
	}
	return 1
}

// wordLength returns the length of a name with what hangs on it, or of one dot-word. White space
// may stand before a dot-word, so .v2.f32 is two of them; the parts of a name's suffix must touch.
func wordLength(text string) int {
	for i := 1; i < len(text); i++ {
		switch c := text[i]; {
		case isLetter(c) || isDigit(c):
		case c == '.' && text[0] != '.':
		case c == ':' && i+2 < len(text) && text[i+1] == ':' && (isLetter(text[i+2]) || isDigit(text[i+2])) && strings.ContainsRune(text[:i], '.'):
			i++
		default:
			return i
		}
	}
	return len(text)
}

// numberLength returns the length of a literal; a sign belongs to it only in an exponent.
func numberLength(text string) int {
	prefixed := len(text) > 1 && text[0] == '0' && isLetter(text[1]) && text[1]|0x20 != 'e' && text[1]|0x20 != 'u'
	for i := 1; i < len(text); i++ {
		switch c := text[i]; {
		case isLetter(c) || isDigit(c) || c == '.':
		case (c == '+' || c == '-') && !prefixed && text[i-1]|0x20 == 'e':
		default:
			return i
		}
	}
	return len(text)
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isLetter(c byte) bool {
	return 'a' <= c|0x20 && c|0x20 <= 'z' || c == '_' || c == '$' || c == '%' || c >= 0x80
}
