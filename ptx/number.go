// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package ptx

// number scans a literal that starts with a digit. If letters follow it, or digits are missing, it
// returns one illegal token, so that there is one error.
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

// numberEnd returns the end of the literal at i, or -1 if there is none.
func numberEnd(text string, i int) int {
	if text[i] == '0' && i+1 < len(text) {
		switch text[i+1] {
		case 'x', 'X':
			return unsigned(text, i+2, hexEnd(text, i+2))
		case 'b', 'B':
			end := i + 2
			for end < len(text) && (text[end] == '0' || text[end] == '1') {
				end++
			}
			return unsigned(text, i+2, end)
		case 'f', 'F':
			return exactly(i+2, hexEnd(text, i+2), 8)
		case 'd', 'D':
			return exactly(i+2, hexEnd(text, i+2), 16)
		}
	}
	end := digitsEnd(text, i)
	if end < len(text) && text[end] == '.' {
		if f := fraction(text, end); f > end+1 {
			return f
		}
		return exponent(text, end+1)
	}
	if e := exponent(text, end); e > end {
		return e
	}
	if text[i] == '0' {
		for _, c := range []byte(text[i:end]) {
			if c > '7' {
				return -1
			}
		}
	}
	return unsigned(text, i, end)
}

// unsigned skips the U that may follow the digits from start to end, of which at least one is
// required.
func unsigned(text string, start, end int) int {
	if end == start {
		return -1
	}
	if end < len(text) && text[end] == 'U' {
		end++
	}
	return end
}

// exactly returns end if there are n digits before it, otherwise -1.
func exactly(start, end, n int) int {
	if end-start != n {
		return -1
	}
	return end
}

// fraction returns the end of .digits with an exponent, given the index of the dot; i+1 if no digit
// follows.
func fraction(text string, i int) int {
	end := digitsEnd(text, i+1)
	if end == i+1 {
		return end
	}
	return exponent(text, end)
}

// exponent returns the end of an exponent at i, or i if there is none.
func exponent(text string, i int) int {
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

// isInteger reports whether a literal is an integer, unlike 1.5, 1e3 and 0f3F800000.
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
