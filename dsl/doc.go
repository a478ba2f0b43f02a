// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package dsl builds GPU kernels with Go calls. The calls run while the Go program runs on the CPU,
// and produce a module of PTX. The package does not run kernels; package runtime does.
//
// # Kernels
//
// A [Module] becomes one PTX file for one target. A [Kernel] is one of its functions; its methods
// append instructions to the body:
//
//	m := dsl.New("saxpy", "sm_90")
//	k := m.Kernel("saxpy", dsl.Threads(256))
//	x, y := dsl.Global[dsl.F32](k, "x"), dsl.Global[dsl.F32](k, "y")
//	a, n := dsl.Param[dsl.F32](k, "a"), dsl.Param[dsl.U32](k, "n")
//	for i := range k.GridStride(n) {
//		y.Store(i, a.FMA(x.Load(i), y.Load(i)))
//	}
//	text, err := m.Text()
//
// # Values
//
// A [Reg] is a value of which each thread has one. Go checks its type: a Reg[F32] is not an index,
// and adding it to a Reg[U32] does not compile. Operations return new values. Methods that end in I
// or F take a Go number: i.AddI(1), x.MulF(0.5).
//
// A variable is a value that can be assigned: v := x.Var() declares one and v.Set(y) assigns to it.
// In Go, w := v makes w the same variable; w := v.Var() copies its current value. [To] converts,
// [Bits] reinterprets, [Pack] and [Unpack] join and split halves, and [Select] chooses.
//
// Go control flow runs while the kernel is built: a Go loop unrolls, and a Go if selects what is
// built. [Kernel.If], [Kernel.Range], [Kernel.While] and [Kernel.Switch] emit branches that run on
// the GPU. The body of a range over [Kernel.Range] is built once. Leave the kernel's loop with
// [Kernel.Break]; a Go break is reported as an error.
//
// The lanes of a warp shuffle, vote and combine values: [Reg.ShuffleXor], [Kernel.Ballot],
// [Reg.WarpReduce], [Reg.WarpScan]. [BlockReduce] and [BlockScan] combine the threads of a block,
// and [ClusterReduce] the blocks of a cluster:
//
//	sum := dsl.BlockReduce(x, "sums", func(a, b dsl.Reg[dsl.F32]) dsl.Reg[dsl.F32] {
//		return a.Add(b)
//	})
//
// # Memory
//
// [Global] declares a pointer parameter, [Param] a scalar parameter, [Struct] a struct parameter,
// and [Shared] and [Local] variables. [GlobalVariable] and [ConstantVariable] belong to the module.
// [Pointer] accesses memory at an address that the kernel loaded, and [Array.InBlock] the shared
// memory of another block of the cluster.
//
// An [Array] loads and stores elements, and vectors of up to 16 bytes. [Array.Atomic] and
// [Array.Reduce] are atomic operations; [Array.BulkLoad] and similar methods are asynchronous bulk
// copies. A [Matrix] knows its size and clips copies and stores of tiles at its edges.
//
// Shared variables are allocated when the kernel is complete. If they exceed 48 KB they become one
// dynamic allocation, whose size [Kernel.DynamicShared] returns. [DynamicShared] declares a
// variable whose size the launch chooses.
//
// # Tiles and pipelines
//
// A [Tile] is a matrix in shared memory with its swizzle. A [TensorMap] is a matrix in global
// memory that the TMA copies in tiles, and a [Tensor] has one to five dimensions, im2col or
// gathered rows. [Element] finds an element of a swizzled tile.
//
// The accumulator depends on the target: [WarpTile] is for mma.sync (sm_80 and later),
// [Accumulator] for wgmma (sm_90a), [TMEM] for tcgen05 (sm_100a). Epilogues use [WarpTile.Map],
// [WarpTile.AddBias] and [WarpTile.RowReduce], and [WarpTile.ToFragments] makes the result an
// operand of the next MMA. An [OnlineSoftmax] is the state of attention between tiles of keys.
//
// Tiles reach the tensor cores through a pipeline. An [AsyncPipeline] uses cp.async, and
// [AsyncPipeline.Multiply] loads fragments ahead. A [Pipeline] uses TMA and bulk copies between the
// warp roles of [Kernel.Roles]; it manages stage indices, phase parities, byte counts, elections,
// fences and mbarriers. Threads can write the tiles of a pipeline too; see [ComputedTile].
//
//	ab := k.Pipeline("ab", 4, a.Feed(), b.Feed())
//	k.Roles(
//		dsl.OnWarp(8, "load", func() {
//			for s := range ab.Produce(steps) {
//				s.Load(a, dsl.TileAt(row, s.Iteration()))
//				s.Load(b, dsl.TileAt(col, s.Iteration()))
//			}
//		}),
//		dsl.OnWarps(0, 8, "multiply", func(warp dsl.Reg[dsl.U32]) {
//			for s := range ab.Consume(steps) {
//				w.MMA(s.Tile(a), fromA, s.Tile(b), fromB)
//			}
//		}),
//	)
//
// Coordinates named row and col count elements. Coordinates that count tiles have the type
// [TileCoord].
//
// A [Schedule] assigns output tiles to the blocks of a persistent grid ([Kernel.Persistent]).
// [Kernel.PersistentBalanced] is for causal attention. [Kernel.DynamicSchedule] lets the hardware
// assign tiles (sm_100), [Kernel.PersistentGroups] is for grouped GEMMs, [Kernel.StreamK] for
// stream-K, and [Kernel.BlockTile] for one tile per block. Blocks wait for each other at a
// [Semaphore], and a [Reduction] adds their accumulators, also in a fixed order.
// [Kernel.LaunchDependents] and [Kernel.WaitDependencies] overlap dependent kernels.
//
// Each abstraction can be opened: [Stage.Full], [Stage.Empty] and [Stage.Tile] return the mbarriers
// and tiles, and [Kernel.Ins] appends any PTX instruction given as text, checked like every other.
// Package dsl/op has a method for each instruction and modifier.
//
// # Mistakes
//
// Builder calls never return errors or panic, even on zero values, except if a nil [Func] is used.
// Mistakes are recorded with the line of the call and its callers, and [Module.Build] returns all
// of them: types, shapes, byte counts, swizzles that do not fit a box, overlapping roles, values
// used outside the branch that computes them, and instructions that the target does not have.
//
// Addresses and conditions that depend only on the thread index and constants are evaluated for
// each thread of the first block, in the first iteration of each loop, and in the last one of loops
// with constant bounds. Build reports misaligned vectors, out-of-bounds accesses of shared and
// local variables and tiles, overlapping stores of two warps, and shuffles, votes, MMAs and
// barriers that some lanes of a warp do not reach. It does not evaluate what depends on data or on
// launch parameters, nor code in device functions and after labels. The hazard analyzers check
// those; Build runs them unless [SkipHazards] is given.
package dsl
