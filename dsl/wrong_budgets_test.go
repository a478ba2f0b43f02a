// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl_test

import (
	"slices"
	"testing"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/isa"
)

// budgets are kernels whose accumulators alone need all registers of a thread.
var budgets = []wrongKernel{
	{"sm_90a", func(m *dsl.Module, _ *dsl.Kernel) {
		multiplied(m, 120, func(k *dsl.Kernel) []*dsl.Accumulator {
			return []*dsl.Accumulator{k.Accumulator(64, 256, isa.F32)} // want `D502: live accumulators need 128 registers per thread, but the register budget of role multiply \(Regs\) is 120: ptxas would spill, or ignore setmaxnreg; use more warps with smaller accumulators`
		}, both64)
	}},
	{"sm_90a", func(m *dsl.Module, _ *dsl.Kernel) {
		multiplied(m, 232, func(k *dsl.Kernel) []*dsl.Accumulator {
			return []*dsl.Accumulator{k.Accumulator(64, 256, isa.F32), sums64(k)}
		}, both64)
	}},
	{"sm_90a", func(m *dsl.Module, _ *dsl.Kernel) {
		multiplied(m, 64, func(k *dsl.Kernel) []*dsl.Accumulator {
			return []*dsl.Accumulator{k.Accumulator(64, 256, isa.F16)} // want `D502: live accumulators need 64 registers per thread, but the register budget of role multiply \(Regs\) is 64: ptxas would spill, or ignore setmaxnreg; use more warps with smaller accumulators`
		}, both64)
	}},
	{"sm_80", func(m *dsl.Module, _ *dsl.Kernel) {
		k := m.Kernel("many", dsl.Threads(1024))
		w := dsl.NewWarpTile[dsl.F32](k, dsl.MMAFor(isa.Bf16, isa.F32), 64, 32) // want `D502: live accumulators need 64 registers per thread, but 1024 threads of a multiprocessor have 64 each: ptxas would spill, or ignore setmaxnreg; use more warps with smaller accumulators`
		t := k.SharedTile("t", tileOf(isa.Bf16, 16))
		w.MMA(t, k.U32(0), t, k.U32(0))
		k.If(k.WarpIndex().EQI(0), func() {
			d := k.Matrix("d", isa.F32).Sized(k.U32(64), k.U32(64))
			w.Store(d, k.U32(0), k.U32(0))
		})
	}},
	{"sm_80", func(m *dsl.Module, _ *dsl.Kernel) {
		k := m.Kernel("bound", dsl.Threads(128), dsl.MaxRegs(96))
		t := k.SharedTile("t", tileOf(isa.Bf16, 16))
		var all []*dsl.WarpTile[dsl.F32]
		for range 2 {
			w := dsl.NewWarpTile[dsl.F32](k, dsl.MMAFor(isa.Bf16, isa.F32), 32, 64) // want `D502: live accumulators need 128 registers per thread, but MaxRegs allows 96: ptxas would spill, or ignore setmaxnreg; use more warps with smaller accumulators`
			w.MMA(t, k.U32(0), t, k.U32(0))
			all = append(all, w)
		}
		d := k.Matrix("d", isa.F32).Sized(k.U32(64), k.U32(64))
		for _, w := range all {
			w.Store(d.At(k.WarpIndex()), k.U32(0), k.U32(0))
		}
	}},
}

// sums64 declares an accumulator in a helper function.
func sums64(k *dsl.Kernel) *dsl.Accumulator {
	return k.Accumulator(64, 256, isa.F32) // want `D502: live accumulators need 256 registers per thread, but the register budget of role multiply \(Regs\) is 232: ptxas would spill, or ignore setmaxnreg; use more warps with smaller accumulators from -36 from 35 from 33`
}

// both64 issues MMAs into all accumulators before it stores them.
func both64(k *dsl.Kernel, all []*dsl.Accumulator, multiply func(*dsl.Accumulator),
	store func(*dsl.Accumulator)) {
	for _, acc := range all {
		multiply(acc)
	}
	for _, acc := range all {
		store(acc)
	}
}

// oneByOne stores each accumulator before it issues MMAs into the next.
func oneByOne(k *dsl.Kernel, all []*dsl.Accumulator, multiply func(*dsl.Accumulator),
	store func(*dsl.Accumulator)) {
	for _, acc := range all {
		multiply(acc)
		store(acc)
	}
}

// multiplied builds a kernel with one warpgroup that loads, and two that issue MMAs with a register
// budget. It loads three times as many stages, because a body may be built once in a loop of three.
func multiplied(m *dsl.Module, regs int, make func(*dsl.Kernel) []*dsl.Accumulator,
	in func(k *dsl.Kernel, all []*dsl.Accumulator, multiply, store func(*dsl.Accumulator))) {
	k := m.Kernel("multiplied", dsl.Warpgroups(3))
	a := k.TensorMap("a", isa.F16, dsl.Box{Rows: 128, Cols: 64}, dsl.Swizzle128)
	b := k.TensorMap("b", isa.F16, dsl.Box{Rows: 256, Cols: 64}, dsl.Swizzle128)
	d, steps := k.Matrix("d", isa.F16).Sized(k.U32(512), k.U32(512)), dsl.Param[dsl.U32](k, "steps")
	p := k.Pipeline("p", 3, a.Feed(), b.Feed())
	times, stores := 0, 0
	k.Roles(
		dsl.OnWarpgroups(0, 2, "multiply", func(half u32) {
			all := make(k)
			in(k, all, func(acc *dsl.Accumulator) {
				times++
				if !slices.Contains(all, acc) {
					times += 2
				}
				for s := range p.Consume(steps) {
					acc.MMA(s.Tile(a).Part(half, 2), s.Tile(b))
				}
			}, func(acc *dsl.Accumulator) {
				acc.Store(d, half.MulI(64).AddI(int64(128*stores)), k.U32(0))
				stores++
			})
		}).Regs(regs),
		dsl.OnWarpgroup(2, "load", func() {
			for s := range p.Produce(steps.MulI(int64(times))) {
				s.Load(a, dsl.TileAt(k.U32(0), s.Iteration()))
				s.Load(b, dsl.TileAt(k.U32(0), s.Iteration()))
			}
		}).Regs(24),
	)
}

// TestBudgets builds kernels that need more registers than they request: each warning must be at a
// line with a want comment.
func TestBudgets(t *testing.T) {
	testWrong(t, "wrong_budgets_test.go", budgets, false)
}

// TestRightBudgets builds kernels whose accumulators fit, one by one or all at once: they have no
// findings.
func TestRightBudgets(t *testing.T) {
	one := func(k *dsl.Kernel) []*dsl.Accumulator {
		return []*dsl.Accumulator{k.Accumulator(64, 256, isa.F32)}
	}
	two := func(n int) func(k *dsl.Kernel) []*dsl.Accumulator {
		return func(k *dsl.Kernel) []*dsl.Accumulator {
			return []*dsl.Accumulator{k.Accumulator(64, n, isa.F32), k.Accumulator(64, n, isa.F32)}
		}
	}
	for name, build := range map[string]func(m *dsl.Module){
		"one":        func(m *dsl.Module) { multiplied(m, 232, one, both64) },
		"one by one": func(m *dsl.Module) { multiplied(m, 232, two(256), oneByOne) },
		"again and again": func(m *dsl.Module) {
			multiplied(m, 232, two(256),
				func(k *dsl.Kernel, all []*dsl.Accumulator,
					multiply, store func(*dsl.Accumulator)) {
					for range k.RangeI(0, 3) {
						acc := k.Accumulator(64, 256, isa.F32)
						multiply(acc)
						store(acc)
					}
					multiply(all[0])
					store(all[0])
				})
		},
		"no role's": func(m *dsl.Module) {
			k := m.Kernel("k", dsl.Threads(256))
			t := k.SharedTile("t", tileOf(isa.Bf16, 16))
			d := k.Matrix("d", isa.F32).Sized(k.U32(64), k.U32(64))
			for range 8 {
				w := dsl.NewWarpTile[dsl.F32](k, dsl.MMAFor(isa.Bf16, isa.F32), 64, 64)
				w.MMA(t, k.U32(0), t, k.U32(0))
				w.Store(d.At(k.WarpIndex()), k.U32(0), k.U32(0))
			}
		},
	} {
		m := dsl.New("budgets", "sm_90a")
		build(m)
		if _, list := m.Build(); len(list) > 0 {
			t.Errorf("%s: %v", name, list)
		}
	}
}
