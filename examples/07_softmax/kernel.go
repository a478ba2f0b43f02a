// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"math"

	"github.com/ptxdsl/ptxdsl/dsl"
)

const (
	threads = 256
	cols    = 4096
	each    = 4 // elements in a vector
)

// Build makes the rows of y the softmax of those of x: 4096 columns of F32, a block for each row. The row stays in registers, so
// that x is read once and y written once.
func Build(m *dsl.Module) {
	k := m.Kernel("softmax", dsl.Threads(threads))
	x, y := dsl.Global[dsl.F32](k, "x"), dsl.Global[dsl.F32](k, "y")
	row := dsl.To[dsl.U64](k.CTAID().X).MulI(cols)
	tid := k.TID().X
	from, to := x.At64(row), y.At64(row)

	var v []dsl.Reg[dsl.F32]
	for i := 0; i < cols; i += threads * each {
		v = append(v, from.LoadVec(tid.MulI(each).AddI(int64(i)), each)...)
	}
	most := v[0]
	for _, e := range v[1:] {
		most = most.Max(e)
	}
	most = dsl.BlockReduce(most, "maxima", func(a, b dsl.Reg[dsl.F32]) dsl.Reg[dsl.F32] { return a.Max(b) })
	// exp(v - most), as a power of two
	scaled := most.MulF(-math.Log2E)
	sum := k.F32(0)
	for i, e := range v {
		v[i] = e.FMA(k.F32(math.Log2E), scaled).Exp2()
		sum = sum.Add(v[i])
	}
	sum = dsl.BlockReduce(sum, "sums", func(a, b dsl.Reg[dsl.F32]) dsl.Reg[dsl.F32] { return a.Add(b) })
	part := sum.Rcp()
	for i := range v {
		v[i] = v[i].Mul(part)
	}
	for i := 0; i < cols/threads; i += each {
		to.StoreVec(tid.MulI(each).AddI(int64(i*threads)), v[i:i+each])
	}
}

// Reference is what the kernel makes of a row.
func Reference(x []float32) []float32 {
	most := math.Inf(-1)
	for _, v := range x {
		most = max(most, float64(v))
	}
	var sum float64
	for _, v := range x {
		sum += math.Exp(float64(v) - most)
	}
	y := make([]float32, len(x))
	for i, v := range x {
		y[i] = float32(math.Exp(float64(v)-most) / sum)
	}
	return y
}
