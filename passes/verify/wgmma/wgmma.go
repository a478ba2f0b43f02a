// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package wgmma holds the matrix operations of warpgroups against their fences and waits.
package wgmma

import (
	"maps"
	"slices"

	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/passes/analysis/trace"
	"github.com/ptxdsl/ptxdsl/passes/analysis/value"
	"github.com/ptxdsl/ptxdsl/passes/verify"
)

// Analyzer is the analyzer.
func Analyzer() *verify.Analyzer {
	return &verify.Analyzer{
		Name: "wgmma",
		Doc: `Wgmma follows which registers wgmma.mma_async works on in the background: they must be fenced
before and waited for behind. It also asks that whole warpgroups come.`,
		Rules:    diag.Rules{ruleFence, ruleWait, ruleRelease, ruleWhole},
		Requires: []trace.Kind{trace.GroupMultiply, trace.GroupFence, trace.GroupCommit, trace.GroupWait},
		Run:      run,
	}
}

func run(p *verify.Pass) {
	come := comers(p)
	for _, t := range p.Traces {
		registers(p, t)
		release(p, t, come)
	}
	whole(p)
}

// A use is a register that a wgmma works on.
type use struct {
	e      *trace.Event
	groups int
	result bool
	told   bool
}

// registers follows the registers of one trace.
func registers(p *verify.Pass, t *trace.Trace) {
	flying := make(map[*ir.Reg]*use)
	var open []*use
	touched := make(map[*ir.Reg]*ir.Instr) // since the last fence
	fenced := false
	for i := range t.Events {
		e := &t.Events[i]
		switch e.Kind {
		case trace.GroupFence:
			fenced = true
			clear(touched)
		case trace.GroupCommit:
			for _, u := range open {
				u.groups++
			}
		case trace.GroupWait:
			pending, _ := verify.Number(e, 0)
			over := func(u *use) bool { return u.groups > int(pending) }
			open = slices.DeleteFunc(open, over)
			maps.DeleteFunc(flying, func(_ *ir.Reg, u *use) bool { return over(u) })
		case trace.GroupMultiply:
			if !fenced {
				p.Report(&ruleFence, e.In, "wgmma.mma_async with no wgmma.fence before it").On(t, i)
				fenced = true
			}
			open = append(open, multiply(p, t, i, flying, touched)...)
		default:
			if e.In == nil || e.Kind == trace.Exit {
				continue
			}
			e.In.Registers(func(r *ir.Reg, a isa.Access) {
				if u := flying[r]; u != nil && !u.told && (a != isa.Read || u.result) {
					u.told = true
					word := "is read"
					if a != isa.Read {
						word = "is written"
					}
					why := "its group may be pending"
					if u.groups == 0 {
						why = "its group is not closed"
					}
					p.Report(&ruleWait, e.In, "%s %s while a wgmma works on it: %s", verify.Register(r), word, why).As(grade(e.In)).Also(u.e.In, "the wgmma").On(t, i)
				}
				if a != isa.Read {
					touched[r] = e.In
				}
			})
		}
	}
}

// grade is a review for moves, to the stack too: compilers copy registers around inline assembly, and the assembler,
// which sees that, then lets the operations run one after the other.
func grade(in *ir.Instr) diag.Severity {
	plain := !in.Mod("global") && !in.Mod("shared")
	if h := in.Head(); h == "mov" || (h == "st" || h == "ld") && plain {
		return diag.Review
	}
	return diag.Error
}

// multiply is one wgmma: it must find its registers fenced, and takes them.
func multiply(p *verify.Pass, t *trace.Trace, i int, flying map[*ir.Reg]*use, touched map[*ir.Reg]*ir.Instr) []*use {
	e := &t.Events[i]
	sum, rest := &use{e: e, result: true}, &use{e: e}
	first := true
	for a := range e.In.Args {
		if e.In.Args[a].Kind != ir.Vector {
			continue
		}
		result := first
		first = false
		e.In.Args[a].Walk(func(o *ir.Operand) {
			r := o.Reg()
			if r == nil {
				return
			}
			if at := touched[r]; at != nil {
				p.Report(&ruleFence, e.In, "%s was written behind the last wgmma.fence and is used by wgmma.mma_async", verify.Register(r)).
					As(grade(at)).Also(at, "written here, with no wgmma.fence behind it").On(t, i)
				delete(touched, r)
			}
			if u := flying[r]; u != nil && u.result != result {
				p.Report(&ruleWait, e.In, "%s is used as another operand while a wgmma works on it", verify.Register(r)).Also(u.e.In, "the wgmma").On(t, i)
			}
			flying[r] = rest
			if result {
				flying[r] = sum
			}
		})
	}
	return []*use{sum, rest}
}

// comers is, of each wgmma and each arrival, the threads that come to it on some way.
func comers(p *verify.Pass) map[*ir.Instr]value.Set {
	come := make(map[*ir.Instr]value.Set)
	for _, t := range p.Traces {
		for i := range t.Events {
			if e := &t.Events[i]; e.Kind == trace.GroupMultiply || e.Kind == trace.Arrive {
				come[e.In] = come[e.In].Or(e.Threads)
			}
		}
	}
	return come
}

// release looks for one warp that hands back operands for all four.
func release(p *verify.Pass, t *trace.Trace, come map[*ir.Instr]value.Set) {
	var wait, multiply *trace.Event
	for i := range t.Events {
		e := &t.Events[i]
		switch e.Kind {
		case trace.GroupMultiply:
			multiply, wait = e, nil
		case trace.GroupWait:
			wait = e
		case trace.BarrierSync:
			wait, multiply = nil, nil
		case trace.Arrive:
			if wait == nil || multiply == nil || e.Guard != nil || e.In.Mod("expect_tx") {
				continue
			}
			arrive, multiplied := come[e.In], come[multiply.In]
			for g := range value.MaxThreads / 128 {
				if n := warps(&arrive, g); warps(&multiplied, g) == 4 && n > 0 && n < 4 {
					p.Report(&ruleRelease, e.In, "%d of 4 warps of a warpgroup give back what a wgmma read, and waited for their own part of it only", n).
						Also(wait.In, "a wait of each warp for itself; no barrier of the warpgroup behind it").On(t, i)
				}
			}
		}
	}
}

// warps is how many warps of a warpgroup have a thread in s.
func warps(s *value.Set, group int) int {
	n := 0
	for w := range 4 {
		if s.Lanes(4*group+w) != 0 {
			n++
		}
	}
	return n
}

// whole asks that all four warps come to each instruction.
func whole(p *verify.Pass) {
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
				came[e.In] = s.Or(e.Threads)
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
			if lanes := here.Len(); lanes > 0 && lanes < 128 && p.Pool.Exact && p.Left(e.In, group.Minus(s)) {
				f := p.Report(&ruleWhole, e.In, "%s by %d of the 128 threads of warpgroup %d", e.In.Op, lanes, g)
				for _, c := range e.Parted {
					f.Also(c.In, "threads part here")
				}
				break
			}
		}
	}
}
