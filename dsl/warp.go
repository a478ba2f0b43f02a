// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl

import (
	"github.com/ptxdsl/ptxdsl/dsl/internal/source"
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
)

// fullWarp is the member mask of all 32 lanes.
const fullWarp = 0xffffffff

func number(n int64) ir.Operand { return ir.Operand{Kind: ir.Int, Value: n} }

// shuffle emits a shfl.sync of a 32-bit value.
func (k *Kernel) shuffle(how string, x Reg[U32], n, clamp int64) Reg[U32] {
	d := fresh[U32](k)
	k.ins("shfl.sync."+how+".b32", d.in(k), x.register().in(k), number(n), number(clamp),
		number(fullWarp))
	return d
}

// shuffleValue moves a value of any type between lanes with shfl.sync of the given mode.
func shuffleValue[T Scalar](x Reg[T], how string, n ir.Operand, clamp int64) Reg[T] {
	k := x.k
	if k == nil {
		return x
	}
	k.annotateCollective("shuffle", false)
	x = x.register()
	d := fresh[T](k)
	k.exchange(TypeOf[T](), d.in(k), x.in(k), func(d, s ir.Operand) {
		k.ins("shfl.sync."+how+".b32", d, s, n, number(clamp), number(fullWarp))
	})
	return d
}

// exchange calls send for each 32 bits of a value of type t, and splits and joins values of other
// widths.
func (k *Kernel) exchange(t isa.Type, d, x ir.Operand, send func(d, s ir.Operand)) {
	switch held := registerType(t); held.Bits() {
	case 32:
		send(d, x)
	case 16:
		in, out := fresh[B32](k).in(k), fresh[B32](k).in(k)
		k.ins("cvt.u32.u16", in, k.as16Bits(x, held))
		send(out, in)
		if held.Class() == isa.Half {
			low := fresh[B16](k).in(k)
			k.ins("cvt.u16.u32", low, out)
			k.ins("mov.b16", d, low)
		} else {
			k.ins("cvt.u16.u32", d, out)
		}
	case 64:
		a, b := fresh[B32](k).in(k), fresh[B32](k).in(k)
		k.ins("mov.b64", k.vector(a, b), x)
		c, e := fresh[B32](k).in(k), fresh[B32](k).in(k)
		send(c, a)
		send(e, b)
		k.ins("mov.b64", d, k.vector(c, e))
	default:
		k.fault(&ruleOperand, "shuffle is not available for %s, expected 16, 32 or 64 bits", held)
	}
}

// as16Bits returns a 16-bit register as an untyped operand. A half-precision register is moved
// into an untyped one.
func (k *Kernel) as16Bits(o ir.Operand, t isa.Type) ir.Operand {
	if t.Class() != isa.Half {
		return o
	}
	d := fresh[B16](k)
	k.ins("mov.b16", d.in(k), o)
	return d.in(k)
}

// ShuffleXor returns the x of the lane whose index is the thread's lane index XOR mask.
func (x Reg[T]) ShuffleXor(mask int64) Reg[T] {
	return shuffleValue(x, "bfly", x.k.shuffleDistance(mask), 31)
}

// ShuffleDown returns the x of the lane whose index is n higher. The last n lanes get their own
// x.
func (x Reg[T]) ShuffleDown(n int64) Reg[T] {
	return shuffleValue(x, "down", x.k.shuffleDistance(n), 31)
}

// ShuffleUp returns the x of the lane whose index is n lower. The first n lanes get their own x.
func (x Reg[T]) ShuffleUp(n int64) Reg[T] {
	return shuffleValue(x, "up", x.k.shuffleDistance(n), 0)
}

// shuffleDistance returns a number of lanes as an operand of a shuffle.
func (k *Kernel) shuffleDistance(n int64) ir.Operand {
	if k != nil && (n < 0 || n > 31) {
		k.fault(&ruleConstant, "shuffle distance is %d lanes, expected 0 to 31", n)
		n = 0
	}
	return number(n)
}

// ShuffleFrom returns the x of the given lane.
func (x Reg[T]) ShuffleFrom(lane Reg[U32]) Reg[T] {
	if lane.IsConstant() && x.k != nil && (lane.bits < 0 || lane.bits > 31) {
		x.k.fault(&ruleConstant, "shuffle reads lane %d, expected 0 to 31", lane.bits)
		return x
	}
	if x.k == nil {
		return x
	}
	return shuffleValue(x, "idx", lane.in(x.k), 31)
}

// WarpReduce combines the x of all lanes of the warp and returns the result in every lane.
// combine must be associative and commutative.
func (x Reg[T]) WarpReduce(combine func(a, b Reg[T]) Reg[T]) Reg[T] {
	if x.k == nil || !x.k.checkFunctions("WarpReduce", combine != nil) {
		return x
	}
	x.k.checkFullWarps("WarpReduce")
	for mask := int64(16); mask > 0; mask /= 2 {
		x = combineLanes("WarpReduce", combine, x, x.ShuffleXor(mask))
	}
	return x
}

// checkFullWarps reports the call what, which needs all 32 lanes, if the block has a partial warp
// that executes it.
func (k *Kernel) checkFullWarps(what string) {
	if n := k.BlockThreads(); n%32 != 0 && len(k.conds) == 0 && k.role == nil && !k.isDivergent {
		k.fault(&ruleProtocol,
			"%s is called in a block of %d threads, whose last warp has only %d of 32 lanes: the missing lanes contribute undefined values",
			what, n, n%32)
	}
}

// WarpSum returns the sum of x over the warp in every lane.
func (x Reg[T]) WarpSum() Reg[T] {
	return x.WarpReduce(func(a, b Reg[T]) Reg[T] { return a.Add(b) })
}

// WarpMax returns the largest x of the warp in every lane.
func (x Reg[T]) WarpMax() Reg[T] {
	return x.WarpReduce(func(a, b Reg[T]) Reg[T] { return a.Max(b) })
}

// WarpMin returns the smallest x of the warp in every lane.
func (x Reg[T]) WarpMin() Reg[T] {
	return x.WarpReduce(func(a, b Reg[T]) Reg[T] { return a.Min(b) })
}

// Redux combines the 32-bit values x of the warp and returns the result in every lane, with
// redux.sync if the target has it (integers from sm_80 on, min and max of F32 on sm_100a) and
// with shuffles otherwise. The operation is add, min, max, and, or, xor.
func (x Reg[T]) Redux(how Mod) Reg[T] {
	if x.k == nil {
		return x
	}
	t := TypeOf[T]()
	combine := reduction[T](how)
	switch {
	case combine == nil:
		x.k.fault(&ruleOperand, "Redux has no operation %q, expected add, min, max, and, or, xor",
			how)
		return x
	case t == isa.F32 &&
		(how.isaMod() == isa.ModAdd || !x.k.m.Is("sm_100a", "sm_100f", "sm_103a", "sm_103f")),
		t.Bits() == 32 && t != isa.F32 && !x.k.m.Has(80):
		return x.WarpReduce(combine)
	}
	if how.isBitwise() {
		t = isa.B32
	}
	x.k.annotateCollective("Redux", false)
	d := fresh[T](x.k)
	x.k.ins("redux.sync."+string(how)+t.String(), d.in(x.k), x.register().in(x.k), number(fullWarp))
	return d
}

// reduction returns the operation for a modifier of redux, or nil if redux does not have the
// modifier.
func reduction[T Scalar](how Mod) func(a, b Reg[T]) Reg[T] {
	switch how.isaMod() {
	case isa.ModAdd:
		return func(a, b Reg[T]) Reg[T] { return a.Add(b) }
	case isa.ModMin:
		return func(a, b Reg[T]) Reg[T] { return a.Min(b) }
	case isa.ModMax:
		return func(a, b Reg[T]) Reg[T] { return a.Max(b) }
	case isa.ModAnd:
		return Reg[T].And
	case isa.ModOr:
		return Reg[T].Or
	case isa.ModXor:
		return Reg[T].Xor
	}
	return nil
}

// Ballot returns a mask with a bit for each lane of the warp in which p is true.
func (k *Kernel) Ballot(p Reg[Pred]) Reg[U32] {
	k = k.sound()
	k.annotateCollective("Ballot", false)
	d := fresh[U32](k)
	k.ins("vote.sync.ballot.b32", d.in(k), p.register().in(k), number(fullWarp))
	return d
}

// AnyLane reports whether p is true in any lane of the warp.
func (k *Kernel) AnyLane(p Reg[Pred]) Reg[Pred] { return k.sound().vote("any", p) }

// AllLanes reports whether p is true in every lane of the warp.
func (k *Kernel) AllLanes(p Reg[Pred]) Reg[Pred] { return k.sound().vote("all", p) }

func (k *Kernel) vote(how string, p Reg[Pred]) Reg[Pred] {
	k.annotateCollective("vote", false)
	d := fresh[Pred](k)
	k.ins("vote.sync."+how+".pred", d.in(k), p.register().in(k), number(fullWarp))
	return d
}

// ActiveLanes returns a mask of the lanes that are active, which need not be all lanes that will
// execute the call (activemask).
func (k *Kernel) ActiveLanes() Reg[U32] {
	k = k.sound()
	d := fresh[U32](k)
	k.ins("activemask.b32", d.in(k))
	return d
}

// MatchAny returns a mask of the lanes of the warp that have the same x as the thread (sm_70).
func (x Reg[T]) MatchAny() Reg[U32] {
	if x.k == nil {
		return Reg[U32]{}
	}
	x.k.annotateCollective("MatchAny", false)
	d := fresh[U32](x.k)
	x.k.ins(x.k.op("match.any.sync", bits(x.Type().Bits())), d.in(x.k), x.register().in(x.k),
		number(fullWarp))
	return d
}

// Elect returns a predicate that is true in one lane of the warp (elect.sync). Before sm_90 that
// is lane 0.
func (k *Kernel) Elect() Reg[Pred] {
	k = k.sound()
	if !k.m.Has(90) {
		return k.Lane().EQI(0)
	}
	p := fresh[Pred](k)
	k.ins("elect.sync", k.pairOperand(ir.Operand{Kind: ir.Sink}, p.in(k)), number(fullWarp))
	return p
}

// Sync waits for all threads of the block, and makes their memory accesses visible to each other
// (__syncthreads).
func (k *Kernel) Sync() {
	k = k.sound()
	k.noteBlockBarrier(false)
	k.annotateCollective("Sync", false)
	k.ins("bar.sync", number(0))
}

// SyncWarp waits for all threads of the warp, and makes their memory accesses visible to each
// other (__syncwarp).
func (k *Kernel) SyncWarp() {
	k = k.sound()
	k.annotateCollective("SyncWarp", false)
	k.ins("bar.warp.sync", number(fullWarp))
}

// SyncCluster waits for all threads of the cluster, and makes their memory accesses visible to
// each other (sm_90).
func (k *Kernel) SyncCluster() {
	k = k.sound()
	if !k.m.Has(90) {
		k.fault(&ruleLacks,
			"%s does not support clusters, which need sm_90; for the threads of a block use Sync",
			k.m.Target()).withFix(source.Rename("SyncCluster", "Sync"))
		return
	}
	k.noteBlockBarrier(true)
	k.annotateCollective("SyncCluster", true)
	k.ins("barrier.cluster.arrive.aligned")
	k.ins("barrier.cluster.wait.aligned")
}

// BlockReduce combines x over all threads of the block and returns the result in every thread.
// The block must consist of whole warps, and Threads must specify its size. It declares a shared
// variable called name.
func BlockReduce[T Scalar](x Reg[T], name string, combine func(a, b Reg[T]) Reg[T]) Reg[T] {
	k := x.k
	if k == nil {
		return x
	}
	warps, ok := k.checkWholeWarps("BlockReduce")
	if !ok || !k.checkFunctions("BlockReduce", combine != nil) {
		return x
	}
	k.annotateCollective("BlockReduce", true)
	x = x.WarpReduce(combine)
	if warps == 1 {
		return x
	}
	parts := Shared[T](k, k.partialsName(name), warps)
	k.If(k.Lane().EQI(0), func() { parts.Store(k.WarpIndex(), x) })
	k.Sync()
	if warps&(warps-1) == 0 {
		// Each lane below the number of warps loads the result of one warp; the other lanes repeat
		// these values.
		out := parts.Load(k.Lane().AndI(int64(warps - 1)))
		for mask := int64(warps / 2); mask > 0; mask /= 2 {
			out = combine(out, out.ShuffleXor(mask))
		}
		return out
	}
	out := parts.LoadI(0)
	for i := 1; i < warps; i++ {
		out = combine(out, parts.LoadI(int64(i)))
	}
	return out
}
