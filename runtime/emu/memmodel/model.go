// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package memmodel decides what the PTX memory model allows. It holds the axioms of the manual's chapter
// on memory consistency: program order, scopes, morally strong operations, release and acquire patterns,
// proxies, barriers and causality order. It knows nothing of the emulator. Decide enumerates the
// executions of a litmus test and reports whether its condition can hold.
package memmodel

// A Kind is what an event does.
type Kind uint8

// Kinds of event. A read-modify-write is a read and a write; a barrier is an arrival and a wait.
const (
	Read Kind = iota
	Write
	Fence
	ProxyFence
	AliasFence
	Arrive
	Wait
)

// An Order is the memory order of an access or a fence.
type Order uint8

// Orders.
const (
	Weak Order = iota
	Relaxed
	Acquire
	Release
	AcqRel
	SC
)

// A Scope is a set of threads around a thread.
type Scope uint8

// Scopes.
const (
	CTA Scope = iota
	Cluster
	GPU
	Sys
)

// A Proxy is a path to memory.
type Proxy uint8

// Proxies.
const (
	Generic Proxy = iota
	Texture
	Surface
	Constant
	Async
)

// A Place is where a thread runs.
type Place struct{ CTA, Cluster, GPU int }

// includes reports whether a scope around p holds q.
func (s Scope) includes(p, q Place) bool {
	switch s {
	case CTA:
		return p == q
	case Cluster:
		return p.GPU == q.GPU && p.Cluster == q.Cluster
	case GPU:
		return p.GPU == q.GPU
	}
	return true
}

// An event is one operation of an execution.
type event struct {
	thread  int // -1 for initial writes
	kind    Kind
	order   Order
	scope   Scope
	proxy   Proxy
	address int    // virtual address
	atoms   uint64 // parts of memory that it accesses
	offset  int    // bytes from the first part
	size    int
	partner int // the other half of a read-modify-write, or -1
	instr   *instr
	barrier int // number and generation
}

// strong reports whether an event is a strong operation.
func (e *event) strong() bool { return e.order != Weak }

// A relation holds pairs of events: bit b of row a.
type relation []uint64

func (r relation) has(a, b int) bool { return r[a]>>b&1 != 0 }
func (r relation) add(a, b int)      { r[a] |= 1 << b }

// close makes r transitive.
func (r relation) close() {
	for k := range r {
		for a := range r {
			if r.has(a, k) {
				r[a] |= r[k]
			}
		}
	}
}

// cyclic reports whether an event of a transitive relation precedes itself.
func (r relation) cyclic() bool {
	for a := range r {
		if r.has(a, a) {
			return true
		}
	}
	return false
}

// union returns the pairs of all relations.
func union(list ...relation) relation {
	out := make(relation, len(list[0]))
	for _, r := range list {
		for a := range r {
			out[a] |= r[a]
		}
	}
	return out
}

// then returns the pairs that are related through an event between.
func (r relation) then(s relation) relation {
	out := make(relation, len(r))
	for a := range r {
		for b := range s {
			if r.has(a, b) {
				out[a] |= s[b]
			}
		}
	}
	return out
}

// An execution is events with the choices that were made.
type execution struct {
	events []event
	places []Place
	po     relation
	rf     relation
	from   map[[2]int]int // by read and part of memory
	sc     relation       // order of fences
	co     relation

	obs, base, cause relation
}

// place returns where an event runs; initial writes are before all.
func (x *execution) place(a int) Place { return x.places[x.events[a].thread] }

// overlap reports whether two events access the same memory.
func (x *execution) overlap(a, b int) bool { return x.events[a].atoms&x.events[b].atoms != 0 }

// memory reports whether an event accesses memory.
func (x *execution) memory(a int) bool { return x.events[a].kind <= Write }

// morally reports whether two events are morally strong.
func (x *execution) morally(a, b int) bool {
	e, f := &x.events[a], &x.events[b]
	if e.thread < 0 || f.thread < 0 {
		return false
	}
	if !x.po.has(a, b) && !x.po.has(b, a) {
		if !e.strong() || !f.strong() || !e.scope.includes(x.place(a), x.place(b)) || !f.scope.includes(x.place(b), x.place(a)) {
			return false
		}
	}
	if x.memory(a) && x.memory(b) {
		return e.proxy == f.proxy && e.atoms == f.atoms && e.address == f.address
	}
	return true
}

// releases returns the release patterns that end in write w: their first events.
func (x *execution) releases(w int) (list []int) {
	e := &x.events[w]
	if e.kind != Write || e.thread < 0 || !e.strong() {
		return nil
	}
	if e.order >= Release {
		list = append(list, w)
	}
	for a := range x.events {
		f := &x.events[a]
		if !x.po.has(a, w) {
			continue
		}
		if f.kind == Fence && f.order != Acquire || f.kind == Write && f.order >= Release && f.atoms == e.atoms && f.address == e.address {
			list = append(list, a)
		}
	}
	return list
}

// acquires returns the acquire patterns that begin with read r: their last events.
func (x *execution) acquires(r int) (list []int) {
	e := &x.events[r]
	if e.kind != Read || !e.strong() {
		return nil
	}
	acquire := func(o Order) bool { return o == Acquire || o == AcqRel || o == SC }
	if acquire(e.order) {
		list = append(list, r)
	}
	for b := range x.events {
		f := &x.events[b]
		if !x.po.has(r, b) {
			continue
		}
		if f.kind == Fence && f.order != Release || f.kind == Read && acquire(f.order) && f.atoms == e.atoms && f.address == e.address {
			list = append(list, b)
		}
	}
	return list
}

// observe computes the observation order: morally strong reads, through atomic operations.
func (x *execution) observe() {
	n := len(x.events)
	x.obs = make(relation, n)
	for a := range n {
		for b := range n {
			if x.rf.has(a, b) && x.morally(a, b) {
				x.obs.add(a, b)
			}
		}
	}
	for range n {
		for r := range n {
			if w := x.events[r].partner; x.events[r].kind == Read && w >= 0 {
				for a := range n {
					if x.obs.has(a, r) {
						x.obs[a] |= x.obs[w]
					}
				}
			}
		}
	}
}

// order computes base causality order and causality order.
func (x *execution) order() {
	x.observe()
	n := len(x.events)
	sync := make(relation, n)
	for w := range n {
		for _, first := range x.releases(w) {
			for r := range n {
				if !x.obs.has(w, r) {
					continue
				}
				for _, last := range x.acquires(r) {
					if x.morally(first, last) {
						sync.add(first, last)
					}
				}
			}
		}
	}
	for a := range n {
		for b := range n {
			e, f := &x.events[a], &x.events[b]
			if e.kind == Arrive && f.kind == Wait && e.barrier == f.barrier && x.place(a) == x.place(b) && e.thread != f.thread {
				sync.add(a, b)
			}
		}
	}
	x.base = union(x.po, sync, x.sc)
	x.base.close()
	kept := make(relation, n)
	for a := range n {
		for b := range n {
			if x.base.has(a, b) && x.memory(a) && x.memory(b) && x.overlap(a, b) && x.preserved(a, b) {
				kept.add(a, b)
			}
		}
	}
	x.cause = union(kept, x.obs.then(kept))
}

// preserved reports whether base causality holds for the proxies of two accesses: both are generic and
// to one address, or of one proxy and block, or proxy fences link them.
func (x *execution) preserved(a, b int) bool {
	e, f := &x.events[a], &x.events[b]
	if e.thread < 0 {
		return true
	}
	same := e.address == f.address
	if same && (e.proxy == Generic && f.proxy == Generic || e.proxy == f.proxy && x.place(a) == x.place(b)) {
		return true
	}
	at := uint64(1) << a
	if e.proxy != Generic {
		at = x.past(at, func(p int) bool {
			g := &x.events[p]
			return g.kind == ProxyFence && g.proxy == e.proxy && x.place(p) == x.place(a)
		})
	}
	if !same {
		at = x.past(at, func(p int) bool { return x.events[p].kind == AliasFence })
	}
	if f.proxy != Generic {
		at = x.past(at, func(p int) bool {
			g := &x.events[p]
			return g.kind == ProxyFence && g.proxy == f.proxy && x.place(p) == x.place(b)
		})
	}
	for p := range x.events {
		if at>>p&1 != 0 && x.base.has(p, b) {
			return true
		}
	}
	return false
}

// past returns the events of a kind that a set of events precedes, or that are in it.
func (x *execution) past(set uint64, is func(int) bool) (next uint64) {
	for p := range x.events {
		if !is(p) {
			continue
		}
		for a := range x.events {
			if set>>a&1 != 0 && (a == p || x.base.has(a, p)) {
				next |= 1 << p
			}
		}
	}
	return next
}

// fromReads returns the writes that follow what a read read.
func (x *execution) fromReads() relation {
	n := len(x.events)
	fr := make(relation, n)
	for key, w := range x.from {
		r, atom := key[0], key[1]
		for v := range n {
			if x.events[v].kind == Write && v != w && x.events[v].atoms>>atom&1 != 0 && x.co.has(w, v) && v != x.events[r].partner {
				fr.add(r, v)
			}
		}
		if v := x.events[r].partner; v >= 0 && x.co.has(w, v) {
			fr.add(r, v)
		}
	}
	return fr
}

// consistent checks the axioms that need the coherence order.
func (x *execution) consistent() bool {
	n := len(x.events)
	fr := x.fromReads()
	com := union(x.rf, x.co, fr)
	for a := range n { // causality, and coherence as far as it is not built in
		for b := range n {
			if com.has(a, b) && x.cause.has(b, a) {
				return false
			}
		}
	}
	for r := range n { // atomicity
		w := x.events[r].partner
		if x.events[r].kind != Read || w < 0 {
			continue
		}
		for v := range n {
			if fr.has(r, v) && x.co.has(v, w) && x.morally(r, v) && x.morally(v, w) && v != w {
				return false
			}
		}
	}
	for key, w := range x.from { // single-copy atomicity
		for other, v := range x.from {
			if key[0] == other[0] && v != w && x.co.has(v, w) && x.morally(key[0], w) {
				return false
			}
		}
	}
	location := make(relation, n) // coherence of each location
	for a := range n {
		for b := range n {
			if !x.memory(a) || !x.memory(b) || !x.overlap(a, b) || !x.morally(a, b) {
				continue
			}
			if com.has(a, b) || x.po.has(a, b) {
				location.add(a, b)
			}
		}
	}
	location.close()
	return !location.cyclic()
}
