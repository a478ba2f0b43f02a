// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package reduce sums a vector.
package reduce

import "github.com/ptxdsl/ptxdsl/dsl"

const (
	threads = 256
	warps   = threads / 32
)

type f32 = dsl.Reg[dsl.F32]

func add(a, b f32) f32 { return a.Add(b) }

// Build adds the kernel reduce(x, sum, n) to a module: it adds the sum of x[0:n] to *sum.
func Build(m *dsl.Module) {
	k := m.Kernel("reduce", dsl.Threads(threads))
	x, sum := dsl.Global[dsl.F32](k, "x"), dsl.Global[dsl.F32](k, "sum")
	n := dsl.Param[dsl.U32](k, "n")

	// Each thread sums the elements of its stride.
	total := k.F32(0).Var()
	for i := range k.GridStride(n) {
		total.Set(total.Add(x.Load(i)))
	}

	// Each warp sums its 32 lanes.
	for mask := int64(16); mask > 0; mask /= 2 {
		total.Set(total.Add(total.ShuffleXor(mask)))
	}

	// Lane 0 of each warp writes the sum of its warp to shared memory.
	partial := dsl.Shared[dsl.F32](k, "partial", warps)
	k.If(k.Lane().EQI(0), func() { partial.Store(k.WarpIndex(), total) })
	k.Sync()

	// Thread 0 adds the sums of the warps, and adds the result to *sum.
	k.If(k.TID().X.EQI(0), func() {
		block := partial.LoadI(0)
		for w := int64(1); w < warps; w++ {
			block = block.Add(partial.LoadI(w))
		}
		sum.Reduce("add", k.U32(0), block)
	})
}

// BuildShort adds the same kernel, with the library's block reduction.
func BuildShort(m *dsl.Module) {
	k := m.Kernel("reduce", dsl.Threads(threads))
	x, sum := dsl.Global[dsl.F32](k, "x"), dsl.Global[dsl.F32](k, "sum")
	n := dsl.Param[dsl.U32](k, "n")
	total := k.F32(0).Var()
	for i := range k.GridStride(n) {
		total.Set(total.Add(x.Load(i)))
	}
	block := dsl.BlockReduce(total, "partial", add)
	k.If(k.TID().X.EQI(0), func() { sum.Reduce("add", k.U32(0), block) })
}
