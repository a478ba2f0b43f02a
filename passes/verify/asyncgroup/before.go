// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package asyncgroup

import (
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/passes/analysis/trace"
	"github.com/ptxdsl/ptxdsl/passes/verify"
)

// checkNegative reports TMA stores and reductions that start at a negative coordinate. It
// examines the instructions that compute the coordinates; traces only tell which stores are
// executed.
func checkNegative(p *verify.Pass, writers func() map[*ir.Reg][]*ir.Instr) {
	var below *negativeRegisters
	done := make(map[*ir.Instr]bool)
	for _, t := range p.Traces {
		for i := range t.Events {
			e := &t.Events[i]
			if e.Kind != trace.BulkStore || !verify.Tensor(e.In) || isIm2col(e.In) ||
				e.In.HasMod(isa.ModTileScatter4) || done[e.In] {
				continue
			}
			done[e.In] = true
			if below == nil {
				below = &negativeRegisters{writers: writers(), found: make(map[*ir.Reg]bool)}
			}
			for n := range coordinates(e.In) {
				if o := &coordinates(e.In)[n]; below.isNegative(o) {
					p.Report(&ruleBefore, e.In, "TMA store starts at a negative coordinate in "+
						"dimension %d, expected 0 or more", n).On(t, i)
					break
				}
			}
		}
	}
}

// A negativeRegisters finds registers that hold a negative constant, whichever instruction wrote
// them last.
type negativeRegisters struct {
	writers map[*ir.Reg][]*ir.Instr
	// found caches the result for each register. It is true while the register is examined, which
	// ends recursion.
	found map[*ir.Reg]bool
}

// isNegative reports whether an operand is always negative as a signed 32-bit integer.
func (l *negativeRegisters) isNegative(o *ir.Operand) bool {
	if o.Kind == ir.Int {
		return int32(o.Value) < 0
	}
	r := o.Reg
	if r == nil {
		return false
	}
	if found, known := l.found[r]; known {
		return found
	}
	list := l.writers[r]
	l.found[r] = len(list) > 0 // increments are not constants, and end the search below
	for _, in := range list {
		if in.Kind() != isa.KindMov || len(in.Args) != 2 || !l.isNegative(&in.Args[1]) {
			l.found[r] = false
			break
		}
	}
	return l.found[r]
}
