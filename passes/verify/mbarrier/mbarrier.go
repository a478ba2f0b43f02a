// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package mbarrier checks the use of each mbarrier in shared memory. An mbarrier must be
// initialized once, be visible to the threads that use it, receive enough arrivals, and be waited
// for.
package mbarrier

import (
	"slices"
	"strings"

	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/passes/analysis/trace"
	"github.com/ptxdsl/ptxdsl/passes/analysis/value"
	"github.com/ptxdsl/ptxdsl/passes/verify"
)

// Analyzer is the analyzer for mbarriers.
var Analyzer = &verify.Analyzer{
	Name:   "mbarrier",
	Covers: "mbarriers",
	Doc: `Objects follows each mbarrier by its address. It adds up arrivals and transaction bytes
if they are constant. PTX does not contain the box size of a tensor copy, so the bytes of
tensor copies are not compared.`,
	Rules: diag.Rules{ruleInit, ruleLife, ruleInvisible, ruleArrivals, ruleBytes, ruleParity,
		ruleRemote, ruleScope, ruleTry},
	Pages:    pages,
	Requires: []trace.Kind{trace.Init, trace.Arrive, trace.Wait, trace.Expect},
	Run:      run,
}

// An initialization records where and how an mbarrier is initialized.
type initialization struct {
	t          *trace.Trace
	at         int
	e          *trace.Event
	count      int64
	known      bool      // count is known
	by         value.Set // threads that execute the initialization
	syncs      int       // block barriers before the initialization
	warps      int       // warp barriers before the initialization
	fenced     bool      // a fence follows before anything else can use the mbarrier
	fenceSyncs int       // block barriers, or arrivals at the cluster barrier, before that fence
	blockOnly  bool      // the fence covers only the memory of the block itself
}

func run(p *verify.Pass) {
	initialized := make(map[verify.Object]*initialization)
	var order []verify.Object
	for _, t := range p.Traces {
		syncs, warps := 0, 0
		var stops []int
		for i := range t.Events {
			e := &t.Events[i]
			switch e.Kind {
			case trace.BarrierSync, trace.ClusterWait:
				if p.Everyone(e) {
					syncs++
				}
			case trace.WarpSync:
				warps++
			case trace.Init:
				if stops == nil {
					stops = stopsOf(t)
				}
				order = recordInit(p, t, i, stops, initialization{syncs: syncs, warps: warps},
					initialized, order)
			}
		}
	}
	peers := arrivalsAfterRemoteStores(p)
	looked, filled, left := findHeeded(p), copyTargets(p), arrivalsAfterUse(p)
	alone, used := !isClustered(p), usedMbarriers(p)
	for _, t := range p.Traces {
		checkUnwritten(p, t)
		checkLifetime(p, t, initialized, used)
		checkUses(p, t, initialized, peers, alone)
		checkTries(p, t, looked)
		checkRelaxed(p, t, filled, left)
	}
	checkTotals(p, initialized, order)
}

// checkUnwritten makes the verdict incomplete if the address of a copy or arrival is in a
// register that is never written.
func checkUnwritten(p *verify.Pass, t *trace.Trace) {
	for i := range t.Events {
		e := &t.Events[i]
		if e.Kind != trace.BulkStore && verify.Target(e) < 0 {
			continue
		}
		for n := range e.In.Args {
			if v := verify.Val(e, n); v != nil && e.In.Args[n].Kind == ir.Address &&
				slices.ContainsFunc(v.Terms, isUnwritten) {
				p.Missed("addresses in registers that are never written")
				return
			}
		}
	}
}

// isUnwritten reports whether a term of an address is a register that is never written.
func isUnwritten(t value.Term) bool {
	_, named := t.Atom.Ref.(*ir.Reg)
	return named && t.Atom.Op == value.OpRegister
}

// checkBounds reports an mbarrier that lies outside the variable from which its address is
// derived.
func checkBounds(p *verify.Pass, t *trace.Trace, i int, o verify.Touch,
	initialized map[verify.Object]*initialization) {
	in, v := t.Events[i].In, o.Variable()
	switch {
	case v == nil || v.Size() == 0 || o.At >= 0 && o.At+8 <= v.Size():
	case o.At < 0 || !verify.Open(v):
		p.Report(&ruleInit, in, "mbarrier is out of bounds: it is initialized at byte %d of %s, "+
			"which has %d bytes", o.At, v.Name, v.Size()).On(t, i)
	default:
		for other := range initialized {
			if other.Variable() == v {
				return // already reported
			}
		}
		p.Report(&ruleInit, in, "mbarrier is initialized at byte %d of %s, which has 1 byte; "+
			"this is valid only if dynamic shared memory follows", o.At, v.Name).As(diag.Review)
	}
}

// recordInit records the mbarriers that an event initializes, and returns order with the new
// mbarriers appended. The parameter behind holds the barrier counts before the event.
func recordInit(p *verify.Pass, t *trace.Trace, i int, stops []int, behind initialization,
	initialized map[verify.Object]*initialization, order []verify.Object) []verify.Object {
	e := &t.Events[i]
	where := verify.Address(e.In, 0)
	count, known := verify.Number(e, where+1)
	if known && (count < 1 || count > 1<<20-1) {
		p.Report(&ruleInit, e.In, "mbarrier is initialized for %d arrivals, expected 1 to 1048575",
			count)
	}
	list, ok := p.Objects(e, verify.Val(e, where))
	if !ok {
		p.Missed("mbarriers at unknown addresses")
		return order
	}
	for _, o := range list {
		if r := o.Root.Single(); r != nil && r.Op == value.OpVariable && r.Zeros >= 3 &&
			o.At%8 != 0 {
			p.Report(&ruleInit, e.In, "mbarrier is misaligned: its address is %d bytes past a "+
				"multiple of 8", o.At%8)
		}
		checkBounds(p, t, i, o, initialized)
		if n := o.Threads.Len(); n > 1 && p.Pool.Exact && e.Guard == nil {
			p.Report(&ruleLife, e.In,
				"mbarrier.init is executed by %s at once, expected one thread",
				verify.Threads(n)).On(t, i)
		}
		if b := initialized[o.Object]; b != nil {
			b.by = b.by.Or(o.Threads)
			continue
		}
		b := &initialization{t: t, at: i, e: e, count: count, known: known, by: o.Threads,
			syncs: behind.syncs, warps: behind.warps}
		b.findFence(p, t, stops, i)
		initialized[o.Object] = b
		order = append(order, o.Object)
	}
	return order
}

// maxStops limits the fences and barriers after an initialization that are examined.
const maxStops = 4096

// findFence finds the fence that makes an mbarrier initialized by event i visible to the async
// proxy, if there is one before the first use of the mbarrier. The parameter stops lists the
// events to examine.
func (b *initialization) findFence(p *verify.Pass, t *trace.Trace, stops []int, i int) {
	first, _ := slices.BinarySearch(stops, i+1)
	past := b.syncs
	for n, j := range stops[first:] {
		if n == maxStops {
			p.Missed("mbarriers whose initialization is followed by more than %d barriers and fences of other threads", maxStops)
			b.fenced, b.fenceSyncs = true, past
			return
		}
		e := &t.Events[j]
		switch {
		case isPublishingFence(e):
			if b.by.Minus(*e.Threads) != (value.Set{}) {
				continue // executed by other threads
			}
			b.fenced, b.blockOnly, b.fenceSyncs = true, e.In.HasMod(isa.ModSharedCTA), past
			return
		case e.Kind == trace.ClusterArrive || e.Kind == trace.BarrierSync && p.Everyone(e):
			past++
		case verify.Target(e) >= 0:
			return
		}
	}
}

// stopsOf returns the indices of the events that findFence examines: fences, barriers, and uses
// of mbarriers.
func stopsOf(t *trace.Trace) []int {
	var stops []int
	for i := range t.Events {
		e := &t.Events[i]
		if isPublishingFence(e) || e.Kind == trace.ClusterArrive || e.Kind == trace.BarrierSync ||
			verify.Target(e) >= 0 && e.Kind != trace.Init {
			stops = append(stops, i)
		}
	}
	return stops
}

// isPublishingFence reports whether an event is a fence that makes earlier writes visible to the
// async proxy. A fence.proxy with .acquire does not.
func isPublishingFence(e *trace.Event) bool {
	return e.Kind == trace.InitFence || e.Kind == trace.ProxyFence && !e.In.HasMod(isa.ModAcquire)
}

// isClustered reports whether blocks of a cluster may access each other's mbarriers.
func isClustered(p *verify.Pass) bool {
	if p.Cluster != 0 || p.Needs(trace.ClusterArrive, trace.ClusterWait, trace.RemoteStore) {
		return p.Cluster != 1
	}
	for _, b := range p.Func.Blocks {
		for _, in := range b.Instrs {
			if in.Kind() == isa.KindMapa || verify.Multicast(in) ||
				in.HasMod(isa.ModMulticastClusterAll, isa.ModCTAGroup2) {
				return true
			}
		}
	}
	return false
}

// inOtherWarp reports whether some of the threads are not in the warp that initialized the
// mbarrier.
func (b *initialization) inOtherWarp(s value.Set) bool {
	s = s.Or(b.by)
	return s.Warps() > 1
}

// isDeclared reports whether an mbarrier is in a variable of the kernel, so that no other code
// can initialize it.
func isDeclared(o verify.Object) bool {
	a := o.Root.Single()
	return a != nil && a.Op == value.OpVariable
}

// hasNeighbor reports whether the kernel initializes other mbarriers of the same variable. The
// initialization of this one was then probably forgotten.
func hasNeighbor(initialized map[verify.Object]*initialization, o verify.Object) bool {
	for other := range initialized {
		if other.Root == o.Root {
			return true
		}
	}
	return false
}

// initializesInLoop reports whether an instruction initializes mbarriers more than once on a
// trace.
func initializesInLoop(p *verify.Pass) bool {
	for _, t := range p.Traces {
		seen := make(map[*ir.Instr]bool)
		for i := range t.Events {
			if e := &t.Events[i]; e.Kind == trace.Init {
				if seen[e.In] {
					return true
				}
				seen[e.In] = true
			}
		}
	}
	return false
}

// baseOpcode returns an opcode without its state space and the modifiers after it.
func baseOpcode(in *ir.Instr) string {
	op, _, _ := strings.Cut(in.Op, ".shared")
	op, _, _ = strings.Cut(op, ".cta_group")
	return op
}

// checkWait checks the phase parity and the memory order of a wait.
func checkWait(p *verify.Pass, t *trace.Trace, i int, o verify.Touch,
	peers map[blockMbarrier]*ir.Instr) {
	e := &t.Events[i]
	if p.Foreign(t.Rank, o) {
		p.Report(&ruleRemote, e.In,
			"thread waits on an mbarrier of another block, but it can wait only on mbarriers of its own block").On(t, i)
	}
	if verify.Parity(e.In) {
		if n, ok := verify.Number(e, verify.Address(e.In, 0)+1); ok && n != 0 && n != 1 {
			f := p.Report(&ruleParity, e.In, "phase parity of a wait is %d, expected 0 or 1", n).
				On(t, i)
			if n == -1 {
				// The parity is a sign-extended bit. Compilers generate this, and the hardware
				// uses the lowest bit.
				f.As(diag.Review)
			}
		}
	}
	if from := peers[blockMbarrier{t.Rank, o.Object}]; from != nil &&
		!(e.In.HasMod(isa.ModAcquire) && e.In.HasMod(isa.ModCluster)) {
		f := p.Report(&ruleScope, e.In, "mbarrier wait has .cta scope but waits for data of "+
			"another block, expected .acquire.cluster").Also(from,
			"the operation of the other block that this waits for")
		if from.Kind().Head() != isa.HeadMbarrier {
			f.As(diag.Review) // the completion of the operation makes its data visible
		}
	}
}

// A blockMbarrier is an mbarrier of one of the blocks that are analyzed separately.
type blockMbarrier struct {
	block int
	verify.Object
}

// arrivalsAfterRemoteStores returns the mbarriers on which blocks arrive after stores to the
// memory of another block, each with such an arrival.
func arrivalsAfterRemoteStores(p *verify.Pass) map[blockMbarrier]*ir.Instr {
	found := make(map[blockMbarrier]*ir.Instr)
	note := func(t *trace.Trace, o verify.Touch, in *ir.Instr) {
		for _, block := range p.Blocks(t.Rank, o) {
			if at := (blockMbarrier{block, o.Object}); found[at] == nil {
				found[at] = in
			}
		}
	}
	for _, t := range p.Traces {
		stored := false
		for i := range t.Events {
			e := &t.Events[i]
			switch e.Kind {
			case trace.Store:
				v := verify.Val(e, verify.Address(e.In, 0))
				for _, term := range terms(v) {
					stored = stored || term.Atom.Op == value.OpMapa
				}
			case trace.RemoteStore:
				list, _ := p.Objects(e, verify.Val(e, verify.Target(e)))
				for _, o := range list {
					if p.Foreign(t.Rank, o) {
						note(t, o, e.In)
					}
				}
			case trace.Arrive:
				list, _ := p.Objects(e, verify.Val(e, verify.Address(e.In, 0)))
				for _, o := range list {
					if !stored || !p.Foreign(t.Rank, o) {
						continue
					}
					note(t, o, e.In)
					if !(e.In.HasMod(isa.ModRelease) && e.In.HasMod(isa.ModCluster)) {
						p.Report(&ruleScope, e.In, "mbarrier arrival at another block after "+
							"stores to it is relaxed or has .cta scope, expected .release.cluster")
					}
				}
			}
		}
	}
	return found
}

func terms(v *value.Value) []value.Term {
	if v == nil {
		return nil
	}
	return v.Terms
}
