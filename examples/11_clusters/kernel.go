// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package clusters has two kernels that divide the rows of a matrix by their sums. In the first,
// a cluster of blocks sums a row through distributed shared memory. The second starts before the
// first has finished, with programmatic dependent launch.
package clusters

import "github.com/ptxdsl/ptxdsl/dsl"

const (
	threads = 256
	cluster = 4 // number of blocks that sum one row together
)

// Build adds two kernels to m: sum_rows writes the sum of each row of x, which has n elements per
// row, and scale_rows divides each row by its sum.
func Build(m *dsl.Module) {
	buildSums(m)
	buildScale(m)
}

// buildSums adds the kernel sum_rows, with one cluster per row.
func buildSums(m *dsl.Module) {
	k := m.Kernel("sum_rows", dsl.Threads(threads), dsl.Cluster(cluster))
	x, sums := dsl.Global[dsl.F32](k, "x"), dsl.Global[dsl.F32](k, "sums")
	n := dsl.Param[dsl.U32](k, "n")
	k.Comment("scale_rows may begin: it waits for what it needs")
	k.LaunchDependents()
	row := k.CTAID().X.DivI(cluster)
	xs := x.At64(dsl.To[dsl.U64](row).Mul(dsl.To[dsl.U64](n)))
	total := k.F32(0).Var()
	first := k.ClusterRank().MadI(threads, k.TID().X)
	for i := range k.RangeStep(first, n, k.U32(cluster*threads)) {
		total.Set(total.Add(xs.Load(i, dsl.NC)))
	}
	add := func(a, b dsl.Reg[dsl.F32]) dsl.Reg[dsl.F32] { return a.Add(b) }
	sum := dsl.ClusterReduce(dsl.BlockReduce(total, "warps", add), "block", add)
	k.If(first.EQI(0), func() { sums.Store(row, sum) })
}

// buildScale adds the kernel scale_rows, with one block per row. A thread loads its elements
// before it waits for the sums.
func buildScale(m *dsl.Module) {
	k := m.Kernel("scale_rows", dsl.Threads(threads))
	x, sums, y := dsl.Global[dsl.F32](k, "x"), dsl.Global[dsl.F32](k, "sums"),
		dsl.Global[dsl.F32](k, "y")
	n := dsl.Param[dsl.U32](k, "n")
	row := k.CTAID().X
	top := dsl.To[dsl.U64](row).Mul(dsl.To[dsl.U64](n))
	xs, ys := x.At64(top), y.At64(top)
	next := k.F32(0).Var()
	k.If(k.TID().X.LT(n), func() { next.Set(xs.Load(k.TID().X, dsl.NC)) })
	k.WaitDependencies()
	factor := sums.Load(row).Rcp()
	for i := range k.RangeStep(k.TID().X, n, k.U32(threads)) {
		ys.Store(i, next.Mul(factor))
		ahead := i.AddI(threads)
		k.If(ahead.LT(n), func() { next.Set(xs.Load(ahead, dsl.NC)) })
	}
}

// Reference returns a row divided by its sum.
func Reference(row []float32) []float64 {
	var sum float64
	for _, v := range row {
		sum += float64(v)
	}
	out := make([]float64, len(row))
	for i, v := range row {
		out[i] = float64(v) / sum
	}
	return out
}
