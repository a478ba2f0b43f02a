// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package diff compares texts line by line and writes the difference in the unified format of the
// program patch. It first matches lines that occur exactly once in both texts, and then compares
// the parts between matched lines in the same way. This takes nearly linear time and gives
// readable hunks. A part without such lines is compared by longest common subsequence, unless it
// is too large.
package diff

import (
	"fmt"
	"slices"
	"strings"
)

// context is the number of unchanged lines before and after a change.
const context = 3

// Unified returns the unified diff from before to after, or "" if they are equal.
func Unified(beforeName, before, afterName, after string) string {
	if before == after {
		return ""
	}
	a, b := split(before), split(after)
	var out strings.Builder
	fmt.Fprintf(&out, "diff %s %s\n--- %s\n+++ %s\n", beforeName, afterName, beforeName, afterName)
	var hunk []Run
	for _, r := range Changes(a, b) {
		if n := len(hunk); n > 0 && r.A0-hunk[n-1].A1 > 2*context {
			writeHunk(&out, a, b, hunk)
			hunk = hunk[:0]
		}
		hunk = append(hunk, r)
	}
	writeHunk(&out, a, b, hunk)
	return out.String()
}

// split splits a text into lines that include their line ends.
func split(s string) []string {
	lines := strings.SplitAfter(s, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}

// A Run is a difference: lines A0 to A1 of one text correspond to lines B0 to B1 of the other.
// The end is exclusive.
type Run struct{ A0, A1, B0, B1 int }

func writeHunk(out *strings.Builder, a, b []string, hunk []Run) {
	first, last := hunk[0], hunk[len(hunk)-1]
	lead := min(context, first.A0)
	tail := min(context, len(a)-last.A1)
	fmt.Fprintf(out, "@@ -%s +%s @@\n",
		span(first.A0-lead, last.A1+tail), span(first.B0-lead, last.B1+tail))
	at := first.A0 - lead
	for _, r := range hunk {
		write(out, ' ', a[at:r.A0])
		write(out, '-', a[r.A0:r.A1])
		write(out, '+', b[r.B0:r.B1])
		at = r.A1
	}
	write(out, ' ', a[at:at+tail])
}

// span returns the range of lines in a hunk header. For an empty range, the header has the number
// of the line before it.
func span(from, to int) string {
	if from == to {
		return fmt.Sprintf("%d,0", from)
	}
	return fmt.Sprintf("%d,%d", from+1, to-from)
}

func write(out *strings.Builder, mark byte, lines []string) {
	for _, l := range lines {
		out.WriteByte(mark)
		out.WriteString(l)
		if !strings.HasSuffix(l, "\n") {
			out.WriteString("\n\\ No newline at end of file\n")
		}
	}
}

// Changes returns the ranges in which a and b differ, in order. Adjacent ranges are merged.
func Changes(a, b []string) []Run {
	// Lines are replaced by integers, which compare faster.
	number := make(map[string]int32)
	x, y := intern(number, a), intern(number, b)
	c := comparer{a: x, b: y, seen: make([]tally, len(number))}
	c.compare(0, len(x), 0, len(y))
	merged := c.out[:0]
	for _, r := range c.out {
		if n := len(merged); n > 0 && merged[n-1].A1 == r.A0 && merged[n-1].B1 == r.B0 {
			merged[n-1].A1, merged[n-1].B1 = r.A1, r.B1
			continue
		}
		merged = append(merged, r)
	}
	return merged
}

func intern(number map[string]int32, lines []string) []int32 {
	out := make([]int32, len(lines))
	for i, l := range lines {
		n, ok := number[l]
		if !ok {
			n = int32(len(number))
			number[l] = n
		}
		out[i] = n
	}
	return out
}

// A tally counts the occurrences of a line in the two parts that are being compared, and stores
// its last index in b.
type tally struct{ inA, inB, at int32 }

type comparer struct {
	a, b []int32
	seen []tally // by line number; all zero between calls
	out  []Run
}

// compare appends the differences between a[a0:a1] and b[b0:b1].
func (c *comparer) compare(a0, a1, b0, b1 int) {
	for a0 < a1 && b0 < b1 && c.a[a0] == c.b[b0] {
		a0, b0 = a0+1, b0+1
	}
	for a0 < a1 && b0 < b1 && c.a[a1-1] == c.b[b1-1] {
		a1, b1 = a1-1, b1-1
	}
	if a0 == a1 && b0 == b1 {
		return
	}
	var anchors [][2]int
	if a0 < a1 && b0 < b1 {
		anchors = c.anchors(a0, a1, b0, b1)
		if len(anchors) == 0 && (a1-a0)*(b1-b0) <= maxPairs {
			anchors = c.longestCommon(a0, a1, b0, b1)
		}
	}
	if len(anchors) == 0 {
		c.out = append(c.out, Run{a0, a1, b0, b1})
		return
	}
	for _, at := range anchors {
		c.compare(a0, at[0], b0, at[1])
		a0, b0 = at[0]+1, at[1]+1
	}
	c.compare(a0, a1, b0, b1)
}

// anchors pairs the lines that occur once in each part, and returns the longest list of pairs
// that is increasing in both.
func (c *comparer) anchors(a0, a1, b0, b1 int) [][2]int {
	for _, n := range c.a[a0:a1] {
		c.seen[n].inA++
	}
	for j, n := range c.b[b0:b1] {
		c.seen[n].inB++
		c.seen[n].at = int32(b0 + j)
	}
	var pairs [][2]int
	for i, n := range c.a[a0:a1] {
		if s := c.seen[n]; s.inA == 1 && s.inB == 1 {
			pairs = append(pairs, [2]int{a0 + i, int(s.at)})
		}
	}
	for _, n := range c.a[a0:a1] {
		c.seen[n] = tally{}
	}
	for _, n := range c.b[b0:b1] {
		c.seen[n] = tally{}
	}
	return longestIncreasing(pairs)
}

// longestIncreasing returns the longest subsequence of pairs that is also increasing in the
// second index.
func longestIncreasing(pairs [][2]int) [][2]int {
	var ends []int // ends[k] is the last pair of the best subsequence of length k+1
	before := make([]int, len(pairs))
	for i, p := range pairs {
		k, _ := slices.BinarySearchFunc(ends, p[1], func(e, b int) int { return pairs[e][1] - b })
		before[i] = -1
		if k > 0 {
			before[i] = ends[k-1]
		}
		if k == len(ends) {
			ends = append(ends, i)
		} else {
			ends[k] = i
		}
	}
	out := make([][2]int, len(ends))
	if len(ends) == 0 {
		return nil
	}
	for k, i := len(ends)-1, ends[len(ends)-1]; k >= 0; k, i = k-1, before[i] {
		out[k] = pairs[i]
	}
	return out
}

// maxPairs is the maximum size of the table for the longest common subsequence.
const maxPairs = 1 << 20

// longestCommon returns the longest common subsequence of two parts as pairs of line indices.
func (c *comparer) longestCommon(a0, a1, b0, b1 int) [][2]int {
	width := b1 - b0 + 1
	// length of the longest common subsequence from each pair of lines to the end
	most := make([]int32, (a1-a0+1)*width)
	for i := a1 - 1; i >= a0; i-- {
		for j := b1 - 1; j >= b0; j-- {
			at := (i-a0)*width + j - b0
			most[at] = max(most[at+width], most[at+1])
			if c.a[i] == c.b[j] {
				most[at] = most[at+width+1] + 1
			}
		}
	}
	var pairs [][2]int
	for i, j := a0, b0; i < a1 && j < b1; {
		at := (i-a0)*width + j - b0
		switch {
		case c.a[i] == c.b[j]:
			pairs = append(pairs, [2]int{i, j})
			i, j = i+1, j+1
		case most[at+width] >= most[at+1]:
			i++
		default:
			j++
		}
	}
	return pairs
}
