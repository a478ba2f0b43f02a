// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Command emubench measures the emulator: thread instructions per second on one core, matrix
// products, scaling over cores, and the time and memory of a large grid.
package main

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	goruntime "runtime"
	"slices"
	"strings"
	"time"

	"github.com/ptxdsl/ptxdsl/dsl"
	saxpy "github.com/ptxdsl/ptxdsl/examples/02_saxpy"
	rmsnorm "github.com/ptxdsl/ptxdsl/examples/08_rmsnorm"
	multistage "github.com/ptxdsl/ptxdsl/examples/13_matmul_multistage"
	hopper "github.com/ptxdsl/ptxdsl/examples/15_matmul_hopper"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/runtime"
	"github.com/ptxdsl/ptxdsl/runtime/emu"
	"github.com/ptxdsl/ptxdsl/runtime/kerneltest"
)

func main() {
	only := flag.String("only", "saxpy,rmsnorm,mma,wgmma,scaling,grid", "what to measure")
	rounds := flag.Int("rounds", 5, "rounds; the median is reported")
	flag.Parse()
	fmt.Printf("%s/%s, %s, GOMAXPROCS %d, %s\n\n", goruntime.GOOS, goruntime.GOARCH,
		goruntime.Version(),
		goruntime.GOMAXPROCS(0), time.Now().UTC().Format(time.DateOnly))
	fmt.Println(
		"| kernel | workers | thread instructions | wall s | CPU s | M instr/CPU s | M instr/s |")
	fmt.Println("|---|---|---|---|---|---|---|")
	for _, name := range strings.Split(*only, ",") {
		j, ok := jobs()[name]
		if !ok {
			fmt.Fprintf(os.Stderr, "emubench: %q cannot be measured\n", name)
			os.Exit(2)
		}
		if err := j(name, *rounds); err != nil {
			fmt.Fprintf(os.Stderr, "emubench: %s: %v\n", name, err)
			os.Exit(1)
		}
	}
}

// jobs returns the measurements by name.
func jobs() map[string]func(name string, rounds int) error {
	return map[string]func(string, int) error{
		"saxpy": func(name string, n int) error {
			return print(measure(name, 1, n, "",
				saxpyJob(1<<20)))
		},
		"rmsnorm": func(name string, n int) error {
			return print(measure(name, 1, n, "", rmsnormJob))
		},
		"mma": func(name string, n int) error {
			return print(measure("mma.sync 1024x1024x1024 f16", 0, min(n, 2), "sm_80",
				mmaJob(1024)))
		},
		"wgmma": func(name string, n int) error {
			return print(measure("wgmma 512x512x512 bf16", 0, min(n, 2), "sm_90a", wgmmaJob(512)))
		},
		"scaling": scaling,
		"grid":    grid,
	}
}

// A sample is one measured launch.
type sample struct {
	name         string
	workers      int
	instructions int64
	wall, cpu    time.Duration
}

// print writes a row of the table.
func print(s sample, err error) error {
	if err != nil {
		return err
	}
	rate := func(d time.Duration) float64 { return float64(s.instructions) / d.Seconds() / 1e6 }
	fmt.Printf("| %s | %d | %d | %.3f | %.3f | %.0f | %.0f |\n", s.name, s.workers, s.instructions,
		s.wall.Seconds(), s.cpu.Seconds(), rate(s.cpu), rate(s.wall))
	return nil
}

// A job prepares a kernel on a device and returns a function that launches it.
type job func(d *runtime.Device) (func() error, error)

// measure runs a job several times with a number of workers, and returns the sample with the
// median processor time.
func measure(name string, workers, rounds int, target string, j job) (sample, error) {
	if workers == 0 {
		workers = goruntime.GOMAXPROCS(0)
	}
	back, err := emu.New(emu.Options{Workers: workers, Target: target})
	if err != nil {
		return sample{}, err
	}
	d := runtime.On(back)
	launch, err := j(d)
	if err != nil {
		return sample{}, errors.Join(err, d.Close())
	}
	var all []sample
	for range rounds {
		before, cpu, wall := back.Stats().Instructions, cpuTime(), time.Now()
		if err := launch(); err != nil {
			return sample{}, errors.Join(err, d.Close())
		}
		all = append(all,
			sample{name, workers, back.Stats().Instructions - before, time.Since(wall),
				cpuTime() - cpu})
	}
	slices.SortFunc(all, func(a, b sample) int { return cmp.Compare(a.cpu, b.cpu) })
	return all[len(all)/2], d.Close()
}

// kernel builds and loads a kernel.
func kernel(d *runtime.Device, name string, build func(*dsl.Module)) (*runtime.Kernel, error) {
	return kerneltest.New(d).Kernel(name, build)
}

// floats uploads n random numbers, converted by of.
func floats[T runtime.Element](d *runtime.Device, n int, of func(float32) T) (*runtime.Buffer[T],
	error) {
	r := rand.New(rand.NewPCG(1, uint64(n)))
	xs := make([]T, n)
	for i := range xs {
		xs[i] = of(2*r.Float32() - 1)
	}
	return runtime.Upload(d, xs)
}

func same(x float32) float32 { return x }

// saxpyJob runs example 02 with n elements.
func saxpyJob(n int) job {
	return func(d *runtime.Device) (func() error, error) {
		k, err := kernel(d, "saxpy", saxpy.Build)
		if err != nil {
			return nil, err
		}
		x, e1 := floats(d, n, same)
		y, e2 := floats(d, n, same)
		return func() error { return k.Launch(runtime.Grid(64), x, y, float32(0.5), n) },
			errors.Join(e1,
				e2)
	}
}

// rmsnormJob runs example 08 on 1024 rows of 1024 F32 elements.
func rmsnormJob(d *runtime.Device) (func() error, error) {
	const rows, hidden = 1024, 1024
	k, err := kernel(d, fmt.Sprintf("rmsnorm_f32_%d", hidden), func(m *dsl.Module) {
		rmsnorm.Build(m,
			isa.F32, hidden)
	})
	if err != nil {
		return nil, err
	}
	x, e1 := floats(d, rows*hidden, same)
	w, e2 := floats(d, hidden, same)
	y, e3 := runtime.Alloc[float32](d, rows*hidden)
	each, _ := rmsnorm.Rows(hidden)
	launch := func() error {
		return k.Launch(runtime.Grid((rows+each-1)/each), x, w, y, rows, float32(1e-5))
	}
	return launch, errors.Join(e1, e2, e3)
}

// mmaJob runs example 13, a square GEMM with cp.async and mma.sync in F16.
func mmaJob(n int) job {
	return func(d *runtime.Device) (func() error, error) {
		tiling := multistage.Default(isa.F16)
		k, err := kernel(d, "matmul_f16",
			func(m *dsl.Module) { multistage.Build(m, isa.F16, tiling) })
		if err != nil {
			return nil, err
		}
		blocks, e1 := tiling.Blocks(isa.F16, n, n, n)
		a, e2 := floats(d, n*n, runtime.ToF16)
		b, e3 := floats(d, n*n, runtime.ToF16)
		c, e4 := runtime.Alloc[float32](d, n*n)
		return func() error { return k.Launch(runtime.Grid(blocks), a, b, c, n, n, n) },
			errors.Join(e1,
				e2, e3, e4)
	}
}

// wgmmaJob runs example 15, a square GEMM with TMA and wgmma in BF16.
func wgmmaJob(n int) job {
	return func(d *runtime.Device) (func() error, error) {
		k, err := kernel(d, "matmul", func(m *dsl.Module) { hopper.Build(m, hopper.Default) })
		if err != nil {
			return nil, err
		}
		t := kerneltest.New(d)
		return func() error {
			return hopper.Multiply(t, k, hopper.Default, kerneltest.GEMM{M: n, N: n, K: n})
		}, nil
	}
}

// scaling measures saxpy and mma.sync with one worker and with two, in alternation.
func scaling(_ string, rounds int) error {
	for _, j := range []struct {
		name, target string
		run          job
	}{{"saxpy, 8 Mi elements", "", saxpyJob(1 << 23)}, {"mma.sync 512x512x512 f16", "sm_80",
		mmaJob(512)}} {
		var walls, cpus [2][]time.Duration
		for range max(rounds, 3) {
			for w := range walls {
				s, err := measure(j.name, w+1, 1, j.target, j.run)
				if err != nil {
					return err
				}
				walls[w], cpus[w] = append(walls[w], s.wall), append(cpus[w], s.cpu)
			}
		}
		best := func(w int) time.Duration { return slices.Min(walls[w]) }
		fmt.Printf("\n%s: %.3f s with 1 worker, %.3f s with 2 (the best of %d alternating rounds): %.2fx\n",
			j.name, best(0).Seconds(), best(1).Seconds(), len(walls[0]),
			best(0).Seconds()/best(1).Seconds())
		median := func(w int) float64 {
			slices.Sort(cpus[w])
			return cpus[w][len(cpus[w])/2].Seconds()
		}
		fmt.Printf("processor time: %.3f s and %.3f s; idle processors would give up to %.2fx\n",
			median(0), median(1), 2*median(0)/median(1))
	}
	return nil
}

// grid measures the time of a grid of 4096 blocks of 256 threads, and the memory that it
// allocates.
func grid(string, int) error {
	const n = 4096 * 256 * 4
	before := heap()
	s, err := measure("saxpy, 4096 blocks of 256 threads", 0, 1, "",
		func(d *runtime.Device) (func() error, error) {
			k, err := kernel(d, "saxpy", saxpy.Build)
			if err != nil {
				return nil, err
			}
			x, e1 := floats(d, n, same)
			y, e2 := floats(d, n, same)
			before = heap()
			return func() error { return k.Launch(runtime.Grid(4096), x, y, float32(0.5), n) },
				errors.Join(e1, e2)
		})
	if err != nil {
		return err
	}
	fmt.Printf("\n%s: %.3f s; the launch allocates %.1f MiB\n", s.name, s.wall.Seconds(),
		float64(heap()-before)/(1<<20))
	return nil
}

// heap returns the number of bytes that the program has allocated so far.
func heap() uint64 {
	var m goruntime.MemStats
	goruntime.ReadMemStats(&m)
	return m.TotalAlloc
}
