// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl

import (
	"fmt"

	"github.com/ptxdsl/ptxdsl/dsl/internal/source"
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
)

// setup describes the code that one thread runs at the start of a kernel, before the other
// threads continue: it initializes mbarriers and prefetches tensor maps.
type setup struct {
	store    *ir.Var // array in shared memory that holds all mbarriers
	barriers []*barrierSpec
	extra    []func()
}

// A barrierSpec is an array of mbarriers in shared memory.
type barrierSpec struct {
	name      string
	first     int // index in store of the first mbarrier of the array
	n         int
	count     int    // arrivals that complete a phase, including those added by pipelines
	firstWait ir.Pos // position of the author's first wait
	// whether the kernel contains an arrival, or takes the address; mbarriers of pipelines have
	// an arrival count instead
	hasArrival bool
	pos        ir.Pos
	pair       bool // copies of both blocks of a pair complete on the even block's mbarrier
}

// A Barrier is an mbarrier in shared memory, or an array of mbarriers of which [Barrier.At]
// selects one. See [NamedBarrier] for barrier.sync.
type Barrier struct {
	spec *barrierSpec
	at   Addr
}

// Barrier declares an mbarrier that expects count arrivals per phase. It is initialized before the
// kernel's first instruction.
func (k *Kernel) Barrier(name string, count int) Barrier { return k.Barriers(name, 1, count) }

// Barriers declares an array of n mbarriers; [Barrier.At] selects one.
func (k *Kernel) Barriers(name string, n, count int) Barrier {
	k = k.sound()
	if count < 1 || count > 1<<20-1 {
		k.fault(&ruleProtocol, "mbarrier %s expects %d arrivals, expected 1 to %d", name, count,
			1<<20-1).
			withFix(nearest(count, 1, 1<<20-1, 1))
		count = 1
	}
	b := k.barriers(name, n, count)
	b.spec.hasArrival = false
	return b
}

func (k *Kernel) barriers(name string, n, count int) Barrier {
	if !k.m.Has(80) {
		k.fault(&ruleLacks,
			"%s does not support mbarriers, which need sm_80; use Sync or NamedBarrier",
			k.m.Target())
	}
	if n < 1 {
		k.fault(&ruleProtocol, "array %s has %d mbarriers, expected a positive number", name, n)
		n = 1
	}
	s := &k.setup
	if s.store == nil {
		s.store = k.newShared(unique("barriers", k.names), isa.B64, 8, []int{1})
		s.store.Dims[0] = 0
	}
	spec := &barrierSpec{name: name, first: int(s.store.Dims[0]), n: n, count: count,
		pos: k.m.calls.Here(), hasArrival: true}
	s.store.Dims[0] += int64(n)
	s.barriers = append(s.barriers, spec)
	return Barrier{spec: spec,
		at: Addr{k: k, space: isa.SharedCTA, v: s.store, off: int64(8 * spec.first), align: 8}}
}

// isPaired reports whether the copies of both blocks of a pair complete on the even block's
// mbarrier.
func (b Barrier) isPaired() bool { return b.spec != nil && b.spec.pair }

// Addr returns the address of the mbarrier in shared memory. The kernel may then arrive on the
// mbarrier through the address, so Build no longer reports a missing arrival.
func (b Barrier) Addr() Addr {
	b.noteArrival()
	return b.at
}

// noteArrival records that the kernel contains an arrival on the mbarrier, or may contain one.
func (b Barrier) noteArrival() {
	if b.spec != nil {
		b.spec.hasArrival = true
	}
}

// At returns element n of an array of mbarriers. A constant n that is out of bounds is reported.
func (b Barrier) At(n Reg[U32]) Barrier {
	if b.at.k != nil {
		if n.IsConstant() {
			return b.AtI(int(n.bits))
		}
		b.at = b.at.add(n.ShlI(3))
	}
	return b
}

// AtI returns element n of an array of mbarriers. An n that is out of bounds is reported.
func (b Barrier) AtI(n int) Barrier {
	if b.at.k != nil && (n < 0 || n >= b.spec.n) {
		b.at.k.fault(&ruleProtocol, "mbarrier index %d is out of bounds: array %s has %d", n,
			b.spec.name, b.spec.n)
		n = 0
	}
	b.at = b.at.Plus(int64(8 * n))
	return b
}

// Arrive arrives on the mbarrier once for each thread that executes it.
func (b Barrier) Arrive() {
	b.noteArrival()
	if k := b.at.k; k != nil {
		if !k.m.Has(90) {
			d := fresh[U64](k) // the sink operand requires sm_90
			k.ins("mbarrier.arrive.shared::cta.b64", d.in(k), b.at.in(k))
			return
		}
		k.ins("mbarrier.arrive.shared::cta.b64", ir.Operand{Kind: ir.Sink}, b.at.in(k))
	}
}

// ArriveAfterMMA arrives once when all tcgen05 MMAs that the thread has started are complete, so
// that their shared memory operands can be overwritten (tcgen05.commit). The one-warp role that
// issues the MMAs calls it for tiles that belong to no Pipeline.
func (b Barrier) ArriveAfterMMA() {
	b.noteArrival()
	if k := b.at.k; k != nil {
		if k.tmem.base == nil {
			k.fault(&ruleProtocol,
				"ArriveAfterMMA is called in a kernel without tcgen05 MMAs; for wgmma use Accumulator.Wait")
			return
		}
		k.When(k.Leader(), func() { k.commit(b, false) })
	}
}

// ArriveExpect arrives on the mbarrier and adds bytes to the transaction count that the phase
// expects from asynchronous copies (mbarrier.arrive.expect_tx).
func (b Barrier) ArriveExpect(bytes Reg[U32]) {
	b.noteArrival()
	if k := b.at.k; k != nil {
		if bytes.IsConstant() && bytes.bits >= 1<<20 {
			k.fault(&ruleProtocol,
				"mbarrier phase expects %d bytes, more than the maximum transaction count of %d",
				bytes.bits, 1<<20-1)
		}
		k.ins("mbarrier.arrive.expect_tx.shared::cta.b64", ir.Operand{Kind: ir.Sink}, b.at.in(k),
			bytes.in(k))
	}
}

// ArriveAt arrives on the corresponding mbarrier of another block of the cluster, given its rank.
// Threads that wait there with WaitCluster can read what this thread wrote before.
func (b Barrier) ArriveAt(rank Reg[U32]) { b.arriveAt(rank, ".release") }

// arriveAt implements ArriveAt with the given memory order. An arrival with .release at cluster
// scope makes the thread wait for all of its memory accesses; use .relaxed if there is nothing to
// order.
func (b Barrier) arriveAt(rank Reg[U32], order string) {
	k := b.at.k
	if k == nil {
		return
	}
	b.noteArrival()
	if k.clusterSize() == 1 {
		k.fault(&ruleProtocol,
			"ArriveAt is called in a kernel without Cluster; for the block's own mbarrier use Arrive").
			withFix(source.RenameCall("ArriveAt", "Arrive()"))
	}
	k.checkRank(rank)
	far := fresh[U32](k)
	k.ins("mapa.shared::cluster.u32", far.in(k), b.at.Value().in(k), rank.in(k))
	k.ins("mbarrier.arrive"+order+".cluster.shared::cluster.b64", ir.Operand{Kind: ir.Sink},
		k.arg(Addr{k: k, space: isa.SharedCluster, reg: far.r, scope: far.scope}))
}

// Wait waits for the completion of the phase with the given parity: 0 for the first phase, 1 for
// the second, and so on, alternating. Waiting for parity 1 on a newly initialized mbarrier returns
// at once. After Wait a thread can read what the threads of this block wrote before they arrived.
// For arrivals from other blocks use WaitCluster.
func (b Barrier) Wait(parity Reg[U32]) {
	b.noteWait()
	b.wait(parity, "")
}

// noteWait records the position of the first wait on the mbarrier in the author's code.
//
//go:noinline
func (b Barrier) noteWait() {
	if b.spec != nil && b.at.k != nil && b.spec.firstWait == ir.NoPos {
		b.spec.firstWait = b.at.k.m.calls.Here()
	}
}

// WaitCluster waits as Wait does, but acquires at cluster scope, so that the thread can also read
// what threads of other blocks of the cluster wrote before they arrived with ArriveAt (sm_90).
func (b Barrier) WaitCluster(parity Reg[U32]) {
	if k := b.at.k; k != nil && !k.m.Has(90) {
		k.fault(&ruleLacks,
			"%s does not support clusters, which need sm_90; for arrivals of this block use Wait",
			k.m.Target()).withFix(source.Rename("WaitCluster", "Wait"))
		return
	}
	b.noteWait()
	b.wait(parity, ".acquire.cluster")
}

func (b Barrier) wait(parity Reg[U32], order string) {
	k := b.at.k
	if k == nil {
		return
	}
	if k.guard.Reg != nil {
		k.fault(&ruleOperand,
			"wait is called inside When, which predicates single instructions; use If")
	}
	again := k.newBlock("wait")
	k.place(again)
	done := fresh[Pred](k)
	how := "test"
	if k.m.Has(90) {
		how = "try"
	}
	k.ins("mbarrier."+how+"_wait.parity"+order+".shared::cta.b64", done.in(k), b.at.in(k),
		parity.in(k))
	k.branchIf(done, true, again)
}

// emitSetup emits the setup code at the start of the kernel. During the call it replaces the
// kernel's list of blocks.
func (k *Kernel) emitSetup() {
	s := &k.setup
	if len(s.barriers) == 0 && len(s.extra) == 0 {
		return
	}
	if s.store != nil && s.store.Dims[0] == 0 {
		s.store.Dims[0] = 1
	}
	if len(s.barriers) > 0 || len(k.maps) > 0 {
		k.m.calls.At(k.setupPos(), k.initializeBarriers)
	}
	for _, f := range s.extra {
		k.m.calls.At(k.tmem.pos, f)
	}
	k.m.calls.At(k.setupPos(), func() {
		switch {
		case k.clusterSize() > 1:
			k.SyncCluster()
		case len(s.extra) == 0: // the extra setup code ends with a barrier
			k.Sync()
		}
	})
}

// setupPos returns the position of the declaration to which the setup code of the mbarriers
// belongs: the first mbarrier, or else the kernel.
func (k *Kernel) setupPos() ir.Pos {
	if len(k.setup.barriers) > 0 {
		return k.setup.barriers[0].pos
	}
	return k.f.Pos
}

// initializeBarriers emits the initialization of the mbarriers by one thread.
func (k *Kernel) initializeBarriers() {
	s := &k.setup
	tid := k.Thread()
	k.Comment("one thread initializes the barriers")
	k.If(tid.EQI(0), func() {
		for _, m := range k.maps {
			k.m.calls.At(m.v.Pos, func() { k.ins("prefetch.tensormap", m.addr().in(k)) })
		}
		for _, b := range s.barriers {
			k.m.calls.At(b.pos, func() { k.initialize(b) })
		}
		if k.m.Has(90) {
			k.ins("fence.mbarrier_init.release.cluster")
		}
	})
}

// initialize emits the initialization of an array of mbarriers.
func (k *Kernel) initialize(b *barrierSpec) {
	for i := range b.n {
		at := Addr{k: k, space: isa.SharedCTA, v: k.setup.store, off: int64(8 * (b.first + i))}
		// a count of 0 is reported when the kernel is complete
		k.ins("mbarrier.init.shared::cta.b64", at.in(k), number(int64(max(1, b.count))))
	}
}

// clusterSize returns the number of blocks in a cluster.
func (k *Kernel) clusterSize() int { return max(1, k.cluster[0]*k.cluster[1]*k.cluster[2]) }

// A NamedBarrier is one of the sixteen hardware barriers of a block (barrier.sync), for some of its
// warps.
type NamedBarrier struct {
	k       *Kernel
	id      int
	threads int
}

// NamedBarrier reserves one of the sixteen named barriers of the block, on which the given number
// of threads meet. The number must be a multiple of 32.
func (k *Kernel) NamedBarrier(threads int) NamedBarrier {
	k = k.sound()
	if k.nextBarrier() > 15 {
		if n := len(k.textBarriers); n == 0 {
			k.fault(&ruleProtocol,
				"block uses more than 15 named barriers, besides barrier 0 of Sync")
		} else {
			k.fault(&ruleProtocol,
				"block uses more than 15 named barriers, besides barrier 0 of Sync; Ins uses %d of them",
				n)
		}
		k.lastBarrier = 15
	}
	if threads < 32 || threads%32 != 0 || threads > 1024 {
		k.fault(&ruleProtocol, "named barrier expects %d threads, expected a multiple of 32",
			threads).
			withFix(nearest(threads, 32, 1024, 32))
		threads = 32
	}
	if n := k.BlockThreads(); n != 0 && threads > n {
		k.fault(&ruleProtocol, "named barrier expects %d threads, but the block has %d", threads, n)
	}
	return NamedBarrier{k: k, id: k.lastBarrier, threads: threads}
}

// Sync waits for all threads of the barrier (barrier.sync).
func (b NamedBarrier) Sync() {
	if b.k != nil {
		b.k.noteNamedBarrier(b, true)
		b.k.annotateNamedBarrier("Sync", b.threads)
		b.k.ins("bar.sync", number(int64(b.id)), number(int64(b.threads)))
	}
}

// Arrive arrives on the barrier without waiting (barrier.arrive).
func (b NamedBarrier) Arrive() {
	if b.k != nil {
		b.k.noteNamedBarrier(b, false)
		b.k.annotateNamedBarrier("Arrive", b.threads)
		b.k.ins("bar.arrive", number(int64(b.id)), number(int64(b.threads)))
	}
}

// String returns the barrier number for messages, such as "named barrier 3".
func (b NamedBarrier) String() string { return fmt.Sprintf("named barrier %d", b.id) }
