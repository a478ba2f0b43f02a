// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package emu

import (
	"fmt"
	"strings"

	"github.com/ptxdsl/ptxdsl/diag"
)

// A Fault is the reason why a kernel failed: an invalid memory access, a trap or a hang.
type Fault struct {
	Kernel  string
	Message string
	Block   [3]uint32
	Warp    int // warp in the block, or -1 if the fault belongs to no warp
	Lane    int // lane in the warp, or -1 if the fault belongs to no lane
	Thread  [3]uint32
	Opcode  string
	Place   diag.Place // position in the PTX
	Source  string     // line of the source, such as gemm.go:12; "" if it is unknown
	Notes   []string   // such as the nearest allocation, or the warps that wait
	Waiting *Waiting   // if the kernel hangs: one of the warps that wait
}

// A Waiting describes a warp that waits forever.
type Waiting struct {
	Place diag.Place
	// such as "warp 1 of block (0,0,0) waits at barrier 1: 32 threads came, 64 threads expected"
	Reason string
}

// Error returns the fault with its position and notes.
func (f *Fault) Error() string {
	var b strings.Builder
	if f.Place.Line > 0 {
		fmt.Fprintf(&b, "%s:%d: ", f.Place.File, f.Place.Line)
	}
	if f.Source != "" {
		fmt.Fprintf(&b, "(%s) ", f.Source)
	}
	b.WriteString(f.Message)
	fmt.Fprintf(&b, "; kernel %s", f.Kernel)
	if f.Warp >= 0 {
		fmt.Fprintf(&b, ", block %s, warp %d", point(f.Block), f.Warp)
	}
	if f.Lane >= 0 {
		fmt.Fprintf(&b, ", lane %d, thread %s", f.Lane, point(f.Thread))
	}
	if f.Opcode != "" {
		b.WriteString(": " + f.Opcode)
	}
	for _, n := range f.Notes {
		b.WriteString("\n\t" + n)
	}
	return b.String()
}

func point(p [3]uint32) string { return fmt.Sprintf("(%d,%d,%d)", p[0], p[1], p[2]) }
