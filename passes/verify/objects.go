// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package verify

import (
	"slices"

	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/passes/analysis/trace"
	"github.com/ptxdsl/ptxdsl/passes/analysis/value"
)

// An Object identifies an mbarrier by its address: a base address, and the offset from it in
// bytes.
type Object struct {
	Root *value.Value
	At   int64
}

// Variable returns the variable that contains the mbarrier, or nil if the variable is unknown.
func (o *Object) Variable() *ir.Var {
	if a := o.Root.Single(); a != nil && a.Op == value.OpVariable {
		v, _ := a.Ref.(*ir.Var)
		return v
	}
	return nil
}

// Open reports whether the memory of v may extend past its declaration. This holds for an array
// without a size, which stands for dynamic shared memory. It also holds for a single byte with a
// larger alignment, which is how LLVM prints an empty array inside a function.
func Open(v *ir.Var) bool {
	return v.Space == isa.Shared &&
		(v.Size() == 0 || v.Size() == 1 && v.Align >= 8 && len(v.Dims) == 0)
}

// A Touch is an access by some threads of an event to one mbarrier.
type Touch struct {
	Object
	Threads value.Set
	// Rank is the block of the cluster that contains the mbarrier; nil means the block of the
	// threads. First is set if the block is the first block of the pair to which the threads'
	// block belongs.
	Rank  *value.Value
	First bool
}

// An mbarrierAddress value is an address of one or more mbarriers, split into its parts.
type mbarrierAddress struct {
	root, own *value.Value // the address is root + own; own depends only on the thread index
	rank      *value.Value
	first     bool
	ok        bool
	known     []touches // results for the first few thread sets
}

// touches holds the mbarriers that a set of threads accesses.
type touches struct {
	threads value.Set
	list    []Touch
}

// Objects returns the mbarriers that an address refers to, with the threads that access each. ok
// is false if the mbarriers are unknown. The caller must not change the list.
func (p *Pass) Objects(e *trace.Event, v *value.Value) (list []Touch, ok bool) {
	const few = 16
	if v == nil {
		return nil, false
	}
	o := p.kernelState.objects.get(v)
	if o == nil {
		o = p.objectsAt(v)
		p.kernelState.objects.put(v, o)
	}
	if !o.ok {
		return nil, false
	}
	for i := range o.known {
		if o.known[i].threads == *e.Threads {
			return o.known[i].list, true
		}
	}
	list = p.touches(o, *e.Threads)
	if len(o.known) < few {
		o.known = append(o.known, touches{*e.Threads, list})
	}
	return list, true
}

// objectsAt splits an address of mbarriers into its parts.
func (p *Pass) objectsAt(v *value.Value) *mbarrierAddress {
	k := p.Pool
	root, own := k.Const(64, 0), k.Const(64, v.K)
	o := &mbarrierAddress{}
	add := func(list []value.Term) {
		for _, t := range list {
			term := k.Scale(64, k.Alone(t.Atom), t.Factor)
			if t.Atom.Tid {
				own = k.Add(64, own, term)
			} else {
				root = k.Add(64, root, term)
			}
		}
	}
	for i, t := range v.Terms {
		if at, of := ownAddress(k, t.Atom); at != nil && t.Factor == 1 {
			o.rank, o.first = of, t.Atom.Op != value.OpMapa
			add(at.Terms)
			own = k.Add(64, own, k.Const(64, at.K))
			continue
		}
		add(v.Terms[i : i+1])
	}
	o.root, o.own, o.ok = root, own, containingVariable(root) != nil
	return o
}

// touches returns the mbarriers of an address that the given threads access.
func (p *Pass) touches(o *mbarrierAddress, threads value.Set) (list []Touch) {
	if o.own.Const() {
		return []Touch{{Object{o.root, o.own.K}, threads, o.rank, o.first}}
	}
	at := make(map[int64]int)
	threads.Each(func(t int) {
		n := p.Pool.At(o.own, t)
		i, seen := at[n]
		if !seen {
			i = len(list)
			at[n] = i
			list = append(list, Touch{Object: Object{o.root, n}, Rank: o.rank, First: o.first})
		}
		list[i].Threads.Add(t)
	})
	return list
}

// Blocks returns the blocks of the cluster in which threads of block from access an mbarrier. If
// blocks are not analyzed separately, block 0 represents all of them.
func (p *Pass) Blocks(from int, o Touch) (list []int) {
	switch {
	case p.Ranks < 2:
		return []int{0}
	case o.Rank == nil:
		return []int{from}
	case o.First:
		return []int{from &^ 1}
	}
	hit := make([]bool, p.Ranks)
	if o.Rank.Tid() {
		o.Threads.Each(func(t int) {
			if block := p.Pool.At(o.Rank, t); block >= 0 && block < int64(p.Ranks) {
				hit[block] = true
			}
		})
	}
	for block := range hit {
		if hit[block] || !o.Rank.Tid() {
			list = append(list, block)
		}
	}
	return list
}

// Foreign reports whether threads of a block certainly access an mbarrier of another block. The
// first block of a pair may be their own block.
func (p *Pass) Foreign(from int, o Touch) bool {
	if p.Ranks < 2 {
		return o.Rank != nil && !o.First
	}
	return slices.ContainsFunc(p.Blocks(from, o), func(block int) bool { return block != from })
}

// Rank returns the rank of the block whose shared memory an address is in: the rank operand of
// mapa, or nil if the address is not the result of mapa.
func Rank(v *value.Value) *value.Value {
	if v == nil {
		return nil
	}
	for _, t := range v.Terms {
		if t.Atom.Op == value.OpMapa && t.Factor == 1 {
			return t.Atom.Args[1]
		}
	}
	return nil
}

// ownAddress returns the address in a block's own memory to which a cluster address corresponds,
// and the rank of the block. It handles the result of mapa, and an address whose pair bit is
// cleared, which refers to the first block of the pair. Compilers also clear low bits that are zero
// in an aligned address.
func ownAddress(p *value.Pool, a *value.Atom) (at, rank *value.Value) {
	const pair, low = 1 << 24, 1<<10 - 1
	switch {
	case a.Op == value.OpMapa:
		return a.Args[0], a.Args[1]
	case a.Op == value.OpAnd && a.Args[1].Const() && a.Args[1].K&pair == 0 &&
		a.Args[1].K|pair|low == -1:
		return a.Args[0], p.Const(32, 0)
	}
	return nil, nil
}

// Target returns the index of the operand with the mbarrier of an event, or -1. For a copy, this
// is the mbarrier on which the copy completes.
func Target(e *trace.Event) int {
	switch e.Kind {
	case trace.Init, trace.Inval, trace.Arrive, trace.Expect, trace.Complete, trace.Wait,
		trace.CopyArrive, trace.TensorCommit:
		return Address(e.In, 0)
	case trace.BulkLoad:
		return Address(e.In, 2)
	case trace.RemoteStore, trace.Answer:
		return Address(e.In, 1)
	}
	return -1
}

// Arrivals returns how many arrivals one thread makes with an event, without the arrivals of
// asynchronous copies. The result is false if the number is unknown.
func Arrivals(e *trace.Event) (int64, bool) {
	switch e.Kind {
	case trace.TensorCommit:
		return 1, true
	case trace.CopyArrive:
		if e.In.HasMod(isa.ModNoInc) {
			return 1, true
		}
		return 0, true
	case trace.Arrive:
		i := Address(e.In, 0) + 1
		if Expects(e.In) || i >= len(e.In.Args) {
			return 1, true
		}
		return Number(e, i)
	}
	return 0, true
}
