// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package protocol puts the traces of all warps together and lets them go: who waits for whom at barrier
// objects, and which memory engines and threads use with nothing between. One order is run; what it finds
// holds for it, and what it does not find may be found in another. Operations in the background end as
// late as they may.
package protocol

import (
	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/passes/analysis/memory"
	"github.com/ptxdsl/ptxdsl/passes/analysis/trace"
	"github.com/ptxdsl/ptxdsl/passes/analysis/value"
	"github.com/ptxdsl/ptxdsl/passes/verify"
)

// Analyzer is the analyzer.
func Analyzer() *verify.Analyzer {
	return &verify.Analyzer{
		Name: "protocol",
		Doc: `Protocol lets the warps of one block go together, each along a trace, for every combination of
traces that do not contradict one another. Blocks of a cluster are taken to do alike. A copy of a tensor is taken to
bring its share of the bytes that are expected.`,
		Rules: diag.Rules{ruleHang, ruleLap, rulePlain},
		Tells: []string{"A1", "B1", "M4", "M5", "M6", "T4", "T6", "W3"},
		Requires: []trace.Kind{trace.Wait, trace.Store, trace.Copy, trace.BulkLoad, trace.BulkStore, trace.GroupMultiply, trace.TensorMultiply,
			trace.RemoteStore, trace.Answer, trace.TensorStore, trace.BarrierSync},
		Run: run,
	}
}

func run(p *verify.Pass) {
	rules := "B8"
	if p.Needs(trace.Wait) {
		rules = "B8, M4, M6, M7, M11"
	} else if !p.Shares && !counted(p) && !p.Needs(trace.Copy, trace.BulkLoad, trace.BulkStore, trace.GroupMultiply, trace.TensorMultiply, trace.RemoteStore, trace.Answer, trace.TensorStore) {
		return
	}
	missed := func(why string) { p.Missed("the order of warps among themselves (%s): %s", rules, why) }
	if why := unfit(p); why != "" {
		missed(why)
		return
	}
	list, whole := p.Scenes(24)
	if len(list) == 0 {
		missed("no traces of all warps that go together")
		return
	}
	if !whole {
		missed("ways of some warps that none of others goes with")
	}
	work, worth := 0, perStep*p.Within(bound(p)/perStep)
	defer func() { p.Spent += work / perStep }()
	near, found := engines(p), make(lapses)
	defer found.merge()
	for i, s := range list {
		m := newMachine(p, s, &work)
		m.most = min(m.most, worth)
		m.plain, m.engines, m.lapses = i == 0, near, found
		m.units(s)
		stuck, ok := m.run()
		if !ok {
			missed("it takes too long (more effort follows it)")
			return
		}
		if len(stuck) > 0 {
			m.hang(stuck)
		} else {
			m.rest(s)
		}
	}
}

// engines is the shared memory that operations in the background work on, each place once.
func engines(p *verify.Pass) []memory.Region {
	var list []memory.Region
	type place struct {
		root      *value.Value
		low, high int64
	}
	seen := make(map[place]bool)
	for _, t := range p.Traces {
		for i := range t.Events {
			e := &t.Events[i]
			for _, r := range append(p.Reads(e), p.Writes(e)...) {
				if n, ok := p.Extent(e); ok && verify.Tensor(e.In) && n > r.Bytes {
					r = r.Grown(n)
				}
				if k := (place{r.Root, r.Low, r.High}); e.Kind != trace.Copy && !seen[k] {
					seen[k] = true
					list = append(list, r)
				}
			}
		}
	}
	return list
}

// unfit says why a kernel cannot be run so, or is empty.
func unfit(p *verify.Pass) string {
	switch {
	case len(p.Kernel.Missed) > 0:
		return "not every way through the kernel is known"
	case !p.Pool.Exact:
		return "the size of the block is not laid down"
	case told(p):
		return "warps that choose by what others tell them in shared memory"
	case p.Needs(trace.Call) && entered(p):
		return "instructions that are not modelled"
	}
	for _, t := range p.Traces {
		if t.Stopped != "" {
			return "ways that are not followed to their end"
		}
		if !free(t) {
			return "threads of a block that choose apart"
		}
		for i := range t.Events {
			if why := strange(p, t, &t.Events[i]); why != "" {
				return why
			}
		}
	}
	return ""
}

// entered reports whether a call is among what threads do.
func entered(p *verify.Pass) bool {
	for _, t := range p.Traces {
		for i := range t.Events {
			if t.Events[i].Kind == trace.Call {
				return true
			}
		}
	}
	return false
}

// strange says why an event of a trace cannot be run, or is empty.
func strange(p *verify.Pass, t *trace.Trace, e *trace.Event) string {
	n := verify.Target(e)
	if n >= 0 {
		list, ok := p.Objects(e, verify.Val(e, n))
		if !ok {
			return "barrier objects whose place is not known"
		}
		if e.Guard != nil {
			return "arrivals that rest on data"
		}
		for _, o := range list {
			switch {
			case p.Uncertain(o.Object):
				return "addresses that may be those of several mbarriers"
			case o.Rank == nil || p.Ranks < 2 && alike(o.Rank):
			case p.Ranks < 2:
				return "blocks of a cluster that do not do alike"
			case !o.Rank.Const() && !o.Rank.Tid():
				return "blocks of a cluster whose rank rests on data"
			}
		}
	}
	switch e.Kind {
	case trace.Init:
		if count, ok := verify.Number(e, n+1); !ok || count < 1 {
			return "counts that are not constants, or cannot be"
		}
	case trace.Arrive:
		if _, ok := verify.Arrivals(e); !ok {
			return "counts that are not constants"
		}
		if _, ok := verify.Number(e, n+1); e.In.Mod("expect_tx") && !ok {
			return "byte counts that are not constants"
		}
	case trace.Expect, trace.Complete:
		if _, ok := verify.Number(e, n+1); !ok {
			return "byte counts that are not constants"
		}
	case trace.Wait:
		if _, ok := verify.Number(e, n+1); e.In.Mod("parity") && !ok || !e.In.Mod("parity") && !token(t, verify.Val(e, n+1)) {
			return "waits whose phase is not a constant"
		}
	case trace.BarrierSync, trace.BarrierArrive:
		if number := verify.Val(e, verify.Barrier(e)); number == nil || !number.Tid() || e.Guard != nil {
			return "numbered barriers that are not known"
		}
	}
	return ""
}

// token reports whether a value is the state that an arrival of the trace gave.
func token(t *trace.Trace, v *value.Value) bool {
	for i := range t.Events {
		if e := &t.Events[i]; e.Kind == trace.Arrive && e.Done != nil && e.Done == v {
			return true
		}
	}
	return false
}

// alike reports whether every block gets as many arrivals as it sends.
func alike(rank *value.Value) bool {
	if rank.Const() {
		return false
	}
	if rank.Tid() {
		return true
	}
	for _, t := range rank.Terms {
		if t.Atom.Op == "register" || t.Atom.Op == "xor" {
			return true
		}
	}
	return false
}

// units settles what a copy of unknown size stands for: its share of what is expected. Some are larger than others; but
// each phase has as many of each.
func (m *machine) units(s []*trace.Trace) {
	expected := make(map[spot]int64)
	copies := make(map[spot]int64)
	brought := make(map[spot]int64)
	first := make(map[spot]*trace.Event)
	var order []spot
	for _, t := range s {
		for i := range t.Events {
			e := &t.Events[i]
			n := verify.Target(e)
			if n < 0 {
				continue
			}
			e = t.Of(e)
			loads := e.Kind == trace.BulkLoad && verify.Tensor(e.In)
			size, known := m.delivers(e)
			loads = loads && !known
			if !loads && !known && e.Kind != trace.Expect && (e.Kind != trace.Arrive || !e.In.Mod("expect_tx")) {
				continue
			}
			list, _ := m.p.Objects(e, verify.Val(e, n))
			for _, o := range list {
				for _, block := range m.blocks(t.Rank, e, o) {
					at, threads := spot{block, o.Object}, int64(o.Threads.Len())
					if o.Rank != nil && !o.First && m.p.Ranks > 1 {
						threads = m.goes(o, block)
					}
					switch {
					case loads:
						copies[at] += threads
					case known:
						brought[at] += size * threads
					default:
						bytes, _ := verify.Number(e, n+1)
						if first[at] == nil && threads > 0 {
							first[at] = e
							order = append(order, at)
						}
						expected[at] += bytes * threads
					}
				}
			}
		}
	}
	for _, at := range order {
		if want, got := expected[at], brought[at]; m.p.Ranks > 1 && copies[at] == 0 && want != got && !m.p.Found("M4", "M5") {
			m.p.Report(&ruleBytes, first[at].In, "%d bytes are expected at an object in all, and %d come from all blocks of the cluster", want, got)
		}
	}
	for o, n := range copies {
		m.shares[o] = unit{expected[o], n}
		m.object(o, object{unit: m.shares[o], count: 1, pending: 1, init: &trace.Event{}})
	}
}

// delivers is how many bytes an event brings to its object, for each thread, where that is known.
func (m *machine) delivers(e *trace.Event) (bytes int64, known bool) {
	switch e.Kind {
	case trace.RemoteStore:
		return memory.Bytes(e.In), true
	case trace.Answer:
		return 16, true
	case trace.Complete:
		return verify.Number(e, verify.Address(e.In, 0)+1)
	case trace.BulkLoad:
		return m.p.Copied(e)
	}
	return 0, false
}

var (
	ruleHang = diag.Rule{
		ID: "M11", Layer: "protocol", Severity: diag.Error, Title: "a wait that nothing satisfies",
		What: "A wait at a barrier object, or at a barrier, for which no arrival is left when all warps have gone as far as they can; or a copy into shared memory that nobody waits for before the threads leave.",
		Why:  "The kernel hangs; the copy may overwrite what another block keeps there by then.",
		Wrong: `
.reqntid 64
mov.u32 %r1, %tid.x;
setp.eq.u32 %p1, %r1, 0;
@%p1 mbarrier.init.shared.b64 [bars], 1;
bar.sync 0;
WAIT:
mbarrier.try_wait.parity.shared.b64 %p2, [bars], 0;
@!%p2 bra WAIT;
@%p1 mbarrier.arrive.shared.b64 _, [bars];
`,
		Right: `
.reqntid 64
mov.u32 %r1, %tid.x;
setp.eq.u32 %p1, %r1, 0;
@%p1 mbarrier.init.shared.b64 [bars], 1;
bar.sync 0;
@%p1 mbarrier.arrive.shared.b64 _, [bars];
WAIT:
mbarrier.try_wait.parity.shared.b64 %p2, [bars], 0;
@!%p2 bra WAIT;
`,
		Fix:     "See who should arrive: the message says what is missing, and where other warps wait meanwhile.",
		Gaps:    "One order of the warps is tried. Blocks of a cluster are taken to do alike, loops are followed for some turns.",
		Section: "9.7.13.15 mbarrier",
	}
	ruleLap = diag.Rule{
		ID: "M7", Layer: "protocol", Severity: diag.Error, Title: "memory used again before its last use has ended",
		What: "A copy, matrix operation or plain access to memory that another one, of a warp or in the background, still works on: no barrier object, barrier or wait makes the later one come later.",
		Why:  "A slot of a ring is overrun, or read before it is filled.",
		Wrong: `
.reqntid 32
elect.sync _|%p1, 0xffffffff;
@%p1 mbarrier.init.shared.b64 [bars], 1;
fence.mbarrier_init.release.cluster;
bar.sync 0;
@%p1 mbarrier.arrive.expect_tx.shared.b64 _, [bars], 256;
@%p1 cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [tile], [%rd1], 256, [bars];
ld.shared.b32 %r1, [tile];
WAIT:
mbarrier.try_wait.parity.shared.b64 %p2, [bars], 0;
@!%p2 bra WAIT;
`,
		Right: `
.reqntid 32
elect.sync _|%p1, 0xffffffff;
@%p1 mbarrier.init.shared.b64 [bars], 1;
fence.mbarrier_init.release.cluster;
bar.sync 0;
@%p1 mbarrier.arrive.expect_tx.shared.b64 _, [bars], 256;
@%p1 cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [tile], [%rd1], 256, [bars];
WAIT:
mbarrier.try_wait.parity.shared.b64 %p2, [bars], 0;
@!%p2 bra WAIT;
ld.shared.b32 %r1, [tile];
`,
		Fix:     "Wait for the phase that ends the earlier use, with the parity of that phase, before the later one.",
		Gaps:    "As M11. Plain accesses of threads among themselves are not compared. Only the first bytes of a tile stand for it.",
		Section: "9.7.13.15 mbarrier",
	}
	rulePlain = diag.Rule{
		ID: "B8", Layer: "protocol", Severity: diag.Error, Title: "shared memory used by two warps with no barrier between",
		What: "A plain load and a plain store, or two stores, or one of them and an atomic operation, by different warps to the same bytes of shared memory, and nothing that makes one come after the other. A block's use of its own shared memory between its arrival at the cluster's barrier and its wait, where others work on the same variable, is a review.",
		Why:  "Which comes first is chance. Some such races are meant, as where all write the same value: those of two stores, of a value that is the same for all threads, and of atomic operations are reviews.",
		Wrong: `
.reqntid 64
mov.u32 %r1, %tid.x;
shl.b32 %r2, %r1, 2;
mov.u32 %r3, tile;
add.u32 %r4, %r3, %r2;
st.shared.b32 [%r4], %r1;
ld.shared.b32 %r5, [tile+128];
bar.sync 0;
`,
		Right: `
.reqntid 64
mov.u32 %r1, %tid.x;
shl.b32 %r2, %r1, 2;
mov.u32 %r3, tile;
add.u32 %r4, %r3, %r2;
st.shared.b32 [%r4], %r1;
bar.sync 0;
ld.shared.b32 %r5, [tile+128];
`,
		Fix:     "Put a barrier between.",
		Gaps:    "Threads of one warp are not compared. Nor are accesses whose place rests on data: the verdict is incomplete then.",
		Section: "9.7.13.1 barrier",
	}
	// The pages of these are with the analyzers of proxies, of convergence, of tensor memory, of objects and of clusters.
	ruleResult  = diag.Rule{ID: "T6", Layer: "tensor", Severity: diag.Error}
	ruleFreed   = diag.Rule{ID: "T4", Layer: "tensor", Severity: diag.Error}
	ruleProxy   = diag.Rule{ID: "A1", Layer: "proxies", Severity: diag.Error}
	ruleOperand = diag.Rule{ID: "W3", Layer: "proxies", Severity: diag.Error}
	ruleMix     = diag.Rule{ID: "B3", Layer: "convergence", Severity: diag.Error}
	ruleMeet    = diag.Rule{ID: "B1", Layer: "convergence", Severity: diag.Error}
	ruleCount   = diag.Rule{ID: "M4", Layer: "objects", Severity: diag.Error}
	ruleBytes   = diag.Rule{ID: "M5", Layer: "objects", Severity: diag.Error}
	ruleParity  = diag.Rule{ID: "M6", Layer: "objects", Severity: diag.Error}
	ruleExit    = diag.Rule{ID: "C4", Layer: "cluster", Severity: diag.Error}
)
