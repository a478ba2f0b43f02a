// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl

import (
	"fmt"

	"github.com/ptxdsl/ptxdsl/dsl/internal/source"
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
)

// An AccumulatorStage is one accumulator of a TMEM ring that is being filled or read.
type AccumulatorStage struct {
	t        *TMEM
	place    *place
	used     Reg[Pred] // whether it has contents to which the next MMA adds
	fills    bool
	row      Reg[U32] // address of the thread's row, in Drain
	empty    Barrier  // mbarrier on which Release arrives
	scope    int      // scope of the body that reads the accumulator
	released bool     // the accumulator has been released

	multiplied bool // an MMA was issued into the accumulator, or was rejected
}

// kernel returns the kernel of a, or nil for a zero value.
func (a *AccumulatorStage) kernel() *Kernel {
	if a == nil {
		return nil
	}
	return a.t.kernel()
}

// address returns the tensor memory address of the accumulator.
func (a *AccumulatorStage) address() Reg[U32] {
	k := a.t.k
	base := Reg[U32]{k: k, r: k.tmem.base}.AddI(int64(a.t.first))
	if a.t.shared > 0 {
		return a.second().MadI(int64(a.t.cols-a.t.shared), base)
	}
	if a.t.stages == 1 {
		return base
	}
	return a.place.stage.MadI(int64(a.t.cols), base)
}

// second returns 1 if an accumulator of an overlapping ring is at the second position, and
// otherwise 0. The positions alternate with the phase parity of the role. The filling role starts
// with parity 1, the reading role with parity 0.
func (a *AccumulatorStage) second() Reg[U32] {
	if a.fills {
		return a.place.parity.XorI(1)
	}
	return a.place.parity
}

// Release frees the accumulator before the body of Drain ends, so that the next MMAs can start
// while the body still uses the values that it has loaded. All threads of the role must call it,
// after the last Load, outside conditions and loops of the body.
func (a *AccumulatorStage) Release() {
	k := a.kernel()
	switch {
	case k == nil:
		return
	case a.fills:
		k.fault(&ruleProtocol,
			"Release is called on an accumulator that MMAs still write; release the one that Drain provides")
		return
	case a.released:
		k.fault(&ruleProtocol, "accumulator %s is released twice", a.t.name).
			withFix(source.Remove())
		return
	case k.scope() != a.scope:
		k.fault(&ruleProtocol,
			"Release is called inside a condition or a loop; the body of Drain must release the accumulator exactly once on every path")
		return
	}
	a.released = true
	t, empty := a.t, a.empty
	k.ins("tcgen05.fence::before_thread_sync")
	k.SyncWarp()
	if t.pair {
		// The even block issues the MMA and waits for this arrival. The preceding fence orders
		// the reads.
		order := ".relaxed"
		if t.shared > 0 {
			order = ".release" // the thread has written to the staging tile since the last barrier
		}
		k.When(k.Leader(), func() { empty.arriveAt(k.evenRank(), order) })
		t.countArrivals(t.empty, 2*k.roleWarps())
	} else {
		k.When(k.Leader(), empty.Arrive)
		t.countArrivals(t.empty, k.roleWarps())
	}
}

// commit makes an mbarrier track the completion of all MMAs that the thread has started
// (tcgen05.commit). In a CTA pair it applies to the corresponding mbarriers of both blocks.
func (k *Kernel) commit(b Barrier, pair bool) {
	op := "tcgen05.commit." + k.tmem.ctaGroup() + ".mbarrier::arrive::one.shared::cluster"
	switch {
	case pair && k.clusterSize() == 2:
		k.ins(op+".multicast::cluster.b64", k.arg(b.at), number(3))
		return
	case pair:
		k.ins(op+".multicast::cluster.b64", k.arg(b.at),
			k.arg(To[U16](k.shareMask(unshared, true))))
		return
	}
	k.ins(op+".b64", k.arg(b.at))
}

// Row returns the accumulator row that the thread reads, one of the 128 rows of its block. If the
// accumulator has 64 rows, the first sixteen lanes of each warp read one row each. In the other
// lanes Row is 64 or more, and the loaded values are meaningless.
func (a *AccumulatorStage) Row() Reg[U32] {
	k := a.kernel()
	if k == nil {
		return Reg[U32]{}
	}
	warp, lane := k.WarpIndex().AndI(3), k.Lane()
	if a.t.rows == 64 {
		return Select(lane.LTI(16), warp.MadI(16, lane), lane.AddI(64))
	}
	return warp.MadI(32, lane)
}

// Load returns n columns of the thread's row (see Row), starting at column col, in Drain.
func (a *AccumulatorStage) Load(col, n int) []Reg[F32] { return LoadAccumulator[F32](a, col, n) }

// LoadAccumulator loads elements as [AccumulatorStage.Load] does, for accumulators of another
// 32-bit type, such as S32 for products of integers.
func LoadAccumulator[T Scalar](a *AccumulatorStage, col, n int) []Reg[T] {
	k := a.kernel()
	if k == nil {
		return placeholderValues[T](k, n)
	}
	if t := TypeOf[T](); t.Bits() != 32 {
		k.fault(&ruleShape, "accumulator in tensor memory is read as %s, expected a 32-bit type", t)
		return placeholderValues[T](k, n)
	}
	if a.fills {
		k.fault(&ruleProtocol,
			"accumulator is read while MMAs write it; read the one that Drain provides")
		return placeholderValues[T](k, n)
	}
	if a.released {
		k.fault(&ruleProtocol,
			"accumulator is read after Release or Output.StoreTMEM: later MMAs may already overwrite it")
		return placeholderValues[T](k, n)
	}
	if col < 0 || n < 1 || n > 128 || n&(n-1) != 0 || col+n > a.t.cols {
		k.fault(&ruleShape,
			"columns %d to %d are read from an accumulator with %d columns; the number of columns must be a power of two up to 128",
			col, col+n-1, a.t.cols)
		return placeholderValues[T](k, n)
	}
	if a.t.half && TypeOf[T]() != isa.F32 {
		k.fault(&ruleShape, "accumulator of .f16 in tensor memory is read as %s, expected .f32",
			TypeOf[T]())
		return placeholderValues[T](k, n)
	}
	k.annotateWarpOperation("Load")
	k.noteReads(a.t.reads, col, n)
	at := a.row.AddI(int64(col))
	list := make([]Reg[T], n)
	regs := make([]ir.Operand, n)
	for i := range list {
		list[i] = fresh[T](k)
		regs[i] = list[i].in(k)
	}
	k.ins(fmt.Sprintf("tcgen05.ld.sync.aligned.32x32b.x%d.b32", n), k.list(ir.Vector, regs),
		tensorAddress(k, at))
	k.ins("tcgen05.wait::ld.sync.aligned")
	if a.t.half {
		for i, r := range regs {
			x := k.unpackWord(isa.F16, r)[0]
			list[i] = Reg[T]{k: k, r: x.r, scope: x.scope}
		}
	}
	return list
}

// placeholderValues returns n values after an error, so that building can continue.
func placeholderValues[T Scalar](k *Kernel, n int) []Reg[T] {
	list := make([]Reg[T], min(max(n, 0), 1<<10))
	for i := range list {
		list[i] = fresh[T](k.sound())
	}
	return list
}

// tensorAddress returns the operand [x], where x is a tensor memory address.
func tensorAddress(k *Kernel, x Reg[U32]) ir.Operand {
	return k.bracket(k.arg(x.register()))
}
