// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package convergence

import (
	"slices"

	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/passes/analysis/trace"
	"github.com/ptxdsl/ptxdsl/passes/analysis/value"
	"github.com/ptxdsl/ptxdsl/passes/verify"
)

// checkUnnamedLanes reports a lane that executes a warp-wide instruction but is not in its member
// mask, and returns whether it did.
func checkUnnamedLanes(p *verify.Pass, t *trace.Trace, i int) bool {
	e := &t.Events[i]
	mask, ok := verify.Number(e, len(e.Vals)-1)
	if !ok || !e.In.HasMod(isa.ModSync) {
		return false
	}
	parts := slices.ContainsFunc(e.Parted, func(c trace.Choice) bool { return c.Splits })
	for w := range (p.Pool.Threads + 31) / 32 {
		if !p.Pool.Exact && !parts {
			break // the launch may have no lanes outside the mask
		}
		if strange := e.Threads.Lanes(w) &^ uint32(mask); strange != 0 {
			p.Report(&ruleMask, e.In, "lane %d executes %s but is not in its member mask %#x",
				lowestLane(strange), e.In.Op, uint32(mask)).On(t, i)
			return true
		}
	}
	return false
}

// checkOtherPaths reports lanes that are in the member mask of a warp-wide instruction but took a
// path that does not reach it.
func checkOtherPaths(p *verify.Pass, t *trace.Trace, i int) {
	e := &t.Events[i]
	mask, ok := verify.Number(e, len(e.Vals)-1)
	if !ok || !e.In.HasMod(isa.ModSync) {
		return
	}
	for _, c := range e.Parted {
		if c.Maybe && uint32(mask) == 1<<32-1 && comparesThreadIndex(c.Cond) {
			if reachesAgain(p, e, c) {
				continue
			}
			p.Report(&ruleMask, e.In,
				"%s names all lanes in its member mask %#x, but a branch on the thread index and an unknown value excludes some of them",
				e.In.Op, uint32(mask)).As(diag.Review).
				Also(c.In, "the warp may diverge here").On(t, i)
			return
		}
		if !c.Splits {
			continue
		}
		for w := range (p.Pool.Threads + 31) / 32 {
			if e.Threads.Lanes(w) == 0 {
				continue
			}
			if missing := uint32(mask) & c.Away.Lanes(w); missing != 0 {
				if all, _ := reconverges(p, t, i, c); all {
					continue
				}
				f := p.Report(&ruleMask, e.In, "%s names lane %d in its member mask %#x, but "+
					"that lane took another branch", e.In.Op, lowestLane(missing), uint32(mask)).
					Also(c.In, "the warp diverges here")
				if p.LeavesKernel(c) || hasOtherInstruction(p, e) || isSampledDivergence(p, t, c) ||
					unknownShape(p) || exitsOnOtherPath(p, t, e, missing, w) {
					f.As(diag.Review)
				}
				return
			}
		}
	}
}

// reachesAgain reports whether a trace that takes the other side of branch c also reaches the
// instruction of event e.
func reachesAgain(p *verify.Pass, e *trace.Event, c trace.Choice) bool {
	return slices.ContainsFunc(p.Traces, func(t *trace.Trace) bool {
		n := slices.IndexFunc(t.Choices, func(o trace.Choice) bool {
			return o.In == c.In && o.Taken != c.Taken
		})
		return n >= 0 &&
			slices.ContainsFunc(t.Events[min(t.Choices[n].At, len(t.Events)):],
				func(o trace.Event) bool {
					return o.In == e.In
				})
	})
}

// comparesThreadIndex reports whether a condition compares the thread index with a value that all
// threads of the block share, as tid < n does.
func comparesThreadIndex(cond *value.Value) bool {
	a, _ := cond.Condition()
	if a == nil {
		return false
	}
	lanes, others := false, false
	for _, arg := range a.Args {
		for _, t := range arg.Terms {
			switch {
			case t.Atom.Tid && t.Atom.Level == value.Lane:
				lanes = true
			case t.Atom.Level <= value.Block && !t.Atom.Tid:
				others = true
			default:
				return false
			}
		}
	}
	return lanes && others
}

// exitsOnOtherPath reports whether the given lanes of a warp exit on another path without further
// synchronization. A warp-wide instruction waits only for lanes that have not exited.
func exitsOnOtherPath(p *verify.Pass, t *trace.Trace, e *trace.Event, lanes uint32, warp int) bool {
	for _, o := range p.Traces {
		if o.Rank != t.Rank || o.Threads.Lanes(warp)&lanes == 0 || !o.Facts.Agree(t.Facts) {
			continue
		}
		for i := range o.Events {
			switch own := &o.Events[i]; own.Kind {
			case trace.BarrierSync, trace.WarpSync, trace.Collective, trace.ClusterWait, trace.Wait:
				if own.In.Pos > e.In.Pos {
					return false
				}
			}
		}
	}
	return true
}

// hasOtherInstruction reports whether lanes on a divergent branch execute a different instruction
// with the opcode of event e.
func hasOtherInstruction(p *verify.Pass, e *trace.Event) bool {
	for _, t := range p.Traces {
		for i := range t.Events {
			if o := &t.Events[i]; o.Kind == e.Kind && o.In != e.In && o.In.Op == e.In.Op &&
				len(o.Parted) > 0 {
				return true
			}
		}
	}
	return false
}

func lowestLane(lanes uint32) int {
	for n := range 32 {
		if lanes>>n&1 != 0 {
			return n
		}
	}
	return 32
}

// checkElect checks that all lanes in the member mask of elect.sync execute it.
func checkElect(p *verify.Pass, t *trace.Trace, i int) {
	e := &t.Events[i]
	mask, ok := verify.Number(e, len(e.Vals)-1)
	for _, c := range e.Parted {
		if !c.Splits {
			continue
		}
		missing := !ok
		for w := range (p.Pool.Threads + 31) / 32 {
			missing = missing || e.Threads.Lanes(w) != 0 && uint32(mask)&c.Away.Lanes(w) != 0
		}
		if missing {
			p.Report(&ruleElect, e.In, "elect.sync is reached by only some lanes of its member "+
				"mask").Also(c.In, "the warp diverges here").On(t, i)
			return
		}
	}
}
