// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package dsl builds GPU kernels with Go calls: they run once, while the program runs on the CPU, and leave a module of PTX behind. It
// does not run kernels, and it knows nothing of the text of PTX, which package lower writes.
//
// # A kernel
//
// A [Module] is what becomes one PTX file, for one target. A [Kernel] is a function of it whose methods append to its body:
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
// A [Reg] is a value that each thread has one of. Its type is checked by Go: a Reg[F32] is no index, and adding it to a Reg[U32] does not
// compile. Operations return new values; methods that end in I or F take a Go number, as in i.AddI(1) and x.MulF(0.5). What changes
// is a variable: v := x.Var() makes one, v.Set(y) writes it, and w := v.Var() keeps what it is now, since w := v is the same variable. [To] converts, [Bits] reinterprets, [Pack] and [Unpack] join and split
// halves, [Select] chooses.
//
// Go runs while the kernel is built, so that a Go loop unrolls and a Go if chooses between kernels; [Kernel.If], [Kernel.Range],
// [Kernel.While] and [Kernel.Switch] make code that branches when the kernel runs. The body of a range over [Kernel.Range] is
// built once; leave the kernel's loop with [Kernel.Break], never with a Go break, which is found and reported.
//
// Threads work together through values too. The lanes of a warp shuffle, vote, and combine: [Reg.ShuffleXor], [Kernel.Ballot],
// [Reg.WarpReduce], [Reg.WarpScan]. All threads of a block do with [BlockReduce] and [BlockScan], blocks of a cluster with [ClusterReduce]:
//
//	sum := dsl.BlockReduce(x, "sums", func(a, b dsl.Reg[dsl.F32]) dsl.Reg[dsl.F32] { return a.Add(b) })
//
// # Memory
//
// [Global] is a pointer parameter, [Shared] and [Local] are variables, [Param] is a number. An [Array] loads and stores elements, and vectors
// of up to 16 bytes; [Array.Atomic] and [Array.Reduce] combine them with what is there. Shared variables are laid out when all are known; beyond
// 48 KB they become one dynamic array whose size [Kernel.DynamicShared] tells, and behind it there may be more, as much as the launch
// gives ([DynamicShared]). [Array.BulkLoad] and its kin copy runs of numbers in the background. [Table] and [GlobalVariable] belong to the module, [Struct] is a parameter of several values, and
// [Array.In] reaches the shared memory of another block of a [Cluster], and [Pointer] what an address that the kernel loaded leads to. A [Matrix] knows its edges: copies and stores of tiles are
// clipped there.
//
// # Tiles and protocols
//
// A [Tile] is a matrix in shared memory with its swizzle, a [TensorMap] a matrix in global memory that the TMA copies in tiles, and a [Tensor] what
// has one to five dimensions, images, or rows to be gathered. [Element] finds a number of a tile, wherever its swizzle puts it. Who multiplies
// depends on the target: [WarpTile] is mma.sync (from sm_80 on), [Accumulator] wgmma (sm_90a), [TMEM] tcgen05 (sm_100a). Sums are there to be
// computed with: [WarpTile.Map] and [WarpTile.RowReduce] go over them, and [WarpTile.As] makes them a factor of the next product, as [Accumulator.As] does. What feeds
// tensor cores is the same for all: an [AsyncPipeline] of cp.async copies ([AsyncPipeline.Multiply] reads fragments ahead), or a [Pipeline] of TMA and bulk copies between [Kernel.Roles], which
// hides stages, phases, byte counts, the election of a thread, fences, and who tells whom; tiles of a pipeline that threads make are [Written].
//
//	ab := k.Pipeline("ab", 4, a.Feed(), b.Feed())
//	k.Roles(
//		dsl.OnWarp(8, "load", func() {
//			for s := range ab.Produce(steps) {
//				s.Load(a, row, s.Index())
//				s.Load(b, col, s.Index())
//			}
//		}),
//		dsl.OnWarps(0, 8, "multiply", func(warp dsl.Reg[dsl.U32]) {
//			for s := range ab.Consume(steps) {
//				w.MMA(s.Tile(a), fromA, s.Tile(b), fromB)
//			}
//		}),
//	)
//
// A [Schedule] deals tiles of a result to blocks that stay ([Kernel.Persistent]), or lets the hardware do it ([Kernel.Dynamic], sm_100);
// [Kernel.PersistentGroups] deals those of several products whose heights stand in memory, and [Kernel.StreamK] steps of tiles, as many to each
// block. Blocks wait for one another at a [Semaphore].
// [Kernel.Grouped] is the tile of a block that does not stay. [TensorMap.Reduce] adds tiles up in memory. [Kernel.LaunchDependents] and
// [Kernel.WaitDependencies] let one kernel begin before another is done.
//
// Each part can be opened: [Stage.Full], [Stage.Empty] and [Stage.Tile] are the barriers and tiles themselves, and [Kernel.Ins] appends any
// instruction of PTX by its text, held against the instruction set like every other. Package dsl/op has each of them as a method, with
// its modifiers.
//
// # Mistakes
//
// No builder call returns an error or panics, on values, kernels and modules that no builder call made either: a zero [Module] or [Kernel] can be built
// on and tells what it is, and a nil one makes nothing. Go itself stops at what is asked of a [Func] that is nil. What is wrong is kept with the line of the call and of those that called it, and
// [Module.Build] returns all of it: types, shapes, byte counts, swizzles against boxes, roles that overlap, values used outside of
// the branch that computes them, forms that the target does not have, with what it has instead.
//
// Where an address or a condition rests on the number of the thread and on constants, it is worked out for each thread of the first block, in the first
// turn through every loop, and in the last one of loops between constants: vectors that begin at no multiple of their bytes, places outside of a shared or local variable, rows and columns that a
// tile does not have, sums of two warps that go to one place of a matrix, and shuffles, votes, products and barriers to which some lanes of a warp do
// not come are told so. What rests on data or on a launch's parameters is not, and no more what
// stands in device functions and behind labels: [Verify] looks there.
package dsl
