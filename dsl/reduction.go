// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl

// A Reduction adds accumulators of many blocks to sums in global memory. Each sum has the elements
// of one accumulator, in the order of [Accumulator.SavePartial]. The additions are atomic, and the
// order in which blocks add is undefined, except after InOrder.
type Reduction struct {
	k      *Kernel
	to     Array[F32]
	size   int // elements of a sum
	groups int

	// for InOrder
	turns   Array[U32]
	staged  Array[F32] // the staging buffer of the first warpgroup
	barrier []NamedBarrier
	// index of the sum that the warpgroup has added to but not passed on, times two, plus one if
	// no other block adds to it; or notAdded
	latest Reg[U32]
}

// notAdded is the value of Reduction.latest if the warpgroup has passed on all sums.
const notAdded = 1<<32 - 1

// Reduction returns a reduction to the sums in an array, for F32 accumulators of 64 rows and the
// given number of columns, which each of the given number of warpgroups of a role computes. The
// array must be aligned to 16 bytes, and is not set to zero.
//
//	sums := k.Reduction(dsl.Global[dsl.F32](k, "sums"), 64, 2)
//	for step := range k.Range(k.U32(0), steps) {
//		part := k.Accumulator(64, 64, isa.F32)
//		part.MMA(a, b)
//		part.Wait()
//		sums.Add(part, half, step.MadI(2, half), k.CTAID().X, k.CTAID().X.EQ(last))
//	}
//	sums.Wait()
func (k *Kernel) Reduction(to Array[F32], cols, groups int) *Reduction {
	k = k.sound()
	if cols < 8 || cols > 256 || cols%8 != 0 || groups < 1 || groups > 4 {
		k.fault(&ruleShape,
			"reduction of %d columns for %d warpgroups, expected a multiple of 8 up to 256 and 1 to 4 warpgroups",
			cols, groups)
		cols, groups = 64, 1
	}
	if to.at.k == nil {
		k.fault(&ruleValue, "array of the reduction is a zero value, not created by a builder call")
		return nil
	}
	return &Reduction{k: k, to: to, size: 64 * cols, groups: groups}
}

// InOrder makes Add add to each sum in a fixed order, so that the bits of a sum do not depend on
// the order in which blocks run. Accumulators then pass through staging buffers in shared memory.
// The array has a counter for each sum, which must be zero when the launch starts, and is zero when
// it ends. Call it before the roles.
func (r *Reduction) InOrder(name string, turns Array[U32]) {
	k := r.kernel()
	if !checkCreated(k, "reduction in InOrder", turns.at.k) {
		return
	}
	if turns.at.k == nil {
		k.fault(&ruleValue, "array in InOrder is a zero value, not created by a builder call")
		return
	}
	r.turns, r.staged = turns, Shared[F32](k, name, r.groups, r.size)
	r.barrier, r.latest = k.barrierRow(r.groups, 128), k.U32(notAdded).Var()
}

// Add adds the accumulator of a warpgroup to sum i. All threads of the warpgroup must call it.
// After InOrder, the accumulators with the turns 0, 1, 2 are added in this order, and last must be
// true for the last one. The block that has the preceding turn must be running or finished, and
// blocks must add to sums in the same order: otherwise they wait for each other forever. Without
// InOrder, turn and last have no effect.
func (r *Reduction) Add(acc *Accumulator, group, i, turn Reg[U32], last Reg[Pred]) {
	k := r.kernel()
	if !checkCreated(k, "reduction in Add", acc.kernel(), group.k, i.k, turn.k, last.k) {
		return
	}
	switch {
	case acc.kernel() == nil:
		k.fault(&ruleValue, "accumulator in Add is a zero value, not created by a builder call")
		return
	case acc.rows*acc.cols != r.size:
		k.fault(&ruleShape, "accumulator of %dx%d is added to sums of 64x%d", acc.rows, acc.cols,
			r.size/64)
		return
	}
	to := r.to.At64(MulWide[U64](i, k.U32(r.size)))
	if r.turns.at.k == nil {
		acc.ReducePartial(to)
		return
	}
	staged := r.staged.At(group.MulI(int64(r.size)))
	r.pass()
	k.syncGroup(r.barrier, group)
	acc.SavePartial(staged)
	k.FenceAsync()
	k.syncGroup(r.barrier, group)
	k.If(r.isAddingThread(), func() {
		k.Semaphore(r.turns, i).Wait(turn)
		to.BulkReduce("add", staged, k.U32(r.size))
		k.CommitStores()
		r.latest.Set(i.ShlI(1).Or(Select(last, k.U32(1), k.U32(0))))
	})
}

// Wait waits until the sums have all accumulators that the warpgroup has added, if they are added
// in order. Call it after the last Add of a warpgroup, and ahead of other code in which the
// warpgroup waits for blocks.
func (r *Reduction) Wait() {
	if k := r.kernel(); k != nil && r.turns.at.k != nil {
		r.pass()
		k.allStoresWaited = true
	}
}

// kernel returns the kernel of r, or nil for a zero value.
func (r *Reduction) kernel() *Kernel {
	if r == nil {
		return nil
	}
	return r.k
}

// pass waits for the latest addition, and then lets the next block add to that sum.
func (r *Reduction) pass() {
	k := r.k
	k.If(r.isAddingThread(), func() {
		k.waitGroups("WaitStores", "cp.async.bulk.wait_group", 0)
		k.If(r.latest.NEI(notAdded), func() {
			turn := k.Semaphore(r.turns, r.latest.ShrI(1))
			k.If(r.latest.AndI(1).NEI(0), turn.Reset, turn.Arrive)
			r.latest.Set(k.U32(notAdded))
		})
	})
}

// isAddingThread returns a predicate that is true in the thread of each warpgroup that starts
// bulk copies.
func (r *Reduction) isAddingThread() Reg[Pred] { return r.k.Thread().AndI(127).EQI(0) }
