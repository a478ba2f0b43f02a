// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	gort "runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/ptxdsl/ptxdsl/dsl"
	ladder "github.com/ptxdsl/ptxdsl/examples/10_matmul_ladder"
	hopper "github.com/ptxdsl/ptxdsl/examples/15_matmul_hopper"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/runtime"
	"github.com/ptxdsl/ptxdsl/runtime/kerneltest"
)

// Matmul measures the BF16 matrix products of the examples and of the libraries for square
// matrices.
func Matmul(b *Bench, l *BLAS, size int) ([]Result, error) {
	p := kerneltest.GEMM{M: size, N: size, K: size}
	a, _, e1 := numbers(b, size*size, runtime.ToBF16)
	bt, _, e2 := numbers(b, size*size, runtime.ToBF16)
	d, e3 := runtime.Alloc[runtime.BF16](b.Device, size*size)
	if err := errors.Join(e1, e2, e3); err != nil {
		return nil, err
	}
	job := square("matmul BF16", size)
	theirs := l.Contenders(KindOf(isa.Bf16, isa.Bf16),
		Problem{M: size, N: size, K: size, A: a.Address(), B: bt.Address(), D: d.Address()})
	ours, err := b.multipliers(p, a, bt, d)
	if err != nil {
		return nil, err
	}
	job.Contenders = append(theirs, ours...)
	results, err := compare(b, job, len(theirs), d, kerneltest.BF16, 1.0/128)
	if err != nil {
		return nil, err
	}
	return keepBest(results), errors.Join(a.Close(), bt.Close(), d.Close())
}

// multipliers returns the matrix product kernels of the examples as contenders.
func (b *Bench) multipliers(p kerneltest.GEMM,
	a, bt, d *runtime.Buffer[runtime.BF16]) ([]Contender, error) {
	var list []Contender
	t := &kerneltest.T{Device: b.Device, Rand: b.rand}
	for version, build := range ladder.Versions() {
		if version > 0 && b.Device.Info().Capability < 90 {
			continue
		}
		k, err := t.Kernel(fmt.Sprintf("matmul_v%d", version),
			func(m *dsl.Module) { build(m, ladder.Default) })
		if err != nil {
			return nil, err
		}
		grid := runtime.Grid(p.M / ladder.Default.M * (p.N / ladder.Default.N)).On(b.Stream)
		name := "ladder " + []string{"v0, cp.async", "v1, TMA", "v2, warp-specialised"}[version]
		if version == 0 {
			list = append(list,
				Contender{name, func() error { return k.Launch(grid, a, bt, d, p.M, p.N, p.K) }})
			continue
		}
		mapA, e1 := k.TensorMap("a", a, p.M, p.K)
		mapB, e2 := k.TensorMap("b", bt, p.N, p.K)
		if err := errors.Join(e1, e2); err != nil {
			return nil, err
		}
		list = append(list,
			Contender{name, func() error { return k.Launch(grid, mapA, mapB, d, p.M, p.N, p.K) }})
	}
	if t.Target() != "sm_90a" {
		return list, nil
	}
	deep := ladder.Deep
	k, err := t.Kernel("matmul_v4", func(m *dsl.Module) { ladder.V4(m, deep) })
	if err != nil {
		return nil, err
	}
	mapA, e1 := k.TensorMap("a", a, p.M, p.K)
	mapB, e2 := k.TensorMap("b", bt, p.N, p.K)
	if err := errors.Join(e1, e2); err != nil {
		return nil, err
	}
	persistent := runtime.Grid(min(b.Device.Info().SMs, p.M/deep.M*(p.N/deep.N))).On(b.Stream)
	list = append(list,
		Contender{"ladder v4, persistent",
			func() error { return k.Launch(persistent, mapA, mapB, d, p.M, p.N, p.K) }})
	best := hopper.For(p.M, p.N, b.Device.Info().SMs)
	clustered := best
	clustered.Cluster = 2
	for _, tiling := range []hopper.Tiling{best, clustered} {
		k, err := t.Kernel("matmul", func(m *dsl.Module) { hopper.Build(m, tiling) })
		if err != nil {
			return nil, err
		}
		mapA, e1 := k.TensorMap("a", a, p.M, p.K)
		mapB, e2 := k.TensorMap("b", bt, p.N, p.K)
		mapD, e3 := k.TensorMap("d", d, p.M, p.N)
		if err := errors.Join(e1, e2, e3); err != nil {
			return nil, err
		}
		grid := runtime.Grid(tiling.Blocks(p.M, p.N, b.Device.Info().SMs)).On(b.Stream)
		name := fmt.Sprintf("hopper, %dx%d", tiling.M, tiling.N)
		if tiling.Cluster > 1 {
			name += fmt.Sprintf(", clusters of %d", tiling.Cluster)
		}
		list = append(list,
			Contender{name,
				func() error { return k.Launch(grid, mapA, mapB, mapD, p.M, p.N, p.K) }})
	}
	return list, nil
}

// compare checks the results of this project's contenders against those of a library before it
// measures, because the speed of a wrong kernel has no meaning. theirs is the index of the first
// library contender. The tolerance is relative to the largest element, because sums are added in
// different orders.
func compare[E runtime.Element](b *Bench, j Job, theirs int, d *runtime.Buffer[E],
	kind kerneltest.Format[E], tolerance float64) ([]Result, error) {
	var want []E
	unwritten, err := runtime.Upload(b.Device, slices.Repeat([]E{kind.From(math.NaN())}, d.Len()))
	if err != nil {
		return nil, err
	}
	defer unwritten.Close()
	for i, c := range j.Contenders {
		if err := errors.Join(d.On(b.Stream).CopyFrom(unwritten), c.Run(),
			b.Stream.Sync()); err != nil {
			if i < theirs {
				continue // the error is in the contender's result
			}
			return nil, fmt.Errorf("%s %s, %s: %w", j.Group, j.Name, c.Name, err)
		}
		got, err := runtime.Download(d)
		if err != nil {
			return nil, err
		}
		if want == nil {
			want = got
			continue
		}
		if err := compareNear(got, want, kind.Float, tolerance); err != nil {
			return nil, fmt.Errorf("%s %s, %s: %w", j.Group, j.Name, c.Name, err)
		}
	}
	return b.Measure(j)
}

// compareNear compares results, with all processors. The tolerance is relative to the largest
// element.
func compareNear[E runtime.Element](got, want []E, worth func(E) float64, tolerance float64) error {
	const each = 1 << 20
	parts := (len(want) + each - 1) / each
	largest, errs := make([]float64, parts), make([]error, parts)
	runConcurrently(parts, func(i int) {
		for _, w := range want[i*each : min((i+1)*each, len(want))] {
			largest[i] = max(largest[i], math.Abs(worth(w)))
		}
	})
	limit := slices.Max(largest) * tolerance
	runConcurrently(parts, func(part int) {
		for i := part * each; i < min((part+1)*each, len(want)) && errs[part] == nil; i++ {
			if got[i] == want[i] {
				continue
			}
			if d := math.Abs(worth(got[i]) - worth(want[i])); !(d <= limit) {
				errs[part] = fmt.Errorf("element %d is %v, and another has %v", i, worth(got[i]),
					worth(want[i]))
			}
		}
	})
	return cmp.Or(errs...)
}

// runConcurrently calls f with 0 to n-1, on all processors.
func runConcurrently(n int, f func(i int)) {
	var next atomic.Int64
	var group sync.WaitGroup
	for range min(n, gort.GOMAXPROCS(0)) {
		group.Go(func() {
			for i := next.Add(1) - 1; i < int64(n); i = next.Add(1) - 1 {
				f(int(i))
			}
		})
	}
	group.Wait()
}

// keepBest removes the results of cuBLASLt algorithms except two: the first one, which cuBLASLt
// prefers, and the fastest.
func keepBest(list []Result) []Result {
	var out []Result
	fastest := Result{}
	for _, r := range list {
		if strings.HasPrefix(r.Contender, "cuBLASLt") && r.Error == "" &&
			(fastest.Micro == 0 || r.Micro < fastest.Micro) {
			fastest = r
		}
		if !strings.HasPrefix(r.Contender, "cuBLASLt ") {
			out = append(out, r)
		}
	}
	if fastest.Micro > 0 {
		fastest.Contender = "cuBLASLt, best of 8"
		out = append(out, fastest)
	}
	return out
}
