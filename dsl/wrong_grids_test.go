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

// wrongGrids are mistakes with what blocks of a grid share out among them.
var wrongGrids = []wrongKernel{
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) {
		starts := dsl.Global[dsl.U32](k, "starts")
		k.PersistentGroups(starts, k.U32(4), 0, k.U32(1), 8)                     // want `D501: tiles of 0 rows in groups of 8; positive numbers are expected`
		k.PersistentGroups(dsl.Array[dsl.U32]{}, k.U32(4), 64, k.U32(1), 8)      // want `D201: the rows where groups start are in an array that no builder call made`
		for range k.PersistentGroups(starts, k.U32(4), 64, k.U32(1), 8).Each() { // want `D206: a Go break or return left the body of Each, which is built once`
			break
		}
	}},
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) {
		k.Lane().Set(k.U32(1))    // want `D201: Set of %laneid, which is read once for the whole kernel; begin with Var`
		k.CTAID().X.Set(k.U32(1)) // want `D201: Set of %ctaid.x, which is read once`
		k.WaitCopies(-1)          // want `D501: -1 groups under way; 0 or more are expected`
		k.WaitStores(-2)          // want `D501: -2 groups under way`
		k.WaitStoresRead(-3)      // want `D501: -3 groups under way`
	}},
	{"sm_90", func(m *dsl.Module, _ *dsl.Kernel) {
		k := m.Kernel("clustered", dsl.Threads(128), dsl.Cluster(2))
		k.PersistentGroups(dsl.Global[dsl.U32](k, "starts"), k.U32(4), 64, k.U32(1), 8) // want `D501: tiles of groups are dealt to blocks, one by one, and not to clusters of 2`
	}}, {"sm_90a", func(m *dsl.Module, k *dsl.Kernel) {
		parts, told := dsl.Global[dsl.F32](k, "parts"), dsl.Global[dsl.U32](k, "told")
		k.StreamK(k.U32(4), k.U32(4), k.U32(8), 0, 2, parts, told)           // want `D501: tiles in groups of 0 rows for 2 warpgroups; a positive number and 1 to 4 are expected`
		k.StreamK(k.U32(4), k.U32(4), k.U32(8), 8, 1, parts, dsl.Array[u]{}) // want `D201: the parts of shared sums are left in arrays that no builder call made`
		acc := k.Accumulator(64, 64, isa.S32)
		acc.SavePartial(parts)               // want `D401: Save of an accumulator of \.s32; sums of \.f32 are expected`
		acc.AddPartial(dsl.Array[dsl.F32]{}) // want `D201: AddSaved of sums at an address that no builder call made`
		for at := range k.StreamK(k.U32(4), k.U32(4), k.U32(8), 8, 1, parts, told).Each() {
			at.Fixup(nil, k.U32(0), func() {}) // want `D201: Join of sums that no builder call made.* from -1`
			at.Fixup(acc, k.U32(0), nil)       // want `D205: Join is given a function that is nil.* from -2`
		}
		dsl.StreamTile{}.Fixup(acc, k.U32(0), func() {}) // want `D201: Join of a tile that no builder call made`
		c := m.Kernel("clustered", dsl.Threads(128), dsl.Cluster(2))
		c.StreamK(c.U32(4), c.U32(4), c.U32(8), 8, 1, dsl.Global[dsl.F32](c, "parts"), dsl.Global[u](c, "told")) // want `D501: steps are dealt to blocks, one by one, and not to clusters of 2`
	}},
	// Semaphores and fences.
	{"sm_80", func(_ *dsl.Module, k *dsl.Kernel) { k.Semaphore(dsl.Array[u]{}, k.U32(0)) }},                    // want `D201: a semaphore in an array that no builder call made`
	{"sm_80", func(_ *dsl.Module, k *dsl.Kernel) { k.Semaphore(dsl.Shared[u](k, "s", 4), k.U32(0)).Arrive() }}, // want `D301: a semaphore in \.shared memory, which other blocks do not see; Barrier is for the threads of a block`
	{"sm_80", func(_ *dsl.Module, k *dsl.Kernel) {
		s := k.Semaphore(dsl.Global[u](k, "s"), k.U32(0))
		k.When(k.Lane().EQI(0), func() {
			s.Wait(k.U32(1)) // want `D205: a wait inside When, which guards single instructions; use If.* from -1|D205: a branch inside When.* from -1`
		})
	}},
	{"sm_80", func(_ *dsl.Module, k *dsl.Kernel) { k.Fence("block") }},          // want `D205: a fence for "block"; InCTA, InGPU, InSystem, and from sm_90 on InCluster are expected`
	{"sm_80", func(_ *dsl.Module, k *dsl.Kernel) { k.Fence(dsl.ScopeCluster) }}, // want `F402: `
	{"sm_60", func(_ *dsl.Module, k *dsl.Kernel) { k.Fence(dsl.ScopeCluster) }}, // want `D205: a fence for "cluster"; InCTA, InGPU, InSystem, and from sm_90 on InCluster are expected`
	// Sums of nothing.
	{"sm_90a", func(_ *dsl.Module, k *dsl.Kernel) {
		k.Accumulator(64, 64, isa.F32).Map(func(_ dsl.Cell, x f) f { return x.Exp() }) // want `D201: the sums of an accumulator into which nothing is multiplied; Clear makes them zero`
	}},
	{"sm_90a", func(_ *dsl.Module, k *dsl.Kernel) {
		d := k.Matrix("d", isa.F32).Sized(k.U32(64), k.U32(64))
		for i := range k.RangeI(0, 4) {
			acc := k.Accumulator(64, 64, isa.F32)
			acc.Store(d, i, i) // want `D201: the sums of an accumulator into which nothing is multiplied.* from -2`
		}
	}},
	{"sm_90a", func(_ *dsl.Module, k *dsl.Kernel) {
		acc := k.Accumulator(64, 64, isa.S32)
		for range k.RangeI(0, 4) {
			dsl.EachElement(acc, func(_, _ dsl.Reg[u], _, _ dsl.Reg[dsl.S32]) {}) // want `D201: the sums of an accumulator into which nothing is multiplied.*`
		}
	}},
	{"sm_90a", func(_ *dsl.Module, k *dsl.Kernel) {
		acc := k.Accumulator(64, 64, isa.F32)
		acc.RowReduce(func(a, b f) f { return a.Max(b) }) // want `D201: the sums of an accumulator into which nothing is multiplied.*`
		acc.Clear()
		acc.ToFragments(isa.Bf16)
	}},
	// Sizes, divisions and texts.
	{"sm_80", func(_ *dsl.Module, k *dsl.Kernel) { dsl.Shared[dsl.F32](k, "s", math.MaxInt64, 8) }}, // want `D302: s has a size of more than 2\^31 bytes`
	{"sm_80", func(_ *dsl.Module, k *dsl.Kernel) { dsl.Local[dsl.F64](k, "l", 1<<40) }},             // want `D302: l has a size of more than 512 KB, which is what a thread has of local memory`
	{"sm_80", func(_ *dsl.Module, k *dsl.Kernel) { dsl.Local[dsl.F64](k, "l", -4) }},                // want `D301: l has a dimension of -4; a positive number is expected`
	{"sm_80", func(_ *dsl.Module, k *dsl.Kernel) { k.Lane().DivI(0) }},                              // want `D204: div of a \.u32 by 0`
	{"sm_80", func(_ *dsl.Module, k *dsl.Kernel) { k.S64(7).Rem(k.S64(0)) }},                        // want `D204: rem of a \.s64 by 0`
	{"sm_80", func(_ *dsl.Module, k *dsl.Kernel) { k.Pragma("nounroll\";\nret") }},                  // want `D205: ".*" is no text for \.pragma, which is one line without quotation marks`
}
