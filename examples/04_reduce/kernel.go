// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package reduce is a kernel that sums a vector: within warps by shuffles, within a block through
// shared memory, and between blocks by atomics.
package reduce

import "github.com/ptxdsl/ptxdsl/dsl"

const threads = 256

// Build adds to m a kernel that adds the sum of x[0:n] to *sum. Each thread sums the elements of
// a grid-stride loop, each warp sums the values of its threads with shuffles, and each block sums
// the values of its warps through shared memory. One thread of each block then adds the sum of
// the block to *sum with an atomic.
func Build(m *dsl.Module) {
	k := m.Kernel("reduce", dsl.Threads(threads))
	x, sum := dsl.Global[dsl.F32](k, "x"), dsl.Global[dsl.F32](k, "sum")
	n := dsl.Param[dsl.U32](k, "n")
	total := k.F32(0).Var()
	for i := range k.GridStride(n) {
		total.Set(total.Add(x.Load(i, dsl.NC)))
	}
	block := dsl.BlockReduce(total, "sums", func(a, b dsl.Reg[dsl.F32]) dsl.Reg[dsl.F32] {
		return a.Add(b)
	})
	k.If(k.TID().X.EQI(0), func() { sum.Reduce("add", k.U32(0), block) })
}

// Reference returns the sum of x.
func Reference(x []float32) float64 {
	var sum float64
	for _, v := range x {
		sum += float64(v)
	}
	return sum
}
