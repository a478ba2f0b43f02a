// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package gputest

import (
	"errors"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/runtime"
)

// A warpgroups is a test of a matrix product of two warpgroups, each of which computes 64 of 128
// rows and 128 columns. It multiplies small integers, so that all results are exact.
type warpgroups struct {
	name        string
	left, right dsl.Box
	steps       int
	down        bool // the K steps are along the rows of the operands, not along the columns
	multiply    func(k *dsl.Kernel, acc *dsl.Accumulator, half dsl.Reg[dsl.U32],
		a, b dsl.SharedTile)
	want func(a, b func(row, col int) float32, row, col int) float32
}

// build builds a kernel of three warpgroups that multiplies A and B, and stores the accumulators as
// F32 through the TMA.
func (w *warpgroups) build(m *dsl.Module) {
	k := m.Kernel(w.name, dsl.Warpgroups(3))
	a, b := k.TensorMap("a", isa.Bf16, w.left, dsl.Swizzle128),
		k.TensorMap("b", isa.Bf16, w.right, dsl.Swizzle128)
	d, steps := k.TensorMap("d", isa.F32, dsl.Box{Rows: 64, Cols: 128}, dsl.Swizzle128),
		dsl.Param[dsl.U32](k, "steps")
	ab, out := k.Pipeline("ab", 3, a.Feed(), b.Feed()), k.Output("out", d, 2)
	k.Roles(
		dsl.OnWarpgroup(0, "load", func() {
			for s := range ab.Produce(steps) {
				row, col := k.U32(0), s.Iteration()
				if w.down {
					row, col = col, row
				}
				s.Load(a, dsl.TileAt(row, col))
				s.Load(b, dsl.TileAt(row, col))
			}
		}).Regs(40),
		dsl.OnWarpgroups(1, 2, "multiply", func(half dsl.Reg[dsl.U32]) {
			acc := k.Accumulator(64, 128, isa.F32)
			for s := range ab.Consume(steps) {
				w.multiply(k, acc, half, s.Tile(a), s.Tile(b))
			}
			out.Store(acc, 0, half, half.MulI(64), k.U32(0))
			out.Wait()
		}).Regs(232),
	)
}

// smallFloats returns n random integers from -1 to 1.
func (t *T) smallFloats(n int) []float32 {
	xs := make([]float32, n)
	for i := range xs {
		xs[i] = float32(t.Rand.IntN(3) - 1)
	}
	return xs
}

func (w *warpgroups) check(t *T) (err error) {
	if err := t.Needs("wgmma", 90, 100); err != nil {
		return err
	}
	k, err := t.Kernel(w.name, w.build)
	if err != nil {
		return err
	}
	factor := func(param string,
		box dsl.Box) (*runtime.TensorMap, func(row, col int) float32, func() error, error) {
		rows, cols := box.Rows, box.Cols*w.steps
		if w.down {
			rows, cols = box.Rows*w.steps, box.Cols
		}
		xs := t.smallFloats(rows * cols)
		memory, err := runtime.Upload(t.Device, roundToBF16(xs))
		if err != nil {
			return nil, nil, nil, err
		}
		tiles, err := k.TensorMap(param, memory, rows, cols)
		return tiles, func(row, col int) float32 { return xs[row*cols+col] }, memory.Close, err
	}
	ma, a, closeA, e1 := factor("a", w.left)
	mb, b, closeB, e2 := factor("b", w.right)
	d, e3 := runtime.Alloc[float32](t.Device, 128*128)
	if err := errors.Join(e1, e2, e3); err != nil {
		return err
	}
	md, err := k.TensorMap("d", d, 128, 128)
	if err != nil {
		return err
	}
	if err := k.Launch(runtime.Grid(1), ma, mb, md, uint32(w.steps)); err != nil {
		return err
	}
	got, err := runtime.Download(d)
	if err := errors.Join(err, closeA(), closeB(), d.Close()); err != nil {
		return err
	}
	want := make([]float32, len(got))
	for i := range want {
		want[i] = w.want(a, b, i/128, i%128)
	}
	return compareNear(t, w.name, got, want, 0)
}

// transposedWarpgroups is a product of two transposed operands.
func transposedWarpgroups() *warpgroups {
	const steps = 5
	return &warpgroups{name: "lying", left: dsl.Box{Rows: 64, Cols: 128},
		right: dsl.Box{Rows: 64, Cols: 128}, steps: steps, down: true,
		multiply: func(_ *dsl.Kernel, acc *dsl.Accumulator, half dsl.Reg[dsl.U32],
			a, b dsl.SharedTile) {
			acc.MMA(a.Transposed().Part(half, 2), b.Transposed())
		},
		want: func(a, b func(row, col int) float32, row, col int) (sum float32) {
			for n := range 64 * steps {
				sum += a(n, row) * b(n, col)
			}
			return sum
		},
	}
}

// computedOperand is a product with an A operand that threads compute: three times the first 64
// columns of a tile, which the second warpgroup negates.
func computedOperand() *warpgroups {
	return &warpgroups{name: "computed", left: dsl.Box{Rows: 64, Cols: 128},
		right: dsl.Box{Rows: 64, Cols: 128}, steps: 3, down: true,
		multiply: func(k *dsl.Kernel, acc *dsl.Accumulator, half dsl.Reg[dsl.U32],
			a, b dsl.SharedTile) {
			sign := dsl.To[dsl.F32](half).MulF(-6).AddF(3)
			acc.MMAFragments(
				acc.AFragmentsFunc(isa.Bf16, 64, func(step, part int) (cell []dsl.Reg[dsl.B32]) {
					row := k.WarpIndex().AndI(3).ShlI(4).Add(k.Lane().ShrI(2))
					for r := range 4 {
						two := dsl.Element[dsl.BF16](a, row.AddI(int64(r%2*8)),
							k.Lane().AndI(3).ShlI(1).AddI(int64(16*step+r/2*8))).LoadFirstVec(2)
						for i := range two {
							two[i] = dsl.To[dsl.BF16](dsl.To[dsl.F32](two[i]).Mul(sign))
						}
						cell = append(cell, dsl.Bits[dsl.B32](dsl.Pack[dsl.BF16x2](two[0], two[1])))
					}
					return cell
				}), b.Transposed())
		},
		want: func(a, b func(row, col int) float32, row, col int) (sum float32) {
			for n := range 64 * 3 {
				sum += a(n/64*64+row%64, n%64) * b(n, col)
			}
			if row < 64 {
				return 3 * sum
			}
			return -3 * sum
		},
	}
}

// sparseOperand is a product with a sparse A operand, of which the first two of every four
// elements are stored.
func sparseOperand() *warpgroups {
	const steps = 3
	return &warpgroups{name: "halved", left: dsl.Box{Rows: 128, Cols: 64},
		right: dsl.Box{Rows: 128, Cols: 128}, steps: steps,
		multiply: func(k *dsl.Kernel, acc *dsl.Accumulator, half dsl.Reg[dsl.U32],
			a, b dsl.SharedTile) {
			acc.SparseMMA(a.Part(half, 2), b, func(step, part int) dsl.Reg[dsl.U32] {
				return k.U32(0x44444444)
			})
		},
		want: func(a, b func(row, col int) float32, row, col int) (sum float32) {
			for n := range 64 * steps {
				sum += a(row, n) * b(col, n/2*4+n%2)
			}
			return sum
		},
	}
}

// widenedWeights builds a kernel that multiplies bfloat16 by 8-bit integers. A warpgroup converts
// the integers and writes them to the stages of a pipeline.
func widenedWeights(m *dsl.Module) {
	k := m.Kernel("widened", dsl.Warpgroups(3))
	x := k.TensorMap("x", isa.Bf16, dsl.Box{Rows: 64, Cols: 64}, dsl.Swizzle128)
	from, steps, d := dsl.Global[dsl.S8](k, "w"), dsl.Param[dsl.U32](k, "steps"),
		dsl.Global[dsl.F32](k, "d")
	w := k.ComputedTile("wide",
		dsl.Tile{Type: isa.Bf16, Rows: 128, Cols: 64, Swizzle: dsl.Swizzle128})
	px, pw := k.Pipeline("px", 3, x.Feed()), k.Pipeline("pw", 2, w.Feed())
	k.Roles(
		dsl.OnWarp(0, "load", func() {
			for s := range px.Produce(steps) {
				s.Load(x, dsl.TileAt(k.U32(0), s.Iteration()))
			}
		}),
		dsl.OnWarpgroup(1, "widen", func() {
			row := k.Thread().AndI(127)
			for s := range pw.Produce(steps) {
				for c := 0; c < 64; c += 8 {
					var eight []dsl.Reg[dsl.BF16]
					for _, x := range from.LoadVec(
						row.Mul(steps).Add(s.Iteration()).MulI(64).AddI(int64(c)), 8) {
						eight = append(eight, dsl.To[dsl.BF16](dsl.To[dsl.F32](x)))
					}
					dsl.Element[dsl.BF16](w.Tile(s), row, k.U32(c)).StoreFirstVec(eight)
				}
			}
		}),
		dsl.OnWarpgroup(2, "multiply", func() {
			acc := k.Accumulator(64, 128, isa.F32)
			for s := range px.Consume(steps) {
				pw.ConsumeOne(func(t *dsl.Stage) { acc.MMA(s.Tile(x), w.Tile(t)) })
			}
			dsl.EachElement(acc, func(row, col dsl.Reg[dsl.U32], x, y dsl.Reg[dsl.F32]) {
				d.StoreVec(row.MadI(128, col), []dsl.Reg[dsl.F32]{x, y})
			})
		}),
	)
}

func checkWidened(t *T) error {
	if err := t.Needs("wgmma", 90, 100); err != nil {
		return err
	}
	const steps = 7
	k, err := t.Kernel("widened", widenedWeights)
	if err != nil {
		return err
	}
	xs, ws, want := t.smallFloats(64*64*steps), make([]int8, 128*64*steps), make([]float32, 64*128)
	for i := range ws {
		ws[i] = int8(t.Rand.IntN(255) - 127)
	}
	for i := range want {
		for n := range 64 * steps {
			want[i] += xs[i/128*64*steps+n] * float32(ws[i%128*64*steps+n])
		}
	}
	x, e1 := runtime.Upload(t.Device, roundToBF16(xs))
	w, e2 := runtime.Upload(t.Device, ws)
	d, e3 := runtime.Alloc[float32](t.Device, len(want))
	if err := errors.Join(e1, e2, e3); err != nil {
		return err
	}
	mx, err := k.TensorMap("x", x, 64, 64*steps)
	if err != nil {
		return err
	}
	if err := k.Launch(runtime.Grid(1), mx, w, uint32(steps), d); err != nil {
		return err
	}
	got, err := runtime.Download(d)
	if err := errors.Join(err, x.Close(), w.Close(), d.Close()); err != nil {
		return err
	}
	return compareNear(t, "widened", got, want, 0)
}

// gatheredRows builds a kernel that multiplies rows by each other. Threads gather the rows with
// cp.async; rows that a condition excludes are zero.
func gatheredRows(m *dsl.Module) {
	k := m.Kernel("gathered", dsl.Threads(128))
	x, ids, n, d := dsl.Global[dsl.BF16](k, "x"), dsl.Global[dsl.U32](k, "ids"),
		dsl.Param[dsl.U32](k, "n"), dsl.Global[dsl.F32](k, "d")
	tiles := k.AsyncPipeline("rows", 3,
		dsl.Tile{Type: isa.Bf16, Rows: 64, Cols: 64, Swizzle: dsl.Swizzle128})
	w := dsl.NewWarpTile[dsl.F32](k, dsl.MMAFor(isa.Bf16, isa.F32), 16, 64)
	row, unit, from := k.TID().X.ShrI(3), k.TID().X.AndI(7).ShlI(3), k.WarpIndex().MulI(16)
	tiles.Run(k.U32(8), func(step dsl.Reg[dsl.U32], s dsl.AsyncStage) {
		for i := range 4 {
			r := row.AddI(int64(16 * i))
			x.At(ids.Load(r).MulI(512)).At(step.MadI(64, unit)).CopyAsync(
				dsl.Element[dsl.BF16](s.Tile(0), r, unit), 8, r.LT(n))
		}
	}, func(_ dsl.Reg[dsl.U32], s dsl.AsyncStage) { w.MMA(s.Tile(0), from, s.Tile(0), k.U32(0)) })
	w.Each(func(row, col dsl.Reg[dsl.U32], x, y dsl.Reg[dsl.F32]) {
		d.StoreVec(row.Add(from).MadI(64, col), []dsl.Reg[dsl.F32]{x, y})
	})
}

func checkGathered(t *T) error {
	k, err := t.Kernel("gathered", gatheredRows)
	if err != nil {
		return err
	}
	const rows, depth, n = 200, 512, 50
	xs, ids, want := t.smallFloats(rows*depth), make([]uint32, 64), make([]float32, 64*64)
	for i := range ids {
		ids[i] = uint32(t.Rand.IntN(rows))
	}
	for i := range n {
		for j := range n {
			for c := range depth {
				want[i*64+j] += xs[int(ids[i])*depth+c] * xs[int(ids[j])*depth+c]
			}
		}
	}
	x, e1 := runtime.Upload(t.Device, roundToBF16(xs))
	list, e2 := runtime.Upload(t.Device, ids)
	d, e3 := runtime.Alloc[float32](t.Device, len(want))
	if err := errors.Join(e1, e2, e3); err != nil {
		return err
	}
	if err := k.Launch(runtime.Grid(1), x, list, uint32(n), d); err != nil {
		return err
	}
	got, err := runtime.Download(d)
	if err := errors.Join(err, x.Close(), list.Close(), d.Close()); err != nil {
		return err
	}
	return compareNear(t, "gathered", got, want, 0)
}
