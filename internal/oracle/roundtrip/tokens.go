// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package roundtrip

import "strings"

// Lines rewrites PTX with one token per line and without comments, so that two formats of one
// program have equal line numbers. In ptxas, line numbers affect symbol names, debug text and,
// with debug information, the code. Lines does not use the parser or the formatter, because it is
// used to test them and must keep tokens that they lose.
func Lines(text string) string {
	var b strings.Builder
	b.Grow(len(text) + len(text)/8)
	space := byte('\n')
	for i := 0; i < len(text); {
		n := tokenLength(text[i:])
		token := text[i : i+n]
		i += n
		if strings.Contains(" \t\r\n\f\x1a", token[:1]) || strings.HasPrefix(token, "//") ||
			strings.HasPrefix(token, "/*") {
			continue
		}
		b.WriteString(token)
		if token == ".source_begin" {
			n := sourceLength(text[i:])
			b.WriteString(text[i : i+n])
			i += n
		}
		// ptxas requires the number after .version on the same line
		space = '\n'
		if token == ".version" {
			space = ' '
		}
		b.WriteByte(space)
	}
	return b.String()
}

// sourceLength returns the length of the text that follows .source_begin, including the line that
// ends it.
func sourceLength(text string) int {
	n := 0
	for line := range strings.SplitAfterSeq(text, "\n") {
		if n += len(line); strings.TrimSpace(line) == ".source_end" {
			return n
		}
	}
	return n
}

// tokenLength returns the length of the first token: white space, a comment, a string, a number, a
// word or one byte.
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
		return until("\n", 0) // a DWARF line of an old module, which ends at the line feed
	case isDigit(c):
		return numberLength(text)
	case c == '.' || isLetter(c):
		n := wordLength(text)
		if c == '.' && strings.HasPrefix(text[n:], ":") {
			n++ // .ir_name: is one token
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

// wordLength returns the length of a name with its suffix, or of a word that starts with a dot.
// In .v2.f32, white space may separate the two words, so they are two tokens; the parts of a
// suffix must be adjacent.
func wordLength(text string) int {
	for i := 1; i < len(text); i++ {
		switch c := text[i]; {
		case isLetter(c) || isDigit(c):
		case c == '.' && text[0] != '.':
		case c == ':' && i+2 < len(text) && text[i+1] == ':' &&
			(isLetter(text[i+2]) || isDigit(text[i+2])) && strings.ContainsRune(text[:i], '.'):
			i++
		default:
			return i
		}
	}
	return len(text)
}

// numberLength returns the length of a numeric literal. A sign belongs to it only in an exponent.
func numberLength(text string) int {
	prefixed := len(text) > 1 && text[0] == '0' && isLetter(text[1]) && text[1]|0x20 != 'e' &&
		text[1]|0x20 != 'u'
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
