// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package ir

import (
	"strconv"
	"strings"
)

// A Box describes the data that a copy with a tensor map transfers. PTX does not contain this
// information, so the text has a comment at the parameter: "// ptxdsl:bytes 16384" or "//
// ptxdsl:element 2".
type Box struct {
	// size in bytes of the box, or of the rows of a gather or scatter, or 0 if unknown
	Bytes   int64
	Element int64 // of an element, or 0 if unknown
}

const (
	boxBytes   = "ptxdsl:bytes"
	boxElement = "ptxdsl:element"
)

// Comment returns the comment that states the bytes of the box.
func (b *Box) Comment() string { return "// " + boxBytes + " " + strconv.FormatInt(b.Bytes, 10) }

// BoxOf returns the box that comments of a parameter state, or nil if they state none.
func BoxOf(note string, doc []string) *Box {
	b := Box{stated(boxBytes, note, doc), stated(boxElement, note, doc)}
	if b == (Box{}) {
		return nil
	}
	return &b
}

// stated returns the number that the last comment with this key states, or 0 if no comment has a
// positive number.
func stated(key, note string, doc []string) (n int64) {
	n = number(key, note)
	for _, text := range doc {
		if m := number(key, text); m > 0 {
			n = m
		}
	}
	return n
}

// number returns the positive number after a key in a comment, or 0.
func number(key, text string) int64 {
	_, rest, found := strings.Cut(text, key)
	if !found {
		return 0
	}
	word, _, _ := strings.Cut(strings.TrimSpace(rest), " ")
	n, err := strconv.ParseInt(word, 10, 64)
	if err != nil {
		return 0
	}
	return max(n, 0)
}
