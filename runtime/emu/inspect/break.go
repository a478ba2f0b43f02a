// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package inspect

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/runtime/emu"
)

// Break prints the state of a thread each time it reaches a line: its registers, tiles of shared
// memory, mbarriers and tensor memory. It is an observer.
type Break struct {
	Line  string // of the PTX, such as 12; or of the Go source, such as gemm.go:12
	Focus Focus
	Tiles []Tile
	Out   io.Writer
	Limit int // maximum number of times to print, or 0 for no limit

	names   *names
	written map[*ir.Reg]bool // registers that the thread has written
	shown   int
	ran     bool   // a launch has the thread
	prior   string // the line before, so that a line with several instructions counts once
}

// Observe handles the start of a launch.
func (b *Break) Observe(e *emu.Event) {
	if e.Kind == emu.EventBegin {
		b.names, b.prior, b.written = namesOf(e.Launch), "", make(map[*ir.Reg]bool)
	}
}

// Shown returns how often the state was printed.
func (b *Break) Shown() int { return b.shown }

// Ran reports whether a launch had the thread.
func (b *Break) Ran() bool { return b.ran }

// Step prints the state if the thread is at the line.
func (b *Break) Step(e *emu.Event, s *emu.State) {
	lane, ok := b.Focus.lane(e)
	if !ok || e.Mask>>lane&1 == 0 {
		return
	}
	b.ran = true
	defer b.recordWrites(e.Instr, s, lane)
	line := strconv.Itoa(b.names.launch.Place(e.Instr).Line)
	if strings.Contains(b.Line, ":") {
		line = e.Source
	}
	again := line == b.prior
	b.prior = line
	if line != b.Line && !strings.HasSuffix(line, "/"+b.Line) || again && line == e.Source {
		return
	}
	if b.Limit > 0 && b.shown >= b.Limit {
		return
	}
	b.shown++
	id, tid := s.BlockID(), s.Thread(lane)
	fmt.Fprintf(b.Out, "%s: %s, block (%d,%d,%d), thread (%d,%d,%d), warp %d, lanes %08x\n",
		b.names.line(e), e.Instr.Op, id[0], id[1], id[2], tid[0], tid[1], tid[2], e.Warp, e.Mask)
	if l := s.Label(); l != nil {
		fmt.Fprintf(b.Out, "  after label %s\n", l.Name)
	}
	for _, r := range s.Function().Regs {
		if x, r, ok := s.Register(r.Name, lane); ok {
			text := "?"
			if b.written[r] {
				text = value(x, r)
			}
			fmt.Fprintf(b.Out, "  %s = %s\n", r.Name, text)
		}
	}
	b.mbarriers(s)
	for _, t := range b.Tiles {
		t.print(b.Out, s, b.names)
	}
}

// recordWrites records the registers that the thread writes when it executes an instruction.
func (b *Break) recordWrites(in *ir.Instr, s *emu.State, lane int) {
	if by := in.Guard.Reg; by != nil {
		if x, _, ok := s.Register(by.Name, lane); ok && (x != 0) == in.Guard.Not {
			return
		}
	}
	in.Registers(func(r *ir.Reg, a isa.Access) {
		if a != isa.Read {
			b.written[r] = true
		}
	})
}

// mbarriers prints the state of each mbarrier of the block.
func (b *Break) mbarriers(s *emu.State) {
	for _, m := range s.Mbarriers() {
		for _, x := range s.Symbols() {
			if m.At < x.At || m.At >= x.At+x.Size {
				continue
			}
			fmt.Fprintf(b.Out,
				"  mbarrier %s: phase %d, %d of %d arrivals and %d bytes are pending\n",
				part(x, m.At-x.At, b.names), m.Phase, m.Pending, m.Expected, m.Bytes)
			break
		}
	}
}

// part names an 8-byte element of a symbol, or of the part of dynamic shared memory that contains
// it.
func part(x emu.Symbol, at uint64, n *names) string {
	for _, p := range n.parts {
		if x.Name != "" && at >= p.At && at < p.At+p.Size {
			return fmt.Sprintf("%s[%d]", p.Name, (at-p.At)/8)
		}
	}
	return fmt.Sprintf("%s[%d]", x.Name, at/8)
}
