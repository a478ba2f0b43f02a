// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package convergence

import (
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/passes/analysis/memory"
	"github.com/ptxdsl/ptxdsl/passes/analysis/trace"
	"github.com/ptxdsl/ptxdsl/passes/analysis/value"
	"github.com/ptxdsl/ptxdsl/passes/verify"
)

// Limits on the number of traces, and on the number of accesses per trace, that are compared for
// lanes that took different branches.
const (
	maxTraces   = 12
	maxAccesses = 32
)

// An earlierAccess is a plain access by lanes of one warp.
type earlierAccess struct {
	at     int // index of the event
	e      *trace.Event
	region memory.Region
	epoch  int // number of synchronizing instructions before the access
}

// checkBranches compares accesses of lanes of one warp that took different branches on the thread
// index, for example if one lane stores and the other lanes read. Traces that do not rejoin are
// compared as long as they execute the same synchronizing instructions.
func checkBranches(p *verify.Pass) {
	if !p.Shares || unknownShape(p) || !p.Pool.Exact || p.Flags() {
		return
	}
	reported := make(map[pair]bool)
	list := p.Traces[:min(len(p.Traces), maxTraces)]
	for i, t := range list {
		for _, o := range list[i+1:] {
			warp := commonWarp(t, o)
			if warp < 0 || t.Rank != o.Rank || !t.Facts.Agree(o.Facts) || !compatible(t, o) {
				continue
			}
			a, met := accessesOf(p, t, warp, nil)
			b, _ := accessesOf(p, o, warp, met)
			for k := range a {
				for n := range b {
					reportRace(p, t, o, &a[k], &b[n], reported)
				}
			}
		}
	}
}

// compatible reports whether one launch can execute both traces. Every branch must have the same
// outcome on both for the lanes of a warp, or depend on the thread index.
func compatible(t, o *trace.Trace) bool {
	for _, list := range [][]trace.Choice{t.Choices, o.Choices} {
		for i := range list {
			if list[i].Maybe {
				return false
			}
		}
	}
	return true
}

// commonWarp returns the lowest warp that has lanes on both traces. It returns -1 if no warp has
// lanes on both, or if the traces have a thread in common.
func commonWarp(t, o *trace.Trace) int {
	if both := t.Threads.And(o.Threads); !both.Empty() {
		return -1
	}
	for w := range value.MaxThreads / 32 {
		if t.Threads.Lanes(w) != 0 && o.Threads.Lanes(w) != 0 {
			return w
		}
	}
	return -1
}

// accessesOf returns the first plain accesses of a warp on a trace, and the synchronizing
// instructions before them. If the list same is given, accessesOf stops at the first
// synchronizing instruction that differs from it.
func accessesOf(p *verify.Pass, t *trace.Trace, warp int, same []*ir.Instr) (
	list []earlierAccess, met []*ir.Instr,
) {
	var lanes value.Set
	lanes[warp/2] = uint64(t.Threads.Lanes(warp)) << (warp % 2 * 32)
	for i := range t.Events {
		e := &t.Events[i]
		switch {
		case e.Kind == trace.Load || e.Kind == trace.Store:
			one := e.Within(lanes)
			if r, ok := p.Access(&one); ok && r.Sure && isPlain(e) &&
				!e.In.HasMod(isa.ModVolatile) {
				list = append(list, earlierAccess{i, e, r, len(met)})
			}
		case synchronizesLanes(e) || e.Kind == trace.Collective:
			if same != nil && (len(met) == len(same) || same[len(met)] != e.In) {
				return list, met
			}
			met = append(met, e.In)
		}
		if len(list) == maxAccesses {
			break
		}
	}
	return list, met
}

// reportRace reports accesses of two lanes to the same bytes with no synchronization between
// them.
func reportRace(p *verify.Pass, t, o *trace.Trace, a, b *earlierAccess, reported map[pair]bool) {
	if a.epoch != b.epoch || a.e.Kind == trace.Load && b.e.Kind == trace.Load || a.e.In == b.e.In {
		return
	}
	if sure, _ := a.region.Meets(&b.region); !sure || reported[pair{a.e.In, b.e.In}] {
		return
	}
	if p.Example(t, a.e) || p.Example(o, b.e) {
		return
	}
	reported[pair{a.e.In, b.e.In}], reported[pair{b.e.In, a.e.In}] = true, true
	if a.e.In.Pos > b.e.In.Pos {
		t, a, b = o, b, a
	}
	does := map[trace.Kind]string{trace.Load: "reads", trace.Store: "writes"}
	p.Report(&ruleExchange, b.e.In,
		"shared-memory race within a warp: a lane %s shared memory that "+
			"another lane %s on another branch, without bar.warp.sync in between", does[b.e.Kind],
		does[a.e.Kind]).Also(a.e.In, "the other access").On(t, a.at)
}
