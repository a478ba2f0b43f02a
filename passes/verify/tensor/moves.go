// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package tensor checks tensor memory: the lifetime of allocations, and the order of its
// operations, which waits, commits and tcgen05 fences establish.
package tensor

import (
	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/passes/analysis/trace"
	"github.com/ptxdsl/ptxdsl/passes/verify"
)

// checkMoves tracks tcgen05.ld and tcgen05.st operations up to their waits.
func checkMoves(p *verify.Pass, t *trace.Trace) {
	under := pendingLoads{byRegister: make(map[*ir.Reg][]loadedRegister),
		unread: make(map[*ir.Reg]bool)}
	var load, store *trace.Event
	for i := range t.Events {
		e := &t.Events[i]
		switch e.Kind {
		case trace.TensorLoad:
			if store != nil && overlapRegions(p, e, store) {
				p.Report(&ruleWait, e.In, "missing tcgen05.wait::st: tensor memory is loaded "+
					"while a store to it is in flight").Also(store.In, "the store").On(t, i)
				store = nil
			}
			load = e
			for a := range e.In.Args {
				if e.In.Args[a].Kind == ir.Vector {
					e.In.Args[a].Walk(func(o *ir.Operand) {
						if r := o.Reg; r != nil {
							under.byRegister[r], under.unread[r] = []loadedRegister{{e, r}}, true
						}
					})
				}
			}
		case trace.TensorStore:
			if load != nil && overlapRegions(p, e, load) {
				p.Report(&ruleWait, e.In, "missing tcgen05.wait::ld: tensor memory is "+
					"overwritten while a load of it is in flight").
					As(diag.Review).Also(load.In, "the load").On(t, i)
				load = nil
			}
			store = e
			under.markUsed(e.In)
		case trace.TensorWait:
			if e.In.Kind() == isa.KindTcgen05WaitLd {
				load = nil
				under.complete()
			} else {
				store = nil
			}
		case trace.Arrive, trace.BarrierSync, trace.BarrierArrive, trace.TensorFree,
			trace.ClusterArrive:
			if load != nil {
				as := severityOf(e)
				if len(under.unread) == 0 {
					as = diag.Review // the loads of the used registers have completed
				}
				p.Report(&ruleWait, e.In, "missing tcgen05.wait::ld: %s while a load of tensor "+
					"memory is in flight; the memory may be overwritten before it is read",
					describeUse(e)).
					As(as).Also(load.In, "the load").On(t, i)
				load = nil
			}
			if store != nil {
				p.Report(&ruleWait, e.In, "missing tcgen05.wait::st: %s while a store to tensor "+
					"memory is in flight; other threads may read the old contents", describeUse(e)).
					As(severityOf(e)).Also(store.In, "the store").On(t, i)
				store = nil
			}
		case trace.Exit:
		case trace.Touch:
			for _, in := range p.Touched(e) {
				under.checkUse(p, t, i, in)
			}
		default:
			under.checkUse(p, t, i, e.In)
		}
	}
}

// A pendingLoads holds the loads of tensor memory in flight on a trace.
type pendingLoads struct {
	// loads that write each register, directly or through copies
	byRegister map[*ir.Reg][]loadedRegister
	// registers that loads write and no instruction has used; a copy is not a use
	unread   map[*ir.Reg]bool
	reported bool // a use was reported
}

// A loadedRegister value is an origin of a register's contents.
type loadedRegister struct {
	e    *trace.Event
	from *ir.Reg // the register that the load writes
}

// complete drops the loads that a wait has completed.
func (f *pendingLoads) complete() {
	clear(f.byRegister)
	clear(f.unread)
	f.reported = false
}

// markUsed removes the registers that an instruction uses from unread.
func (f *pendingLoads) markUsed(in *ir.Instr) {
	in.Registers(func(r *ir.Reg, a isa.Access) {
		for _, l := range f.byRegister[r] {
			delete(f.unread, l.from)
		}
	})
}

// checkUse reports a use of registers that loads in flight write.
func (f *pendingLoads) checkUse(p *verify.Pass, t *trace.Trace, i int, in *ir.Instr) {
	if len(f.byRegister) == 0 || f.propagateCopy(in) {
		return
	}
	if !f.reported {
		in.Registers(func(r *ir.Reg, a isa.Access) {
			if l := f.byRegister[r]; len(l) > 0 && !f.reported {
				p.Report(&ruleWait, in, "missing tcgen05.wait::ld: %s is used while a load of "+
					"tensor memory writes it", verify.Register(r)).
					As(diag.Review).Also(l[0].e.In, "the load").On(t, i)
				f.reported = true
			}
		})
	}
	f.markUsed(in)
}

// propagateCopy propagates loads through a move that copies or packs loaded registers, or a spill,
// as in unoptimized code. It returns false if the instruction is none of these.
func (f *pendingLoads) propagateCopy(in *ir.Instr) bool {
	switch {
	case in.Kind().Head() == isa.HeadSt:
		// a spill to the stack
		return !in.HasMod(isa.ModShared, isa.ModSharedCTA, isa.ModSharedCluster, isa.ModGlobal)
	case in.Kind() != isa.KindMov || len(in.Args) != 2:
		return false
	}
	var list []loadedRegister // a mov may pack several registers into one
	in.Args[1].Walk(func(o *ir.Operand) { list = append(list, f.byRegister[o.Reg]...) })
	in.Args[0].Walk(func(o *ir.Operand) {
		if o.Reg != nil && len(list) > 0 {
			f.byRegister[o.Reg] = list
		}
	})
	return len(list) > 0
}

// overlapRegions reports whether two loads or stores of tensor memory certainly overlap.
func overlapRegions(p *verify.Pass, a, b *trace.Event) bool {
	ra, la := addressOf(p, a)
	rb, lb := addressOf(p, b)
	if !lanesOf(p, a).Meets(lanesOf(p, b)) {
		return false
	}
	return ra != nil && ra == rb && la < lb+coveredColumns(b.In) && lb < la+coveredColumns(a.In)
}

// severityOf returns the severity of a finding: error if the event certainly passes the memory to
// other threads, or else review.
func severityOf(e *trace.Event) diag.Severity {
	if e.Kind == trace.Arrive || e.Kind == trace.TensorFree {
		return diag.Error
	}
	return diag.Review
}

func describeUse(e *trace.Event) string {
	switch e.Kind {
	case trace.TensorFree:
		return "tensor memory is freed"
	case trace.Arrive:
		return "an arrival"
	}
	return "a barrier"
}
