// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package ir

import (
	"strconv"
	"strings"
)

// A Box describes the data that a copy with a tensor map transfers. PTX does not contain this
// information, so the text has a comment at the parameter, in any of the forms "// ptxdsl:bytes
// 16384", "// ptxdsl:element 2" and "// ptxdsl:box 128x64", or several of them in one comment.
type Box struct {
	// size in bytes of the box, or of the rows of a gather or scatter, or 0 if unknown
	Bytes   int64
	Element int64 // size in bytes of an element, or 0 if unknown
	// number of elements in each dimension, outermost first, or nil if unknown. An im2col box has
	// two: its pixels and its channels.
	Sizes []int64
}

const (
	boxBytes   = "ptxdsl:bytes"
	boxElement = "ptxdsl:element"
	boxSizes   = "ptxdsl:box"
)

// Comment returns the comment that states what is known of the box.
func (b *Box) Comment() string {
	text := "// " + boxBytes + " " + strconv.FormatInt(b.Bytes, 10)
	if b.Element > 0 {
		text += " " + boxElement + " " + strconv.FormatInt(b.Element, 10)
	}
	for i, n := range b.Sizes {
		text += []string{" " + boxSizes + " ", "x"}[min(i, 1)] + strconv.FormatInt(n, 10)
	}
	return text
}

// BoxOf returns the box that comments of a parameter state, or nil if they state none.
func BoxOf(note string, doc []string) *Box {
	b := Box{Bytes: stated(boxBytes, note, doc), Element: stated(boxElement, note, doc)}
	for _, text := range append([]string{note}, doc...) {
		if sizes := sizesIn(text); sizes != nil {
			b.Sizes = sizes
		}
	}
	if b.Bytes == 0 && b.Element > 0 && b.Sizes != nil {
		b.Bytes = b.Element
		for _, n := range b.Sizes {
			b.Bytes *= n
		}
	}
	if b.Bytes == 0 && b.Element == 0 && b.Sizes == nil {
		return nil
	}
	return &b
}

// sizesIn returns the sizes in a comment, or nil if it has none, or too large ones.
func sizesIn(text string) []int64 {
	_, rest, found := strings.Cut(text, boxSizes)
	if !found {
		return nil
	}
	word, _, _ := strings.Cut(strings.TrimSpace(rest), " ")
	var sizes []int64
	for _, number := range strings.Split(word, "x") {
		n, err := strconv.ParseInt(number, 10, 64)
		if err != nil || n < 1 || n > 1024 || len(sizes) == 5 {
			return nil
		}
		sizes = append(sizes, n)
	}
	return sizes
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
