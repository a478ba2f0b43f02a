// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package scan is a kernel that computes inclusive prefix sums within blocks of 256 elements.
package scan

import "github.com/ptxdsl/ptxdsl/dsl"

const threads = 256

// Build adds to m a kernel that sets y[i] to the sum of x from the start of i's block of 256
// elements up to and including x[i]. n is a multiple of 256. To scan a whole vector, scan the
// last sums of all blocks, and add the results to the elements of the blocks that follow.
func Build(m *dsl.Module) {
	k := m.Kernel("scan", dsl.Threads(threads))
	x, y := dsl.Global[dsl.U32](k, "x"), dsl.Global[dsl.U32](k, "y")
	sums := dsl.Shared[dsl.U32](k, "sums", threads/32)
	lane, warp := k.Lane(), k.WarpIndex()
	i := k.CTAID().X.Mad(k.NTID().X, k.TID().X)
	v := scanWarp(k, x.Load(i)).Var()
	k.If(lane.EQI(31), func() { sums.Store(warp, v) })
	k.Sync()
	k.Comment("the first warp scans the sums of all")
	k.If(warp.EQI(0), func() {
		in := k.U32(0).Var()
		k.If(lane.LTI(threads/32), func() { in.Set(sums.Load(lane)) })
		out := scanWarp(k, in)
		k.If(lane.LTI(threads/32), func() { sums.Store(lane, out) })
	})
	k.Sync()
	k.If(warp.GTI(0), func() { v.Set(v.Add(sums.Load(warp.SubI(1)))) })
	y.Store(i, v)
}

// scanWarp returns the inclusive prefix sum of v over the lanes of a warp.
func scanWarp(k *dsl.Kernel, v dsl.Reg[dsl.U32]) dsl.Reg[dsl.U32] {
	for n := int64(1); n < 32; n *= 2 {
		below := v.ShuffleUp(n)
		v = dsl.Select(k.Lane().GEI(n), v.Add(below), v)
	}
	return v
}

// Reference returns the prefix sums within blocks, computed on the CPU.
func Reference(x []uint32) []uint32 {
	y := make([]uint32, len(x))
	for i := range x {
		y[i] = x[i]
		if i%threads != 0 {
			y[i] += y[i-1]
		}
	}
	return y
}
