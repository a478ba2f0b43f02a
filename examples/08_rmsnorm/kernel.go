// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package rmsnorm has kernels that normalize the rows of a matrix, and compute similar functions
// of rows, in one pass.
package rmsnorm

import (
	"fmt"
	"math"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/isa"
)

// Targets are the PTX targets for which the kernel is built.
var Targets = []string{"sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_120", "sm_121"}

// block is the number of threads per block, unless a row needs more threads.
const block = 128

// threadsFor returns the number of threads per row: few enough that each thread has several loads
// in flight, and enough that the registers of the threads can hold the row.
func threadsFor(hidden int) int {
	switch {
	case hidden <= 512:
		return 32
	case hidden <= 16384:
		return 128
	}
	return 256
}

// Rows returns the number of rows per block, and the number of threads per block.
func Rows(hidden int) (rows, threads int) {
	each := threadsFor(hidden)
	return max(1, block/each), max(block, each)
}

// Build adds to m a kernel that computes y = x / sqrt(mean(x*x) + eps) * w for each row of x,
// which is .f32, .f16 or .bf16, with sums in F32. The row is kept in registers, so x is read
// once, 16 bytes at a time. Each block computes Rows(hidden) rows.
func Build(m *dsl.Module, t isa.Type, hidden int) {
	rows, threads := Rows(hidden)
	each := threads / rows
	k := m.Kernel(fmt.Sprintf("rmsnorm_%s_%d", t.String()[1:], hidden), dsl.Threads(threads))
	px, pw, py := dsl.FloatParam(k, "x", t), dsl.FloatParam(k, "w", t), dsl.FloatParam(k, "y", t)
	n, eps := dsl.Param[dsl.U32](k, "rows"), dsl.Param[dsl.F32](k, "eps")
	vector := px.Width()
	if hidden < each*vector || hidden%(each*vector) != 0 || hidden > 32768 {
		k.Errorf("rows of %d %s, expected a multiple of %d up to 32768", hidden, t, each*vector)
		return
	}

	tid := k.TID().X
	lane := tid.AndI(int64(each - 1))
	// Threads after the last row compute the last row again, so that all threads reach the
	// barriers.
	row := k.CTAID().X.MadI(int64(rows), tid.DivI(int64(each))).Min(n.SubI(1))
	start := dsl.To[dsl.U64](row).MulI(int64(hidden))
	x, y := px.At64(start), py.At64(start)

	at := func(i int) dsl.Reg[dsl.U32] {
		return lane.MulI(int64(vector)).AddI(int64(i * each * vector))
	}
	count := hidden / (each * vector)
	var xs, ws []dsl.FloatVec
	k.Comment("%d elements of the row for each thread", count*vector)
	for i := range count {
		xs = append(xs, x.Load(at(i), dsl.NC))
	}
	k.Comment("the weights are on their way before the sum is needed")
	for i := range count {
		ws = append(ws, pw.Load(at(i), dsl.NC))
	}
	sum := k.F32(0)
	for _, x := range xs {
		for _, v := range x.F32() {
			sum = v.FMA(v, sum)
		}
	}
	sum = rowSum(k, sum, rows, each)
	scale := sum.FMA(k.F32(1/float64(hidden)), eps).Rsqrt()
	for i := range count {
		v, w := xs[i].F32(), ws[i].F32()
		for j := range v {
			v[j] = v[j].Mul(scale).Mul(w[j])
		}
		y.Store(at(i), v)
	}
}

// rowSum returns the sum of a value over the threads of a row. A block has the given number of
// rows, with each threads per row.
func rowSum(k *dsl.Kernel, sum dsl.Reg[dsl.F32], rows, each int) dsl.Reg[dsl.F32] {
	sum = sum.WarpSum()
	warps := each / 32
	if warps == 1 {
		return sum
	}
	parts := dsl.Shared[dsl.F32](k, "sums", rows*warps)
	k.If(k.Lane().EQI(0), func() { parts.Store(k.WarpIndex(), sum) })
	k.Sync()
	first := k.WarpIndex().DivI(int64(warps)).MulI(int64(warps))
	total := parts.Load(first)
	for i := 1; i < warps; i++ {
		total = total.Add(parts.Load(first.AddI(int64(i))))
	}
	return total
}

// Reference returns the row x, normalized and multiplied by the weights w.
func Reference(x, w []float64, eps float64) []float64 {
	var sum float64
	for _, v := range x {
		sum += v * v
	}
	scale := 1 / math.Sqrt(sum/float64(len(x))+eps)
	y := make([]float64, len(x))
	for i, v := range x {
		y[i] = v * scale * w[i]
	}
	return y
}
