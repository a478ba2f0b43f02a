// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl_test

import (
	"testing"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/isa"
)

// wrongTurns are mistakes in the last iteration of a loop, and tiles that are never written.
var wrongTurns = []wrongKernel{
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) {
		s := dsl.Shared[dsl.F32](k, "s", 256)
		for i := range k.RangeI(0, 5) {
			s.Store(i.MadI(64, k.Lane()), k.F32(1)) // want `D301: out of bounds: thread 0, in the last iteration of its loops, accesses byte 1024 of s, which has 1024; an index counts elements, and If can exclude threads`
		}
	}},
	{"sm_80", func(_ *dsl.Module, k *dsl.Kernel) {
		t := k.SharedTile("t", dsl.Tile{Type: isa.Bf16, Rows: 64, Cols: 32, Swizzle: dsl.Swizzle64})
		for step := range k.RangeI(0, 4) {
			t.LoadMatrices(k.Lane().AndI(15), step.MadI(2, k.Lane().ShrI(4))) // want `D401: out of bounds: thread 0, in the last iteration of its loops, accesses 16-byte unit 6 of 64x32 \.bf16 with a swizzle of 64 bytes, which has 4`
		}
	}},
	{"sm_80", func(_ *dsl.Module, k *dsl.Kernel) {
		t := k.SharedTile("t",
			dsl.Tile{Type: isa.Bf16, Rows: 64, Cols: 64, Swizzle: dsl.Swizzle128})
		for i := range dsl.RangeOf(k.U32(0), k.U32(64), k.U32(16)) {
			column(k, t, i)
		}
	}},
	{"sm_80", func(_ *dsl.Module, k *dsl.Kernel) {
		w, t := sumsOf(k, 32), k.SharedTile("t", tileOf(isa.Bf16, 16))
		for i := range k.RangeI(0, 3) {
			w.MMA(t, i.MulI(32), t, k.U32(0)) // want `D401: out of bounds: warp 0, in the last iteration of its loops, accesses rows 64 to 95 of 64x64 \.bf16, which has 64`
		}
	}},
	{"sm_90a", func(m *dsl.Module, _ *dsl.Kernel) {
		cachedOpcode(m, func(k *dsl.Kernel, tile dsl.SharedTile) {
			dsl.Element[dsl.BF16](tile, k.Lane(), k.U32(0)).LoadFirst()
		})
	}},
	{"sm_90a", func(m *dsl.Module, _ *dsl.Kernel) {
		cachedOpcode(m, func(*dsl.Kernel, dsl.SharedTile) {})
	}},
	{"sm_90a", func(m *dsl.Module, _ *dsl.Kernel) {
		consumed(m, 2, func(k *dsl.Kernel, p *dsl.Pipeline, _ *dsl.TensorMap) {
			for range p.ConsumeLate(k.U32(8)) { // want `D501: body of ConsumeLate does not call ReleasePrevious: the stages of pipeline p would never become empty`
			}
		})
	}},
	{"sm_90a", func(m *dsl.Module, _ *dsl.Kernel) {
		consumed(m, 1, func(k *dsl.Kernel, p *dsl.Pipeline, _ *dsl.TensorMap) {
			for s := range p.ConsumeLate(k.U32(8)) { // want `D501: ConsumeLate reads pipeline p of 1 stages, expected at least two`
				s.ReleasePrevious()
			}
		})
	}},
	{"sm_90a", func(m *dsl.Module, _ *dsl.Kernel) {
		consumed(m, 2, func(k *dsl.Kernel, p *dsl.Pipeline, _ *dsl.TensorMap) {
			for s := range p.Consume(k.U32(8)) {
				s.ReleasePrevious() // want `D501: ReleasePrevious is called outside of ConsumeLate or twice in one iteration; each stage must be freed once`
			}
		})
	}},
	{"sm_90a", func(m *dsl.Module, _ *dsl.Kernel) {
		consumed(m, 2, func(k *dsl.Kernel, p *dsl.Pipeline, b *dsl.TensorMap) {
			for s := range p.Consume(k.U32(8)) {
				acc := k.Accumulator(64, 64, isa.F32)
				acc.MMA(s.Tile(b), s.Tile(b))
				k.CommitMMA()
				k.WaitMMA(0)
				left := acc.ToFragments(isa.Bf16)
				left.At(0, 8, false)                                                                                      // want `D401: out of bounds: part 0 has columns 64 to 71, but the fragments are 64x64 \.bf16`
				left.StoreShared(k.SharedTile("t", dsl.Tile{Type: isa.Bf16, Rows: 64, Cols: 32, Swizzle: dsl.Swizzle64})) // want `D401: fragments of 64x64 \.bf16 do not match the shared tile 64x32 \.bf16 with a swizzle of 64 bytes, expected 64 rows of a 16-bit type and a swizzle of 128 bytes`
			}
		})
	}},
}

// consumed builds a kernel in which a warpgroup reads tiles of 64x64 elements.
func consumed(m *dsl.Module, stages int,
	body func(k *dsl.Kernel, p *dsl.Pipeline, b *dsl.TensorMap)) {
	k := m.Kernel("consumed", dsl.Warpgroups(2))
	b := k.TensorMap("b", isa.Bf16, dsl.Box{Rows: 64, Cols: 64}, dsl.Swizzle128)
	p := k.Pipeline("p", stages, b.Feed())
	k.Roles(
		dsl.OnWarpgroup(0, "multiply", func() { body(k, p, b) }),
		dsl.OnWarp(4, "load", func() {
			for s := range p.Produce(k.U32(8)) {
				s.Load(b, dsl.TileAt(k.U32(0), s.Iteration()))
			}
		}),
	)
}

// column accesses a column past the last one.
func column(k *dsl.Kernel, t dsl.SharedTile, i u32) {
	dsl.Element[dsl.BF16](t, k.Lane(), i.AddI(16)).LoadFirst() // want `D401: out of bounds: thread 0, in the last iteration of its loops, accesses column 64 of 64x64 \.bf16 with a swizzle of 128 bytes, which has 64 from -70 from -71`
}

// cachedOpcode builds a kernel in which a role writes the A operand.
func cachedOpcode(m *dsl.Module, write func(k *dsl.Kernel, tile dsl.SharedTile)) {
	k := m.Kernel("written", dsl.Warpgroups(3))
	b := k.TensorMap("b", isa.Bf16, dsl.Box{Rows: 128, Cols: 64}, dsl.Swizzle128)
	x := k.ComputedTile("x", dsl.Tile{Type: isa.Bf16, Rows: 64, Cols: 64, Swizzle: dsl.Swizzle128})
	p, q, steps := k.Pipeline("p", 2, b.Feed()), k.Pipeline("q", 2, x.Feed()),
		dsl.Param[dsl.U32](k, "steps")
	d := k.Matrix("d", isa.F32).Sized(steps, steps)
	k.Roles(
		dsl.OnWarpgroup(0, "multiply", func() {
			acc := k.Accumulator(64, 128, isa.F32)
			for s := range p.Consume(steps) {
				q.ConsumeOne(func(own *dsl.Stage) { acc.MMA(x.Tile(own), s.Tile(b)) })
			}
			acc.Store(d, k.U32(0), k.U32(0))
		}),
		dsl.OnWarpgroup(1, "write", func() {
			for s := range q.Produce(steps) {
				write(k, x.Tile(s)) // want `D501: body of Produce does not write tile x of pipeline q: consumers would read stale data`
			}
		}),
		dsl.OnWarp(8, "load", func() {
			for s := range p.Produce(steps) {
				s.Load(b, dsl.TileAt(k.U32(0), s.Iteration()))
			}
		}),
	)
}

// eachRow runs work in one thread of the second warpgroup per row, for 64 rows.
func eachRow(k *dsl.Kernel, tile dsl.SharedTile, work func(dsl.Array[dsl.BF16])) {
	k.If(k.WarpIndex().LTI(6), func() {
		work(dsl.Element[dsl.BF16](tile, k.WarpIndex().AndI(1).MadI(32, k.Lane()), k.U32(0)))
	})
}

// TestRightIterations builds kernels whose loops stay within bounds, or may: they have no findings.
func TestRightIterations(t *testing.T) {
	one := func(k *dsl.Kernel) dsl.Array[dsl.F32] { return dsl.Shared[dsl.F32](k, "s", 256) }
	for name, build := range map[string]func(m *dsl.Module, k *dsl.Kernel){
		"within": func(_ *dsl.Module, k *dsl.Kernel) {
			s := one(k)
			for i := range k.RangeI(0, 4) {
				s.Store(i.MadI(64, k.Lane()), k.F32(1))
			}
		},
		"left before": func(_ *dsl.Module, k *dsl.Kernel) {
			s := one(k)
			for i := range k.RangeI(0, 9) {
				k.BreakIf(i.EQI(4))
				s.Store(i.MadI(64, k.Lane()), k.F32(1))
			}
		},
		"guarded": func(_ *dsl.Module, k *dsl.Kernel) {
			s := one(k)
			for i := range k.RangeI(0, 9) {
				k.If(i.LTI(4), func() { s.Store(i.MadI(64, k.Lane()), k.F32(1)) })
			}
		},
		"returned before": func(_ *dsl.Module, k *dsl.Kernel) {
			s := one(k)
			for i := range k.RangeI(0, 9) {
				k.ReturnIf(dsl.Global[dsl.U32](k, "x").Load(i).EQI(0))
				s.Store(i.MadI(64, k.Lane()), k.F32(1))
			}
		},
		"wrapped": func(_ *dsl.Module, k *dsl.Kernel) {
			s, last, v := one(k), dsl.Shared[dsl.F32](k, "last", 256), k.U32(0).Var()
			for i := range k.RangeI(0, 9) {
				s.Store(i.AndI(3).MadI(64, k.Lane()), k.F32(1))
				k.If(k.Lane().EQI(0), func() { last.Store(v, k.F32(1)) })
				v.Set(v.AddI(1).AndI(255))
			}
		},
		"written by hand": func(m *dsl.Module, _ *dsl.Kernel) {
			cachedOpcode(m, func(k *dsl.Kernel, tile dsl.SharedTile) {
				eachRow(k, tile, func(x dsl.Array[dsl.BF16]) {
					k.Ins("st.shared.b32", x.Addr(), k.U32(0))
				})
			})
		},
		"written": func(m *dsl.Module, _ *dsl.Kernel) {
			cachedOpcode(m, func(k *dsl.Kernel, tile dsl.SharedTile) {
				eachRow(k, tile, func(x dsl.Array[dsl.BF16]) { x.StoreFirst(k.BF16(0)) })
			})
		},
	} {
		m := dsl.New("turns", "sm_90a")
		build(m, m.Kernel("k", dsl.Threads(32)))
		if _, list := m.Build(); len(list) > 0 {
			t.Errorf("%s: %v", name, list)
		}
	}
}
