// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package ptx

// number scans a literal that starts with a digit. If letters follow the literal, or digits are
// missing, it returns a single illegal token, so that one error is reported.
func (s *scanner) number(at int, fresh bool) token {
	text := s.text
	end := digitsEnd(text, at+1)
	if text[at] == '0' || end < len(text) && (classes[text[end]]&inWord != 0 || text[end] == '.') {
		end = numberEnd(text, at)
	}
	if end < 0 || end < len(text) && classes[text[end]]&inWord != 0 {
		return s.token(illegal, fresh, at, wordEnd(text, max(end, at)))
	}
	return s.token(number, fresh, at, end)
}

// numberEnd returns the end of the numeric literal at i, or -1.
func numberEnd(text string, i int) int {
	if text[i] == '0' && i+1 < len(text) {
		switch text[i+1] {
		case 'x', 'X':
			return unsignedEnd(text, i+2, hexEnd(text, i+2))
		case 'b', 'B':
			end := i + 2
			for end < len(text) && (text[end] == '0' || text[end] == '1') {
				end++
			}
			return unsignedEnd(text, i+2, end)
		case 'f', 'F':
			return endIfCount(i+2, hexEnd(text, i+2), 8)
		case 'd', 'D':
			return endIfCount(i+2, hexEnd(text, i+2), 16)
		}
	}
	end := digitsEnd(text, i)
	if end < len(text) && text[end] == '.' {
		if f := fractionEnd(text, end); f > end+1 {
			return f
		}
		return exponentEnd(text, end+1)
	}
	if e := exponentEnd(text, end); e > end {
		return e
	}
	if text[i] == '0' {
		for _, c := range []byte(text[i:end]) {
			if c > '7' {
				return -1
			}
		}
	}
	return unsignedEnd(text, i, end)
}

// unsignedEnd returns the end of an integer whose digits, at least one, are from start to end,
// including the suffix U. It returns -1 if there are no digits.
func unsignedEnd(text string, start, end int) int {
	if end == start {
		return -1
	}
	if end < len(text) && text[end] == 'U' {
		end++
	}
	return end
}

// endIfCount returns end if it is n bytes after start, and otherwise -1.
func endIfCount(start, end, n int) int {
	if end-start != n {
		return -1
	}
	return end
}

// fractionEnd returns the end of .digits with an optional exponent. i is the index of the dot. If
// no digit follows the dot, the result is i+1.
func fractionEnd(text string, i int) int {
	end := digitsEnd(text, i+1)
	if end == i+1 {
		return end
	}
	return exponentEnd(text, end)
}

// exponentEnd returns the end of the exponent at i, or i if there is none.
func exponentEnd(text string, i int) int {
	if i >= len(text) || text[i]|0x20 != 'e' {
		return i
	}
	j := i + 1
	if j < len(text) && (text[j] == '+' || text[j] == '-') {
		j++
	}
	if end := digitsEnd(text, j); end > j {
		return end
	}
	return i
}

func digitsEnd(text string, i int) int {
	for i < len(text) && classes[text[i]]&digit != 0 {
		i++
	}
	return i
}

func hexEnd(text string, i int) int {
	for i < len(text) && classes[text[i]]&hex != 0 {
		i++
	}
	return i
}

// isInteger reports whether a numeric literal is an integer, unlike 1.5, 1e3 and 0f3F800000.
func isInteger(s string) bool {
	if len(s) > 1 && s[0] == '0' && s[1] > '9' {
		return s[1]|0x20 == 'x' || s[1]|0x20 == 'b'
	}
	for _, c := range []byte(s) {
		if c == '.' || c|0x20 == 'e' {
			return false
		}
	}
	return true
}
