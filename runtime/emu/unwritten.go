// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package emu

import (
	"fmt"

	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
)

// A kernel that fetches ahead loads from a stage of shared memory that was never filled, and does not use
// what it loaded. Compilers load structures with their padding from local memory. So such a load is no
// mistake until a lane uses the register, other than to move it.

// An unwrittenValue is a register that holds shared memory that was never written.
type unwrittenValue struct {
	lanes uint32
	fault *Fault // of the load
}

// loadUnwritten notes that the current instruction loads memory of these lanes that was never written.
func (w *warp) loadUnwritten(lanes uint32, lane int, size uint64) {
	in := w.command()
	e := w.describe(w.cur, lane)
	e.Message = fmt.Sprintf("read of memory that was never written: %d bytes", size)
	e.Notes = w.near(w.address[lane])
	if in.at.Form.Form.Kind == isa.KindLdmatrix {
		lanes = w.cur.mask // rows go to several lanes
	}
	frame := w.cur.frame
	if frame.unwritten == nil {
		frame.unwritten = make(map[*ir.Reg]unwrittenValue)
	}
	in.at.Registers(func(r *ir.Reg, a isa.Access) {
		if a != isa.Read {
			frame.unwritten[r] = unwrittenValue{lanes, e}
		}
	})
}

// usesUnwritten follows registers that hold memory that was never written. It reports whether the
// instruction uses one, which is a fault.
func (w *warp) usesUnwritten(in *command, mask uint32) bool {
	f := w.cur
	values := f.frame.unwritten
	if in.at == nil || in.at.Form == nil {
		return false
	}
	moves := in.at.Form.Form.Kind == isa.KindMov
	var used unwrittenValue
	in.at.Registers(func(r *ir.Reg, a isa.Access) {
		v := values[r]
		if a != isa.Read {
			if v.lanes &^= mask; v.lanes == 0 {
				delete(values, r)
			} else {
				values[r] = v
			}
			if used.fault != nil && moves {
				values[r] = unwrittenValue{v.lanes | used.lanes, used.fault}
			}
			return
		}
		if v.lanes&mask != 0 {
			used = unwrittenValue{used.lanes | v.lanes&mask, v.fault}
		}
	})
	if len(values) == 0 {
		f.frame.unwritten = nil
	}
	if used.fault == nil || moves {
		return false
	}
	e := *used.fault
	at, _ := w.block.grid.image.module.ir.At(in.at.Pos)
	e.Notes = append(e.Notes[:len(e.Notes):len(e.Notes)], fmt.Sprintf("the value is used at line %d: %s", at.Line, in.at.Op))
	w.block.fail(&e)
	return true
}
