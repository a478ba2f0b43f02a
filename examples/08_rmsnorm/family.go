// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package rmsnorm

import (
	"math"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/isa"
)

// A Kind is a function of the rows of a matrix.
type Kind string

// The kinds of BuildRow.
const (
	Normalize    Kind = "rmsnorm"       // x / sqrt(mean(x*x) + eps) * w
	LayerNorm    Kind = "layernorm"     // (x - mean) / sqrt(variance + eps) * w + b
	Softmax      Kind = "softmax"       // exp(x) / sum(exp(x))
	CrossEntropy Kind = "cross_entropy" // loss = log(sum(exp(x))) - x[target]
	Gradient     Kind = "cross_entropy_backward"
)

// A RowKernel is a kernel that computes one row with a block of at least 128 threads, or with a
// cluster of blocks. The row stays in registers: short rows in F32, long rows as they were loaded.
type RowKernel struct {
	Kind Kind
	Type isa.Type // of x and y: .f32, .f16 or .bf16
	Cols int      // any number; rows of a multiple of 16 bytes are accessed 16 bytes at a time
	// Residual adds a row to x first, and stores the sum in its place.
	Residual bool
	// Output is the type of y: that of x, or .e4m3 with a scale for each row, or .e2m1 with a scale
	// of .e4m3 for each 16 elements. y is the quotient of the result and its scale.
	Output isa.Type
}

// Threads returns the number of threads of a block and the number of blocks for a row: a thread has
// at most 64 elements.
func (r RowKernel) Threads() (threads, blocks int) {
	threads, blocks = 256, 1
	if r.Cols <= 2048 {
		threads = 128
	}
	for ; r.Cols > 64*threads*blocks && blocks < 8; blocks *= 2 {
	}
	for ; r.Cols > 64*threads*blocks && threads < 1024; threads *= 2 {
	}
	return threads, blocks
}

// BuildRow adds a kernel that computes the function for each row. A launch has as many blocks for
// each row as Threads returns. Clusters need sm_90.
func BuildRow(m *dsl.Module, r RowKernel) {
	switch r.Type {
	case isa.F32:
		buildRow[dsl.F32](m, r)
	case isa.F16:
		buildRow[dsl.F16](m, r)
	default:
		buildRow[dsl.BF16](m, r)
	}
}

// A frame distributes the elements of a row over the threads. E is the type of x.
type frame[E dsl.Scalar] struct {
	k     *dsl.Kernel
	r     RowKernel
	width int // adjacent elements of a thread
	step  int // distance of those from the next ones
	// elements are computed from x each time, because they would take too many registers
	lazy  bool
	first dsl.Reg[dsl.U32] // first element of the thread
	row   dsl.Reg[dsl.U32]
	start dsl.Reg[dsl.U64] // of the row in the matrix
}

// values holds the elements that a thread has, in groups of width. Each call of a function converts
// or computes the elements of one group.
type values []func() []dsl.Reg[dsl.F32]

// eager is the largest number of groups per thread that are kept in registers as F32.
const eager = 4

// newFrame declares a kernel.
func newFrame[E dsl.Scalar](m *dsl.Module, r RowKernel) *frame[E] {
	threads, blocks := r.Threads()
	options := []dsl.KernelOption{dsl.Threads(threads)}
	if blocks > 1 {
		options = append(options, dsl.Cluster(blocks))
	}
	if long := r.Cols >= 8192*blocks; long && r.Type.Bits() == 16 && !r.Residual && threads <= 512 {
		// 64 registers, for blocks that load while others wait
		options = append(options, dsl.MinBlocks(1024/threads))
	}
	f := &frame[E]{k: m.Kernel(string(r.Kind), options...), r: r, width: 128 / r.Type.Bits()}
	if r.Output == isa.E2m1 {
		f.width = 16
	}
	if r.Cols%f.width != 0 {
		f.width = 1
	}
	return f
}

// begin computes the position of the thread, after the parameters are declared.
func (f *frame[E]) begin() {
	k := f.k
	threads, blocks := f.r.Threads()
	f.step = threads * blocks * f.width
	f.lazy = f.r.Cols > eager*f.step
	f.row, f.first = k.CTAID().X, k.TID().X.MulI(int64(f.width))
	if blocks > 1 {
		f.row = f.row.DivI(int64(blocks))
		f.first = k.ClusterRank().MadI(int64(threads), k.TID().X).MulI(int64(f.width))
	}
	f.start = dsl.To[dsl.U64](f.row).MulI(int64(f.r.Cols))
}

// each calls do for each group of width elements that the thread has in the row.
func (f *frame[E]) each(do func(i int, at dsl.Reg[dsl.U32])) {
	for i := 0; i*f.step < f.r.Cols; i++ {
		at := f.first.AddI(int64(i * f.step))
		if (i+1)*f.step <= f.r.Cols {
			do(i, at)
			continue
		}
		f.k.If(at.LTI(int64(f.r.Cols)), func() { do(i, at) })
	}
}

// load returns the elements of a row that the thread has. Elements past the end of the row have the
// value fill.
func (f *frame[E]) load(a dsl.Array[E], fill float64) values {
	var v values
	for i := 0; i*f.step < f.r.Cols; i++ {
		at := f.first.AddI(int64(i * f.step))
		if (i+1)*f.step <= f.r.Cols {
			v = append(v, f.kept(f.group(a, at)))
			continue
		}
		xs := make([]dsl.Reg[dsl.F32], f.width)
		for j := range xs {
			xs[j] = f.k.F32(fill).Var()
		}
		f.k.If(at.LTI(int64(f.r.Cols)), func() {
			for j, x := range f.group(a, at)() {
				xs[j].Set(x)
			}
		})
		v = append(v, func() []dsl.Reg[dsl.F32] { return xs })
	}
	return v
}

// reload is like load, for a row that all blocks read, such as weights. If a thread has many
// groups, each group is loaded again when it is used.
func (f *frame[E]) reload(a dsl.Array[E]) values {
	if !f.lazy || f.r.Cols%f.step != 0 {
		return f.load(a, 0)
	}
	var v values
	for i := 0; i*f.step < f.r.Cols; i++ {
		at := f.first.AddI(int64(i * f.step))
		v = append(v, func() []dsl.Reg[dsl.F32] { return f.group(a, at)() })
	}
	return v
}

// group loads adjacent elements, 16 bytes at a time. Elements of 16 bits stay packed.
func (f *frame[E]) group(a dsl.Array[E], at dsl.Reg[dsl.U32]) func() []dsl.Reg[dsl.F32] {
	each := 128 / f.r.Type.Bits()
	if f.width < each {
		x := dsl.To[dsl.F32](a.Load(at))
		return func() []dsl.Reg[dsl.F32] { return []dsl.Reg[dsl.F32]{x} }
	}
	var parts values
	for j := 0; j < f.width; j += each {
		at := at.AddI(int64(j))
		switch f.r.Type {
		case isa.F32:
			v := dsl.As[dsl.F32](a).LoadVec(at, each)
			parts = append(parts, func() []dsl.Reg[dsl.F32] { return v })
		case isa.F16:
			parts = append(parts, pairs(dsl.As[dsl.F16x2](a).LoadVec(at.ShrI(1), each/2)))
		default:
			parts = append(parts, pairs(dsl.As[dsl.BF16x2](a).LoadVec(at.ShrI(1), each/2)))
		}
	}
	return func() (all []dsl.Reg[dsl.F32]) {
		for _, part := range parts {
			all = append(all, part()...)
		}
		return all
	}
}

// pairs returns a function that converts packed elements.
func pairs[P dsl.Scalar](list []dsl.Reg[P]) func() []dsl.Reg[dsl.F32] {
	return func() (all []dsl.Reg[dsl.F32]) {
		for _, pair := range list {
			lo, hi := dsl.Widen(pair)
			all = append(all, lo, hi)
		}
		return all
	}
}

// kept returns a group whose elements are computed only once, unless the frame is lazy.
func (f *frame[E]) kept(group func() []dsl.Reg[dsl.F32]) func() []dsl.Reg[dsl.F32] {
	if f.lazy {
		return group
	}
	list := group()
	return func() []dsl.Reg[dsl.F32] { return list }
}

// change applies a function to each element.
func (f *frame[E]) change(v values, to func(i, j int, x dsl.Reg[dsl.F32]) dsl.Reg[dsl.F32]) values {
	all := make(values, len(v))
	for i, group := range v {
		all[i] = f.kept(func() []dsl.Reg[dsl.F32] {
			var list []dsl.Reg[dsl.F32]
			for j, x := range group() {
				list = append(list, to(i, j, x))
			}
			return list
		})
	}
	return all
}

// with applies a function to each pair of an element and the corresponding element of another row.
func (f *frame[E]) with(v, other values, both func(x, y dsl.Reg[dsl.F32]) dsl.Reg[dsl.F32]) values {
	all := make(values, len(v))
	for i, group := range v {
		all[i] = f.kept(func() []dsl.Reg[dsl.F32] {
			xs, ys := group(), other[i]()
			list := make([]dsl.Reg[dsl.F32], len(xs))
			for j := range xs {
				list[j] = both(xs[j], ys[j])
			}
			return list
		})
	}
	return all
}

// store rounds the elements that the thread has and writes them.
func (f *frame[E]) store(a dsl.Array[E], v values) {
	each := min(f.width, 128/f.r.Type.Bits())
	f.each(func(i int, at dsl.Reg[dsl.U32]) {
		xs := v[i]()
		for j := 0; j < f.width; j += each {
			list := make([]dsl.Reg[E], each)
			for n := range list {
				list[n] = dsl.To[E](xs[j+n])
			}
			a.StoreVec(at.AddI(int64(j)), list)
		}
	})
}

// combine reduces the elements of the row to one value.
func (f *frame[E]) combine(
	v values, name string, element func(dsl.Reg[dsl.F32]) dsl.Reg[dsl.F32],
	both func(a, b dsl.Reg[dsl.F32]) dsl.Reg[dsl.F32],
) dsl.Reg[dsl.F32] {
	var total dsl.Reg[dsl.F32]
	for i, group := range v {
		for j, x := range group() {
			if x = element(x); i+j > 0 {
				x = both(total, x)
			}
			total = x
		}
	}
	return dsl.ClusterReduce(dsl.BlockReduce(total, name, both), name+"_cluster", both)
}

func plus(a, b dsl.Reg[dsl.F32]) dsl.Reg[dsl.F32]    { return a.Add(b) }
func largest(a, b dsl.Reg[dsl.F32]) dsl.Reg[dsl.F32] { return a.Max(b) }
func same(x dsl.Reg[dsl.F32]) dsl.Reg[dsl.F32]       { return x }
func square(x dsl.Reg[dsl.F32]) dsl.Reg[dsl.F32]     { return x.Mul(x) }

// exp returns exp(x - most) as a power of two.
func exp(x, most dsl.Reg[dsl.F32]) dsl.Reg[dsl.F32] { return x.Sub(most).MulF(math.Log2E).Exp2() }

// buildRow builds a kernel for rows of E.
func buildRow[E dsl.Scalar](m *dsl.Module, r RowKernel) {
	f := newFrame[E](m, r)
	k := f.k
	x := dsl.Global[E](k, "x")
	switch r.Kind {
	case Softmax:
		y := dsl.Global[E](k, "y")
		f.begin()
		v := f.load(x.At64(f.start), math.Inf(-1))
		most := f.combine(v, "maxima", same, largest)
		v = f.change(v, func(_, _ int, x dsl.Reg[dsl.F32]) dsl.Reg[dsl.F32] { return exp(x, most) })
		part := f.combine(v, "sums", same, plus).Rcp()
		f.store(y.At64(f.start),
			f.change(v, func(_, _ int, x dsl.Reg[dsl.F32]) dsl.Reg[dsl.F32] { return x.Mul(part) }))
	case CrossEntropy:
		targets, losses, sums := dsl.Global[dsl.U32](k, "targets"),
			dsl.Global[dsl.F32](k, "losses"), dsl.Global[dsl.F32](k, "sums")
		f.begin()
		xs := x.At64(f.start)
		v := f.load(xs, math.Inf(-1))
		most := f.combine(v, "maxima", same, largest)
		sum := f.combine(v, "sums", func(x dsl.Reg[dsl.F32]) dsl.Reg[dsl.F32] {
			return exp(x, most)
		}, plus)
		k.If(f.first.EQI(0), func() {
			log := sum.Log2().MulF(math.Ln2).Add(most)
			sums.Store(f.row, log)
			losses.Store(f.row, log.Sub(dsl.To[dsl.F32](xs.Load(targets.Load(f.row)))))
		})
	case Gradient:
		targets, sums, scale, y := dsl.Global[dsl.U32](k, "targets"),
			dsl.Global[dsl.F32](k, "sums"), dsl.Global[dsl.F32](k, "scale"), dsl.Global[E](k, "y")
		f.begin()
		v := f.load(x.At64(f.start), 0)
		target, sum, by := targets.Load(f.row), sums.Load(f.row), scale.Load(f.row)
		v = f.change(v, func(i, j int, x dsl.Reg[dsl.F32]) dsl.Reg[dsl.F32] {
			hit := f.first.AddI(int64(i*f.step + j)).EQ(target)
			return exp(x, sum).Sub(dsl.Select(hit, k.F32(1), k.F32(0))).Mul(by)
		})
		f.store(y.At64(f.start), v)
	default:
		buildNorm(f, x)
	}
}

// buildNorm builds a kernel that normalizes rows.
func buildNorm[E dsl.Scalar](f *frame[E], x dsl.Array[E]) {
	k, r := f.k, f.r
	w := dsl.Global[E](k, "w")
	var b, residual dsl.Array[E]
	if r.Kind == LayerNorm {
		b = dsl.Global[E](k, "b")
	}
	if r.Residual {
		residual = dsl.Global[E](k, "residual")
	}
	out := declare(f)
	eps := dsl.Param[dsl.F32](k, "eps")
	f.begin()
	v := f.load(x.At64(f.start), 0)
	if r.Residual {
		// The sum is not rounded for the norm, so it is kept in F32.
		f.lazy = false
		v = f.with(v, f.load(residual.At64(f.start), 0), plus)
		f.store(residual.At64(f.start), v)
	}
	weights := f.reload(w)
	mean := func(name string, element func(dsl.Reg[dsl.F32]) dsl.Reg[dsl.F32]) dsl.Reg[dsl.F32] {
		return f.combine(v, name, element, plus).MulF(1 / float64(r.Cols))
	}
	if r.Kind == LayerNorm {
		center := mean("means", same)
		v = f.change(v, func(i, j int, x dsl.Reg[dsl.F32]) dsl.Reg[dsl.F32] {
			inside := f.first.AddI(int64(i*f.step + j)).LTI(int64(r.Cols))
			return dsl.Select(inside, x.Sub(center), k.F32(0))
		})
	}
	scale := mean("squares", square).Add(eps).Rsqrt()
	v = f.with(v, weights, func(x, w dsl.Reg[dsl.F32]) dsl.Reg[dsl.F32] {
		return x.Mul(scale).Mul(w)
	})
	if r.Kind == LayerNorm {
		v = f.with(v, f.reload(b), plus)
	}
	out(v)
}

// declare declares the output parameters of the kernel, and returns a function that stores to them.
func declare[E dsl.Scalar](f *frame[E]) func(v values) {
	k := f.k
	switch f.r.Output {
	case isa.E4m3:
		y, scales := dsl.Global[dsl.E4M3x2](k, "y"), dsl.Global[dsl.F32](k, "scales")
		return func(v values) {
			most := f.combine(v, "magnitudes", func(x dsl.Reg[dsl.F32]) dsl.Reg[dsl.F32] {
				return x.Abs()
			}, largest)
			scale := most.MulF(1.0 / 448).Max(k.F32(0x1p-120)) // a row of zeros has a scale, too
			k.If(f.first.EQI(0), func() { scales.Store(f.row, scale) })
			by := scale.Rcp()
			f.each(func(i int, at dsl.Reg[dsl.U32]) {
				var pairs []dsl.Reg[dsl.E4M3x2]
				xs := v[i]()
				for j := 0; j < f.width; j += 2 {
					pairs = append(pairs, dsl.Pack[dsl.E4M3x2](xs[j].Mul(by), xs[j+1].Mul(by)))
				}
				y.At64(f.start.ShrI(1)).StoreVec(at.ShrI(1), pairs)
			})
		}
	case isa.E2m1:
		y, scales := dsl.Global[dsl.E2M1x2](k, "y"), dsl.Global[dsl.E4M3](k, "scales")
		return func(v values) {
			f.each(func(i int, at dsl.Reg[dsl.U32]) {
				most, xs := k.F32(0), v[i]()
				for _, x := range xs {
					most = most.Max(x.Abs())
				}
				code := dsl.To[dsl.E4M3](most.MulF(1.0 / 6))
				scales.At64(f.start.ShrI(4)).Store(at.ShrI(4), code)
				// zero times it is zero
				by := dsl.To[dsl.F32](code).Rcp().Min(k.F32(math.MaxFloat32))
				var pairs []dsl.Reg[dsl.E2M1x2]
				for j := 0; j < 16; j += 2 {
					pairs = append(pairs, dsl.Pack[dsl.E2M1x2](xs[j].Mul(by), xs[j+1].Mul(by)))
				}
				y.At64(f.start.ShrI(1)).StoreVec(at.ShrI(1), pairs)
			})
		}
	}
	y := dsl.Global[E](k, "y")
	return func(v values) { f.store(y.At64(f.start), v) }
}
