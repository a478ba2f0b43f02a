// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package gemm

import (
	"fmt"

	"github.com/ptxdsl/ptxdsl/dsl"
	hopper "github.com/ptxdsl/ptxdsl/examples/15_matmul_hopper"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/runtime"
)

// fewRows is the largest number of rows of A for which the operands are exchanged. The columns of
// one tile then cover all rows of D, so each weight is read only once.
const fewRows = 256

// hopper returns the kernels with wgmma that can compute the product, and that with the highest
// expected speed first. turnedA and turnedB are set if an operand is stored transposed.
func (p *plan) hopper(info runtime.Info, turnedA, turnedB bool, depth int, o Options) []*plan {
	options := hopper.Options{Type: p.operand, D: p.result, Scale: o.ScaleA != nil}
	switch {
	case p.sums == isa.F64 || p.operand == isa.F32: // F32 is computed as three products of TF32
		return nil
	case !o.plain() || p.result == isa.F64 || p.sums == isa.S32 && p.result != isa.S32:
		options.D = p.sums
	}
	p.direct = options.D == p.result && o.plain()
	even := 2
	if options.D.Bits() == 16 {
		even = 8
	}
	// A kernel can read a transposed operand of 16 bits as it is stored if no padding is
	// necessary.
	turns := p.operand.Bits() == 16 && p.depth == depth
	p.turnA, p.turnB = turnedA && turns && p.m%8 == 0, turnedB && turns && p.n%8 == 0
	options.TransposeA, options.TransposeB = p.turnA, p.turnB
	var list []*plan
	if p.n%even == 0 || !p.direct {
		if p.width = p.n; !p.direct {
			p.width = round(p.n, even)
		}
		for _, t := range tilings(options, p.m) {
			list = append(list, p.whole(info, options, t)...)
		}
	}
	if p.m <= fewRows && p.sums == isa.F32 && p.direct {
		list = append(p.few(info, options), list...)
	} else {
		likely(list, p.name128(info))
	}
	return list
}

// tilings returns the tile shapes to try for m rows, without clusters.
func tilings(o hopper.Options, m int) (list []hopper.Tiling) {
	shapes := [][2]int{{128, 256}, {128, 192}, {128, 128}, {128, 64}, {256, 128}, {256, 64},
		{192, 192}, {192, 128}}
	if !o.TransposeB {
		// shapes that fill grids which the other shapes do not fill
		shapes = append(shapes, [][2]int{{128, 160}, {128, 96}, {256, 192}, {256, 160}}...)
	}
	if m <= 128 {
		shapes = append(shapes, [][2]int{{64, 64}, {64, 96}, {64, 128}, {64, 32}}...)
	}
	for _, s := range shapes {
		list = append(list, staged(hopper.Tiling{M: s[0], N: s[1], Cluster: 1, Group: 12}, o))
	}
	return list
}

// staged returns the tiling with the largest number of stages that fit into shared memory
// together with the staged results.
func staged(t hopper.Tiling, o hopper.Options) hopper.Tiling {
	const memory, most = 226 << 10, 12
	room := memory
	if o.D.Bits() == 16 && !o.TransposeD {
		room -= min(t.M, 128+t.M%128) * t.N * 2 // 64 rows for each warpgroup
	}
	if t.M == 64 {
		room /= 2 // two blocks run on a multiprocessor
	}
	if o.Split > 1 {
		room -= (t.M + 4) * t.N * 4
	}
	t = t.Deep(o.Type)
	t.Stages = min(most, room/((t.M+t.N)*128))
	return t
}

// whole returns the plans for one tile shape: with blocks that compute whole tiles, with clusters
// of two blocks, and with stream-K.
func (p *plan) whole(info runtime.Info, o hopper.Options, t hopper.Tiling) []*plan {
	o.Tiling = t
	list := []*plan{p.with(info, o)}
	if t.N%64 != 0 {
		return list
	}
	if t.N >= 128 {
		o.Tiling.Cluster = 2
		list = append(list, p.with(info, o))
		o.Tiling.Cluster = 1
	}
	if o.StreamK = p.sums == isa.F32; o.StreamK {
		list = append(list, p.with(info, o))
	}
	return list
}

// few returns the plans for products with few rows. All blocks read the same number of weights.
func (p *plan) few(info runtime.Info, o hopper.Options) (list []*plan) {
	q := *p
	q.width, q.swapped = p.n, true
	o.TransposeA, o.TransposeB, o.TransposeD = o.TransposeB, o.TransposeA, true
	for _, cols := range []int{16, 32, 64, 128, 256} {
		if cols < p.m && cols < fewRows || cols >= 4*p.m && cols > 16 {
			continue
		}
		for _, rows := range []int{64, 128} {
			if rows == 64 && cols > 64 {
				continue // two blocks need too many registers
			}
			o.Tiling = staged(hopper.Tiling{M: rows, N: cols, Cluster: 1, Group: 1}, o)
			for _, shared := range []bool{true, false} {
				o.StreamK = shared
				list = append(list, q.with(info, o))
			}
			o.StreamK = false
			if o.Split = 2; p.splits(info, o) {
				o.Tiling = staged(o.Tiling, o)
				list = append(list, q.with(info, o))
			}
			o.Split = 0
		}
	}
	return list
}

// splits reports whether clusters may divide the steps of a tile among their blocks: there must
// be enough steps, and not many more blocks than can run at the same time.
func (p *plan) splits(info runtime.Info, o hopper.Options) bool {
	t := o.Tiling
	return t.N <= 128 && t.Tiles(p.n, p.m)*o.Split <= 2*slots(info, t) && p.depth >= 4*o.Split*t.K
}

// slots returns the number of blocks that the device can run at the same time.
func slots(info runtime.Info, t hopper.Tiling) int {
	if t.M == 64 {
		return 2 * info.SMs
	}
	return info.SMs
}

// with returns a copy of the plan that uses the kernel with the given options.
func (p *plan) with(info runtime.Info, o hopper.Options) *plan {
	q, t := *p, o.Tiling
	rows, cols := p.m, p.width
	if p.swapped {
		rows, cols = cols, rows
	}
	q.kernel, q.name = "matmul", fmt.Sprintf("hopper %dx%d", t.M, t.N)
	slots := slots(info, t)
	q.blocks = t.Blocks(rows, cols, slots)
	if t.Cluster > 1 {
		q.name += fmt.Sprintf(", clusters of %d", t.Cluster)
	}
	if o.StreamK {
		q.name += ", stream-K"
		q.blocks = slots
		q.partials, q.flags = t.Parts(q.blocks)
	}
	if o.Split > 1 {
		q.name += fmt.Sprintf(", K divided by %d", o.Split)
		q.blocks = t.Tiles(rows, cols) * o.Split
	}
	if o.TransposeD {
		q.name += ", exchanged"
	}
	q.name += fmt.Sprintf(", %s to %s", o.Type.String()[1:], o.D.String()[1:])
	for i, turned := range []bool{o.TransposeA, o.TransposeB} {
		if turned {
			q.name += ", transposed " + "AB"[i:i+1]
		}
	}
	if o.Scale {
		q.name += ", scaled"
	}
	q.build = func(m *dsl.Module) { hopper.BuildWith(m, o) }
	return &q
}

// name128 returns the prefix of the name of the plan with the tile shape that example 15 prefers.
func (p *plan) name128(info runtime.Info) string {
	t := hopper.For(p.m, p.width, info.SMs)
	return fmt.Sprintf("hopper %dx%d,", t.M, t.N)
}

// likely moves the first plan whose name has the given prefix to the front.
func likely(list []*plan, start string) {
	for i, p := range list {
		if len(p.name) >= len(start) && p.name[:len(start)] == start {
			list[0], list[i] = list[i], list[0]
			return
		}
	}
}
