// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl_test

import (
	"math"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/isa"
)

// productFeatures are MMAs with other operands than two dense tiles.
var productFeatures = []feature{
	{"weights of eight bits", "sm_80", func(m *dsl.Module) { weights(m, 64) }, "prmt.b32"},
	{"weights of eight bits, one step a stage", "sm_80", func(m *dsl.Module) { weights(m, 16) },
		"mov.b32"},
	{"sparse products read ahead", "sm_80",
		func(m *dsl.Module) { sparseAhead[dsl.F32](m, isa.F16) },
		"mma.sp::ordered_metadata.sync.aligned.m16n8k32"},
	{"sparse products of eight bits read ahead", "sm_80",
		func(m *dsl.Module) { sparseAhead[dsl.S32](m, isa.S8) },
		"mma.sp::ordered_metadata.sync.aligned.m16n8k64"},
	{"sums promoted", "sm_80", func(m *dsl.Module) {
		k := m.Kernel("k", dsl.Threads(32))
		d, scales := k.Matrix("d", isa.F32), dsl.Global[dsl.F32](k, "scales")
		x := k.SharedTile("x", dsl.Tile{Type: isa.S8, Rows: 16, Cols: 64, Swizzle: dsl.Swizzle64})
		total := dsl.NewWarpTile[dsl.F32](k, dsl.MMAFor(isa.F16, isa.F32), 16, 16)
		part := dsl.NewWarpTile[dsl.S32](k, dsl.MMAFor(isa.S8, isa.S32), 16, 16)
		for i := range k.RangeI(0, 4) {
			part.Clear()
			part.MMA(x, k.U32(0), x, k.U32(0))
			lines := []f32{scales.Load(i.MadI(16, total.Row(0))),
				scales.Load(i.MadI(16, total.Row(1)))}
			dsl.Promote(total, part, func(c dsl.Cell, sum f32, x dsl.Reg[dsl.S32]) f32 {
				return dsl.To[dsl.F32](x).FMA(lines[c.LocalRow], sum)
			})
		}
		total.Store(d.Sized(k.U32(16), k.U32(16)), k.U32(0), k.U32(0))
	}, "cvt.rn.f32.s32"},
	{"sums of wgmma promoted", "sm_90a", promoted, "fma.rn.f32"},
	{"scores of one stage beside the values of the last", "sm_90a", behind,
		"wgmma.wait_group.sync.aligned 1;"},
	{"stages freed in the next iteration", "sm_90a", late,
		"stmatrix.sync.aligned.m8n8.x4.shared.b16"},
	{"weights of rows that arrive in tiles", "sm_90a", softened, "ex2.approx.ftz.f32"},
	{"pairs of one number", "sm_100", func(m *dsl.Module) {
		k := m.Kernel("k", dsl.Threads(32))
		out := dsl.Global[dsl.F32x2](k, "out")
		i := k.TID().X
		out.Store(i, out.Load(i).FMA(dsl.ConstF[dsl.F32x2](k, 1.5), dsl.Const[dsl.F32x2](k, -2)))
	}, "0x3fc000003fc00000"},
}

// behind multiplies by one tile of a stage, and then by the other tile, with the first result as A
// operand. The second MMA overlaps with the first MMA of the next stage.
func behind(m *dsl.Module) {
	k := m.Kernel("k", dsl.Warpgroups(2))
	a := k.TensorMap("a", isa.Bf16, dsl.Box{Rows: 64, Cols: 64}, dsl.Swizzle128)
	b := k.TensorMap("b", isa.Bf16, dsl.Box{Rows: 64, Cols: 64}, dsl.Swizzle128)
	d, n := k.Matrix("d", isa.F32), dsl.Param[dsl.U32](k, "n")
	p := k.Pipeline("p", 2, a.Feed(), b.Feed())
	k.Roles(
		dsl.OnWarp(4, "load", func() {
			for s := range p.Produce(n.AddI(2)) {
				s.Load(a, dsl.TileAt(k.U32(0), s.Iteration()))
				s.Load(b, dsl.TileAt(k.U32(0), s.Iteration()))
			}
		}),
		dsl.OnWarpgroup(0, "multiply", func() {
			total := k.Accumulator(64, 64, isa.F32)
			first := func(s *dsl.Stage) *dsl.Accumulator {
				part := k.Accumulator(64, 64, isa.F32)
				part.MMA(s.Tile(a), s.Tile(a))
				k.CommitMMA()
				return part
			}
			var left *dsl.Fragments
			p.ConsumeOne(func(s *dsl.Stage) {
				part := first(s)
				k.WaitMMA(0)
				left = part.ToFragments(isa.Bf16)
			})
			for s := range p.Consume(n) {
				part := first(s)
				total.MMAFragments(left, s.Tile(b).Transposed())
				k.CommitMMA()
				k.WaitMMA(1)
				part.Map(func(_ dsl.Cell, x f32) f32 { return x.Exp2() })
				k.WaitMMA(0)
				left.Set(part.ToFragments(isa.Bf16))
			}
			p.ConsumeOne(func(s *dsl.Stage) { total.MMAFragments(left, s.Tile(b).Transposed()) })
			total.Store(d.Sized(k.U32(64), k.U32(64)), k.U32(0), k.U32(0))
		}),
	)
}

// late multiplies with wgmma without waiting at the end of an iteration. A part of the operands
// goes through registers to shared memory, and is also used as F32.
func late(m *dsl.Module) {
	k := m.Kernel("k", dsl.Warpgroups(2))
	a := k.TensorMap("a", isa.Bf16, dsl.Box{Rows: 64, Cols: 64}, dsl.Swizzle128)
	d, n := k.Matrix("d", isa.F32), dsl.Param[dsl.U32](k, "n")
	p := k.Pipeline("p", 2, a.Feed())
	own := k.SharedTile("own", a.Tile())
	group := k.NamedBarrier(128)
	k.Roles(
		dsl.OnWarpgroup(1, "load", func() {
			for s := range p.Produce(n) {
				s.Load(a, dsl.TileAt(s.Iteration(), k.U32(0)))
			}
		}),
		dsl.OnWarpgroup(0, "multiply", func() {
			total := k.Accumulator(64, 64, isa.F32)
			for s := range p.ConsumeLate(n) {
				part := k.Accumulator(64, 64, isa.F32)
				part.MMA(s.Tile(a), s.Tile(a))
				k.CommitMMA()
				k.WaitMMA(0)
				s.ReleasePrevious()
				left := part.ToFragments(isa.Bf16)
				x, y := left.At(0, 3, true)
				u, _ := part.At(0, 3, true)
				u.Set(x.Add(y))
				group.Sync()
				left.StoreShared(own)
				k.FenceAsync()
				group.Sync()
				total.MMA(own.Transposed(), s.Tile(a).Transposed())
				k.CommitMMA()
			}
			total.Store(d.Sized(k.U32(64), k.U32(64)), k.U32(0), k.U32(0))
		}),
	)
}

// softened computes weights with an online softmax, scales them by the values of their columns, and
// stores the weighted values and the logarithms.
func softened(m *dsl.Module) {
	k := m.Kernel("k", dsl.Warpgroups(2))
	a := k.TensorMap("a", isa.Bf16, dsl.Box{Rows: 64, Cols: 64}, dsl.Swizzle128)
	d, n := k.Matrix("d", isa.F32), dsl.Param[dsl.U32](k, "n")
	logs, factors := dsl.Global[dsl.F32](k, "logs"), dsl.Global[dsl.F32](k, "factors")
	p := k.Pipeline("p", 2, a.Feed())
	k.Roles(
		dsl.OnWarp(4, "load", func() {
			for s := range p.Produce(n) {
				s.LoadAt(a, k.U32(0), s.Iteration().MulI(64))
			}
		}),
		dsl.OnWarpgroup(0, "multiply", func() {
			total := k.Accumulator(64, 64, isa.F32)
			rows := k.OnlineSoftmax(total.LocalRows(), k.F32(0.125))
			rows.Raise(8)
			rows.AllowEmpty()
			last := dsl.Vars([]f32{k.F32(1), k.F32(1)})
			for s := range p.Consume(n) {
				scores := k.Accumulator(64, 64, isa.F32)
				scores.MMA(s.Tile(a), s.Tile(a))
				scores.Wait()
				scores.Mask(func(c dsl.Cell) dsl.Reg[dsl.Pred] { return c.Col().LT(n) },
					k.F32(math.Inf(-1)))
				shrink := rows.Weigh(scores)
				total.Wait()
				rows.IfGrown(shrink, func() { total.ScaleRows(shrink) })
				dsl.SetAll(last, shrink)
				weights := scores.ToFragments(isa.Bf16)
				scores.MapColumns(factors, k.U32(0),
					func(c dsl.Cell, x, y f32, v []f32) (f32, f32) {
						u, w := weights.Pair(c)
						return x.Sub(u).Mul(v[0]), y.Sub(w).Mul(v[1])
					})
				total.MMAFragments(scores.ToFragments(isa.Bf16), s.Tile(a).Transposed())
			}
			logs.Store(total.Row(1), rows.Log(total, 1).Add(last[1]))
			rows.Divide(total)
			total.Store(d.Sized(k.U32(64), k.U32(64)), k.U32(0), k.U32(0))
		}),
	)
}

// promoted multiplies with wgmma, and scales the result of each stage by factors from the stage:
// the threads read one tile of it, the tensor cores the others.
func promoted(m *dsl.Module) {
	k := m.Kernel("k", dsl.Warpgroups(2))
	a := k.TensorMap("a", isa.E4m3, dsl.Box{Rows: 64, Cols: 128}, dsl.Swizzle128)
	d, scales := k.Matrix("d", isa.F32), dsl.ChunkOf(dsl.Global[dsl.F32](k, "scales"), 64)
	n := dsl.Param[dsl.U32](k, "n")
	p := k.Pipeline("p", 2, a.Feed(), scales.Feed())
	k.Roles(
		dsl.OnWarp(4, "load", func() {
			for s := range p.Produce(n) {
				s.Load(a, dsl.TileAt(k.U32(0), s.Iteration()))
				scales.Load(s, s.Iteration())
			}
		}),
		dsl.OnWarpgroup(0, "multiply", func() {
			total := k.Accumulator(64, 64, isa.F32)
			total.Clear()
			for s := range p.Consume(n) {
				part := k.Accumulator(64, 64, isa.F32)
				part.MMA(s.Tile(a), s.Tile(a))
				lines := make([]f32, part.LocalRows())
				for i := range lines {
					lines[i] = scales.InStage(s).Load(part.Row(i))
				}
				part.Wait()
				dsl.PromoteAccumulator(total, part, func(c dsl.Cell, sum, x f32) f32 {
					return x.FMA(lines[c.LocalRow], sum)
				})
			}
			total.Store(d.Sized(k.U32(64), k.U32(64)), k.U32(0), k.U32(0))
		}),
	)
}

// weights multiplies by 8-bit weights, stored in the order in which lanes need them, which are
// converted to 16 bits. A stage has the given depth.
func weights(m *dsl.Module, depth int) {
	k := m.Kernel("k", dsl.Threads(128))
	a, b, d := k.Matrix("a", isa.F16), k.Matrix("b", isa.B32), k.Matrix("d", isa.F32)
	n := dsl.Param[dsl.U32](k, "n")
	// A word holds a lane's part of 16 rows and 8 columns.
	a, b = a.Sized(k.U32(64), n), b.Sized(k.U32(8), n.ShlI(1))
	ab := k.AsyncPipeline("ab", 3,
		dsl.Tile{Type: isa.F16, Rows: 64, Cols: depth, Swizzle: dsl.Swizzle32},
		dsl.Tile{Type: isa.B32, Rows: 8, Cols: 2 * depth})
	w := dsl.NewWarpTile[dsl.F32](k, dsl.MMAFor(isa.F16, isa.F32), 32, 32)
	row, col := w.Origin(k.WarpIndex(), 2)
	ab.Multiply(n.DivI(int64(depth)),
		func(step u32, s dsl.AsyncStage) {
			a.CopyAsync(s.Tile(0), step.MulI(int64(depth)))
			b.CopyAsync(s.Tile(1), step.MulI(int64(2*depth)))
		},
		func(s dsl.AsyncStage) dsl.MMAStep {
			return w.MMAStepFunc(s.Tile(0), row, func(step int) (right [][]dsl.Reg[dsl.B32]) {
				for i := range 4 {
					word := dsl.Element[dsl.B32](s.Tile(1), col.ShrI(3).AddI(int64(i)),
						k.Lane().AddI(int64(32*step))).LoadFirst()
					var two []dsl.Reg[dsl.B32]
					for _, bytes := range []int{0x4140, 0x4342} {
						// the f16 number 1024 plus the byte
						biased := dsl.Result[dsl.F16x2](k, "prmt.b32", word, 0x64646464, bytes)
						two = append(two,
							dsl.Bits[dsl.B32](biased.Sub(dsl.ConstF[dsl.F16x2](k, 1024+128))))
					}
					right = append(right, two)
				}
				return right
			})
		})
	w.Store(d.Sized(k.U32(64), k.U32(64)), row, col)
}

// sparseAhead multiplies tiles with double-buffered fragments. The A operand is sparse and stores
// 64 elements of a row.
func sparseAhead[C dsl.Scalar](m *dsl.Module, t isa.Type) {
	k := m.Kernel("k", dsl.Threads(128))
	a, sparsity, b, d := k.Matrix("a", t), k.Matrix("places", isa.B8), k.Matrix("b", t),
		k.Matrix("d", dsl.TypeOf[C]())
	n := dsl.Param[dsl.U32](k, "n")
	a, sparsity, b = a.Sized(k.U32(64), n), sparsity.Sized(k.U32(64), n.ShrI(2)),
		b.Sized(k.U32(64), n.ShlI(1))
	half := dsl.Tile{Type: t, Rows: 64, Cols: 64, Swizzle: dsl.Swizzle(8 * t.Bits())}
	ab := k.AsyncPipeline("ab", 3, half, dsl.Tile{Type: isa.B8, Rows: 64, Cols: 16}, half, half)
	w := dsl.NewWarpTile[C](k, dsl.SparseMMAFor(t, dsl.TypeOf[C]()), 32, 32)
	row, col := w.Origin(k.WarpIndex(), 2)
	ab.Multiply(n.ShrI(6),
		func(step u32, s dsl.AsyncStage) {
			a.CopyAsync(s.Tile(0), step.MulI(64))
			sparsity.CopyAsync(s.Tile(1), step.MulI(16))
			b.CopyAsync(s.Tile(2), step.MulI(128))
			b.CopyAsync(s.Tile(3), step.MulI(128).AddI(64))
		},
		func(s dsl.AsyncStage) dsl.MMAStep {
			return w.SparseMMAStep(s.Tile(0), row, s.Tile(1),
				[]dsl.SharedTile{s.Tile(2), s.Tile(3)}, col)
		})
	w.Store(d.Sized(k.U32(64), k.U32(64)), row, col)
}
