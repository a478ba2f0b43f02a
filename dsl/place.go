// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/ir"
)

// deepest is how many return addresses are kept of a builder call. Among them are those of this
// package, which stand between the instruction and the author.
const deepest = 32

// A stack is the return addresses of the calls under way, the innermost last; where there are fewer, the rest stands at its end.
type stack [deepest]uintptr

// calls are the builder calls of a module, as a tree: calls that follow one another share what is outside of them. An ir.Pos is
// the number of a node, from 1. Nodes are resolved to lines only when someone asks.
type calls struct {
	pages []*nodes
	made  ir.Pos  // the last node
	now   stack   // of the call at hand
	last  way     // to the node that was asked for last, from body
	body  ir.Pos  // what is outside of the function that run runs
	mark  uintptr // where that function returns to

	sources sources // of the findings
}

// nodes are some that stand together. Each is a return address, and the call outside of it.
type nodes struct {
	pcs   [page]uintptr
	outer [page]ir.Pos
}

// A way is the nodes from the outermost call to one inside.
type way struct {
	depth int
	pcs   stack // the outermost first
	nodes [deepest]ir.Pos
}

// here is the position of the builder call under way. It must have a frame of its own, for trail begins with its caller.
//
//go:noinline
func (c *calls) here() ir.Pos { return c.path(c.now[trail(&c.now, c.mark):]) }

// above is the position of the call of the function that calls it, which must have a frame of its own too.
//
//go:noinline
func (c *calls) above() ir.Pos { return c.path(c.now[trail(&c.now, c.mark) : deepest-1]) }

// beyond is the position of the call of the function that calls the function that calls it. All three must have frames of their own.
//
//go:noinline
func (c *calls) beyond() ir.Pos {
	return c.path(c.now[min(trail(&c.now, c.mark), deepest-2) : deepest-2])
}

// path is the position of calls, the innermost last: those from what run runs on, or all.
func (c *calls) path(pcs []uintptr) ir.Pos {
	at, w := c.body, &c.last
	switch {
	case len(pcs) > 0 && pcs[0] == c.mark:
		pcs = pcs[1:]
	case at != ir.NoPos: // what run runs has not called, or is too far outside to be seen
		return c.whole(pcs)
	}
	d := 0
	last := w.pcs[:min(w.depth, len(pcs))]
	for now := pcs[:len(last)]; d < len(last) && last[d] == now[d]; { // the same as before, mostly
		d++
	}
	if d > 0 {
		at = w.nodes[d-1]
	}
	for ; d < len(pcs); d++ {
		at = c.node(pcs[d], at)
		w.pcs[d], w.nodes[d] = pcs[d], at
	}
	w.depth = d
	return at
}

// whole is the position of calls of which the first is called by none.
func (c *calls) whole(pcs []uintptr) ir.Pos {
	at := ir.NoPos
	for _, pc := range pcs {
		at = c.node(pc, at)
	}
	return at
}

// page is how many nodes stand together.
const page = 256

// node makes a node. Calls that a loop of Go makes again have another each time: see same.
func (c *calls) node(pc uintptr, outer ir.Pos) ir.Pos {
	i := uint32(c.made)
	if i%page == 0 {
		c.pages = append(c.pages, new(nodes))
	}
	n := c.pages[i/page]
	n.pcs[i%page], n.outer[i%page] = pc, outer
	c.made++
	return c.made
}

// call is the return address of a node, and the node outside of it.
func (c *calls) call(at ir.Pos) (pc uintptr, outer ir.Pos) {
	i := uint32(at - 1)
	n := c.pages[i/page]
	return n.pcs[i%page], n.outer[i%page]
}

// same reports whether two positions are of the same calls.
func (c *calls) same(a, b ir.Pos) bool {
	for a != b {
		if a == ir.NoPos || b == ir.NoPos {
			return false
		}
		pc, outer := c.call(a)
		pc2, outer2 := c.call(b)
		if pc != pc2 {
			return false
		}
		a, b = outer, outer2
	}
	return true
}

// places are positions of calls that something was told of.
type places struct {
	calls *calls
	list  []ir.Pos
}

// add adds a position.
func (p *places) add(pos ir.Pos) { p.list = append(p.list, pos) }

// has reports whether the calls of a position are among them.
func (p *places) has(pos ir.Pos) bool {
	return slices.ContainsFunc(p.list, func(other ir.Pos) bool { return p.calls.same(other, pos) })
}

// run runs a function of the author's. What is outside of it stays the same until it returns, so that here looks at what is inside only.
//
//go:noinline
func (c *calls) run(body func()) {
	was, mark := c.body, c.mark
	defer func() {
		c.body, c.mark, c.last.depth = was, mark, 0
	}()
	outside := c.here()
	// Both functions return to the same place, which the first finds out, and which marks the end of what here has to look at.
	enter := func() {
		trail(&c.now, 0)
		c.body, c.mark, c.last.depth = outside, c.now[deepest-1], 0
	}
	for _, f := range [...]func(){enter, body} {
		f()
	}
}

// stack is the return addresses of a position.
func (c *calls) stack(pos ir.Pos) []uintptr {
	var pcs []uintptr
	for pos != ir.NoPos {
		pc, outer := c.call(pos)
		pcs, pos = append(pcs, pc), outer
	}
	return pcs
}

// mostFrames is how many lines of the author are told of one place.
const mostFrames = 4

// Place resolves a position to the author's lines, innermost first.
func (c *calls) Place(pos ir.Pos) (at diag.Place, from []diag.Place) {
	if pos < 1 || pos > c.made {
		return diag.Place{}, nil
	}
	// The runtime tells the calls that were inlined at an address by the address that follows, so one more must follow the last.
	frames := runtime.CallersFrames(append(c.stack(pos), 0))
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

// ours reports whether a frame is of this package, whose sources are in the folder house, of package op in it, of what started the
// program, or of no source: the compiler made it to pass a call on. The name of its
// function does not tell: a closure that was inlined is called after the author's function.
func ours(f runtime.Frame, house string) bool {
	for _, prefix := range []string{"runtime.", "testing.", "reflect."} {
		if strings.HasPrefix(f.Function, prefix) {
			return true
		}
	}
	if f.File == "<autogenerated>" {
		return true
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
