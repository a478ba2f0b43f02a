// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package memmodel decides what the PTX memory model allows. It implements the axioms of the
// manual's chapter on memory consistency: program order, scopes, morally strong operations, release
// and acquire patterns, proxies, barriers and causality order. It does not depend on the emulator.
// Decide enumerates the executions of a litmus test and reports whether its condition can hold.
package memmodel

// A Kind is the kind of an event.
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

// Memory orders.
const (
	Weak Order = iota
	Relaxed
	Acquire
	Release
	AcqRel
	SC
)

// A Scope is a set of threads relative to a thread.
type Scope uint8

// Scopes of an operation.
const (
	CTA Scope = iota
	Cluster
	GPU
	Sys
)

// A Proxy is a method of accessing memory.
type Proxy uint8

// Memory proxies.
const (
	Generic Proxy = iota
	Texture
	Surface
	Constant
	Async
	TensorMap
)

// A Place gives the block, the cluster and the GPU of a thread.
type Place struct{ CTA, Cluster, GPU int }

// includes reports whether the scope of a thread at p includes threads at q.
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
	atoms   uint64 // memory parts that it accesses
	offset  int    // byte offset from the first part
	size    int
	partner int // index of the other half of a read-modify-write, or -1
	instr   *instr
	barrier int // barrier number and generation
}

// strong reports whether an event is a strong operation.
func (e *event) strong() bool { return e.order != Weak }

// A relation is a set of pairs of events: the pair (a, b) is in the relation if bit b of row a is
// set.
type relation []uint64

func (r relation) has(a, b int) bool { return r[a]>>b&1 != 0 }
func (r relation) add(a, b int)      { r[a] |= 1 << b }

// close computes the transitive closure of r.
func (r relation) close() {
	for k := range r {
		for a := range r {
			if r.has(a, k) {
				r[a] |= r[k]
			}
		}
	}
}

// cyclic reports whether a transitive relation has a cycle.
func (r relation) cyclic() bool {
	for a := range r {
		if r.has(a, a) {
			return true
		}
	}
	return false
}

// union returns the union of the relations in list.
func union(list ...relation) relation {
	out := make(relation, len(list[0]))
	for _, r := range list {
		for a := range r {
			out[a] |= r[a]
		}
	}
	return out
}

// then returns the composition of r and s: the pairs (a, c) with a pair (a, b) in r and (b, c) in
// s.
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

// An execution is a set of events with a choice for each read and each order.
type execution struct {
	events []event
	places []Place
	po     relation
	rf     relation
	from   map[[2]int]int // the write that each read reads, by read and memory part
	sc     relation       // order of fence.sc
	co     relation

	obs, base, cause relation
}

// place returns the location of the thread of event a.
func (x *execution) place(a int) Place { return x.places[x.events[a].thread] }

// overlap reports whether two events access a common byte.
func (x *execution) overlap(a, b int) bool { return x.events[a].atoms&x.events[b].atoms != 0 }

// memory reports whether an event reads or writes memory.
func (x *execution) memory(a int) bool { return x.events[a].kind <= Write }

// morally reports whether two events are morally strong with respect to each other, as the PTX
// memory model defines it.
func (x *execution) morally(a, b int) bool {
	e, f := &x.events[a], &x.events[b]
	if e.thread < 0 || f.thread < 0 {
		return false
	}
	if !x.po.has(a, b) && !x.po.has(b, a) {
		if !e.strong() || !f.strong() || !e.scope.includes(x.place(a), x.place(b)) ||
			!f.scope.includes(x.place(b), x.place(a)) {
			return false
		}
	}
	if x.memory(a) && x.memory(b) {
		return e.proxy == f.proxy && e.atoms == f.atoms && e.address == f.address
	}
	return true
}

// releases returns the first events of the release patterns that end with write w.
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
		if f.kind == Fence && f.order != Acquire || f.kind == Write && f.order >= Release &&
			f.atoms == e.atoms && f.address == e.address {
			list = append(list, a)
		}
	}
	return list
}

// acquires returns the last events of the acquire patterns that begin with read r.
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
		if f.kind == Fence && f.order != Release || f.kind == Read && acquire(f.order) &&
			f.atoms == e.atoms && f.address == e.address {
			list = append(list, b)
		}
	}
	return list
}

// observe computes the observation order: a morally strong read observes a write, directly or
// through atomic operations.
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

// order computes the base causality order and the causality order.
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
			if e.kind == Arrive && f.kind == Wait && e.barrier == f.barrier &&
				x.place(a) == x.place(b) && e.thread != f.thread {
				sync.add(a, b)
			}
		}
	}
	x.base = union(x.po, sync, x.sc)
	x.base.close()
	kept := make(relation, n)
	for a := range n {
		for b := range n {
			if x.base.has(a, b) && x.memory(a) && x.memory(b) && x.overlap(a, b) &&
				x.preserved(a, b) {
				kept.add(a, b)
			}
		}
	}
	x.cause = union(kept, x.obs.then(kept))
}

// preserved reports whether base causality order holds for two accesses with respect to their
// proxies. Both are generic and use the same address, or both use the same proxy in the same block,
// or proxy fences lie between them.
func (x *execution) preserved(a, b int) bool {
	e, f := &x.events[a], &x.events[b]
	if e.thread < 0 {
		return true
	}
	same := e.address == f.address
	if same && (e.proxy == Generic && f.proxy == Generic || e.proxy == f.proxy &&
		x.place(a) == x.place(b)) {
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
	// its fences go from the generic proxy to this one: a release and an acquire
	if f.proxy == TensorMap {
		at = x.past(at, func(p int) bool { return x.oneWay(p, Release, a, b) })
		at = x.past(at, func(p int) bool { return x.oneWay(p, Acquire, b, a) })
	} else if f.proxy != Generic {
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

// oneWay reports whether event p is a tensor map fence with the given order, in a thread of block
// own, whose scope includes block other.
func (x *execution) oneWay(p int, order Order, own, other int) bool {
	g := &x.events[p]
	return g.kind == ProxyFence && g.proxy == TensorMap && g.order == order &&
		x.place(p) == x.place(own) &&
		g.scope.includes(x.place(own), x.place(other))
}

// past returns the events that satisfy is and that are in a set, or that program order puts before
// an event of the set.
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

// fromReads returns the from-reads relation: each read precedes the writes that come after the one
// that it read.
func (x *execution) fromReads() relation {
	n := len(x.events)
	fr := make(relation, n)
	for key, w := range x.from {
		r, atom := key[0], key[1]
		for v := range n {
			if x.events[v].kind == Write && v != w && x.events[v].atoms>>atom&1 != 0 &&
				x.co.has(w, v) && v != x.events[r].partner {
				fr.add(r, v)
			}
		}
		if v := x.events[r].partner; v >= 0 && x.co.has(w, v) {
			fr.add(r, v)
		}
	}
	return fr
}

// consistent reports whether the execution satisfies the axioms that depend on the coherence order.
func (x *execution) consistent() bool {
	n := len(x.events)
	fr := x.fromReads()
	com := union(x.rf, x.co, fr)
	for a := range n { // causality, and coherence as far as it is not enforced above
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
