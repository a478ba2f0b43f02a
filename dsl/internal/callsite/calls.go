// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package callsite records the calls with which an author builds a kernel, and resolves them to
// lines when a finding needs them. A recorded call is an ir.Pos.
package callsite

import (
	"path/filepath"
	"runtime"
	"strings"

	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/dsl/internal/source"
	"github.com/ptxdsl/ptxdsl/ir"
)

// deepest is the maximum number of return addresses that are recorded for a builder call. They
// include the frames of this package between the instruction and the author's code.
const deepest = 32

// A stack holds the return addresses of the active calls, right-aligned, the innermost last.
type stack [deepest]uintptr

// Calls stores the builder calls of a module as a tree, so that consecutive calls share their outer
// frames. An ir.Pos is the index of a node, starting at 1. Nodes are resolved to lines on demand.
type Calls struct {
	pages []*nodes
	made  ir.Pos   // the newest node
	now   stack    // stack of the current call
	last  nodePath // path to the last requested node, starting at body
	body  ir.Pos   // position of the frames outside of the function that Run calls
	mark  uintptr  // return address of that function

	sources source.Files // sources of the findings
}

// nodes is a page of nodes. A node is a return address and its outer node.
type nodes struct {
	pcs   [page]uintptr
	outer [page]ir.Pos
}

// A nodePath is the path of nodes from the outermost call to an inner call.
type nodePath struct {
	depth int
	pcs   stack // outermost first
	nodes [deepest]ir.Pos
}

// Here returns the position of the current builder call. It must not be inlined, because trail
// starts with its caller.
//
//go:noinline
func (c *Calls) Here() ir.Pos { return c.path(c.now[trail(&c.now, c.mark):]) }

// Caller returns the position of the call to the function that calls Caller. Neither function may
// be inlined.
//
//go:noinline
func (c *Calls) Caller() ir.Pos { return c.path(c.now[trail(&c.now, c.mark) : deepest-1]) }

// OuterCaller returns the position of the call two functions further out than Here. None of the
// three functions may be inlined.
//
//go:noinline
func (c *Calls) OuterCaller() ir.Pos {
	return c.path(c.now[min(trail(&c.now, c.mark), deepest-2) : deepest-2])
}

// path returns the position of a call stack, given with the innermost call last. If the stack
// includes the mark, the calls outside of Run are those of body.
func (c *Calls) path(pcs []uintptr) ir.Pos {
	at, w := c.body, &c.last
	switch {
	case len(pcs) > 0 && pcs[0] == c.mark:
		pcs = pcs[1:]
	// the function has made no call, or Run is too far outside to be on the stack
	case at != ir.NoPos:
		return c.whole(pcs)
	}
	d := 0
	last := w.pcs[:min(w.depth, len(pcs))]
	// usually equal to the previous call
	for now := pcs[:len(last)]; d < len(last) && last[d] == now[d]; {
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

// whole returns the position of a complete call stack, without the shortcut for Run.
func (c *Calls) whole(pcs []uintptr) ir.Pos {
	at := ir.NoPos
	for _, pc := range pcs {
		at = c.node(pc, at)
	}
	return at
}

// page is the number of nodes in a page.
const page = 256

// node creates a node. Each execution of a call in a Go loop gets a new node; see same.
func (c *Calls) node(pc uintptr, outer ir.Pos) ir.Pos {
	i := uint32(c.made)
	if i%page == 0 {
		c.pages = append(c.pages, new(nodes))
	}
	n := c.pages[i/page]
	n.pcs[i%page], n.outer[i%page] = pc, outer
	c.made++
	return c.made
}

// call returns the return address of a node and its outer node.
func (c *Calls) call(at ir.Pos) (pc uintptr, outer ir.Pos) {
	i := uint32(at - 1)
	n := c.pages[i/page]
	return n.pcs[i%page], n.outer[i%page]
}

// Same reports whether two positions have the same calls.
func (c *Calls) Same(a, b ir.Pos) bool {
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

// Run calls a function of the author. The outer frames do not change until it returns, so Here
// walks only the inner frames meanwhile.
//
//go:noinline
func (c *Calls) Run(body func()) {
	was, mark := c.body, c.mark
	defer func() {
		c.body, c.mark, c.last.depth = was, mark, 0
	}()
	outside := c.Here()
	// Both functions return to the same address. The first records it as the mark at which Here
	// stops.
	enter := func() {
		trail(&c.now, 0)
		c.body, c.mark, c.last.depth = outside, c.now[deepest-1], 0
	}
	for _, f := range [...]func(){enter, body} {
		f()
	}
}

// stack returns the return addresses of a position.
func (c *Calls) stack(pos ir.Pos) []uintptr {
	var pcs []uintptr
	for pos != ir.NoPos {
		pc, outer := c.call(pos)
		pcs, pos = append(pcs, pc), outer
	}
	return pcs
}

// mostFrames is the number of the author's lines that are reported for a position.
const mostFrames = 4

// Place resolves a position to the author's lines, innermost first.
func (c *Calls) Place(pos ir.Pos) (at diag.Place, from []diag.Place) {
	if pos < 1 || pos > c.made {
		return diag.Place{}, nil
	}
	// CallersFrames subtracts one from a return address to find inlined calls; the last one needs a
	// successor.
	frames := runtime.CallersFrames(append(c.stack(pos), 0))
	dir := sourceDir()
	for found := 0; found < mostFrames; {
		f, more := frames.Next()
		if f.File != "" && !isInternal(f, dir) {
			p := diag.Place{File: source.Short(f.File), Line: f.Line, Column: 1}
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

// sourceDir returns the directory of package dsl.
func sourceDir() string {
	_, here, _, _ := runtime.Caller(0)
	return filepath.Join(filepath.Dir(here), "..", "..")
}

// isInternal reports whether a stack frame belongs to the implementation and not to the author: to
// package dsl, whose sources are in the directory sourceDir, to a package below it, to the code
// that started the program, or to a wrapper that the compiler generated. The function name is not
// enough, because an inlined closure is named after the author's function.
func isInternal(f runtime.Frame, sourceDir string) bool {
	for _, prefix := range []string{"runtime.", "testing.", "reflect."} {
		if strings.HasPrefix(f.Function, prefix) {
			return true
		}
	}
	if f.File == "<autogenerated>" {
		return true
	}
	dir := filepath.Dir(f.File)
	own := dir == sourceDir || dir == filepath.Join(sourceDir, "op") ||
		strings.HasPrefix(dir, filepath.Join(sourceDir, "internal"))
	return own && !strings.HasSuffix(f.File, "_test.go")
}
