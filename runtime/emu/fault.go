// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package emu

import (
	"fmt"
	"strings"

	"github.com/ptxdsl/ptxdsl/diag"
)

// A Fault is what ended a kernel: a wrong access to memory, a trap, a hang.
type Fault struct {
	Kernel  string
	Message string
	Block   [3]uint32
	Warp    int // of the block; -1 where the fault is not that of a warp
	Lane    int // of the warp; -1 where the fault is not that of a lane
	Thread  [3]uint32
	Opcode  string
	Place   diag.Place // in the PTX
	Source  string     // the line that .loc names: gemm.go:12; "" where there is none
	Notes   []string   // the nearest allocation, warps that wait
}

// Error returns the fault with its place and notes.
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
