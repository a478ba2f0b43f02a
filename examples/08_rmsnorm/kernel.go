// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"math"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/isa"
)

// Targets are what the kernel is built for.
var Targets = []string{"sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_120", "sm_121"}

// block is the threads of a block, unless a row needs more.
const block = 128

// threadsFor is how many threads share a row: few enough that each has several vectors under way, and enough that a row fits into
// their registers.
func threadsFor(hidden int) int {
	switch {
	case hidden <= 3072:
		return 32
	case hidden <= 6144:
		return 64
	case hidden <= 16384:
		return 128
	}
	return 256
}

// Build makes y = x / sqrt(mean(x*x) + eps) * w for each row of x, of .f32, .f16 or .bf16: fused, with sums in F32. The row stays in
// registers, so that x is read once and y written once, 16 bytes at a time. A block does Rows(hidden) rows.
func Build(m *dsl.Module, t isa.Type, hidden int) {
	switch t {
	case isa.F32:
		rmsnorm(m, t, hidden, single)
	case isa.F16:
		rmsnorm(m, t, hidden, pairs[dsl.F16x2])
	default:
		rmsnorm(m, t, hidden, pairs[dsl.BF16x2])
	}
}

// Rows is the number of rows that a block does, and its threads.
func Rows(hidden int) (rows, threads int) {
	each := threadsFor(hidden)
	return max(1, block/each), max(block, each)
}

// A mover loads and stores 16 bytes as numbers of F32.
type mover struct {
	load  func(at dsl.Reg[dsl.U32], mods ...dsl.Mod) []dsl.Reg[dsl.F32]
	store func(at dsl.Reg[dsl.U32], v []dsl.Reg[dsl.F32])
}

// A parameter makes a pointer parameter and how 16 bytes of it are moved; row, if not zero, is where a row of it begins.
type parameter func(k *dsl.Kernel, name string) func(row dsl.Reg[dsl.U64]) mover

// single moves numbers of F32.
func single(k *dsl.Kernel, name string) func(dsl.Reg[dsl.U64]) mover {
	p := dsl.Global[dsl.F32](k, name)
	return func(row dsl.Reg[dsl.U64]) mover {
		a := p.At64(row)
		return mover{
			func(at dsl.Reg[dsl.U32], mods ...dsl.Mod) []dsl.Reg[dsl.F32] { return a.LoadVec(at, 4, mods...) },
			func(at dsl.Reg[dsl.U32], v []dsl.Reg[dsl.F32]) { a.StoreVec(at, v) },
		}
	}
}

// pairs moves numbers of half precision, two in a register.
func pairs[P dsl.Scalar](k *dsl.Kernel, name string) func(dsl.Reg[dsl.U64]) mover {
	p := dsl.Global[P](k, name)
	return func(row dsl.Reg[dsl.U64]) mover {
		a := p.At64(row.ShrI(1))
		return mover{
			func(at dsl.Reg[dsl.U32], mods ...dsl.Mod) []dsl.Reg[dsl.F32] {
				var v []dsl.Reg[dsl.F32]
				for _, pair := range a.LoadVec(at.ShrI(1), 4, mods...) {
					lo, hi := dsl.Widen(pair)
					v = append(v, lo, hi)
				}
				return v
			},
			func(at dsl.Reg[dsl.U32], v []dsl.Reg[dsl.F32]) {
				var out []dsl.Reg[P]
				for i := 0; i < len(v); i += 2 {
					out = append(out, dsl.Pack[P](v[i], v[i+1]))
				}
				a.StoreVec(at.ShrI(1), out)
			},
		}
	}
}

func rmsnorm(m *dsl.Module, t isa.Type, hidden int, declare parameter) {
	rows, threads := Rows(hidden)
	each := threads / rows
	vector := 128 / t.Bits() // elements in 16 bytes
	k := m.Kernel(fmt.Sprintf("rmsnorm_%s_%d", t.String()[1:], hidden), dsl.Threads(threads))
	if hidden < each*vector || hidden%(each*vector) != 0 || hidden > 32768 {
		k.Fault("rows of %d %s; a multiple of %d up to 32768 is expected", hidden, t, each*vector)
		return
	}
	px, pw, py := declare(k, "x"), declare(k, "w"), declare(k, "y")
	n, eps := dsl.Param[dsl.U32](k, "rows"), dsl.Param[dsl.F32](k, "eps")

	tid := k.TID().X
	lane := tid.AndI(int64(each - 1))
	// Threads beyond the last row do that one too, so that all meet at the barriers.
	row := k.CTAID().X.MadI(int64(rows), tid.DivI(int64(each))).Min(n.SubI(1))
	start := dsl.To[dsl.U64](row).MulI(int64(hidden))
	x, w, y := px(start), pw(k.U64(0)), py(start)

	var xs, ws []dsl.Reg[dsl.F32]
	at := func(i int) dsl.Reg[dsl.U32] { return lane.MulI(int64(vector)).AddI(int64(i * each * vector)) }
	count := hidden / (each * vector)
	k.Comment("%d elements of the row for each thread", count*vector)
	for i := range count {
		xs = append(xs, x.load(at(i), dsl.NC)...)
	}
	k.Comment("the weights are on their way before the sum is needed")
	for i := range count {
		ws = append(ws, w.load(at(i), dsl.NC)...)
	}
	sum := xs[0].Mul(xs[0])
	for _, v := range xs[1:] {
		sum = v.FMA(v, sum)
	}
	sum = rowSum(k, sum, rows, each)
	scale := sum.FMA(k.F32(1/float64(hidden)), eps).Rsqrt()
	for i := range xs {
		xs[i] = xs[i].Mul(scale).Mul(ws[i])
	}
	for i := range count {
		y.store(at(i), xs[i*vector:(i+1)*vector])
	}
}

// rowSum is the sum over the threads of a row.
func rowSum(k *dsl.Kernel, sum dsl.Reg[dsl.F32], rows, each int) dsl.Reg[dsl.F32] {
	sum = sum.WarpSum()
	warps := each / 32
	if warps == 1 {
		return sum
	}
	parts := dsl.Shared[dsl.F32](k, "sums", rows*warps)
	k.If(k.Lane().EqI(0), func() { parts.Store(k.WarpIndex(), sum) })
	k.Sync()
	first := k.WarpIndex().DivI(int64(warps)).MulI(int64(warps))
	total := parts.Load(first)
	for i := 1; i < warps; i++ {
		total = total.Add(parts.Load(first.AddI(int64(i))))
	}
	return total
}

// Reference is what the kernel makes of a row.
func Reference(x, w []float32, eps float64) []float32 {
	var sum float64
	for _, v := range x {
		sum += float64(v) * float64(v)
	}
	scale := 1 / math.Sqrt(sum/float64(len(x))+eps)
	y := make([]float32, len(x))
	for i, v := range x {
		y[i] = float32(float64(v) * scale * float64(w[i]))
	}
	return y
}
