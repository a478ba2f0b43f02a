// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/runtime"
	"github.com/ptxdsl/ptxdsl/runtime/kerneltest"
)

// rowKernel computes x - 2*sum(x)*w + column for each row, and stores the sum of the row.
func rowKernel[E dsl.Scalar](m *dsl.Module, cols, width int, options ...dsl.KernelOption) {
	k := m.Kernel("rows", options...)
	x, w, y := dsl.Global[E](k, "x"), dsl.Global[E](k, "w"), dsl.Global[E](k, "y")
	sums := dsl.Global[dsl.F32](k, "sums")
	t := dsl.NewRowTile[E](k, cols, width)
	v := t.Load(x.At64(t.Start()), 0)
	weights := t.Reload(w)
	sum := t.Reduce(v, "sum", func(x f32) f32 { return x.MulF(2) },
		func(a, b f32) f32 { return a.Add(b) })
	k.If(t.IsFirst(), func() { sums.Store(t.Row(), sum) })
	v = t.Zip(v, weights, func(x, w f32) f32 { return x.Sub(sum.Mul(w)) })
	t.Eager()
	v = t.MapAt(v, func(col func() u32, x f32) f32 { return x.Add(dsl.To[dsl.F32](col())) })
	t.Store(y.At64(t.Start()), t.Map(v, func(x f32) f32 { return x.MulF(0.5) }))
}

// TestRowTile runs kernels for rows of whole and of odd lengths, with few and with many elements
// per thread, in a block and in a cluster.
func TestRowTile(t *testing.T) {
	for _, c := range []struct{ cols, width, blocks int }{
		{256, 8, 1}, {37, 8, 1}, {1001, 8, 1}, {2056, 8, 1}, {2048, 16, 1}, {1024, 8, 2},
		{520, 8, 2},
	} {
		options := []dsl.KernelOption{dsl.Threads(64), dsl.Cluster(c.blocks)}
		x := kerneltest.Open(t, "emu:sm_90")
		k, err := x.Kernel("rows", func(m *dsl.Module) {
			rowKernel[dsl.F16](m, c.cols, c.width, options...)
		})
		if err != nil {
			t.Fatal(err)
		}
		const rows = 3
		f := kerneltest.F16
		xs, ws := kerneltest.Random(x, f, rows*c.cols), kerneltest.Random(x, f, c.cols)
		ys, sums := make([]runtime.F16, len(xs)), make([]float32, rows)
		if err := x.Launch(k, runtime.Grid(rows*c.blocks), kerneltest.In(xs), kerneltest.In(ws),
			kerneltest.Out(ys), kerneltest.Out(sums)); err != nil {
			t.Fatal(err)
		}
		var want, totals []float64
		for row := range rows {
			var sum float64
			line := f.Decode(xs[row*c.cols:][:c.cols])
			for _, v := range line {
				sum += 2 * v
			}
			totals = append(totals, sum)
			for i, v := range line {
				want = append(want, (v-sum*f.Float(ws[i])+float64(i))/2)
			}
		}
		what := fmt.Sprintf("%+v", c)
		if err := kerneltest.Compare(x, what, sums, totals, kerneltest.Abs(1e-4)); err != nil {
			t.Error(err)
		}
		if err := kerneltest.Compare(x, what, f.Decode(ys), want, f.ULPs(0.51).Plus(
			kerneltest.Abs(1e-4))); err != nil {
			t.Error(err)
		}
	}
}

// streamKernel computes x - 2*sum(x) for each row, and the index of each element in the row.
func streamKernel[E dsl.Scalar](m *dsl.Module, cols int, b dsl.RowBuffer,
	options ...dsl.KernelOption) {
	k := m.Kernel("rows", options...)
	x, y := dsl.Global[E](k, "x"), dsl.Global[E](k, "y")
	sums, columns := dsl.Global[dsl.F32](k, "sums"), dsl.Global[dsl.U32](k, "columns")
	t := dsl.NewRowStream(x, cols, b)
	total := k.F32(0).Var()
	t.Each(func(at u32, xs []f32) {
		for i, x := range xs {
			total.Set(total.Add(x.MulF(2)))
			columns.At64(t.Start()).Store(at.AddI(int64(i)), t.Offset().Add(at).AddI(int64(i)))
		}
	})
	plus := func(a, b f32) f32 { return a.Add(b) }
	sum := dsl.ClusterReduce(dsl.BlockReduce(total, "sum", plus), "all", plus)
	k.If(t.IsFirst(), func() { sums.Store(t.Row(), sum) })
	t.Map(y, func(_ u32, xs []f32) []f32 {
		for i := range xs {
			xs[i] = xs[i].Sub(sum)
		}
		return xs
	})
}

// TestRowStream runs kernels that copy rows to shared memory in one and in several parts, keep a
// part in registers, or read the row again.
func TestRowStream(t *testing.T) {
	for _, c := range []struct {
		cols, blocks int
		buffer       dsl.RowBuffer
	}{
		{1032, 1, dsl.RowBuffer{Copies: 1}}, {2600, 1, dsl.RowBuffer{Copies: 2}},
		{8, 1, dsl.RowBuffer{Copies: 4}}, {4096, 2, dsl.RowBuffer{Copies: 2, Kept: 1}},
		{1808, 1, dsl.RowBuffer{Copies: 2, Kept: 1}}, {5136, 2, dsl.RowBuffer{}},
		{1032, 1, dsl.RowBuffer{}},
	} {
		options := []dsl.KernelOption{dsl.Threads(64), dsl.Cluster(c.blocks)}
		x := kerneltest.Open(t, "emu:sm_90")
		k, err := x.Kernel("rows", func(m *dsl.Module) {
			streamKernel[dsl.F16](m, c.cols, c.buffer, options...)
		})
		if err != nil {
			t.Fatal(err)
		}
		const rows = 3
		f, what := kerneltest.F16, fmt.Sprintf("%+v", c)
		xs := kerneltest.Random(x, f, rows*c.cols)
		ys, sums, columns := make([]runtime.F16, len(xs)), make([]float32, rows),
			make([]uint32, len(xs))
		if err := x.Launch(k, runtime.Grid(rows*c.blocks), kerneltest.In(xs), kerneltest.Out(ys),
			kerneltest.Out(sums), kerneltest.Out(columns)); err != nil {
			t.Fatal(err)
		}
		var want, totals []float64
		for row := range rows {
			var sum float64
			line := f.Decode(xs[row*c.cols:][:c.cols])
			for _, v := range line {
				sum += 2 * v
			}
			totals = append(totals, sum)
			for i, v := range line {
				want = append(want, v-sum)
				if got := columns[row*c.cols+i]; got != uint32(i) {
					t.Fatalf("%s: column %d has index %d", what, i, got)
				}
			}
		}
		if err := kerneltest.Compare(x, what, sums, totals, kerneltest.Abs(1e-3)); err != nil {
			t.Error(err)
		}
		if err := kerneltest.Compare(x, what, f.Decode(ys), want, f.ULPs(0.51).Plus(
			kerneltest.Abs(1e-3))); err != nil {
			t.Error(err)
		}
	}
}

// TestWidestSwizzle checks the width for rows of several lengths.
func TestWidestSwizzle(t *testing.T) {
	for _, c := range []struct {
		typ  dsl.Swizzle
		got  dsl.Swizzle
		what string
	}{
		{dsl.Swizzle128, dsl.WidestSwizzle(dsl.TypeOf[dsl.BF16](), 64), "64 of .bf16"},
		{dsl.Swizzle64, dsl.WidestSwizzle(dsl.TypeOf[dsl.BF16](), 96), "96 of .bf16"},
		{dsl.Swizzle32, dsl.WidestSwizzle(dsl.TypeOf[dsl.F32](), 8), "8 of .f32"},
		{dsl.Swizzle32, dsl.WidestSwizzle(dsl.TypeOf[dsl.F32](), 3), "3 of .f32"},
	} {
		if c.got != c.typ {
			t.Errorf("%s: %v, want %v", c.what, c.got, c.typ)
		}
	}
}

// TestClusterGather exchanges values in a cluster.
func TestClusterGather(t *testing.T) {
	x := kerneltest.Open(t, "emu:sm_90")
	k, err := x.Kernel("gather", func(m *dsl.Module) {
		k := m.Kernel("gather", dsl.Threads(32), dsl.Cluster(4))
		y := dsl.Global[dsl.F32](k, "y")
		rank := dsl.To[dsl.F32](k.ClusterRank())
		all, release := dsl.ClusterGather("values", rank, rank.MulF(10))
		sum := k.F32(0)
		for i, of := range all {
			sum = sum.Add(of[0].MulF(float64(i))).Add(of[1])
		}
		k.If(k.Thread().EQI(0), func() { y.Store(k.CTAID().X, sum) })
		release()
	})
	if err != nil {
		t.Fatal(err)
	}
	y := make([]float32, 8)
	if err := x.Launch(k, runtime.Grid(8), kerneltest.Out(y)); err != nil {
		t.Fatal(err)
	}
	for i, v := range y {
		if math.Abs(float64(v)-74) > 0 { // 0+1+4+9 and 10 times 0+1+2+3
			t.Errorf("block %d has %v, want 74", i, v)
		}
	}
}
