// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package uninitialized reports registers that the author declared without a value and that may be
// read before they are written.
package uninitialized

import (
	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/passes"
	"github.com/ptxdsl/ptxdsl/passes/verify/annotated"
)

// Analyzer returns the analyzer for registers that may be undefined.
func Analyzer() *annotated.Analyzer {
	return &annotated.Analyzer{
		Name: "uninitialized",
		Doc: `Uninitialized reports registers of NewReg that are read before they are written on some path. A
register that is never written is only a warning: an instruction written as text may read it and
ignore the value.`,
		Rules: []*diag.Rule{&annotated.Value},
		Run:   run,
	}
}

// An analysis finds the registers that are written on every path.
type analysis struct {
	number  map[*ir.Reg]int
	flow    *ir.Flow
	order   []int
	written passes.Set   // registers written at the current point
	out     []passes.Set // registers written at the end of each block; nil before the first visit
}

func run(p *annotated.Pass) {
	unset := p.Notes.Unset
	if len(unset) == 0 {
		return
	}
	a := newAnalysis(p.Func, unset)
	a.solve()
	doubtful, written := a.firstReads()
	for _, r := range unset {
		in := doubtful[r]
		if in == nil {
			continue
		}
		if !written[r] {
			p.Warn(in.Pos, &annotated.Value,
				"register from NewReg is read but never written; use Var to give it an initial value")
		} else if in = firstUnwritten(a.flow, a.order, r); in != nil {
			p.Report(in.Pos, &annotated.Value,
				"register from NewReg may be read before it is written; use Var to give it an initial value")
		}
	}
}

func newAnalysis(f *ir.Func, unset []*ir.Reg) *analysis {
	a := &analysis{number: make(map[*ir.Reg]int, len(unset)), flow: ir.FlowOf(f),
		out: make([]passes.Set, len(f.Blocks))}
	for i, r := range unset {
		a.number[r] = i
	}
	a.order = a.flow.Order()
	a.written = make(passes.Set, (len(unset)+63)/64)
	return a
}

// enter sets have for the start of a block: the registers that all visited predecessors have
// written.
func (a *analysis) enter(b int) {
	clear(a.written)
	first := b != 0
	for _, p := range a.flow.Preds[b] {
		switch {
		case b == 0 || a.out[p] == nil:
		case first:
			copy(a.written, a.out[p])
			first = false
		default:
			for i, w := range a.out[p] {
				a.written[i] &= w
			}
		}
	}
}

// solve computes the registers that are written on every path to the end of each block.
func (a *analysis) solve() {
	for changed := true; changed; {
		changed = false
		for _, b := range a.order {
			a.enter(b)
			for _, in := range a.flow.Func.Blocks[b].Instrs {
				in.Registers(func(r *ir.Reg, access isa.Access) {
					if n, ok := a.number[r]; ok && access != isa.Read && in.Guard.Reg == nil {
						a.written.Add(n)
					}
				})
			}
			changed = a.storeResult(b) || changed
		}
	}
}

// storeResult stores have as the result of a basic block, and reports whether the result has
// changed.
func (a *analysis) storeResult(b int) (changed bool) {
	if a.out[b] == nil {
		a.out[b] = make(passes.Set, len(a.written))
		changed = true
	}
	for i, w := range a.written {
		if a.out[b][i] != w {
			a.out[b][i], changed = w, true
		}
	}
	return changed
}

// firstReads returns the first read of each register that may precede its writes, and the registers
// that some instruction writes.
func (a *analysis) firstReads() (doubtful map[*ir.Reg]*ir.Instr, written map[*ir.Reg]bool) {
	doubtful, written = make(map[*ir.Reg]*ir.Instr), make(map[*ir.Reg]bool)
	for _, b := range a.order {
		a.enter(b)
		for _, in := range a.flow.Func.Blocks[b].Instrs {
			in.Registers(func(r *ir.Reg, access isa.Access) {
				n, ok := a.number[r]
				switch {
				case !ok:
				// accumulators are read and written; the first instruction may ignore the old
				// value
				case access != isa.Read:
					written[r] = true
					if in.Guard.Reg == nil {
						a.written.Add(n)
					}
				case !a.written.Has(n) && doubtful[r] == nil:
					doubtful[r] = in
				}
			})
		}
	}
	return doubtful, written
}
