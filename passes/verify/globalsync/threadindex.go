// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package globalsync

import (
	"strings"

	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/passes/analysis/trace"
)

// comparesThreadIndex reports whether an operand of a comparison may be computed from the index of
// a thread, a lane or a warp. A value that differs between threads only because they left a loop
// in different iterations does not select threads by their index.
func (w *threadSelection) comparesThreadIndex(in *ir.Instr) bool {
	for i := range in.Args[1:] {
		o := &in.Args[i+1]
		if o.Kind == ir.Special && isThreadIndex(o.Text()) {
			return true
		}
		if o.Reg == nil {
			continue
		}
		if from := w.onlyWrite(in, o.Reg); from != nil {
			if w.isIndexResult(from) {
				return true
			}
		} else if w.isIndexRegister(o.Reg) {
			return true
		}
	}
	return false
}

// isIndexRegister reports whether a register may hold a value computed from a thread index. A
// register without writes is a parameter of a device function, which may be one.
func (w *threadSelection) isIndexRegister(r *ir.Reg) bool {
	if w.indexes == nil {
		w.indexes = make(map[*ir.Reg]bool)
		for changed := true; changed; {
			changed = w.findIndexRegisters()
		}
	}
	return w.indexes[r] || len(w.allWrites(r)) == 0
}

// findIndexRegisters adds the registers that an instruction computes from a thread index or from
// the registers found before. It reports whether it added any.
func (w *threadSelection) findIndexRegisters() (changed bool) {
	for _, b := range w.flow.Func.Blocks {
		for _, in := range b.Instrs {
			if in.Directive() || !w.isIndexResult(in) {
				continue
			}
			in.Registers(func(r *ir.Reg, a isa.Access) {
				if a != isa.Read && !w.indexes[r] {
					w.indexes[r], changed = true, true
				}
			})
		}
	}
	return changed
}

// isIndexResult reports whether the result of an instruction may be computed from a thread index.
// Values in memory are data.
func (w *threadSelection) isIndexResult(in *ir.Instr) bool {
	switch head := in.Kind().Head(); {
	case head == isa.HeadCall, head == isa.HeadElect:
		return true
	case head == isa.HeadLd && in.HasMod(isa.ModParam):
		return !w.flow.Func.Kernel
	case trace.Of(in) == trace.Load, trace.Of(in) == trace.Atomic:
		return false
	}
	found := false
	in.Registers(func(r *ir.Reg, a isa.Access) {
		found = found || a != isa.Write && w.isIndexRegister(r)
	})
	for i := range in.Args {
		in.Args[i].Walk(func(o *ir.Operand) {
			found = found || o.Kind == ir.Special && isThreadIndex(o.Text())
		})
	}
	return found
}

// isThreadIndex reports whether a special register differs between the threads of a block because
// of their index.
func isThreadIndex(name string) bool {
	return strings.HasPrefix(name, "%tid") || strings.HasPrefix(name, "%lane") ||
		name == "%warpid"
}
