// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package diag

// Nearest returns the candidate that word was most likely meant to be, for "did you mean". It is
// the candidate with the smallest edit distance; among equals, the first with the longest common
// prefix. It is "" if more than one letter, and more than a third of the letters, would have to
// change.
func Nearest(word string, candidates []string) string {
	best, least, alike := "", max(1, len(word)/3), -1
	for _, c := range candidates {
		if c == word || len(c)-len(word) > least || len(word)-len(c) > least {
			continue
		}
		n, same := distance(word, c), 0
		for same < min(len(c), len(word)) && c[same] == word[same] {
			same++
		}
		if n < max(len(word), len(c)) && (n < least || n == least && same > alike) {
			best, least, alike = c, n, same
		}
	}
	return best
}

// distance returns the number of edits between two words; swapping adjacent letters is one edit.
func distance(a, b string) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		before, last, row = last, row, before
		row[0] = i + 1
		for j := range len(b) {
			n := last[j]
			if a[i] != b[j] {
				n = 1 + min(last[j], last[j+1], row[j])
			}
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				n = min(n, before[j-1]+1)
			}
			row[j+1] = n
		}
	}
	return row[len(b)]
}
