// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package callsite records the call stacks of the builder calls in the author's code, and
// resolves them to source lines when a finding needs them. An ir.Pos identifies a recorded call
// stack.
package callsite

import (
	"path/filepath"
	"runtime"
	"strings"
	"sync"

	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/dsl/internal/source"
	"github.com/ptxdsl/ptxdsl/ir"
)

// maxStackDepth is the maximum number of return addresses that are recorded for a builder call.
// They include the functions of package dsl between the author's code and this package.
const maxStackDepth = 32

// A stack holds the return addresses of the active calls in its last elements, the innermost call
// last.
type stack [maxStackDepth]uintptr

// Calls stores the call stacks of a module's builder calls as a tree, so that consecutive calls
// share their outer frames. An ir.Pos is the index of a node, starting at 1. It stands for the
// path from the root to that node.
type Calls struct {
	pages   []*nodes
	newest  ir.Pos   // the node that was added last
	current stack    // stack of the current call
	last    nodePath // path to the node that was requested last, starting at body
	body    ir.Pos   // position of the call of Run, or NoPos
	mark    uintptr  // return address in Run of the function that Run calls
	fixed   ir.Pos   // position of all calls during At, or NoPos

	mutex   sync.Mutex
	lines   map[uintptr][]diag.Place // by return address; see places
	sources source.Files             // parsed files of the findings
}

// nodes is a page of nodes. A node is a return address and its outer node.
type nodes struct {
	pcs   [page]uintptr
	outer [page]ir.Pos
}

// A nodePath is a path in the tree, from an outer to an inner call.
type nodePath struct {
	depth int
	pcs   stack // return addresses, outermost first
	nodes [maxStackDepth]ir.Pos
}

// Here returns the position of the current builder call, that is, of the stack that starts at the
// caller of Here. It must not be inlined, because trail starts with its caller.
//
//go:noinline
func (c *Calls) Here() ir.Pos {
	if c.fixed != ir.NoPos {
		return c.fixed
	}
	return c.path(c.current[trail(&c.current, c.mark):])
}

// At calls emit. All builder calls during emit get the position pos, unless it is NoPos. The
// builder uses it for code that belongs to an earlier declaration.
func (c *Calls) At(pos ir.Pos, emit func()) {
	was := c.fixed
	defer func() { c.fixed = was }()
	c.fixed = pos
	emit()
}

// Caller returns the position of the call to the function that calls Caller. Neither function may
// be inlined.
//
//go:noinline
func (c *Calls) Caller() ir.Pos {
	if c.fixed != ir.NoPos {
		return c.fixed
	}
	return c.path(c.current[trail(&c.current, c.mark) : maxStackDepth-1])
}

// OuterCaller returns the position of the call two functions further out than Here. None of the
// three functions may be inlined.
//
//go:noinline
func (c *Calls) OuterCaller() ir.Pos {
	if c.fixed != ir.NoPos {
		return c.fixed
	}
	return c.path(c.current[min(trail(&c.current, c.mark), maxStackDepth-2) : maxStackDepth-2])
}

// path returns the position of a call stack, innermost call last. If the stack includes the mark,
// the outer calls are those of body, which Run has recorded.
func (c *Calls) path(pcs []uintptr) ir.Pos {
	at, w := c.body, &c.last
	switch {
	case len(pcs) > 0 && pcs[0] == c.mark:
		pcs = pcs[1:]
	// the function has made no call, or the frame of Run is beyond maxStackDepth
	case at != ir.NoPos:
		return c.fullPath(pcs)
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

// fullPath returns the position of a call stack that is given from its outermost frame, without
// the mark of Run.
func (c *Calls) fullPath(pcs []uintptr) ir.Pos {
	at := ir.NoPos
	for _, pc := range pcs {
		at = c.node(pc, at)
	}
	return at
}

// page is the number of nodes in a page.
const page = 256

// node creates a node and returns its position. Each execution of a call in a Go loop gets a new
// node; Same compares nodes by their calls.
func (c *Calls) node(pc uintptr, outer ir.Pos) ir.Pos {
	i := uint32(c.newest)
	if i%page == 0 {
		c.pages = append(c.pages, new(nodes))
	}
	n := c.pages[i/page]
	n.pcs[i%page], n.outer[i%page] = pc, outer
	c.newest++
	return c.newest
}

// call returns the return address of a node and its outer node.
func (c *Calls) call(at ir.Pos) (pc uintptr, outer ir.Pos) {
	i := uint32(at - 1)
	n := c.pages[i/page]
	return n.pcs[i%page], n.outer[i%page]
}

// Same reports whether two positions have the same call stack.
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

// Run calls a function of the author. The outer frames do not change until body returns, so
// during the call Here only reads the inner frames.
//
//go:noinline
func (c *Calls) Run(body func()) {
	was, mark := c.body, c.mark
	defer func() {
		c.body, c.mark, c.last.depth = was, mark, 0
	}()
	outside := c.Here()
	// Both functions return to the same address in Run. The first function records this address
	// as the mark at which Here stops.
	enter := func() {
		trail(&c.current, 0)
		c.body, c.mark, c.last.depth = outside, c.current[maxStackDepth-1], 0
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

// maxFrames is the maximum number of source lines that are reported for a position.
const maxFrames = 4

// Place resolves a position to the author's source line, and the lines of its callers, innermost
// first.
func (c *Calls) Place(pos ir.Pos) (at diag.Place, from []diag.Place) {
	if pos < 1 || pos > c.newest {
		return diag.Place{}, nil
	}
	found := 0
	for pos != ir.NoPos && found < maxFrames {
		pc, outer := c.call(pos)
		for _, p := range c.places(pc) {
			switch {
			case found == 0:
				at = p
			case found < maxFrames:
				from = append(from, p)
			}
			found++
		}
		pos = outer
	}
	return at, from
}

// places returns the author's source lines that a return address stands for: that of the call, and
// those of the calls into which it is inlined. Most positions share addresses, and finding their
// lines takes long.
func (c *Calls) places(pc uintptr) (list []diag.Place) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if known, ok := c.lines[pc]; ok {
		return known
	}
	// CallersFrames subtracts one from a return address to find inlined calls. It needs a
	// successor for the last address, so a zero is appended.
	frames := runtime.CallersFrames([]uintptr{pc, 0})
	dir := sourceDir()
	for more := true; more; {
		var f runtime.Frame
		f, more = frames.Next()
		if f.File != "" && !isInternal(f, dir) {
			list = append(list, diag.Place{File: source.Short(f.File), Line: f.Line, Column: 1})
		}
	}
	if c.lines == nil {
		c.lines = make(map[uintptr][]diag.Place)
	}
	c.lines[pc] = list
	return list
}

// sourceDir returns the source directory of package dsl.
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
