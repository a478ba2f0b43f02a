// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package ptx

import "strings"

// A scanner divides text into tokens, one at a time and in one pass. It records the comments.
type scanner struct {
	text     string
	at       int
	comments []Comment
}

// next returns the next token. At the end of the text it always returns a token of kind
// endOfFile.
func (s *scanner) next() token {
	text, i := s.text, s.at
	fresh := i == 0
	for i < len(text) {
		c := text[i]
		switch leads[c] {
		case leadBlank:
			i++
		case leadLine:
			fresh = true
			i++
		case leadMark:
			s.at = i + 1
			return token{kind(c), fresh, Pos(i), Pos(i + 1)}
		case leadLetter:
			to := i + 1
			for to < len(text) && classes[text[to]]&inWord != 0 {
				to++
			}
			if to < len(text) && text[to] == '.' || to == i+1 {
				return s.word(i, to, fresh)
			}
			s.at = to
			return token{name, fresh, Pos(i), Pos(to)}
		case leadDigit:
			return s.number(i, fresh)
		case leadDot:
			return s.dotWord(i, fresh)
		default:
			end := s.comment(i, fresh)
			if end == i {
				return s.mark(i, fresh)
			}
			if end < 0 {
				return s.token(illegal, fresh, i, len(text))
			}
			// A line feed inside a comment does not make the next token the first one on its
			// line.
			i = end
		}
	}
	s.at = len(text)
	return token{endOfFile, true, Pos(len(text)), Pos(len(text))}
}

// token returns a token that ends before to, and moves the scanner to its end.
func (s *scanner) token(k kind, fresh bool, at, to int) token {
	s.at = to
	return token{k, fresh, Pos(at), Pos(to)}
}

// wordEnd returns the end of the sequence of identifier bytes that starts at i.
func wordEnd(text string, i int) int {
	for i < len(text) && classes[text[i]]&inWord != 0 {
		i++
	}
	return i
}

// word scans the rest of a word whose identifier is from at to before i. The rest consists of the
// modifiers of an opcode or the field of a register, which no white space may precede.
func (s *scanner) word(at, i int, fresh bool) token {
	text := s.text
	k := name
	for i+1 < len(text) && text[i] == '.' && classes[text[i+1]]&(inWord|dollar) == inWord {
		k = dotted
		for i++; i < len(text) && classes[text[i]]&inWord != 0; {
			i++
		}
		if i+2 < len(text) && text[i] == ':' {
			i = dotEnd(text, i)
		}
	}
	s.at = i
	if i == at+1 && (text[at] == '%' || text[at] == '$') {
		// % without an identifier is an operator, $ is illegal.
		if k = '%'; text[at] == '$' {
			k = illegal
		}
	}
	return token{k, fresh, Pos(at), Pos(i)}
}

// dotEnd returns the end of a modifier, such as word::word or word::2:4. i is the index of the
// first byte after its dot.
func dotEnd(text string, i int) int {
	i = wordEnd(text, i)
	first := i
	for i+2 < len(text) && text[i] == ':' && text[i+1] == ':' && classes[text[i+2]]&inWord != 0 {
		i = wordEnd(text, i+2)
	}
	if i > first && i+1 < len(text) && text[i] == ':' && '0' <= text[i+1] && text[i+1] <= '9' {
		i = wordEnd(text, i+1) // for .sp::2:4
	}
	return i
}

// dotWord scans a token that starts with a dot: a word such as .u32 or .16x64b, or a number such
// as .5.
func (s *scanner) dotWord(at int, fresh bool) token {
	text := s.text
	if at+1 >= len(text) || classes[text[at+1]]&(inWord|dollar) != inWord {
		return s.token('.', fresh, at, at+1)
	}
	end := dotEnd(text, at+1)
	if classes[text[at+1]]&digit != 0 {
		if i := fractionEnd(text, at); i >= end {
			return s.token(number, fresh, at, i)
		}
	}
	return s.token(dot, fresh, at, end)
}

// mark scans punctuation, a string, or an illegal token.
func (s *scanner) mark(at int, fresh bool) token {
	text := s.text
	c := text[at]
	pair := func(second byte) bool { return at+1 < len(text) && text[at+1] == second }
	switch c {
	case '/':
		return s.token(kind(c), fresh, at, at+1)
	case '"':
		n := strings.IndexByte(text[at+1:], '"')
		if n < 0 {
			return s.token(illegal, fresh, at, len(text))
		}
		return s.token(str, fresh, at, at+n+2)
	case '@':
		if strings.HasPrefix(text[at:], "@@DWARF") && wordEnd(text, at+2) == at+7 {
			return s.token(dwarf, fresh, at, at+7)
		}
		return s.token('@', fresh, at, at+1)
	case '<':
		if pair('<') {
			return s.token(shiftLeft, fresh, at, at+2)
		} else if pair('=') {
			return s.token(lessEqual, fresh, at, at+2)
		}
		return s.token('<', fresh, at, at+1)
	case '>':
		if pair('>') {
			return s.token(shiftRight, fresh, at, at+2)
		} else if pair('=') {
			return s.token(greaterEqual, fresh, at, at+2)
		}
		return s.token('>', fresh, at, at+1)
	case '=':
		if pair('=') {
			return s.token(equal, fresh, at, at+2)
		}
		return s.token('=', fresh, at, at+1)
	case '!':
		if pair('=') {
			return s.token(unequal, fresh, at, at+2)
		}
		return s.token('!', fresh, at, at+1)
	case '&':
		if pair('&') {
			return s.token(andAnd, fresh, at, at+2)
		}
		return s.token('&', fresh, at, at+1)
	case '|':
		if pair('|') {
			return s.token(orOr, fresh, at, at+2)
		}
		return s.token('|', fresh, at, at+1)
	}
	// consecutive non-ASCII bytes are one mistake
	end := at + 1
	for c >= 0x80 && end < len(text) && text[end] >= 0x80 {
		end++
	}
	return s.token(illegal, fresh, at, end)
}

// comment records the comment at i and returns its end. The result is i if there is no comment,
// and -1 if the comment is not closed.
func (s *scanner) comment(i int, fresh bool) int {
	text := s.text
	switch {
	case text[i] == '#' && fresh && (i == 0 || text[i-1] == '\n'):
		n := lineMarker(text[i:])
		if n > 0 {
			s.comments = append(s.comments, Comment{Pos(i), text[i : i+n]})
		}
		return i + n
	case text[i] != '/' || i+1 == len(text) || text[i+1] != '/' && text[i+1] != '*':
		return i
	}
	if text[i+1] == '/' {
		end := len(text)
		if n := strings.IndexByte(text[i:], '\n'); n >= 0 {
			end = i + n
		}
		s.comments = append(s.comments, Comment{Pos(i), strings.TrimRight(text[i:end], "\r")})
		return end
	}
	n := strings.Index(text[i+2:], "*/")
	if n < 0 {
		return -1
	}
	end := i + 2 + n + 2
	s.comments = append(s.comments, Comment{Pos(i), text[i:end]})
	return end
}

// lineMarker returns the length of a preprocessor line marker at the start of text, such as `# 12
// "kernel.cu" 3`, or 0. ptxas rejects any other line that starts with #.
func lineMarker(text string) int {
	end := strings.IndexByte(text, '\n')
	if end < 0 {
		return 0
	}
	fields := strings.TrimRight(text[1:end], " \t\r")
	rest := strings.TrimLeft(fields, " \t")
	if rest == fields {
		return 0
	}
	afterLine := strings.TrimLeft(rest, "0123456789")
	quoted := strings.TrimLeft(afterLine, " \t")
	if afterLine == rest || quoted == afterLine || !strings.HasPrefix(quoted, `"`) {
		return 0
	}
	close := strings.IndexByte(quoted[1:], '"')
	if close < 0 || strings.Trim(quoted[close+2:], " \t0123456789") != "" {
		return 0
	}
	return 1 + len(fields)
}

// restOfLine skips the rest of the current line, and returns its range without surrounding white
// space.
func (s *scanner) restOfLine() (start, end Pos) {
	line := s.text[s.at:]
	if n := strings.IndexByte(line, '\n'); n >= 0 {
		line = line[:n]
	}
	kept := strings.TrimLeft(line, " \t\r")
	start = Pos(s.at + len(line) - len(kept))
	s.at += len(line)
	return start, start + Pos(len(strings.TrimRight(kept, " \t\r")))
}
