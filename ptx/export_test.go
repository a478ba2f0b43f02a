// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package ptx

// Scan returns the number of tokens in text.
func Scan(text string) int {
	s := scanner{text: text, comments: make([]Comment, 0, len(text)/100)}
	n := 0
	for s.next().kind != endOfFile {
		n++
	}
	return n
}
