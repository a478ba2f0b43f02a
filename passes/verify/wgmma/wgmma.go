// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package wgmma checks the wgmma instructions of warpgroups against their fences and waits.
package wgmma

import (
	"slices"

	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/passes/analysis/trace"
	"github.com/ptxdsl/ptxdsl/passes/analysis/value"
	"github.com/ptxdsl/ptxdsl/passes/verify"
)

// Analyzer is the analyzer for wgmma.
var Analyzer = &verify.Analyzer{
	Name:   "wgmma",
	Covers: "wgmma",
	Doc: `Wgmma follows the registers that wgmma.mma_async uses while it is in flight: a fence
must precede it and a wait must follow. It also checks that whole warpgroups execute
wgmma.`,
	Rules: diag.Rules{ruleFence, ruleWait, ruleRelease, ruleWhole},
	Pages: pages,
	Requires: []trace.Kind{trace.GroupMultiply, trace.GroupFence, trace.GroupCommit,
		trace.GroupWait},
	Run: run,
}

func run(p *verify.Pass) {
	come := threadsByInstruction(p)
	f := &registerTracker{p: p, inFlight: make([]*registerUse, len(p.Func.Regs)),
		touched: make(map[*ir.Reg]*ir.Instr)}
	for _, t := range p.Traces {
		f.checkTrace(t)
		checkRelease(p, t, come)
	}
	checkWhole(p)
}

// A registerUse is a wgmma that reads or writes registers. result is set if it writes them.
type registerUse struct {
	e         *trace.Event
	groups    int
	result    bool
	reported  bool
	completed bool // a wait has completed the wgmma
}

// A registerTracker tracks the registers that wgmma uses on one trace.
type registerTracker struct {
	p        *verify.Pass
	t        *trace.Trace
	inFlight []*registerUse // by register, the last wgmma that uses the register
	open     []*registerUse
	fenced   bool
	// since holds the instructions since the last fence, and touched the registers that the
	// examined ones among them write.
	since   []*ir.Instr
	touched map[*ir.Reg]*ir.Instr
}

// use returns the wgmma in flight that uses a register, or nil.
func (f *registerTracker) use(r *ir.Reg) *registerUse {
	if u := f.inFlight[r.Number]; u != nil && !u.completed {
		return u
	}
	return nil
}

// checkTrace checks the registers that wgmma uses on one trace.
func (f *registerTracker) checkTrace(t *trace.Trace) {
	multiplies := false
	for i := range t.Events {
		multiplies = multiplies || t.Events[i].Kind == trace.GroupMultiply
	}
	if !multiplies {
		return
	}
	f.t, f.fenced, f.open, f.since = t, false, f.open[:0], f.since[:0]
	clear(f.inFlight)
	clear(f.touched)
	for i := range t.Events {
		e := &t.Events[i]
		switch e.Kind {
		case trace.GroupFence:
			f.fenced, f.since = true, f.since[:0]
			clear(f.touched)
		case trace.GroupCommit:
			for _, u := range f.open {
				u.groups++
			}
		case trace.GroupWait:
			pending, _ := verify.Number(e, 0)
			f.open = slices.DeleteFunc(f.open, func(u *registerUse) bool {
				u.completed = u.groups > int(pending)
				return u.completed
			})
		case trace.GroupMultiply:
			f.checkMultiply(i)
		case trace.Exit:
		case trace.Touch:
			f.checkOther(i, f.p.Touched(e)...)
		default:
			f.checkOther(i, e.In)
		}
	}
}

// checkOther checks that instructions other than wgmma do not access registers in use.
func (f *registerTracker) checkOther(i int, list ...*ir.Instr) {
	f.since = append(f.since, list...)
	if len(f.open) == 0 {
		return
	}
	for _, in := range list {
		in.Registers(func(r *ir.Reg, a isa.Access) {
			u := f.use(r)
			if u == nil || u.reported || a == isa.Read && !u.result {
				return
			}
			u.reported = true
			word := "is read"
			if a != isa.Read {
				word = "is written"
			}
			why := "its group may still be pending"
			if u.groups == 0 {
				why = "its group is not committed"
			}
			f.p.Report(&ruleWait, in, "%s %s while wgmma is in flight: %s", verify.Register(r),
				word, why).As(severityOf(in)).Also(u.e.In, "the wgmma").On(f.t, i)
		})
	}
}

// severityOf returns review for moves and spills, because compilers copy registers around inline
// assembly, and ptxas then serializes the operations. Otherwise it returns error.
func severityOf(in *ir.Instr) diag.Severity {
	plain := !in.HasMod(isa.ModGlobal, isa.ModShared)
	if h := in.Kind().Head(); h == isa.HeadMov || (h == isa.HeadSt || h == isa.HeadLd) && plain {
		return diag.Review
	}
	return diag.Error
}

// checkMultiply checks that the registers of the wgmma at event i are fenced, and marks them as in
// use.
func (f *registerTracker) checkMultiply(i int) {
	e := &f.t.Events[i]
	if !f.fenced {
		f.p.Report(&ruleFence, e.In, "missing wgmma.fence before wgmma.mma_async").On(f.t, i)
		f.fenced = true
	}
	for _, in := range f.since {
		in.Registers(func(r *ir.Reg, a isa.Access) {
			if a != isa.Read {
				f.touched[r] = in
			}
		})
	}
	f.since = f.since[:0]
	sum, rest := &registerUse{e: e, result: true}, &registerUse{e: e}
	f.open = append(f.open, sum, rest)
	first := true
	for a := range e.In.Args {
		if e.In.Args[a].Kind != ir.Vector {
			continue
		}
		result := first
		first = false
		e.In.Args[a].Walk(func(o *ir.Operand) {
			r := o.Reg
			if r == nil {
				return
			}
			if len(f.touched) > 0 && f.touched[r] != nil {
				at := f.touched[r]
				f.p.Report(&ruleFence, e.In, "missing wgmma.fence: %s was written after the last "+
					"wgmma.fence and is used by wgmma.mma_async", verify.Register(r)).
					As(severityOf(at)).Also(at,
					"written here, without wgmma.fence after it").On(f.t, i)
				delete(f.touched, r)
			}
			if u := f.use(r); u != nil && u.result != result {
				f.p.Report(&ruleWait, e.In, "%s is used as another operand while wgmma is in "+
					"flight", verify.Register(r)).Also(u.e.In, "the wgmma").On(f.t, i)
			}
			f.inFlight[r.Number] = rest
			if result {
				f.inFlight[r.Number] = sum
			}
		})
	}
}

// threadsByInstruction returns, for each wgmma and each arrival, the threads that execute the
// instruction on any path.
func threadsByInstruction(p *verify.Pass) map[*ir.Instr]value.Set {
	come := make(map[*ir.Instr]value.Set)
	for _, t := range p.Traces {
		for i := range t.Events {
			if e := &t.Events[i]; e.Kind == trace.GroupMultiply || e.Kind == trace.Arrive {
				come[e.In] = come[e.In].Or(*e.Threads)
			}
		}
	}
	return come
}

// checkRelease reports an arrival by one warp that releases operands for all four warps of a
// warpgroup.
func checkRelease(p *verify.Pass, t *trace.Trace, come map[*ir.Instr]value.Set) {
	var wait, multiply *trace.Event
	for i := range t.Events {
		e := &t.Events[i]
		switch e.Kind {
		case trace.GroupMultiply:
			multiply, wait = e, nil
		case trace.GroupWait:
			wait = e
		case trace.BarrierSync:
			if wait != nil {
				wait, multiply = nil, nil
			}
		case trace.Arrive:
			if wait == nil || multiply == nil || e.Guard != nil || verify.Expects(e.In) {
				continue
			}
			arrive, multiplied := come[e.In], come[multiply.In]
			for g := range value.MaxThreads / 128 {
				if n := countWarps(&arrive, g); countWarps(&multiplied, g) == 4 && n > 0 && n < 4 {
					p.Report(&ruleRelease, e.In,
						"%d of 4 warps of a warpgroup release the operands of a wgmma, but each warp waited only for its own part of the wgmma",
						n).
						Also(wait.In, "wait is per warp; no warpgroup barrier follows").On(t, i)
				}
			}
		}
	}
}

// countWarps returns how many warps of a warpgroup have a thread in s.
func countWarps(s *value.Set, group int) int {
	n := 0
	for w := range 4 {
		if s.Lanes(4*group+w) != 0 {
			n++
		}
	}
	return n
}

// checkWhole reports wgmma instructions that not all four warps of a warpgroup execute.
func checkWhole(p *verify.Pass) {
	came := make(map[*ir.Instr]value.Set)
	var order []*trace.Event
	for _, t := range p.Traces {
		for i := range t.Events {
			e := &t.Events[i]
			switch e.Kind {
			case trace.GroupMultiply, trace.GroupFence, trace.GroupCommit, trace.GroupWait:
				s, seen := came[e.In]
				if !seen {
					order = append(order, e)
				}
				came[e.In] = s.Or(*e.Threads)
			}
		}
	}
	for _, e := range order {
		s := came[e.In]
		for g := range value.MaxThreads / 128 {
			if 128*g+128 > p.Pool.Threads {
				break
			}
			group := value.First(128*g + 128).Minus(value.First(128 * g))
			here := s.And(group)
			if lanes := here.Len(); lanes > 0 && lanes < 128 && p.Pool.Exact &&
				p.Left(e.In, group.Minus(s)) {
				f := p.Report(&ruleWhole, e.In,
					"%s is executed by only %d of the 128 threads of warpgroup %d", e.In.Op, lanes,
					g)
				for _, c := range e.Parted {
					f.Also(c.In, "threads take different branches here")
				}
				break
			}
		}
	}
}
