// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package hopper

import (
	"iter"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/isa"
)

// Options are the choices of BuildWith. The zero value of each field but Tiling is the default.
type Options struct {
	Tiling Tiling
	Type   isa.Type // of A and B; the default is BF16
	D      isa.Type // of the result; the default is Result(Type)
	// A stored as k x m, and B as k x n, for elements of 16 bits.
	TransposeA, TransposeB bool
	// D stored as n x m. Together with exchanged operands, this computes few rows of D.
	TransposeD bool
	// Scale multiplies the product by scale_a and scale_b, parameters of one element each. Products
	// of FP8 need it.
	Scale bool
	// StreamK divides the steps of all tiles evenly among the blocks, which add partial sums
	// through the parameters partials and flags; see Parts. It requires sums of F32 and no cluster.
	StreamK bool
	// Split is the number of blocks of a cluster that divide the steps of a tile, of which there
	// must be as many; 0 or 1 for none. It requires TransposeD, and one cluster for each tile.
	Split int
}

// Sums returns the accumulator type for operands of type t.
func Sums(t isa.Type) isa.Type {
	if t == isa.S8 || t == isa.U8 {
		return isa.S32
	}
	return isa.F32
}

// Result returns the default type of the result for operands of type t: integers are exact, TF32
// keeps F32, and FP8 has results of BF16.
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

// Deep returns the tiling with rows of 128 bytes for a type, which is as deep as the swizzle is
// wide.
func (t Tiling) Deep(e isa.Type) Tiling {
	t.K = 128 * 8 / e.Bits()
	return t
}

// Parts returns the lengths of the arrays partials and flags for a stream-K grid of the given size.
// The elements of flags must be zero before a launch and are zero after it.
func (t Tiling) Parts(blocks int) (partials, flags int) {
	return blocks * t.M * t.N, blocks * t.warpgroups()
}

// resolve fills in the defaults.
func (o Options) resolve() Options {
	if o.Type == (Options{}).Type {
		o.Type = isa.Bf16
	}
	if o.D == (Options{}).D {
		o.D = Result(o.Type)
	}
	return o
}

// staged reports whether results are stored through shared memory and the TMA. 32-bit results would
// occupy the memory of two stages.
func (o Options) staged() bool { return !o.TransposeD && o.D.Bits() == 16 }

// A product is a kernel that is being built.
type product struct {
	Options
	k      *dsl.Kernel
	a, b   *dsl.TensorMap
	out    *dsl.Output
	matrix *dsl.Matrix
	// stores an element of a transposed D
	put               func(at dsl.Reg[dsl.U32], x dsl.Reg[dsl.F32])
	scales            []dsl.Array[dsl.F32]
	rows, cols, depth dsl.Reg[dsl.U32]
	ab                *dsl.Pipeline
	work              iter.Seq[part]
}

// A part is a range of K steps of one tile of D.
type part struct {
	dsl.TileCoord
	first  dsl.Reg[dsl.U32] // index of the first step, for stream-K
	steps  dsl.Reg[dsl.U32]
	finish func(acc *dsl.Accumulator, group dsl.Reg[dsl.U32], store func())
}

// BuildWith adds a kernel that computes D = A * B' as Build does, with options. Rows of A, B and a
// staged D must be multiples of 16 bytes; D of 32 bits must have an even number of columns.
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

// registers returns the registers per thread of the warpgroup that loads and of those that compute;
// 0 leaves them as they are.
func (t Tiling) registers() (load, math int) {
	switch t.warpgroups() {
	case 1:
		return 0, 0
	case 2:
		return 40, 232
	}
	return 32, 160
}

// role returns a role with a budget of registers.
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

// wholeTiles returns the tiles of a block with all of their steps.
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

// sharedTiles returns the tiles of a block for stream-K, each with the range of steps that the
// block computes.
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

// store stores the rows of a warpgroup.
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

// storeTransposed stores the rows of a warpgroup as columns.
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

// elements declares D, and returns a function that stores an element of it.
func elements[T dsl.Scalar](k *dsl.Kernel) func(at dsl.Reg[dsl.U32], x dsl.Reg[dsl.F32]) {
	d := dsl.Global[T](k, "d")
	return func(at dsl.Reg[dsl.U32], x dsl.Reg[dsl.F32]) { d.Store(at, dsl.To[T](x)) }
}
