// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package mbarrier checks the use of each mbarrier in shared memory. It must be initialized once,
// be visible to its users, receive enough arrivals, and be waited for.
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
	Rules: diag.Rules{ruleMade, ruleLife, ruleSeen, ruleArrivals, ruleBytes, ruleParity,
		ruleRemote, ruleScope, ruleTry},
	Pages:    pages,
	Requires: []trace.Kind{trace.Init, trace.Arrive, trace.Wait, trace.Expect},
	Run:      run,
}

// An initialization is the initialization of an mbarrier.
type initialization struct {
	t      *trace.Trace
	at     int
	e      *trace.Event
	count  int64
	known  bool
	by     value.Set
	syncs  int  // block barriers before it
	warps  int  // warp barriers before it
	fenced bool // a fence follows before anything else can use the mbarrier
	past   int  // block barriers, or arrivals at the cluster barrier, before that fence
	narrow bool // the fence is only for memory of the block itself
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
				order = made(p, t, i, stops, initialization{syncs: syncs, warps: warps},
					initialized, order)
			}
		}
	}
	peers := peerData(p)
	looked, filled, left := heeded(p), filledBy(p), leftBy(p)
	alone, used := !clustered(p), inUse(p)
	for _, t := range p.Traces {
		unwritten(p, t)
		life(p, t, initialized, used)
		uses(p, t, initialized, peers, alone)
		tries(p, t, looked)
		relaxed(p, t, filled, left)
	}
	totals(p, initialized, order)
}

// unwritten reports copies and arrivals whose address is in a register that is never written.
func unwritten(p *verify.Pass, t *trace.Trace) {
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

// outOfBounds reports an mbarrier that lies outside of the variable from which its address is
// derived.
func outOfBounds(p *verify.Pass, t *trace.Trace, i int, o verify.Touch,
	initialized map[verify.Object]*initialization) {
	in, v := t.Events[i].In, o.Variable()
	switch {
	case v == nil || v.Size() == 0 || o.At >= 0 && o.At+8 <= v.Size():
	case o.At < 0 || !verify.Open(v):
		p.Report(&ruleMade, in, "mbarrier is out of bounds: it is initialized at byte %d of %s, "+
			"which has %d bytes", o.At, v.Name, v.Size()).On(t, i)
	default:
		for other := range initialized {
			if other.Variable() == v {
				return // reported
			}
		}
		p.Report(&ruleMade, in, "mbarrier is initialized at byte %d of %s, which has 1 byte; "+
			"this is valid only if dynamic shared memory follows", o.At, v.Name).As(diag.Review)
	}
}

// made records the mbarriers that an event initializes, each with the number of barriers before it.
func made(p *verify.Pass, t *trace.Trace, i int, stops []int, behind initialization,
	initialized map[verify.Object]*initialization, order []verify.Object) []verify.Object {
	e := &t.Events[i]
	where := verify.Address(e.In, 0)
	count, known := verify.Number(e, where+1)
	if known && (count < 1 || count > 1<<20-1) {
		p.Report(&ruleMade, e.In, "mbarrier is initialized for %d arrivals, expected 1 to 1048575",
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
			p.Report(&ruleMade, e.In, "mbarrier is misaligned: its address is %d bytes past a "+
				"multiple of 8", o.At%8)
		}
		outOfBounds(p, t, i, o, initialized)
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
		b.fence(p, t, stops, i)
		initialized[o.Object] = b
		order = append(order, o.Object)
	}
	return order
}

// mostStops limits the fences and barriers after an initialization that are examined.
const mostStops = 4096

// fence finds the fence that makes an mbarrier initialized by event i visible, if there is one
// before its first use. The parameter stops lists the events to examine.
func (b *initialization) fence(p *verify.Pass, t *trace.Trace, stops []int, i int) {
	first, _ := slices.BinarySearch(stops, i+1)
	past := b.syncs
	for n, j := range stops[first:] {
		if n == mostStops {
			p.Missed("mbarriers whose initialization is followed by more than %d barriers and fences of other threads", mostStops)
			b.fenced, b.past = true, past
			return
		}
		e := &t.Events[j]
		switch {
		case publishes(e):
			if b.by.Minus(*e.Threads) != (value.Set{}) {
				continue // executed by other threads
			}
			b.fenced, b.narrow, b.past = true, e.In.HasMod(isa.ModSharedCTA), past
			return
		case e.Kind == trace.ClusterArrive || e.Kind == trace.BarrierSync && p.Everyone(e):
			past++
		case verify.Target(e) >= 0:
			return
		}
	}
}

// stopsOf returns the fences and barriers of a trace, which the function fence examines.
func stopsOf(t *trace.Trace) []int {
	var stops []int
	for i := range t.Events {
		e := &t.Events[i]
		if publishes(e) || e.Kind == trace.ClusterArrive || e.Kind == trace.BarrierSync ||
			verify.Target(e) >= 0 && e.Kind != trace.Init {
			stops = append(stops, i)
		}
	}
	return stops
}

// publishes reports whether a fence makes earlier writes visible to the async proxy. An acquire
// fence does not.
func publishes(e *trace.Event) bool {
	return e.Kind == trace.InitFence || e.Kind == trace.ProxyFence && !e.In.HasMod(isa.ModAcquire)
}

// clustered reports whether blocks of a cluster may access each other's mbarriers.
func clustered(p *verify.Pass) bool {
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

// declared reports whether an mbarrier is in a variable of the kernel, so that no other code can
// initialize it.
func declared(o verify.Object) bool {
	a := o.Root.Single()
	return a != nil && a.Op == value.OpVariable
}

// hasNeighbor reports whether the kernel initializes other mbarriers of the same variable, so that
// this one was probably forgotten.
func hasNeighbor(initialized map[verify.Object]*initialization, o verify.Object) bool {
	for other := range initialized {
		if other.Root == o.Root {
			return true
		}
	}
	return false
}

// looped reports whether an instruction initializes mbarriers in several iterations of a loop.
func looped(p *verify.Pass) bool {
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

// baseOpcode returns an opcode without its trailing modifiers.
func baseOpcode(in *ir.Instr) string {
	op, _, _ := strings.Cut(in.Op, ".shared")
	op, _, _ = strings.Cut(op, ".cta_group")
	return op
}

// waited checks the phase parity and the memory order of a wait.
func waited(p *verify.Pass, t *trace.Trace, i int, o verify.Touch,
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
				// A sign-extended bit: compilers generate this, and the hardware uses the lowest
				// bit.
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
			f.As(diag.Review) // its own completion makes it visible
		}
	}
}

// A blockMbarrier is an mbarrier of one of the blocks that are followed separately.
type blockMbarrier struct {
	block int
	verify.Object
}

// peerData returns the mbarriers on which blocks arrive after stores to the memory of another
// block.
func peerData(p *verify.Pass) map[blockMbarrier]*ir.Instr {
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
