// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl_test

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ptxdsl/ptxdsl/dsl"
)

// fuseBF16 is gemm with an epilogue in registers: the accumulators are scaled, a bias is added to
// each column, and the result is clamped and passed through SiLU, x / (1 + exp(-x)). It has about
// 1,500 instructions.
func fuseBF16(m *dsl.Module) {
	gemmThen(m, func(k *dsl.Kernel, acc *dsl.Accumulator, col u32) {
		scale, bias := dsl.Param[dsl.F32](k, "scale"), dsl.Global[dsl.F32](k, "bias")
		silu := func(x, bias dsl.Reg[dsl.F32]) {
			y := x.FMA(scale, bias).Min(k.F32(7)).MaxF(-7)
			e := y.MulF(-1.4426950408889634).Exp2(dsl.Approx)
			x.Set(y.Mul(e.AddF(1).Rcp(dsl.Approx)))
		}
		here := bias.At(col.Add(k.Lane().AndI(3).ShlI(1)))
		for group := range 256 / 8 {
			b := here.AtI(int64(8 * group)).LoadFirstVec(2)
			for _, lower := range []bool{false, true} {
				x, y := acc.At(0, group, lower)
				silu(x, b[0])
				silu(y, b[1])
			}
		}
	})
}

// instructions returns the number of instructions of a kernel.
func instructions(b *testing.B, build func(*dsl.Module)) int {
	m := dsl.New("m", "sm_90a")
	build(m)
	module, faults := m.Build()
	if len(faults) > 0 {
		b.Fatal(faults)
	}
	n := 0
	for _, f := range module.Funcs() {
		for _, block := range f.Blocks {
			n += len(block.Instrs)
		}
	}
	return n
}

// BenchmarkBuild measures everything from Go calls to text: instructions are checked, registers and
// labels are named, and the module is printed. The first build of a process (cold) also decodes the
// instruction set and allocates memory. The minimum and the median are reported beside the average,
// because a build takes half as long if the other hardware thread of the core is idle.
func BenchmarkBuild(b *testing.B) {
	for _, kernel := range []struct {
		name  string
		build func(*dsl.Module)
	}{{"gemm", gemm}, {"fused", fuseBF16}} {
		n := instructions(b, kernel.build)
		b.Run(kernel.name, func(b *testing.B) {
			b.ReportAllocs()
			// preallocated, so that the list does not grow during the measurement
			times := make([]time.Duration, 0, 1<<16)
			for b.Loop() {
				start := time.Now()
				text(b, kernel.build)
				times = append(times, time.Since(start))
			}
			each(b, b.Elapsed(), b.N, n)
			slices.Sort(times)
			b.ReportMetric(float64(times[0].Nanoseconds()), "least-ns/op")
			b.ReportMetric(float64(times[len(times)/2].Nanoseconds()), "median-ns/op")
		})
		b.Run(kernel.name+"/cold", func(b *testing.B) {
			var all time.Duration
			for b.Loop() {
				all += first(b, kernel.name)
			}
			b.ReportMetric(float64(all.Nanoseconds())/float64(b.N), "ns/op")
			each(b, all, b.N, n)
		})
	}
}

// BenchmarkSkipHazards measures the calls of the builder without the hazard analyzers. Most of the
// time would be spent on finding positions, if trail did not follow frame pointers.
func BenchmarkSkipHazards(b *testing.B) {
	n := instructions(b, fuseBF16)
	b.ReportAllocs()
	for b.Loop() {
		m := dsl.New("m", "sm_90a", dsl.SkipHazards())
		fuseBF16(m)
		if _, err := m.Text(); err != nil {
			b.Fatal(err)
		}
	}
	each(b, b.Elapsed(), b.N, n)
}

// TestHazardCost limits the memory that the hazard analyzers allocate for the benchmark kernel.
// Unlike their time, it does not depend on the load of the machine. The limit is 1.5 times the
// memory that they need.
func TestHazardCost(t *testing.T) {
	const most = 55_000
	build := func(options ...dsl.Option) float64 {
		return testing.AllocsPerRun(1, func() {
			m := dsl.New("m", "sm_90a", options...)
			fuseBF16(m)
			if _, err := m.Text(); err != nil {
				t.Fatal(err)
			}
		})
	}
	with, without := build(), build(dsl.SkipHazards())
	if n := with - without; n > most {
		t.Errorf("the hazard analyzers make %.0f allocations, expected at most %d", n, most)
	} else if n < 100 {
		t.Errorf("the hazard analyzers make %.0f allocations: they did not run", n)
	}
}

// each reports the time per instruction.
func each(b *testing.B, all time.Duration, builds, instructions int) {
	b.ReportMetric(float64(instructions), "instrs")
	b.ReportMetric(float64(all.Nanoseconds())/float64(builds)/float64(instructions), "ns/instr")
}

// coldKernel is the environment variable that names the kernel that a new process builds.
const coldKernel = "PTXDSL_COLD_KERNEL"

// first returns the time that a new process takes to build its first kernel.
func first(b *testing.B, kernel string) time.Duration {
	cmd := exec.Command(os.Args[0], "-test.run=^TestCold$", "-test.v")
	cmd.Env = append(os.Environ(), coldKernel+"="+kernel)
	out, err := cmd.Output()
	if err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	_, said, _ := strings.Cut(string(out), "cold: ")
	said, _, _ = strings.Cut(said, " ns")
	ns, err := strconv.ParseInt(said, 10, 64)
	if err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	return time.Duration(ns)
}

// TestCold builds a kernel and prints the build time, which BenchmarkBuild reads. Without the
// environment variable it builds the benchmark kernel.
func TestCold(t *testing.T) {
	build := fuseBF16
	if os.Getenv(coldKernel) == "gemm" {
		build = gemm
	}
	start := time.Now()
	s := text(t, build)
	took := time.Since(start)
	if n := strings.Count(s, ";"); n < 300 {
		t.Errorf("%d statements", n)
	}
	fmt.Printf("cold: %d ns\n", took.Nanoseconds())
}
