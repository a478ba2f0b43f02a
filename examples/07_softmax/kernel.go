// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package softmax is a kernel that computes the softmax of each row of a matrix, and reads and
// writes each row once.
package softmax

import (
	"fmt"
	"math"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/isa"
)

// Threads returns the number of threads per row: few enough that each thread has several loads in
// flight, and enough that the registers of the threads can hold the row.
func Threads(t isa.Type, cols int) int {
	const most = 8 // maximum number of 16-byte vectors per thread
	threads := 64
	for cols*t.Bits()/128 > most*threads && threads < 1024 {
		threads *= 2
	}
	return threads
}

// Build adds to m a kernel that computes the softmax of each row of x into y, which are .f32,
// .f16 or .bf16. Each block computes one row of cols elements, with sums in F32. The block keeps
// the row in registers, so x is read only once.
func Build(m *dsl.Module, t isa.Type, cols int) {
	threads := Threads(t, cols)
	k := m.Kernel(fmt.Sprintf("softmax_%s_%d", t.String()[1:], cols), dsl.Threads(threads))
	px, py := dsl.FloatParam(k, "x", t), dsl.FloatParam(k, "y", t)
	step := threads * px.Width() // number of elements that the block loads at a time
	if cols < step || cols%step != 0 || cols > 32768 {
		k.Errorf("rows of %d %s, expected a multiple of %d up to 32768", cols, t, step)
		return
	}
	first := dsl.MulWide[dsl.U64](k.CTAID().X,
		k.U32(cols)).Add(dsl.To[dsl.U64](k.TID().X.MulI(int64(px.Width()))))
	// the first vector of the thread; all other vectors are at constant offsets from it
	x, y := px.At64(first), py.At64(first)

	var xs []dsl.FloatVec
	for i := 0; i < cols; i += step {
		xs = append(xs, x.Load(k.U32(i), dsl.NC))
	}
	most := k.F32(math.Inf(-1))
	for _, x := range xs {
		for _, v := range x.F32() {
			most = most.Max(v)
		}
	}
	most = dsl.BlockReduce(most, "maxima", func(a, b dsl.Reg[dsl.F32]) dsl.Reg[dsl.F32] {
		return a.Max(b)
	})
	// power computes exp(v - most) as a power of two
	scaled := most.MulF(-math.Log2E)
	power := func(v dsl.Reg[dsl.F32]) dsl.Reg[dsl.F32] {
		return v.FMA(k.F32(math.Log2E), scaled).Exp2()
	}
	sum := k.F32(0)
	var powers [][]dsl.Reg[dsl.F32]
	for _, x := range xs {
		v := x.F32()
		for j := range v {
			v[j] = power(v[j])
			sum = sum.Add(v[j])
		}
		powers = append(powers, v)
	}
	sum = dsl.BlockReduce(sum, "sums", func(a, b dsl.Reg[dsl.F32]) dsl.Reg[dsl.F32] {
		return a.Add(b)
	})
	part := sum.Rcp()
	for i, x := range xs {
		v := powers[i]
		// convert again, because F32 copies of the whole row would take twice the registers
		if t != isa.F32 {
			v = x.F32()
			for j := range v {
				v[j] = power(v[j])
			}
		}
		for j := range v {
			v[j] = v[j].Mul(part)
		}
		y.Store(k.U32(i*step), v)
	}
}

// Reference returns the softmax of a row, computed on the CPU.
func Reference(x []float64) []float64 {
	largest := math.Inf(-1)
	for _, v := range x {
		largest = max(largest, v)
	}
	var sum float64
	for _, v := range x {
		sum += math.Exp(v - largest)
	}
	y := make([]float64, len(x))
	for i, v := range x {
		y[i] = math.Exp(v-largest) / sum
	}
	return y
}
