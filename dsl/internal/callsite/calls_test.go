// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package callsite

import (
	"slices"
	"testing"

	"github.com/ptxdsl/ptxdsl/ir"
)

// TestRun checks that a position inside a function that run calls includes the outer calls, and
// that they are not walked again.
func TestRun(t *testing.T) {
	var c Calls
	var bare, inner, after []uintptr
	var seen int
	at := func() ir.Pos { return c.Here() }
	bare = c.stack(at())
	c.Run(func() {
		c.Run(func() {
			inner = c.stack(at())
			seen = maxStackDepth - trail(&c.current, c.mark)
		})
		after = c.stack(at())
	})
	outside := bare[2:] // without the line of this function, and the frames it calls
	for _, list := range [][]uintptr{inner, after, c.stack(at())} {
		if len(list) < len(outside) || !slices.Equal(list[len(list)-len(outside):], outside) {
			t.Errorf("%x does not end with %x", list, outside)
		}
	}
	if len(inner) <= len(after) || len(after) <= len(bare) {
		t.Errorf("%d calls, %d in a body, %d in a body inside of it", len(bare), len(after),
			len(inner))
	}
	if seen > 2 {
		t.Errorf("%d calls are looked at in the body", seen)
	}
	if c.mark != 0 || c.body != ir.NoPos {
		t.Error("the last call is still reported as running")
	}
	// Another goroutine has none of the outer calls.
	c.Run(func() {
		done := make(chan []uintptr)
		go func() { done <- c.stack(at()) }()
		if got := <-done; len(got) == 0 ||
			slices.Equal(got[max(0, len(got)-len(outside)):], outside) {
			t.Errorf("%x in a goroutine of its own", got)
		}
	})
}

// TestSame checks that repetitions of a call in a loop have the same position, and that calls on
// other lines do not.
func TestSame(t *testing.T) {
	var c Calls
	var loop, others [300]ir.Pos // nodes on several pages
	for i := range loop {
		c.Run(func() {
			loop[i] = c.Here()
			others[i] = c.Here()
		})
	}
	for i := range loop {
		if !c.Same(loop[0], loop[i]) {
			t.Fatalf("iteration %d: %x is not %x", i, c.stack(loop[i]), c.stack(loop[0]))
		}
		if c.Same(loop[i], others[i]) {
			t.Fatalf("iteration %d: the calls of two lines are the same", i)
		}
	}
	if c.Same(loop[0], ir.NoPos) || c.Same(ir.NoPos, loop[0]) || !c.Same(ir.NoPos, ir.NoPos) {
		t.Error("no position is like one that there is")
	}
}
