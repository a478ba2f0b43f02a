// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package code

import (
	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/isa"
)

// Memory shows memory spaces, vectors, atomics and synchronization.
func Memory(m *dsl.Module) {
	//cuda: `__constant__ float roots[] = {1, 1.5f};`
	roots := dsl.ConstantVariable[dsl.F32](m, "roots", 1, 1.5)

	//cuda: `__device__ unsigned seen[4];`
	seen := dsl.GlobalVariable[dsl.U32](m, "seen", 4)

	k := m.Kernel("memory", dsl.Threads(256))
	x, y := dsl.Global[dsl.F32](k, "x"), dsl.Global[dsl.F32](k, "y")
	count, table := dsl.Global[dsl.U32](k, "count"), dsl.Global[dsl.U64](k, "table")
	i, j := k.TID().X, k.CTAID().X

	//cuda: `roots[0]`, `seen[i]`
	use(roots.In(k).LoadI(0), seen.In(k).Load(i.AndI(3)))

	//cuda: `float4 v = ((const float4 *)x)[i];`
	v := x.LoadVec(i.ShlI(2), 4)
	y.StoreVec(i.ShlI(2), v)

	//cuda: `__ldg(&x[i])`
	use(x.Load(i, dsl.NC))

	//cuda: `__shared__ float tile[32][33]; tile[a][b]`
	tile := dsl.Shared[dsl.F32](k, "tile", 32, 33)
	tile.Store(tile.Index(i.ShrI(5), i.AndI(31)), x.Load(i))

	//cuda: `extern __shared__ float rest[];`
	rest := dsl.DynamicShared[dsl.F32](k, "rest")
	rest.Store(i, x.Load(i))

	//cuda: `__syncthreads()`, `__syncwarp()`
	k.Sync()
	k.SyncWarp()
	y.Store(i, tile.Load(tile.Index(i.AndI(31), i.ShrI(5))).Add(rest.Load(i)))

	//cuda: `float *row = rows[j]; row[i]`, where the pointer comes from memory
	row := dsl.Pointer[dsl.F32](table.Load(j), isa.Generic)
	use(row.Load(i))

	//cuda: `atomicAdd(&count[j], 1)`, without and with its result
	count.Reduce("add", j, k.U32(1))
	old := count.Atomic("add", j, k.U32(1))

	//cuda: `atomicCAS(&count[j], old, i)`
	use(count.CompareAndSwap(j, old, i))

	//cuda: `__threadfence()`
	k.Fence(dsl.ScopeGPU)

	//cuda: `ref.store(v, cuda::memory_order_release)`, `ref.load(cuda::memory_order_acquire)`
	count.Store(j, k.U32(1), dsl.Release, dsl.ScopeGPU)
	use(count.Load(j, dsl.Acquire, dsl.ScopeGPU))

	//cuda: `cooperative_groups::this_grid().sync()`, for a counter that is zero at the start
	s := k.Semaphore(count, k.U32(0))
	k.Sync()
	k.If(k.Thread().EQI(0), func() {
		s.Arrive()
		s.Wait(k.NCTAID().X)
	})
	k.Sync()

	//cuda: `cudaGridDependencySynchronize()`, `cudaTriggerProgrammaticLaunchCompletion()`
	k.WaitDependencies()
	k.LaunchDependents()
}
