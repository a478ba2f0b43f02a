// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package grouped

import (
	"errors"
	"fmt"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/runtime"
	"github.com/ptxdsl/ptxdsl/runtime/kerneltest"
)

// Targets are the PTX targets for which the kernel is built.
var Targets = []string{"sm_90a"}

// tolerance is half a unit in the last place of BF16, plus the error of F32 sums, which are
// truncated after every 16 products.
var tolerance = kerneltest.BF16.ULPs(0.5).Plus(kerneltest.Abs(0x1p-24).TruncatedEvery(16))

// experts holds the number of rows of each expert, and the sizes n and k that all experts share.
type experts struct {
	rows []int
	n, k int
}

// cost returns the cost of a check, for kerneltest.Sizes.
func (e experts) cost() int {
	rows := 0
	for _, n := range e.rows {
		rows += n
	}
	return kerneltest.GEMM{M: rows, N: e.n, K: e.k}.Cost()
}

// Check runs the kernel for experts with no row, with one row, and with more rows than a tile,
// and for more experts than a warp has lanes. It compares the products with a host reference.
func Check(t *kerneltest.T) error {
	if err := t.Needs("wgmma", 90, 100); err != nil {
		return err
	}
	many := make([]int, 75)
	for i := range many {
		many[i] = t.Rand.IntN(7) * t.Rand.IntN(60)
	}
	many[74]++ // at least one row
	few := make([]int, 35)
	few[3], few[33], few[34] = 5, 1, 17
	for _, tiling := range []Tiling{Large, Small} {
		k, err := t.Kernel("matmul_grouped", func(m *dsl.Module) { Build(m, tiling) })
		if err != nil {
			return err
		}
		for _, e := range kerneltest.Sizes(t, experts.cost,
			experts{[]int{0, 1, 0}, 8, 8}, experts{[]int{130, 0, 64, 3}, 136, 72},
			experts{few, 264, 128}, experts{[]int{256}, 256, 64},
			experts{[]int{130, 0, 64, 333, 1, 128}, 520, 328}, experts{many, 264, 128},
			experts{[]int{1000, 24, 2000, 0, 511}, 1024, 1024},
		) {
			if err := check(t, k, e.rows, e.n, e.k); err != nil {
				return fmt.Errorf("%+v: %w", tiling, err)
			}
		}
	}
	return nil
}

// Starts returns the index of the first row of each expert, and then the end of the last expert.
// The argument contains the number of rows of each expert.
func Starts(rows []int) []uint32 {
	starts := make([]uint32, 1, len(rows)+1)
	for i, n := range rows {
		starts = append(starts, starts[i]+uint32(n))
	}
	return starts
}

// check runs the kernel on random rows and weights, some of which have an edge value, and
// compares the products with a host reference.
func check(t *kerneltest.T, kernel *runtime.Kernel, rows []int, n, depth int) error {
	starts := Starts(rows)
	all := int(starts[len(rows)])
	a, b := kerneltest.Random(t, kerneltest.BF16, all*depth),
		kerneltest.Random(t, kerneltest.BF16, len(rows)*n*depth)
	kerneltest.EdgeRows(t, kerneltest.BF16, all, depth, 0, func(row, k int) *runtime.BF16 {
		return &a[row*depth+k]
	})
	kerneltest.EdgeRows(t, kerneltest.BF16, len(rows)*n, depth, 1, func(row, k int) *runtime.BF16 {
		return &b[row*depth+k]
	})
	// The kernel stores whole tiles through the tensor map and parts of tiles through the
	// pointer, so both refer to d.
	d := make([]runtime.BF16, all*n)
	out := kerneltest.Out(d).Tensor(all, n)
	err := t.Launch(kernel, runtime.Grid(t.Device.Info().SMs), kerneltest.In(a).Tensor(all, depth),
		kerneltest.In(b).Tensor(len(rows), n, depth), out, out, kerneltest.In(starts), len(rows), n,
		depth)
	if err != nil {
		return err
	}
	for e, m := range rows {
		if m == 0 {
			continue
		}
		first := int(starts[e])
		err := t.CompareGEMM(kerneltest.GEMM{M: m, N: n, K: depth},
			func(row, col int) float64 { return kerneltest.BF16.Float(d[(first+row)*n+col]) },
			func(row, k int) float64 { return kerneltest.BF16.Float(a[(first+row)*depth+k]) },
			func(row, k int) float64 { return kerneltest.BF16.Float(b[(e*n+row)*depth+k]) },
			tolerance)
		if err != nil {
			return fmt.Errorf("expert %d of %v: %w", e, rows, err)
		}
	}
	return nil
}

// Launch launches the kernel on the rows of all experts. all is the total number of rows.
func Launch(kernel *runtime.Kernel, grid runtime.Config, a, b, d *runtime.Buffer[runtime.BF16],
	starts *runtime.Buffer[uint32], all, experts, n, depth int) error {
	left, e1 := kernel.Tensor("a", a, []int{all, depth})
	right, e2 := kernel.Tensor("b", b, []int{experts, n, depth})
	out, e3 := kernel.TensorMap("d", d, all, n)
	if err := errors.Join(e1, e2, e3); err != nil {
		return err
	}
	return kernel.Launch(grid, left, right, out, d, starts, experts, n, depth)
}

// Speed notes the speed for eight experts with equal numbers of rows and with different numbers
// of rows.
func Speed(t *kerneltest.T) error {
	if err := t.Needs("wgmma", 90, 100); err != nil {
		return err
	}
	const experts, n, depth = 8, 4096, 4096
	for _, c := range []struct {
		name   string
		tiling Tiling
		rows   []int
	}{
		{"even, 2048 each", Large, []int{2048, 2048, 2048, 2048, 2048, 2048, 2048, 2048}},
		{"uneven, 16384 in all", Large, []int{5001, 1203, 77, 0, 3810, 2222, 130, 3941}},
		{"few, 1024 in all", Small, []int{301, 64, 19, 0, 256, 130, 8, 246}},
	} {
		k, err := t.Kernel("matmul_grouped", func(m *dsl.Module) { Build(m, c.tiling) })
		if err != nil {
			return err
		}
		starts := Starts(c.rows)
		all := int(starts[experts])
		weights := kerneltest.Random(t, kerneltest.BF16, n*depth)
		list := make([]runtime.BF16, 0, experts*n*depth)
		for range experts {
			list = append(list, weights...)
		}
		a, e1 := runtime.Upload(t.Device, kerneltest.Random(t, kerneltest.BF16, all*depth))
		b, e2 := runtime.Upload(t.Device, list)
		d, e3 := runtime.Alloc[runtime.BF16](t.Device, all*n)
		s, e4 := runtime.Upload(t.Device, starts)
		if err := errors.Join(e1, e2, e3, e4); err != nil {
			return err
		}
		grid := runtime.Grid(t.Device.Info().SMs)
		took, err := t.Median(func() error {
			return Launch(k, grid, a, b, d, s, all, experts, n, depth)
		})
		if err := errors.Join(err, a.Close(), b.Close(), d.Close(), s.Close()); err != nil {
			return err
		}
		t.Note("%s: %.0f TFLOP/s", c.name, 2*float64(all)*n*depth/took.Seconds()/1e12)
	}
	return nil
}
