// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl

import (
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
)

// Bulk copies move contiguous bytes asynchronously (sm_90), without registers. One thread starts
// the copy for the whole block. Both addresses and the length must be multiples of 16 bytes.

// BulkLoad starts an asynchronous copy of n elements from global to shared memory. The copy
// completes its bytes on the mbarrier full, which must expect them ([Barrier.ArriveExpect]). One
// thread must call it. With a mask, the elements are multicast to the blocks of the cluster whose
// bits are set.
func (a Array[T]) BulkLoad(to Array[T], n Reg[U32], full Barrier, mask ...Reg[U16]) {
	k, bytes, ok := a.bulkBytes("BulkLoad", isa.Global, to, isa.Shared, n)
	if !ok || !k.checkBarrier(full) {
		return
	}
	if full.isPaired() {
		k.fault(&ruleProtocol,
			"bulk copy writes a stage that both blocks of a CTA pair fill, but it cannot signal the even block; use a pipeline with PerBlock")
		return
	}
	op := "cp.async.bulk." + k.copySpace(mask, full) + ".global.mbarrier::complete_tx::bytes"
	if len(mask) > 0 {
		op += ".multicast::cluster"
	}
	args := []ir.Operand{to.at.in(k), a.at.in(k), bytes.in(k), full.at.in(k)}
	for _, m := range mask {
		args = append(args, m.in(k))
	}
	k.ins(op, args...)
}

// BulkStore starts an asynchronous copy of n elements from shared to global memory. One thread must
// call it, after FenceAsync in all threads that wrote the elements. The copy belongs to the
// thread's next CommitStores.
func (a Array[T]) BulkStore(from Array[T], n Reg[U32]) {
	if k, bytes, ok := a.bulkBytes("BulkStore", isa.Global, from, isa.Shared, n); ok {
		k.noteFirst(&k.notes.FirstStore)
		k.ins("cp.async.bulk.global.shared::cta.bulk_group", a.at.in(k), from.at.in(k), bytes.in(k))
	}
}

// BulkReduce starts an asynchronous copy as BulkStore does, but combines the elements with those
// in global memory. The operation is add, min, max, inc, dec, and, or, xor. Each element is
// combined atomically, so that several blocks may reduce into the same memory.
func (a Array[T]) BulkReduce(how Mod, from Array[T], n Reg[U32]) {
	k, bytes, ok := a.bulkBytes("BulkReduce", isa.Global, from, isa.Shared, n)
	if !ok {
		return
	}
	k.noteFirst(&k.notes.FirstStore)
	t := TypeOf[T]()
	switch {
	case isFloat(t) && how.isBitwise():
		k.fault(&ruleOperand,
			"BulkReduce %q is not available for %s, expected an integer type; reinterpret the array with dsl.As[dsl.U%d]",
			how, t, t.Bits())
		return
	case how.isBitwise():
		t = bits(t.Bits())
	case how.isaMod() == isa.ModAdd && t.Class() == isa.Half:
		how = "add.noftz"
	case how.isaMod() == isa.ModAdd && t == isa.S64:
		t = isa.U64 // the encoding of the sum is the same as for unsigned integers
	}
	k.ins("cp.reduce.async.bulk.global.shared::cta.bulk_group."+string(how)+t.String(), a.at.in(k),
		from.at.in(k), bytes.in(k))
}

// BulkSend starts an asynchronous copy of n elements from shared memory into the shared memory of
// the block of the cluster with the given rank, where the destination is at the same address as
// to in this block. The copy completes its bytes on the mbarrier full of that block. One thread
// must call it, after FenceAsync in all threads that wrote the elements.
func (a Array[T]) BulkSend(to Array[T], n, rank Reg[U32], full Barrier) {
	k, bytes, ok := a.bulkBytes("BulkSend", isa.Shared, to, isa.Shared, n)
	if !ok || !k.checkBarrier(full) {
		return
	}
	signal := full.at
	signal.space = isa.Shared
	far := to.at.InBlock(rank)
	k.ins("cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes", far.in(k),
		a.at.in(k), bytes.in(k), signal.InBlock(rank).in(k))
}

// BulkPrefetch prefetches n elements of global memory into the L2 cache. One thread must call it.
func (a Array[T]) BulkPrefetch(n Reg[U32]) {
	if k, bytes, ok := a.bulkBytes("BulkPrefetch", isa.Global, a, isa.Global, n); ok {
		k.ins("cp.async.bulk.prefetch.L2.global", a.at.in(k), bytes.in(k))
	}
}

// checkBarrier reports whether the mbarrier was created by a builder call, and records a finding
// if not.
func (k *Kernel) checkBarrier(b Barrier) bool {
	if b.at.k == nil {
		k.fault(&ruleValue,
			"mbarrier of the bulk copy is a zero value, not created by a builder call")
		return false
	}
	return true
}

// bulkBytes returns the kernel and the byte count of a copy of n elements between two arrays. It
// reports an invalid length, address or state space.
func (a Array[T]) bulkBytes(what string, space isa.Space, other Array[T], otherSpace isa.Space,
	n Reg[U32]) (k *Kernel, bytes Reg[U32], ok bool) {
	k = a.at.k
	if k == nil {
		k = other.at.k
	}
	switch each := size(TypeOf[T]()); {
	case k == nil:
	case a.at.k == nil || other.at.k == nil || n.k == nil:
		k.fault(&ruleValue, "array or length in %s is a zero value, not created by a builder call",
			what)
	case !k.m.Has(90):
		k.fault(&ruleLacks,
			"%s does not support bulk copies, which need sm_90; use LoadVec and StoreVec, or CopyAsync of tiles",
			k.m.Target())
	case a.at.space != space || other.at.space != otherSpace:
		k.fault(&ruleMemory, "%s copies from %s to %s memory, expected %s to %s", what, a.at.space,
			other.at.space, space, otherSpace)
	case n.IsConstant() && (n.bits < 1 || n.bits*each%16 != 0):
		k.fault(&ruleMemory, "%s copies %d x %s, expected a multiple of 16 bytes", what, n.bits,
			TypeOf[T]())
	case n.IsConstant() && (a.isShorterThan(n.bits) || other.isShorterThan(n.bits)):
		k.fault(&ruleMemory,
			"%s copies %d elements, which is out of bounds: one of the variables is smaller", what,
			n.bits)
	case a.at.off%16 != 0 || other.at.off%16 != 0:
		k.fault(&ruleMemory, "address in %s is misaligned, expected a multiple of 16 bytes", what)
	default:
		a.at.requireAlignment(16)
		other.at.requireAlignment(16)
		return k, n.MulI(each), true
	}
	return k, n, false
}

// isShorterThan reports whether the array has a known length, of fewer than n elements.
func (a Array[T]) isShorterThan(n int64) bool {
	return a.at.v != nil && a.at.v.Size() > 0 && a.at.off+n*size(TypeOf[T]()) > a.at.v.Size()
}

// A Chunk is a number of adjacent elements of an array in global memory that a Pipeline copies to
// a stage with BulkLoad, without a tensor map.
type Chunk[T Scalar] struct {
	a    Array[T]
	n    int
	feed *TensorMap // has only a tile and a name
}

// ChunkOf divides an array into chunks of n elements. The length of the array must be a multiple of
// n.
func ChunkOf[T Scalar](a Array[T], n int) *Chunk[T] {
	c := &Chunk[T]{a: a, n: n,
		feed: &TensorMap{k: a.at.k, name: "array of the chunk",
			tile: Tile{Type: memory(TypeOf[T]()), Rows: 1, Cols: n}}}
	if k := a.at.k; k != nil &&
		(n < 1 || int64(n)*size(TypeOf[T]())%16 != 0 || a.at.space != isa.Global) {
		k.fault(&ruleShape,
			"chunk consists of %d x %s in %s memory, expected a multiple of 16 bytes in global memory",
			n, TypeOf[T](), a.at.space)
		c.n, c.feed.tile.Cols = 16, 16
	}
	return c
}

// Feed returns the chunks as an input of a Pipeline.
func (c *Chunk[T]) Feed() Feed { return Feed{from: c.feed} }

// Load starts the copy of chunk i of the array into a stage of Produce.
func (c *Chunk[T]) Load(s *Stage, i Reg[U32]) {
	if to, ok := s.fill(c.feed); ok {
		k := s.p.k
		from := c.a.At(i.MulI(int64(c.n)))
		k.When(k.Leader(), func() { from.BulkLoad(Array[T]{at: to.at}, k.U32(c.n), s.Full()) })
	}
}

// InStage returns the chunk that the stage holds.
func (c *Chunk[T]) InStage(s *Stage) Array[T] {
	return Array[T]{at: s.Tile(c.feed).Addr(), dims: []int{c.n}}
}
