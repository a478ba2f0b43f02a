// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package verify

import (
	"slices"

	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/passes/analysis/memory"
	"github.com/ptxdsl/ptxdsl/passes/analysis/trace"
	"github.com/ptxdsl/ptxdsl/passes/analysis/value"
)

// Val returns the value of operand i of an event, or nil if the value is unknown or i is out of
// range.
func Val(e *trace.Event, i int) *value.Value {
	if i < 0 || i >= len(e.Vals) {
		return nil
	}
	return e.Vals[i]
}

// Address returns the operand index of the nth operand in brackets, or -1. n starts at 0.
func Address(in *ir.Instr, n int) int {
	for i := range in.Args {
		if in.Args[i].Kind == ir.Address {
			if n == 0 {
				return i
			}
			n--
		}
	}
	return -1
}

// Number returns the value of operand i. The result is false if the operand is not a constant.
func Number(e *trace.Event, i int) (int64, bool) {
	v := Val(e, i)
	if v == nil || !v.Const() {
		return 0, false
	}
	return v.K, true
}

// Region returns the bytes at the nth operand in brackets of an event. The result is false if the
// address is unknown.
func (p *Pass) Region(e *trace.Event, n int, bytes int64) (memory.Region, bool) {
	return p.At(Val(e, Address(e.In, n)), bytes, *e.Threads)
}

// At returns the bytes that the threads in s access at an address, as memory.Of does, but splits
// each address only once.
func (p *Pass) At(address *value.Value, bytes int64, s value.Set) (memory.Region, bool) {
	at := p.place(address)
	if at == nil || !at.known {
		return memory.Region{}, false
	}
	return at.Over(bytes, &s)
}

// place splits an address into its parts and caches the result. It returns nil if address is nil.
func (p *Pass) place(address *value.Value) *place {
	if address == nil {
		return nil
	}
	at := p.kernelState.places.get(address)
	if at == nil {
		at = &place{}
		at.Place, at.known = memory.At(p.Pool, address)
		at.shared = at.known && at.Place.Shared()
		p.kernelState.places.put(address, at)
	}
	return at
}

// OwnedByOthers reports whether some thread of r accesses bytes that only other threads access in
// o. Threads of the same group, of the given size, count as one thread.
func (p *Pass) OwnedByOthers(r, o *memory.Region, group int) bool {
	return p.kernelState.foreign.Foreign(r, o, group)
}

// Peer returns the memory that an access to another block's shared memory uses, as the
// corresponding memory of this block: the operand of mapa. The result is false if the access is
// not to another block.
func (p *Pass) Peer(e *trace.Event, bytes int64) (memory.Region, bool) {
	v := Val(e, Address(e.In, 0))
	if Rank(v) == nil {
		return memory.Region{}, false // the address is in this block
	}
	inner := p.Pool.Const(64, v.K)
	found := false
	for _, t := range v.Terms {
		one := p.Pool.Alone(t.Atom)
		if t.Atom.Op == value.OpMapa && t.Factor == 1 {
			one, found = t.Atom.Args[0], true
		}
		inner = p.Pool.Add(64, inner, p.Pool.Scale(64, p.Pool.Resize(64, one, true), t.Factor))
	}
	if !found {
		return memory.Region{}, false
	}
	r, ok := p.At(inner, bytes, *e.Threads)
	return r, ok && r.Shared()
}

// Least is the assumed size in bytes of an asynchronous access of unknown size. No such access is
// smaller.
const Least = 16

// Access returns the bytes of shared memory that a plain load or store accesses. The result is
// false if the address is unknown, or if the memory is not shared.
func (p *Pass) Access(e *trace.Event) (memory.Region, bool) {
	if e.Kind == trace.Clear {
		n, ok := Number(e, 1)
		if !ok {
			n = 8
		}
		return p.Region(e, 0, n)
	}
	at := p.place(Val(e, Address(e.In, 0)))
	if at == nil || !at.shared {
		return memory.Region{}, false
	}
	size, known := p.kernelState.sizes[e.In]
	if !known {
		size = memory.Bytes(e.In)
		p.kernelState.sizes[e.In] = size
	}
	return at.Over(size, e.Threads)
}

// Reads returns the regions of shared memory that an asynchronous operation reads: the source of
// a bulk store, or the matrix operands that descriptors name.
func (p *Pass) Reads(e *trace.Event) []memory.Region { return p.AppendReads(nil, e) }

// AppendReads appends the result of Reads to list, without an allocation for the result.
func (p *Pass) AppendReads(list []memory.Region, e *trace.Event) []memory.Region {
	add := func(v *value.Value, bytes int64) {
		if at := p.place(v); at != nil && at.shared {
			if r, ok := at.Over(bytes, e.Threads); ok {
				list = append(list, r)
			}
		}
	}
	switch e.Kind {
	case trace.BulkStore:
		bytes, ok := p.Copied(e)
		if !ok {
			bytes = Least
		}
		add(Val(e, Address(e.In, 1)), bytes)
	case trace.BulkLoad:
		if e.In.HasMod(isa.ModSharedCTA) && e.In.HasMod(isa.ModSharedCluster) &&
			!e.In.HasMod(isa.ModGlobal) {
			bytes, ok := Number(e, 2)
			if !ok {
				bytes = Least
			}
			add(Val(e, Address(e.In, 1)), bytes)
		}
	case trace.GroupMultiply, trace.TensorMultiply, trace.TensorCopy:
		for i := range e.In.Args {
			o := &e.In.Args[i]
			if o.Kind != ir.Register || o.Reg.Type.Bits() != 64 {
				continue
			}
			if a := p.descriptorAddress(Val(e, i)); a != nil {
				add(a, Least)
			}
		}
	}
	return list
}

// notDescriptor marks a value in the cache that is not a matrix descriptor.
var notDescriptor value.Value

// descriptorAddress returns the address that a matrix descriptor contains, or nil. Results are
// cached.
func (p *Pass) descriptorAddress(v *value.Value) *value.Value {
	if v == nil {
		return nil
	}
	a := p.kernelState.descriptors.get(v)
	if a == nil {
		a = &notDescriptor
		if at, ok := memory.Descriptor(p.Pool, v); ok {
			a = at
		}
		p.kernelState.descriptors.put(v, a)
	}
	if a == &notDescriptor {
		return nil
	}
	return a
}

// Writes returns the regions of this block's shared memory that an asynchronous operation writes.
func (p *Pass) Writes(e *trace.Event) []memory.Region { return p.AppendWrites(nil, e) }

// AppendWrites appends the result of Writes to list, without an allocation for the result.
func (p *Pass) AppendWrites(list []memory.Region, e *trace.Event) []memory.Region {
	bytes := int64(Least)
	switch e.Kind {
	case trace.BulkLoad:
		if n, ok := p.Copied(e); ok {
			bytes = n
		}
		if Rank(Val(e, Address(e.In, 0))) == nil {
			break
		}
		// As for RemoteStore, another block is assumed to copy to this block.
		if r, ok := p.Peer(e, bytes); ok {
			return append(list, r)
		}
		return list
	case trace.Answer:
	case trace.RemoteStore:
		// All blocks of a cluster are assumed to execute the same code: if this block stores to
		// another block, another block stores to this one.
		if r, ok := p.Peer(e, memory.Bytes(e.In)); ok {
			return append(list, r)
		}
		return list
	case trace.Copy:
		if n, ok := Number(e, 2); ok {
			bytes = n
		}
	default:
		return list
	}
	if r, ok := p.Region(e, 0, bytes); ok && r.Shared() {
		return append(list, r)
	}
	return list
}

// Multicast reports whether an asynchronous operation has a mask of destination blocks.
func Multicast(in *ir.Instr) bool {
	return in.HasMod(isa.ModMulticastCluster, isa.ModMulticastCluster16b,
		isa.ModMulticastCluster32b)
}

// Blocks returns the mask of destination blocks of an asynchronous operation, or nil if the
// operation has no mask. The mask precedes the cache policy.
func Blocks(e *trace.Event) *value.Value {
	if !Multicast(e.In) {
		return nil
	}
	if e.In.HasMod(isa.ModL2CacheHint) {
		return Val(e, len(e.Vals)-2)
	}
	return Val(e, len(e.Vals)-1)
}

// Tensor reports whether a bulk copy is a tensor copy.
func Tensor(in *ir.Instr) bool {
	switch in.Kind() {
	case isa.KindCpAsyncBulkTensor, isa.KindCpReduceAsyncBulkTensor,
		isa.KindCpAsyncBulkPrefetchTensor:
		return true
	}
	return false
}

// Expects reports whether an mbarrier operation adds to the byte count that the current phase
// expects.
func Expects(in *ir.Instr) bool {
	switch in.Kind() {
	case isa.KindMbarrierExpectTx, isa.KindMbarrierArriveExpectTx,
		isa.KindMbarrierArriveDropExpectTx:
		return true
	}
	return false
}

// Parity reports whether a wait specifies the phase by its parity, not by the state of an
// arrival.
func Parity(in *ir.Instr) bool {
	switch in.Kind() {
	case isa.KindMbarrierTestWaitParity, isa.KindMbarrierTryWaitParity:
		return true
	}
	return false
}

// Everyone reports whether an event is a barrier for all threads of the block or cluster.
func (p *Pass) Everyone(e *trace.Event) bool {
	if e.Kind == trace.ClusterWait {
		return true
	}
	if e.Kind != trace.BarrierSync {
		return false
	}
	n, given := Count(e)
	return !given || n > 0 && !p.Needs(trace.BarrierArrive) &&
		(int(n) >= p.Pool.Threads || !p.Pool.Exact)
}

// Barrier returns the index of the operand with the barrier number. A reduction has its result
// before the barrier number.
func Barrier(e *trace.Event) int {
	if e.In.Kind() == isa.KindBarrierRed {
		return 1
	}
	return 0
}

// Counted returns the index of the operand with the thread count of a barrier, or -1 if the
// barrier has no explicit count. A reduction has its predicate after the count.
func Counted(e *trace.Event) int {
	i, end := Barrier(e)+1, len(e.In.Args)
	if e.In.Kind() == isa.KindBarrierRed {
		end--
	}
	if i >= end || e.In.Args[i].Kind != ir.Register && e.In.Args[i].Kind != ir.Int {
		return -1
	}
	return i
}

// Count returns the explicit thread count of a barrier, or 0 if the count is not a constant.
// given is false if the barrier has no explicit count.
func Count(e *trace.Event) (n int64, given bool) {
	i := Counted(e)
	if i < 0 {
		return 0, false
	}
	n, _ = Number(e, i)
	return n, true
}

// Flags reports whether threads may synchronize through memory alone, with atomic operations or
// loads that have memory ordering.
func (p *Pass) Flags() bool {
	for _, t := range p.Traces {
		for i := range t.Events {
			e := &t.Events[i]
			if e.Kind == trace.Atomic || e.Kind == trace.Load &&
				e.In.HasMod(isa.ModVolatile, isa.ModRelaxed, isa.ModAcquire) {
				return true
			}
		}
	}
	return false
}

// Left reports whether the threads of away certainly do not execute an instruction. No trace of
// these threads may contain it. If some paths of the kernel were not analyzed, the instruction may
// be on one of them. Left then requires a trace with the instruction such that each thread of away
// has a complete trace that is compatible with it.
func (p *Pass) Left(in *ir.Instr, away value.Set) bool {
	if len(p.Kernel.Missed) == 0 {
		return true
	}
	for _, t := range p.Traces {
		if !slices.ContainsFunc(t.Events, func(e trace.Event) bool { return e.In == in }) {
			continue
		}
		rest := away
		for _, o := range p.Traces {
			if o.Stopped == "" && o.Rank == t.Rank && o.Threads.And(rest) != (value.Set{}) &&
				o.Facts.Agree(t.Facts) {
				rest = rest.Minus(o.Threads)
			}
		}
		if rest.Empty() {
			return true
		}
	}
	return false
}

// Example reports whether the addresses of events of a trace are valid only for some of the
// values that were substituted for kernel inputs.
func (p *Pass) Example(t *trace.Trace, events ...*trace.Event) bool {
	if t.Facts.With == "" {
		return false
	}
	var at []*ir.Reg
	for _, e := range events {
		if n := Address(e.In, 0); n >= 0 {
			e.In.Args[n].Walk(func(o *ir.Operand) { at = append(at, o.Reg) })
		}
	}
	return p.DependsOnInput(at...)
}
