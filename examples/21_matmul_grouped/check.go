// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package grouped

import (
	"errors"
	"fmt"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/internal/trial"
	"github.com/ptxdsl/ptxdsl/runtime"
)

// Check multiplies the rows of experts that have none, one, and more than a tile of them, and of more experts than a warp has lanes.
func Check(t *trial.T) error {
	if err := t.Needs("wgmma", 90, 100); err != nil {
		return err
	}
	many := make([]int, 75)
	for i := range many {
		many[i] = t.Rand.IntN(7) * t.Rand.IntN(60)
	}
	many[74]++ // one row at least
	for _, tiling := range []Tiling{Large, Small} {
		k, err := t.Kernel("matmul_grouped", func(m *dsl.Module) { Build(m, tiling) })
		if err != nil {
			return err
		}
		for _, c := range []struct {
			rows []int
			n, k int
		}{{[]int{256}, 256, 64}, {[]int{0, 1, 0}, 8, 8}, {[]int{130, 0, 64, 333, 1, 128}, 520, 328}, {many, 264, 128}, {[]int{1000, 24, 2000, 0, 511}, 1024, 1024}} {
			if err := check(t, k, c.rows, c.n, c.k); err != nil {
				return fmt.Errorf("%+v: %w", tiling, err)
			}
		}
	}
	return nil
}

// Starts are the rows where experts begin that have so many each, and behind them that where the last one ends.
func Starts(rows []int) []uint32 {
	starts := make([]uint32, 1, len(rows)+1)
	for i, n := range rows {
		starts = append(starts, starts[i]+uint32(n))
	}
	return starts
}

// check multiplies the rows of experts with so many each.
func check(t *trial.T, kernel *runtime.Kernel, rows []int, n, depth int) error {
	starts := Starts(rows)
	all := int(starts[len(rows)])
	as, bs := trial.Elements(t, all*depth, trial.Brain), trial.Elements(t, len(rows)*n*depth, trial.Brain)
	const behind = 4096 // elements behind the result, which stay zero
	a, e1 := runtime.Upload(t.Device, as)
	b, e2 := runtime.Upload(t.Device, bs)
	d, e3 := runtime.Upload(t.Device, make([]runtime.BF16, all*n+behind))
	s, e4 := runtime.Upload(t.Device, starts)
	if err := errors.Join(e1, e2, e3, e4); err != nil {
		return err
	}
	if err := Launch(kernel, runtime.Grid(t.Device.Info().SMs), a, b, d, s, all, len(rows), n, depth); err != nil {
		return err
	}
	got, err := runtime.Download(d)
	if err := errors.Join(err, a.Close(), b.Close(), d.Close(), s.Close()); err != nil {
		return err
	}
	for i, x := range got[all*n:] {
		if x != 0 {
			return fmt.Errorf("rows %v: element %d behind the end of the result is written", rows, i)
		}
	}
	for e, m := range rows {
		if m == 0 {
			continue
		}
		first := int(starts[e])
		err := t.Holds(trial.Product{M: m, N: n, K: depth},
			func(row, col int) float64 { return trial.Brain.Worth(got[(first+row)*n+col]) },
			func(row, k int) float64 { return trial.Brain.Worth(as[(first+row)*depth+k]) },
			func(row, k int) float64 { return trial.Brain.Worth(bs[(e*n+row)*depth+k]) }, 1.0/200)
		if err != nil {
			return fmt.Errorf("expert %d of %v: %w", e, rows, err)
		}
	}
	return nil
}

// Launch launches the kernel on all rows of so many experts.
func Launch(kernel *runtime.Kernel, grid runtime.Config, a, b, d *runtime.Buffer[runtime.BF16], starts *runtime.Buffer[uint32], all, experts, n, depth int) error {
	left, e1 := kernel.Tensor("a", a, []int{all, depth})
	right, e2 := kernel.Tensor("b", b, []int{experts, n, depth})
	out, e3 := kernel.TensorMap("d", d, all, n)
	if err := errors.Join(e1, e2, e3); err != nil {
		return err
	}
	return kernel.Launch(grid, left, right, out, d, starts, experts, n, depth)
}

// Speed measures products of eight experts with as many rows each, and with rows as they come.
func Speed(t *trial.T) error {
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
		weights := trial.Elements(t, n*depth, trial.Brain)
		list := make([]runtime.BF16, 0, experts*n*depth)
		for range experts {
			list = append(list, weights...)
		}
		a, e1 := runtime.Upload(t.Device, trial.Elements(t, all*depth, trial.Brain))
		b, e2 := runtime.Upload(t.Device, list)
		d, e3 := runtime.Alloc[runtime.BF16](t.Device, all*n)
		s, e4 := runtime.Upload(t.Device, starts)
		if err := errors.Join(e1, e2, e3, e4); err != nil {
			return err
		}
		grid := runtime.Grid(t.Device.Info().SMs)
		took, err := t.Median(func() error { return Launch(k, grid, a, b, d, s, all, experts, n, depth) })
		if err := errors.Join(err, a.Close(), b.Close(), d.Close(), s.Close()); err != nil {
			return err
		}
		t.Note("%s: %.0f TFLOP/s", c.name, 2*float64(all)*n*depth/took.Seconds()/1e12)
	}
	return nil
}
