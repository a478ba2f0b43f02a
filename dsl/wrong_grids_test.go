// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl_test

import (
	"math"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/isa"
)

type (
	u = dsl.U32
	f = dsl.Reg[dsl.F32]
)

// wrongGrids are mistakes in distributing work over the blocks of a grid.
var wrongGrids = []wrongKernel{
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) {
		starts := dsl.Global[dsl.U32](k, "starts")
		k.PersistentGroups(starts, k.U32(4), 0, k.U32(1), 8)                     // want `D501: PersistentGroups has tiles of 0 rows and groups of 8 rows of tiles, expected positive numbers`
		k.PersistentGroups(dsl.Array[dsl.U32]{}, k.U32(4), 64, k.U32(1), 8)      // want `D201: array starts of PersistentGroups is a zero value, not created by a builder call`
		for range k.PersistentGroups(starts, k.U32(4), 64, k.U32(1), 8).Each() { // want `D206: Go break or return leaves the body of Each, which is built only once`
			break
		}
	}},
	{"sm_90a", func(_ *dsl.Module, k *dsl.Kernel) {
		sums, one := dsl.Global[dsl.F32](k, "sums"), k.U32(1)
		k.Reduction(sums, 60, 1)                 // want `D401: reduction of 60 columns for 1 warpgroups, expected a multiple of 8 up to 256 and 1 to 4 warpgroups`
		k.Reduction(dsl.Array[dsl.F32]{}, 64, 1) // want `D201: array of the reduction is a zero value, not created by a builder call`
		r := k.Reduction(sums, 64, 1)
		r.InOrder("staged", dsl.Array[u]{})                                    // want `D201: array in InOrder is a zero value, not created by a builder call`
		r.Add(nil, k.U32(0), one, one, one.EQI(0))                             // want `D201: accumulator in Add is a zero value, not created by a builder call`
		r.Add(k.Accumulator(64, 128, isa.F32), k.U32(0), one, one, one.EQI(0)) // want `D401: accumulator of 64x128 is added to sums of 64x64`
		(*dsl.Reduction)(nil).Add(nil, one, one, one, one.EQI(0))              // want `D201: reduction in Add is a zero value, not created by a builder call`
		k.Accumulator(64, 64, isa.S32).ReducePartial(sums)                     // want `D401: ReducePartial is called on an accumulator of \.s32, expected \.f32`
		x := k.Tensor("x", isa.Bf16, []int{1, 64, 64}, dsl.Swizzle128)
		y := k.Tensor("y", isa.F16, []int{1, 64, 64}, dsl.Swizzle128)
		k.TensorOutput("none", nil, 1) // want `D201: tensor map of output none is a zero value, not created by a builder call`
		out, acc := k.TensorOutput("out", x, 1), k.Accumulator(64, 64, isa.F32)
		out.StoreBox(y, acc, 0, k.U32(0), one, one, one)                             // want `D401: tensor y has boxes of 64x64 \.f16 .*, but the output has tiles of 64x64 \.bf16 .*`
		out.StoreBox(nil, acc, 0, k.U32(0), one, one, one)                           // want `D201: tensor in StoreBox is a zero value, not created by a builder call`
		out.StoreBox(x, k.Accumulator(64, 128, isa.F32), 0, k.U32(0), one, one, one) // want `D401: accumulator of 64x128 does not match the output tile .*`
	}},
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) {
		k.Lane().Set(k.U32(1))    // want `D201: Set is called on %laneid, which is read once per kernel; declare a variable with Var`
		k.CTAID().X.Set(k.U32(1)) // want `D201: Set is called on %ctaid\.x, which is read once per kernel; declare a variable with Var`
		k.WaitCopies(-1)          // want `D501: WaitCopies allows -1 groups in flight, expected 0 or more`
		k.WaitStores(-2)          // want `D501: WaitStores allows -2 groups in flight, expected 0 or more`
		k.WaitStoresRead(-3)      // want `D501: WaitStoresRead allows -3 groups in flight, expected 0 or more`
	}},
	{"sm_90", func(m *dsl.Module, _ *dsl.Kernel) {
		k := m.Kernel("clustered", dsl.Threads(128), dsl.Cluster(2))
		k.PersistentGroups(dsl.Global[dsl.U32](k, "starts"), k.U32(4), 64, k.U32(1), 8) // want `D501: PersistentGroups is used in a cluster of 2 blocks, expected no cluster`
		k.PersistentBalanced(k.U32(4), k.U32(4), 8, true)                               // want `D501: PersistentBalanced is used in a cluster of 2 blocks, expected no cluster`
	}}, {"sm_90a", func(m *dsl.Module, k *dsl.Kernel) {
		partials, flags := dsl.Global[dsl.F32](k, "partials"), dsl.Global[dsl.U32](k, "flags")
		k.StreamK(k.U32(4), k.U32(4), k.U32(8), 0, 2, partials, flags)          // want `D501: StreamK has groups of 0 rows of tiles and 2 warpgroups, expected a positive number and 1 to 4`
		k.StreamK(k.U32(4), k.U32(4), k.U32(8), 8, 1, partials, dsl.Array[u]{}) // want `D201: arrays of StreamK are a zero value, not created by a builder call`
		acc := k.Accumulator(64, 64, isa.S32)
		acc.SavePartial(partials)            // want `D401: SavePartial is called on an accumulator of \.s32, expected \.f32`
		acc.AddPartial(dsl.Array[dsl.F32]{}) // want `D201: address in AddPartial is a zero value, not created by a builder call`
		for at := range k.StreamK(k.U32(4), k.U32(4), k.U32(8), 8, 1, partials, flags).Each() {
			at.Fixup(nil, k.U32(0), func() {}) // want `D201: accumulator in Fixup is a zero value, not created by a builder call from -1`
			at.Fixup(acc, k.U32(0), nil)       // want `D205: Fixup is called with a nil function from -2`
		}
		dsl.StreamTile{}.Fixup(acc, k.U32(0), func() {}) // want `D201: tile in Fixup is a zero value, not created by a builder call`
		c := m.Kernel("clustered", dsl.Threads(128), dsl.Cluster(2))
		c.StreamK(c.U32(4), c.U32(4), c.U32(8), 8, 1, dsl.Global[dsl.F32](c, "partials"), dsl.Global[u](c, "flags")) // want `D501: StreamK is used in a cluster of 2 blocks, expected no cluster`
	}},
	// Semaphores and fences.
	{"sm_80", func(_ *dsl.Module, k *dsl.Kernel) { k.Semaphore(dsl.Array[u]{}, k.U32(0)) }},                    // want `D201: array of the semaphore is a zero value, not created by a builder call`
	{"sm_80", func(_ *dsl.Module, k *dsl.Kernel) { k.Semaphore(dsl.Shared[u](k, "s", 4), k.U32(0)).Arrive() }}, // want `D301: semaphore is in \.shared memory, which other blocks cannot access; to synchronize the threads of one block use Barrier`
	{"sm_80", func(_ *dsl.Module, k *dsl.Kernel) {
		s := k.Semaphore(dsl.Global[u](k, "s"), k.U32(0))
		k.When(k.Lane().EQI(0), func() {
			s.Wait(k.U32(1)) // want `D205: branch is inside When, which predicates single instructions; use If from -1`
		})
	}},
	{"sm_80", func(_ *dsl.Module, k *dsl.Kernel) { k.Fence("block") }},          // want `D205: scope of the fence is "block", expected ScopeCTA, ScopeGPU, ScopeSys, or from sm_90 on ScopeCluster`
	{"sm_80", func(_ *dsl.Module, k *dsl.Kernel) { k.Fence(dsl.ScopeCluster) }}, // want `F402: `
	{"sm_60", func(_ *dsl.Module, k *dsl.Kernel) { k.Fence(dsl.ScopeCluster) }}, // want `D205: scope of the fence is "cluster", expected ScopeCTA, ScopeGPU, ScopeSys, or from sm_90 on ScopeCluster`
	// Accumulators that no MMA writes.
	{"sm_90a", func(_ *dsl.Module, k *dsl.Kernel) {
		k.Accumulator(64, 64, isa.F32).Map(func(_ dsl.Cell, x f) f { return x.Exp() }) // want `D201: accumulator is uninitialized: no MMA writes it, and Clear is not called`
	}},
	{"sm_90a", func(_ *dsl.Module, k *dsl.Kernel) {
		d := k.Matrix("d", isa.F32).Sized(k.U32(64), k.U32(64))
		for i := range k.RangeI(0, 4) {
			acc := k.Accumulator(64, 64, isa.F32)
			acc.Store(d, i, i) // want `D201: accumulator is uninitialized: no MMA writes it, and Clear is not called from -2`
		}
	}},
	{"sm_90a", func(_ *dsl.Module, k *dsl.Kernel) {
		acc := k.Accumulator(64, 64, isa.S32)
		for range k.RangeI(0, 4) {
			dsl.EachElement(acc, func(_, _ dsl.Reg[u], _, _ dsl.Reg[dsl.S32]) {}) // want `D201: accumulator is uninitialized: no MMA writes it, and Clear is not called`
		}
	}},
	{"sm_90a", func(_ *dsl.Module, k *dsl.Kernel) {
		acc := k.Accumulator(64, 64, isa.F32)
		acc.RowReduce(func(a, b f) f { return a.Max(b) }) // want `D201: accumulator is uninitialized: no MMA writes it, and Clear is not called`
		acc.Clear()
		acc.ToFragments(isa.Bf16)
	}},
	// Sizes, divisions and strings.
	{"sm_80", func(_ *dsl.Module, k *dsl.Kernel) { dsl.Shared[dsl.F32](k, "s", math.MaxInt64, 8) }}, // want `D302: s is larger than 2\^31 bytes`
	{"sm_80", func(_ *dsl.Module, k *dsl.Kernel) { dsl.Local[dsl.F64](k, "l", 1<<40) }},             // want `D302: l is larger than 512 KB, the local memory of a thread`
	{"sm_80", func(_ *dsl.Module, k *dsl.Kernel) { dsl.Local[dsl.F64](k, "l", -4) }},                // want `D301: l has a dimension of -4, expected a positive number`
	{"sm_80", func(_ *dsl.Module, k *dsl.Kernel) { k.Lane().DivI(0) }},                              // want `D204: division by zero in div of \.u32`
	{"sm_80", func(_ *dsl.Module, k *dsl.Kernel) { k.S64(7).Rem(k.S64(0)) }},                        // want `D204: division by zero in rem of \.s64`
	{"sm_80", func(_ *dsl.Module, k *dsl.Kernel) { k.Pragma("nounroll\";\nret") }},                  // want `D205: "nounroll\\";\\nret" is not a valid \.pragma, expected one line without quotation marks`
}
