// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/ir"
)

// deepest is how many program counters are kept of a builder call. Among them are those of this
// package, which stand between the instruction and the author.
const deepest = 16

// A stack is the program counters of a builder call, innermost first, ended by zero.
type stack [deepest]uintptr

// calls are the builder calls of a module. An ir.Pos is an index into them, from 1. They are resolved to lines only when someone
// asks.
type calls struct {
	list []stack
	seen map[stack]ir.Pos // by their trail
}

// here is the position of the builder call under way.
func (c *calls) here(skip int) ir.Pos {
	var way stack
	if quick {
		trail(&way)
		if pos, ok := c.seen[way]; ok {
			return pos
		}
	}
	var s stack
	runtime.Callers(skip+2, s[:])
	c.list = append(c.list, s)
	pos := ir.Pos(len(c.list))
	if quick {
		if c.seen == nil {
			c.seen = make(map[stack]ir.Pos)
		}
		c.seen[way] = pos
	}
	return pos
}

// mostFrames is how many lines of the author are told of one place.
const mostFrames = 4

// Place resolves a position to the author's lines, innermost first.
func (c *calls) Place(pos ir.Pos) (at diag.Place, from []diag.Place) {
	if pos < 1 || int(pos) > len(c.list) {
		return diag.Place{}, nil
	}
	s := &c.list[pos-1]
	n := 0
	for n < len(s) && s[n] != 0 {
		n++
	}
	frames := runtime.CallersFrames(s[:n])
	_, here, _, _ := runtime.Caller(0)
	house := filepath.Dir(here)
	for found := 0; found < mostFrames; {
		f, more := frames.Next()
		if f.File != "" && !ours(f, house) {
			p := diag.Place{File: short(f.File), Line: f.Line, Column: 1}
			if found == 0 {
				at = p
			} else {
				from = append(from, p)
			}
			found++
		}
		if !more {
			break
		}
	}
	return at, from
}

// ours reports whether a frame is of this package, whose sources are in the folder house, of package op in it, or of what started the
// program. The name of its
// function does not tell: a closure that was inlined is called after the author's function.
func ours(f runtime.Frame, house string) bool {
	for _, prefix := range []string{"runtime.", "testing.", "reflect."} {
		if strings.HasPrefix(f.Function, prefix) {
			return true
		}
	}
	dir := filepath.Dir(f.File)
	return (dir == house || dir == filepath.Join(house, "op")) && !strings.HasSuffix(f.File, "_test.go")
}

// short is a file's name as seen from the working directory, where that is below it.
func short(file string) string {
	dir, err := os.Getwd()
	if err != nil {
		return file
	}
	if rel, err := filepath.Rel(dir, file); err == nil && !strings.HasPrefix(rel, "..") {
		return rel
	}
	return file
}
