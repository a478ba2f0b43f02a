// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package asyncgroup

import (
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/passes/analysis/trace"
	"github.com/ptxdsl/ptxdsl/passes/verify"
)

// checkNegative reports TMA stores and reductions that start at a negative coordinate. It examines
// the instructions that compute the coordinates and needs no traces.
func checkNegative(p *verify.Pass, writers func() map[*ir.Reg][]*ir.Instr) {
	var below *negatives
	done := make(map[*ir.Instr]bool)
	for _, t := range p.Traces {
		for i := range t.Events {
			e := &t.Events[i]
			if e.Kind != trace.BulkStore || !verify.Tensor(e.In) || pixels(e.In) ||
				e.In.HasMod(isa.ModTileScatter4) || done[e.In] {
				continue
			}
			done[e.In] = true
			if below == nil {
				below = &negatives{writers: writers(), looked: make(map[*ir.Reg]bool)}
			}
			for n := range coordinates(e.In) {
				if o := &coordinates(e.In)[n]; below.has(o) {
					p.Report(&ruleBefore, e.In, "TMA store starts at a negative coordinate in "+
						"dimension %d, expected 0 or more", n).On(t, i)
					break
				}
			}
		}
	}
}

// negatives finds registers that always hold a negative constant, no matter which instruction wrote
// them last.
type negatives struct {
	writers map[*ir.Reg][]*ir.Instr
	// whether a register holds a negative constant; true while it is examined
	looked map[*ir.Reg]bool
}

// has reports whether an operand is always negative as a signed 32-bit integer.
func (l *negatives) has(o *ir.Operand) bool {
	if o.Kind == ir.Int {
		return int32(o.Value) < 0
	}
	r := o.Reg
	if r == nil {
		return false
	}
	if found, known := l.looked[r]; known {
		return found
	}
	list := l.writers[r]
	l.looked[r] = len(list) > 0 // increments are not constants, and end the search below
	for _, in := range list {
		if in.Kind() != isa.KindMov || len(in.Args) != 2 || !l.has(&in.Args[1]) {
			l.looked[r] = false
			break
		}
	}
	return l.looked[r]
}
