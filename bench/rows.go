// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"errors"
	"fmt"

	"github.com/ptxdsl/ptxdsl/dsl"
	softmax "github.com/ptxdsl/ptxdsl/examples/07_softmax"
	rmsnorm "github.com/ptxdsl/ptxdsl/examples/08_rmsnorm"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/runtime"
	"github.com/ptxdsl/ptxdsl/runtime/kerneltest"
)

// copyKernel builds a kernel that copies n vectors of 16 bytes. It is a reference beside the
// driver's copy.
func copyKernel(m *dsl.Module) {
	k := m.Kernel("copy", dsl.Threads(256))
	x, y := dsl.Global[dsl.U32](k, "x"), dsl.Global[dsl.U32](k, "y")
	const each = 4 // vectors in flight per thread
	at := k.CTAID().X.MulI(256 * each).Add(k.TID().X).ShlI(2)
	var v [each][]dsl.Reg[dsl.U32]
	for i := range v {
		v[i] = x.LoadVec(at.AddI(int64(4*256*i)), 4, dsl.NC)
	}
	for i := range v {
		y.StoreVec(at.AddI(int64(4*256*i)), v[i])
	}
}

// Copy measures copies within the device: the driver's copy, and that of a kernel, which is the
// base.
func Copy(b *Bench) ([]Result, error) {
	const bytes = 1 << 30
	t := &kerneltest.T{Device: b.Device}
	k, err := t.Kernel("copy", copyKernel)
	if err != nil {
		return nil, err
	}
	x, _, e1 := numbers(b, bytes/4, func(f float32) float32 { return f })
	y, e2 := runtime.Alloc[float32](b.Device, bytes/4)
	if err := errors.Join(e1, e2); err != nil {
		return nil, err
	}
	j := Job{Group: "copy", Name: "1 GiB", Bytes: 2 * bytes, Base: "kernel",
		Contenders: []Contender{
			{"driver, through buffers", func() error { return y.On(b.Stream).CopyFrom(x) }},
			{"kernel", func() error {
				return k.Launch(runtime.Grid(bytes/16/1024).On(b.Stream), x.Address(), y.Address())
			}},
		}}
	results, err := b.Measure(j)
	return results, errors.Join(err, x.Close(), y.Close())
}

// Shapes returns the numbers of rows and columns for which RMSNorm and softmax are measured.
func Shapes() [][2]int {
	return [][2]int{{4096, 2048}, {8192, 2048}, {16384, 3072}, {32768, 1024}, {16384, 4096},
		{32768, 8192}, {8192, 16384}, {8192, 32768}}
}

// bufferPairs returns the number of buffer pairs that launches use in rotation, so that no data
// is in the cache: together they are at least four times as large as the L2 cache.
func (b *Bench) bufferPairs(bytes int) int { return max(2, (4*b.Device.Info().L2+bytes-1)/bytes) }

// RMSNorm measures RMSNorm in BF16 and a copy of the same number of bytes.
func RMSNorm(b *Bench, rows, hidden int) ([]Result, error) {
	t := &kerneltest.T{Device: b.Device}
	k, err := t.Kernel(fmt.Sprintf("rmsnorm_bf16_%d", hidden),
		func(m *dsl.Module) { rmsnorm.Build(m, isa.Bf16, hidden) })
	if err != nil {
		return nil, err
	}
	n := rows * hidden
	w, _, err := numbers(b, hidden, runtime.ToBF16)
	if err != nil {
		return nil, err
	}
	each, _ := rmsnorm.Rows(hidden)
	grid := runtime.Grid((rows + each - 1) / each).On(b.Stream)
	return rowJob(b,
		Job{Group: "RMSNorm BF16", Name: fmt.Sprintf("%dx%d", rows, hidden), Bytes: 4 * float64(n)},
		n, runtime.ToBF16,
		func(x, y *runtime.Buffer[runtime.BF16]) error {
			return k.Launch(grid, x, w, y, rows, float32(1e-5))
		})
}

// Softmax measures softmax in BF16 and a copy of the same number of bytes.
func Softmax(b *Bench, rows, cols int) ([]Result, error) {
	t := &kerneltest.T{Device: b.Device}
	k, err := t.Kernel(fmt.Sprintf("softmax_bf16_%d", cols),
		func(m *dsl.Module) { softmax.Build(m, isa.Bf16, cols) })
	if err != nil {
		return nil, err
	}
	return rowJob(b,
		Job{Group: "softmax BF16", Name: fmt.Sprintf("%dx%d", rows, cols),
			Bytes: 4 * float64(rows*cols)}, rows*cols, runtime.ToBF16,
		func(x, y *runtime.Buffer[runtime.BF16]) error {
			return k.Launch(runtime.Grid(rows).On(b.Stream), x, y)
		})
}

// rowJob measures a kernel that reads and writes n elements, and a copy, rotating through several
// buffers. With b.Repeats it also compares the bits of repeated results: y, and the results per
// row.
func rowJob[E runtime.Element](b *Bench, j Job, n int, narrow func(float32) E,
	launch func(x, y *runtime.Buffer[E]) error, perRow ...*runtime.Buffer[float32]) ([]Result,
	error) {
	copies := &kerneltest.T{Device: b.Device}
	k, err := copies.Kernel("copy", copyKernel)
	if err != nil {
		return nil, err
	}
	bytes := int(j.Bytes) / 2
	first, err := filledBuffer(b, n, narrow)
	if err != nil {
		return nil, err
	}
	xs, ys := []*runtime.Buffer[E]{first}, []*runtime.Buffer[E](nil)
	for range b.bufferPairs(2 * bytes) {
		x, e1 := runtime.Alloc[E](b.Device, n)
		y, e2 := runtime.Alloc[E](b.Device, n)
		if err := errors.Join(e1, e2); err != nil {
			return nil, err
		}
		if err := x.CopyFrom(first); err != nil {
			return nil, err
		}
		xs, ys = append(xs, x), append(ys, y)
	}
	xs = xs[1:]
	turn := 0
	next := func() int { turn = (turn + 1) % len(ys); return turn }
	j.Base = "copy, kernel"
	j.Batch = max(1, min(50, 1<<30/bytes))
	j.Contenders = []Contender{
		{"ours", func() error { i := next(); return launch(xs[i], ys[i]) }},
		{"copy, kernel", func() error {
			i := next()
			return k.Launch(runtime.Grid(bytes/16/1024).On(b.Stream), xs[i].Address(),
				ys[i].Address())
		}},
		{"copy, driver", func() error { i := next(); return ys[i].On(b.Stream).CopyFrom(xs[i]) }},
	}
	results, err := b.Measure(j)
	again := func() error { return launch(xs[0], ys[0]) }
	errs := []error{err, repeats(b, j, ys[0], again)}
	for _, d := range perRow {
		errs = append(errs, repeats(b, j, d, again))
	}
	errs = append(errs, first.Close())
	for i := range ys {
		errs = append(errs, xs[i].Close(), ys[i].Close())
	}
	return results, errors.Join(errs...)
}
