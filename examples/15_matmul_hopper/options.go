// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package hopper

import (
	"iter"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/isa"
)

// Options select what BuildWith builds. The zero value of each field except Tiling selects the
// default.
type Options struct {
	Tiling Tiling
	Type   isa.Type // type of A and B; the default is BF16
	D      isa.Type // type of the result; the default is Result(Type)
	// A stored as k x m, and B as k x n, for elements of 16 bits.
	TransposeA, TransposeB bool
	// D stored as n x m. Together with exchanged operands, this computes few rows of D.
	TransposeD bool
	// Scale multiplies the product by scale_a and scale_b, parameters of one element each. Products
	// of FP8 need it.
	Scale bool
	// If set, A is stored as k x m, or B as k x n. Elements need 16 bits.
	StreamK bool
	// Split is the number of blocks of a cluster that divide the steps of a tile among
	// themselves; 0 and 1 mean that one block computes all steps. A tile needs at least Split
	// steps. Split requires TransposeD, and a grid with one cluster per tile.
	Split int
}

// Sums returns the type of the accumulators for operands of type t.
func Sums(t isa.Type) isa.Type {
	if t == isa.S8 || t == isa.U8 {
		return isa.S32
	}
	return isa.F32
}

// Result returns the default type of the result for operands of type t: S32 for integers, F32 for
// TF32, and BF16 for FP8.
func Result(t isa.Type) isa.Type {
	switch t {
	case isa.F16:
		return isa.F16
	case isa.Tf32:
		return isa.F32
	case isa.S8, isa.U8:
		return isa.S32
	}
	return isa.Bf16
}

// Deep returns a copy of t for which a row of an operand tile is as long as a swizzle, 128 bytes.
func (t Tiling) Deep(e isa.Type) Tiling {
	t.K = 128 * 8 / e.Bits()
	return t
}

// Parts returns the lengths of the arrays partials and flags for a stream-K grid with the given
// number of blocks. The elements of flags must be zero before a launch, and are zero after it.
func (t Tiling) Parts(blocks int) (partials, flags int) {
	return blocks * t.M * t.N, blocks * t.warpgroups()
}

// resolve returns the options with defaults filled in.
func (o Options) resolve() Options {
	if o.Type == (Options{}).Type {
		o.Type = isa.Bf16
	}
	if o.D == (Options{}).D {
		o.D = Result(o.Type)
	}
	return o
}

// staged reports whether results are stored through shared memory and the TMA. Results of 32 bits
// are not, because they would take the shared memory of two stages.
func (o Options) staged() bool { return !o.TransposeD && o.D.Bits() == 16 }

// A product holds the values that are needed to build a kernel.
type product struct {
	Options
	k      *dsl.Kernel
	a, b   *dsl.TensorMap
	out    *dsl.Output
	matrix *dsl.Matrix
	// put stores an element of a transposed D.
	put               func(at dsl.Reg[dsl.U32], x dsl.Reg[dsl.F32])
	scales            []dsl.Array[dsl.F32]
	rows, cols, depth dsl.Reg[dsl.U32]
	ab                *dsl.Pipeline
	work              iter.Seq[part]
}

// A part is a range of K steps of one tile of D.
type part struct {
	dsl.TileCoord
	first  dsl.Reg[dsl.U32] // index of the first step; zero value unless stream-K is selected
	steps  dsl.Reg[dsl.U32]
	finish func(acc *dsl.Accumulator, group dsl.Reg[dsl.U32], store func())
}

// BuildWith adds to m a kernel that computes D = A * B' like Build, with the given options. Rows
// of A and B, and of a D that is stored by the TMA, must be multiples of 16 bytes. A D with
// 32-bit elements must have an even number of columns.
func BuildWith(m *dsl.Module, o Options) {
	p := newProduct(m, o.resolve())
	if p.Split > 1 {
		p.buildSplit()
		return
	}
	k, t, n := p.k, p.Tiling, p.Tiling.warpgroups()
	load, math := t.registers()
	k.Roles(
		role(dsl.OnWarpgroup(0, "load", func() {
			for at := range p.work {
				for s := range p.ab.Produce(at.steps) {
					step := s.Iteration()
					if p.StreamK {
						step = at.first.Add(step)
					}
					s.Load(p.a, dsl.TileAt(at.Row, step).TransposedIf(p.TransposeA))
					s.Load(p.b, dsl.TileAt(at.Col, step).TransposedIf(p.TransposeB))
				}
			}
		}), load),
		role(dsl.OnWarpgroups(1, n, "math", func(group dsl.Reg[dsl.U32]) {
			for at := range p.work {
				acc := k.Accumulator(t.M/n, t.N, Sums(p.Type))
				for s := range p.ab.Consume(at.steps) {
					acc.MMA(s.Tile(p.a).TransposedIf(p.TransposeA).Part(group, n),
						s.Tile(p.b).TransposedIf(p.TransposeB))
				}
				at.finish(acc, group, func() { p.store(acc, group, at) })
			}
			if p.out != nil {
				p.out.Wait()
			}
		}), math),
	)
}

// registers returns the numbers of registers per thread of the warpgroup that loads and of the
// warpgroups that compute; 0 means that the number is not changed.
func (t Tiling) registers() (load, math int) {
	switch t.warpgroups() {
	case 1:
		return 0, 0
	case 2:
		return 40, 232
	}
	return 32, 160
}

// role returns the role with the given number of registers per thread.
func role(r dsl.Role, registers int) dsl.Role {
	if registers > 0 {
		r = r.Regs(registers)
	}
	return r
}

// newProduct declares the parameters and the shared memory of a kernel.
func newProduct(m *dsl.Module, o Options) *product {
	t := o.Tiling
	n := t.warpgroups()
	options := []dsl.KernelOption{dsl.Warpgroups(n + 1)}
	if t.Cluster > 1 {
		options = append(options, dsl.Cluster(t.Cluster))
	}
	if o.Split > 1 {
		options = append(options, dsl.Cluster(o.Split))
	}
	if n == 1 {
		options = append(options, dsl.MinBlocks(2))
	}
	k := m.Kernel("matmul", options...)
	p := &product{Options: o, k: k}
	p.a = k.TensorMap("a", o.Type, dsl.Box{Rows: t.M, Cols: t.K}.TransposedIf(o.TransposeA),
		dsl.Swizzle128)
	p.b = k.TensorMap("b", o.Type, dsl.Box{Rows: t.N, Cols: t.K}.TransposedIf(o.TransposeB),
		dsl.Swizzle128)
	var d *dsl.TensorMap
	switch {
	case o.staged():
		d = k.TensorMap("d", o.D, dsl.Box{Rows: 64, Cols: t.N}, dsl.WidestSwizzle(o.D, t.N))
	case !o.TransposeD:
		p.matrix = k.Matrix("d", o.D)
	case o.D == isa.F16:
		p.put = elements[dsl.F16](k)
	case o.D == isa.F32:
		p.put = elements[dsl.F32](k)
	default:
		p.put = elements[dsl.BF16](k)
	}
	if o.Scale {
		p.scales = append(p.scales, dsl.Global[dsl.F32](k, "scale_a"),
			dsl.Global[dsl.F32](k, "scale_b"))
	}
	var partials dsl.Array[dsl.F32]
	var flags dsl.Array[dsl.U32]
	if o.StreamK {
		partials, flags = dsl.Global[dsl.F32](k, "partials"), dsl.Global[dsl.U32](k, "flags")
	}
	p.rows, p.cols, p.depth = dsl.Param[dsl.U32](k, "m"), dsl.Param[dsl.U32](k, "n"),
		dsl.Param[dsl.U32](k, "k")

	fromB := p.b.Feed()
	if o.Split <= 1 {
		fromB = fromB.Multicast()
	}
	p.ab = k.Pipeline("ab", t.Stages, p.a.Feed(), fromB)
	if d != nil {
		p.out = k.Output("out", d, n)
	}
	if o.Split > 1 {
		return p
	}
	high, wide := p.rows.CeilDiv(int64(t.M)), p.cols.CeilDiv(int64(t.N))
	if o.StreamK {
		p.work = sharedTiles(k.StreamK(high, wide, p.depth.CeilDiv(int64(t.K)), t.Group, n,
			partials, flags))
	} else {
		p.work = wholeTiles(k.Persistent(high, wide, t.Group), p.depth.CeilDiv(int64(t.K)))
	}
	return p
}

// wholeTiles returns the tiles that a block computes, each with all of its steps.
func wholeTiles(tiles *dsl.Schedule, steps dsl.Reg[dsl.U32]) iter.Seq[part] {
	return func(yield func(part) bool) {
		for at := range tiles.Each() {
			if !yield(part{TileCoord: at, steps: steps,
				finish: func(_ *dsl.Accumulator, _ dsl.Reg[dsl.U32], store func()) { store() }}) {
				return
			}
		}
	}
}

// sharedTiles returns the tiles to which a block contributes with stream-K, each with the range
// of steps that the block computes.
func sharedTiles(tiles *dsl.StreamSchedule) iter.Seq[part] {
	return func(yield func(part) bool) {
		for at := range tiles.Each() {
			if !yield(part{TileCoord: at.TileCoord, first: at.First, steps: at.Steps,
				finish: at.Fixup}) {
				return
			}
		}
	}
}

// store stores the rows of D that a warpgroup has computed.
func (p *product) store(acc *dsl.Accumulator, group dsl.Reg[dsl.U32], at part) {
	n := p.Tiling.warpgroups()
	parts := p.Tiling.M / n / 64
	if p.Scale {
		both := p.scales[0].Load(p.k.U32(0)).Mul(p.scales[1].Load(p.k.U32(0)))
		acc.Map(func(_ dsl.Cell, x dsl.Reg[dsl.F32]) dsl.Reg[dsl.F32] { return x.Mul(both) })
	}
	row, col := at.Row.MulI(int64(n)).Add(group).MulI(int64(64*parts)),
		at.Col.MulI(int64(p.Tiling.N))
	switch {
	case p.TransposeD:
		p.storeTransposed(acc, row, col)
	case p.out == nil:
		acc.Store(p.matrix.Sized(p.rows, p.cols), row, col)
	default:
		for i := range parts {
			p.out.Store(acc, i, group, row.AddI(int64(64*i)), col)
		}
	}
}

// storeTransposed stores the rows that a warpgroup has computed as columns of a transposed D.
func (p *product) storeTransposed(acc *dsl.Accumulator, row, col dsl.Reg[dsl.U32]) {
	dsl.EachElement(acc, func(r, c dsl.Reg[dsl.U32], x, y dsl.Reg[dsl.F32]) {
		r, c = r.Add(row), c.Add(col)
		p.k.If(r.LT(p.rows), func() {
			at := c.Mad(p.rows, r)
			p.k.If(c.LT(p.cols), func() { p.put(at, x) })
			p.k.If(c.AddI(1).LT(p.cols), func() { p.put(at.Add(p.rows), y) })
		})
	})
}

// elements declares D with elements of type T, and returns a function that stores one element.
func elements[T dsl.Scalar](k *dsl.Kernel) func(at dsl.Reg[dsl.U32], x dsl.Reg[dsl.F32]) {
	d := dsl.Global[T](k, "d")
	return func(at dsl.Reg[dsl.U32], x dsl.Reg[dsl.F32]) { d.Store(at, dsl.To[T](x)) }
}
