// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package tensor

import (
	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/passes/analysis/trace"
	"github.com/ptxdsl/ptxdsl/passes/analysis/value"
	"github.com/ptxdsl/ptxdsl/passes/verify"
)

// checkColumns compares the columns that operations access with the allocated columns.
func checkColumns(p *verify.Pass) {
	// allocations, by the shared-memory address that receives the result
	sizes := make(map[*value.Value]*trace.Event)
	for _, t := range p.Traces {
		for i := range t.Events {
			e := &t.Events[i]
			if e.Kind != trace.TensorAlloc {
				continue
			}
			slot := slotOf(p, verify.Val(e, verify.Address(e.In, 0)))
			if was := sizes[slot]; slot == nil || was != nil && was.In != e.In {
				return // several allocations store their result at the same address
			}
			sizes[slot] = e
		}
	}
	for _, t := range p.Traces {
		for i := range t.Events {
			e := &t.Events[i]
			width := int64(1)
			switch e.Kind {
			case trace.TensorFree:
				checkPartialFree(p, t, i, sizes)
				continue
			case trace.TensorLoad, trace.TensorStore:
				width = coveredColumns(e.In)
			case trace.TensorMultiply, trace.TensorCopy:
			default:
				continue
			}
			v := verify.Val(e, verify.Address(e.In, 0))
			if v == nil {
				continue
			}
			for _, term := range v.Terms {
				a := term.Atom
				if a.Op != value.OpLoad || term.Factor != 1 || len(a.Args) != 1 ||
					sizes[slotOf(p, a.Args[0])] == nil {
					continue
				}
				alloc := sizes[slotOf(p, a.Args[0])]
				n, known := verify.Number(alloc, verify.Address(alloc.In, 0)+1)
				rest := p.Pool.Sub(64, v, p.Pool.Alone(a))
				low, ok := lastColumn(p, rest, *e.Threads)
				if known && ok && low+width > n {
					p.Report(&ruleColumns, e.In, "out-of-bounds tensor memory access: %s "+
						"accesses columns %d to %d, but %d columns are allocated", e.In.Head(), low,
						low+width-1, n).Also(alloc.In, "the allocation").On(t, i)
				}
			}
		}
	}
}

// lastColumn returns the last column that an offset of the given threads names. ok is false if
// the offset depends on more than the thread index.
func lastColumn(p *verify.Pass, offset *value.Value, s value.Set) (column int64, ok bool) {
	for _, term := range offset.Terms {
		if !term.Atom.Tid {
			return 0, false
		}
	}
	s.Each(func(thread int) { column = max(column, p.Pool.At(offset, thread)&0xffff) })
	return column, true
}

// slotOf returns the 64-bit form of the shared-memory address that receives or provides an
// allocation's result, so that addresses of different register widths compare equal.
func slotOf(p *verify.Pass, v *value.Value) *value.Value {
	if v == nil {
		return nil
	}
	return p.Pool.Resize(64, v, true)
}

// checkPartialFree reports a free whose number of columns differs from the allocation's.
func checkPartialFree(p *verify.Pass, t *trace.Trace, i int, sizes map[*value.Value]*trace.Event) {
	e := &t.Events[i]
	v := verify.Val(e, 0)
	n, known := verify.Number(e, 1)
	if v == nil || v.Single() == nil || !known {
		return
	}
	a := v.Single()
	if a.Op != value.OpLoad || len(a.Args) != 1 || sizes[slotOf(p, a.Args[0])] == nil {
		return
	}
	alloc := sizes[slotOf(p, a.Args[0])]
	if all, known := verify.Number(alloc, verify.Address(alloc.In, 0)+1); known && all != n {
		p.Report(&ruleFree, e.In, "%d columns of tensor memory are freed, but %d were allocated", n,
			all).Also(alloc.In, "the allocation").On(t, i)
	}
}

// shapeColumns holds the number of columns of the tcgen05.ld and tcgen05.st shapes that cover
// more than one column.
var shapeColumns = map[isa.Mod]int64{isa.ModShape16x64b: 2, isa.ModShape16x128b: 4,
	isa.ModShape16x256b: 8}

// coveredColumns returns how many columns a load or store of tensor memory covers.
func coveredColumns(in *ir.Instr) int64 {
	shape, times := int64(1), int64(1)
	for _, m := range in.Mods() {
		if n := shapeColumns[m]; n != 0 {
			shape = n
		}
		times = max(times, int64(m.Times()))
	}
	return shape * times
}

var ruleColumns = diag.Rule{ID: "T12", Layer: "tensor", Severity: diag.Error}
