// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package shared

import (
	"slices"

	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/passes/analysis/memory"
	"github.com/ptxdsl/ptxdsl/passes/analysis/trace"
	"github.com/ptxdsl/ptxdsl/passes/analysis/value"
	"github.com/ptxdsl/ptxdsl/passes/verify"
)

// A writtenMemory holds the bytes of the arrays in shared memory that some instruction may write.
type writtenMemory struct {
	bytes   map[*ir.Var][]bool
	unknown bool // some write may be to any address
	// plain is set if atomic operations that read what they replace do not count as writes.
	plain bool
}

// findWritten collects the shared memory that a kernel may write on all paths. If plain is set, it
// collects the memory that is written without reading the old contents.
func findWritten(p *verify.Pass, plain bool) *writtenMemory {
	w := &writtenMemory{bytes: make(map[*ir.Var][]bool), plain: plain}
	if len(p.Kernel.Missed) > 0 || p.Needs(trace.Call) || !p.Pool.Exact {
		w.unknown = true
		return w
	}
	vague := p.Loops || p.Cases > 0
	for _, t := range p.Traces {
		if t.Stopped != "" {
			w.unknown = true
		}
		for i := range t.Events {
			w.addEvent(p, &t.Events[i], vague)
		}
		if w.unknown {
			return w
		}
	}
	for _, b := range p.Func.Blocks {
		for _, in := range b.Instrs {
			w.addEscaping(in)
		}
	}
	return w
}

// addEvent adds the memory that an event may write. The parameter vague is set if not all
// iterations of a loop were analyzed, because the other iterations may write elsewhere in the same
// array.
func (w *writtenMemory) addEvent(p *verify.Pass, e *trace.Event, vague bool) {
	switch e.Kind {
	case trace.Load:
		return
	case trace.Atomic:
		if w.plain && accumulates(e.In) {
			return
		}
	}
	switch e.Kind {
	case trace.Store, trace.Atomic, trace.Clear:
		if e.In.HasMod(isa.ModGlobal, isa.ModLocal, isa.ModParam) {
			return
		}
		r, ok := p.Access(e)
		switch {
		case !ok && !p.Generic && !e.In.NamesShared():
		case !ok && !w.addPointedArrays(verify.Val(e, verify.Address(e.In, 0))):
			w.unknown = true
		case !ok:
		case !r.Sure || vague:
			w.addArray(r.Var())
		default:
			w.addRegion(&r)
		}
	case trace.Wait, trace.Arrive, trace.BarrierSync, trace.Exit:
	default:
		for _, v := range e.Vals {
			w.addPointedArrays(v)
		}
	}
}

// accumulates reports whether an atomic operation computes the new contents of memory from the old.
func accumulates(in *ir.Instr) bool { return !in.HasMod(isa.ModExch, isa.ModCAS) }

// addPointedArrays marks the arrays into which an address may point, and reports whether there are
// any.
func (w *writtenMemory) addPointedArrays(v *value.Value) (found bool) {
	if v == nil {
		return false
	}
	for _, t := range v.Terms {
		if v, ok := t.Atom.Ref.(*ir.Var); ok && t.Atom.Op == value.OpVariable &&
			v.Space == isa.Shared {
			w.addArray(v)
			found = true
		}
		if t.Atom.Sources&value.Variables == 0 {
			continue
		}
		for _, arg := range t.Atom.Args {
			found = w.addPointedArrays(arg) || found
		}
	}
	return found
}

// addEscaping marks the arrays whose address escapes: an instruction other than a plain load or
// store uses it, such as a copy, an allocation, an mbarrier operation or a conversion to a generic
// pointer.
func (w *writtenMemory) addEscaping(in *ir.Instr) {
	switch in.Kind().Head() {
	case isa.HeadLd, isa.HeadSt, isa.HeadMov, isa.HeadAtom, isa.HeadRed, isa.HeadStmatrix,
		isa.HeadLdmatrix:
		return
	}
	for i := range in.Args {
		in.Args[i].Walk(func(o *ir.Operand) {
			if v, ok := o.Ref().(*ir.Var); ok && v.Space == isa.Shared {
				w.addArray(v)
			}
		})
	}
}

// addArray marks every byte of an array.
func (w *writtenMemory) addArray(v *ir.Var) {
	if v == nil {
		w.unknown = true
		return
	}
	list := w.bytesOf(v)
	for i := range list {
		list[i] = true
	}
}

func (w *writtenMemory) bytesOf(v *ir.Var) []bool {
	list := w.bytes[v]
	if list == nil {
		list = make([]bool, v.Size())
		w.bytes[v] = list
	}
	return list
}

// addRegion marks the bytes of a region as written.
func (w *writtenMemory) addRegion(r *memory.Region) {
	v := r.Var()
	if v == nil {
		w.unknown = true
		return
	}
	list := w.bytesOf(v)
	for _, at := range r.Starts() {
		for n := max(0, at); n < min(at+r.Bytes, int64(len(list))); n++ {
			list[n] = true
		}
	}
}

// checkLoad reports a load of bytes that no instruction writes, and returns whether it did. The
// finding is an error if all threads load such bytes.
func (w *writtenMemory) checkLoad(p *verify.Pass, t *trace.Trace, i int, r *memory.Region) bool {
	e, v := &t.Events[i], r.Var()
	if w.unknown || v == nil || verify.Open(v) || e.Kind == trace.Store || v.Linkage == ".extern" {
		return false
	}
	list := w.bytesOf(v)
	if !w.plain && !slices.Contains(list, true) {
		return false // the kernel may be unfinished
	}
	never, some, first := false, false, int64(0)
	for _, at := range r.Starts() {
		for n := max(0, at); n < min(at+r.Bytes, int64(len(list))); n++ {
			if list[n] {
				some = true
			} else if !never {
				never, first = true, n
			}
		}
	}
	if !never {
		return false
	}
	what := "which no instruction of the kernel writes"
	if w.plain {
		what = "which only such operations write"
	}
	f := p.Report(&ruleUnwritten, e.In, "uninitialized shared memory: %s reads byte %d of %s, %s",
		e.In.Head(), first, variableName(v), what)
	if some {
		f.As(diag.Review)
	}
	f.On(t, i)
	return true
}
