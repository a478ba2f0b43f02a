// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package convergence

import (
	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/passes/analysis/memory"
	"github.com/ptxdsl/ptxdsl/passes/analysis/trace"
	"github.com/ptxdsl/ptxdsl/passes/analysis/value"
	"github.com/ptxdsl/ptxdsl/passes/verify"
)

// A use is a plain access to shared memory by the lanes of one warp.
type use struct {
	e      *trace.Event
	region memory.Region
}

// A pair is two instructions whose accesses are compared.
type pair struct{ first, second *ir.Instr }

// Limits: the accesses compared since the last warp barrier, and the comparisons of each pair of
// instructions, which unrolled loops repeat.
const (
	window  = 64
	repeats = 4
)

// exchanges looks for shared memory through which lanes of one warp exchange data, or reuse
// memory, without synchronizing the lanes. One warp of those on a trace represents all. Its
// threads must be known: with several axes they depend on the block size.
func exchanges(p *verify.Pass) {
	if !p.Shares || folded(p) {
		return
	}
	compared := make(map[pair]int)
	for _, t := range p.Traces {
		var lanes value.Set
		w := t.Threads
		warp := w.Least() / 32
		lanes[warp/2] = uint64(w.Lanes(warp)) << (warp % 2 * 32)
		if lanes.Len() < 2 {
			continue
		}
		var open []use
		for i := range t.Events {
			e := &t.Events[i]
			if e.Kind != trace.Load && e.Kind != trace.Store {
				if meets(e) {
					open = open[:0]
				}
				continue
			}
			if !plain(e) {
				continue
			}
			one := *e
			one.Threads = e.Threads.And(lanes)
			r, ok := p.Access(&one)
			if !ok || !r.Sure {
				continue
			}
			for k := range open {
				o := &open[k]
				at := pair{o.e.In, e.In}
				if o.e.Kind == trace.Load && e.Kind == trace.Load || o.e.In == e.In || compared[at] >= repeats {
					continue // a store compared with itself in another iteration: loops over a row are followed for more iterations than there are
				}
				if sure, _ := r.Meets(&o.region); !sure {
					continue
				}
				compared[at]++
				foreign := r.Foreign
				if o.e.Kind == trace.Load { // other lanes may still be reading
					foreign = r.Crosses
				}
				if foreign(&o.region, 1) && !p.Example(t, e, o.e) {
					exchanged(p, t, i, o.e)
					break
				}
			}
			if len(open) == window {
				open = open[:copy(open, open[1:])]
			}
			open = append(open, use{e, r})
		}
	}
}

// folded reports whether the block may have several dimensions and its shape is unknown, so that
// the lanes of a warp are unknown too.
func folded(p *verify.Pass) bool { return !p.Pool.Exact && p.Pool.Shape[1]*p.Pool.Shape[2] > 1 }

// exchanged reports two accesses of different lanes.
func exchanged(p *verify.Pass, t *trace.Trace, i int, o *trace.Event) {
	e := &t.Events[i]
	does, did := "reads", "writes"
	if e.Kind == trace.Store {
		does = "writes"
	}
	if o.Kind == trace.Load {
		did = "reads"
	}
	p.Report(&ruleExchange, e.In, "shared-memory race within a warp: a lane %s shared memory "+
		"that another lane %s, without bar.warp.sync in between", does, did).
		Also(o.In, "the other access").On(t, i)
}

// meets reports whether the lanes that execute an event are synchronized after it.
func meets(e *trace.Event) bool {
	switch e.Kind {
	case trace.WarpSync, trace.BarrierSync, trace.Collective, trace.ClusterWait, trace.Wait:
		return true
	}
	return e.In != nil && e.In.Mod("aligned")
}

// plain reports whether an access does not order threads, and all lanes make it.
func plain(e *trace.Event) bool {
	for _, word := range []string{"volatile", "relaxed", "acquire", "release", "mmio"} {
		if e.In.Mod(word) {
			return false
		}
	}
	return e.Guard == nil
}

var ruleExchange = diag.Rule{ID: "B9", Layer: "convergence", Severity: diag.Review}
