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

// A RowKernel is a kernel that computes one row with a block of at least 256 threads, or with a cluster
// of blocks. The row stays in registers in F32.
type RowKernel struct {
	Kind Kind
	Type isa.Type // of x and y: .f32, .f16 or .bf16
	Cols int      // any number; rows of a multiple of 16 bytes are accessed 16 bytes at a time
	// Residual adds a row to x first, and stores the sum in its place.
	Residual bool
	// Output is the type of y: that of x, or .e4m3 with a scale for each row, or .e2m1 with a scale of
	// .e4m3 for each 16 elements. y is the quotient of the result and its scale.
	Output isa.Type
}

// Threads returns the number of threads of a block and the number of blocks for a row: a thread has at
// most 64 elements.
func (r RowKernel) Threads() (threads, blocks int) {
	threads, blocks = 256, 1
	for ; r.Cols > 64*threads*blocks && blocks < 8; blocks *= 2 {
	}
	for ; r.Cols > 64*threads*blocks && threads < 1024; threads *= 2 {
	}
	return threads, blocks
}

// BuildRow adds a kernel that computes the function for each row. A launch has as many blocks for each
// row as Threads returns. Clusters need sm_90.
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
	width int              // adjacent elements of a thread
	step  int              // distance of those from the next ones
	first dsl.Reg[dsl.U32] // first element of the thread
	row   dsl.Reg[dsl.U32]
	start dsl.Reg[dsl.U64] // of the row in the matrix
}

// newFrame declares a kernel.
func newFrame[E dsl.Scalar](m *dsl.Module, r RowKernel) *frame[E] {
	threads, blocks := r.Threads()
	options := []dsl.KernelOption{dsl.Threads(threads)}
	if blocks > 1 {
		options = append(options, dsl.Cluster(blocks))
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
	f.row, f.first = k.CTAID().X, k.TID().X.MulI(int64(f.width))
	if blocks > 1 {
		f.row = f.row.DivI(int64(blocks))
		f.first = k.ClusterRank().MadI(int64(threads), k.TID().X).MulI(int64(f.width))
	}
	f.start = dsl.To[dsl.U64](f.row).MulI(int64(f.r.Cols))
}

// each calls do for each group of width elements of the thread that is in the row.
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

// load returns the elements of the thread of a row, and fill for those past its end.
func (f *frame[E]) load(a dsl.Array[E], fill float64) [][]dsl.Reg[dsl.F32] {
	var list [][]dsl.Reg[dsl.F32]
	for i := 0; i*f.step < f.r.Cols; i++ {
		v := make([]dsl.Reg[dsl.F32], f.width)
		for j := range v {
			v[j] = f.k.F32(fill).Var()
		}
		list = append(list, v)
	}
	each := min(f.width, 128/f.r.Type.Bits())
	f.each(func(i int, at dsl.Reg[dsl.U32]) {
		for j := 0; j < f.width; j += each {
			for n, x := range a.LoadVec(at.AddI(int64(j)), each) {
				list[i][j+n].Set(dsl.To[dsl.F32](x))
			}
		}
	})
	return list
}

// store rounds the elements of the thread and writes them.
func (f *frame[E]) store(a dsl.Array[E], list [][]dsl.Reg[dsl.F32]) {
	each := min(f.width, 128/f.r.Type.Bits())
	f.each(func(i int, at dsl.Reg[dsl.U32]) {
		for j := 0; j < f.width; j += each {
			v := make([]dsl.Reg[E], each)
			for n := range v {
				v[n] = dsl.To[E](list[i][j+n])
			}
			a.StoreVec(at.AddI(int64(j)), v)
		}
	})
}

// combine reduces the elements of the row.
func (f *frame[E]) combine(
	list [][]dsl.Reg[dsl.F32], name string, element func(dsl.Reg[dsl.F32]) dsl.Reg[dsl.F32],
	both func(a, b dsl.Reg[dsl.F32]) dsl.Reg[dsl.F32],
) dsl.Reg[dsl.F32] {
	var total dsl.Reg[dsl.F32]
	for i, v := range list {
		for j, x := range v {
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

// change replaces each element.
func change(list [][]dsl.Reg[dsl.F32], to func(i, j int, x dsl.Reg[dsl.F32]) dsl.Reg[dsl.F32]) {
	for i, v := range list {
		for j, x := range v {
			v[j] = to(i, j, x)
		}
	}
}

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
		change(v, func(_, _ int, x dsl.Reg[dsl.F32]) dsl.Reg[dsl.F32] { return exp(x, most) })
		part := f.combine(v, "sums", same, plus).Rcp()
		change(v, func(_, _ int, x dsl.Reg[dsl.F32]) dsl.Reg[dsl.F32] { return x.Mul(part) })
		f.store(y.At64(f.start), v)
	case CrossEntropy:
		targets, losses, sums := dsl.Global[dsl.U32](k, "targets"), dsl.Global[dsl.F32](k, "losses"), dsl.Global[dsl.F32](k, "sums")
		f.begin()
		xs := x.At64(f.start)
		v := f.load(xs, math.Inf(-1))
		most := f.combine(v, "maxima", same, largest)
		sum := f.combine(v, "sums", func(x dsl.Reg[dsl.F32]) dsl.Reg[dsl.F32] { return exp(x, most) }, plus)
		k.If(f.first.EQI(0), func() {
			log := sum.Log2().MulF(math.Ln2).Add(most)
			sums.Store(f.row, log)
			losses.Store(f.row, log.Sub(dsl.To[dsl.F32](xs.Load(targets.Load(f.row)))))
		})
	case Gradient:
		targets, sums, scale, y := dsl.Global[dsl.U32](k, "targets"), dsl.Global[dsl.F32](k, "sums"), dsl.Global[dsl.F32](k, "scale"), dsl.Global[E](k, "y")
		f.begin()
		v := f.load(x.At64(f.start), 0)
		target, sum, by := targets.Load(f.row), sums.Load(f.row), scale.Load(f.row)
		change(v, func(i, j int, x dsl.Reg[dsl.F32]) dsl.Reg[dsl.F32] {
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
		more := f.load(residual.At64(f.start), 0)
		change(v, func(i, j int, x dsl.Reg[dsl.F32]) dsl.Reg[dsl.F32] { return x.Add(more[i][j]) })
		f.store(residual.At64(f.start), v)
	}
	weights := f.load(w, 0)
	mean := func(name string, element func(dsl.Reg[dsl.F32]) dsl.Reg[dsl.F32]) dsl.Reg[dsl.F32] {
		return f.combine(v, name, element, plus).MulF(1 / float64(r.Cols))
	}
	if r.Kind == LayerNorm {
		center := mean("means", same)
		change(v, func(i, j int, x dsl.Reg[dsl.F32]) dsl.Reg[dsl.F32] {
			inside := f.first.AddI(int64(i*f.step + j)).LTI(int64(r.Cols))
			return dsl.Select(inside, x.Sub(center), k.F32(0))
		})
	}
	scale := mean("squares", square).Add(eps).Rsqrt()
	change(v, func(i, j int, x dsl.Reg[dsl.F32]) dsl.Reg[dsl.F32] { return x.Mul(scale).Mul(weights[i][j]) })
	if r.Kind == LayerNorm {
		bias := f.load(b, 0)
		change(v, func(i, j int, x dsl.Reg[dsl.F32]) dsl.Reg[dsl.F32] { return x.Add(bias[i][j]) })
	}
	out(v)
}

// declare declares the parameters of the output, and returns a function that stores it.
func declare[E dsl.Scalar](f *frame[E]) func(v [][]dsl.Reg[dsl.F32]) {
	k := f.k
	switch f.r.Output {
	case isa.E4m3:
		y, scales := dsl.Global[dsl.E4M3x2](k, "y"), dsl.Global[dsl.F32](k, "scales")
		return func(v [][]dsl.Reg[dsl.F32]) {
			most := f.combine(v, "magnitudes", func(x dsl.Reg[dsl.F32]) dsl.Reg[dsl.F32] { return x.Abs() }, largest)
			scale := most.MulF(1.0 / 448).Max(k.F32(0x1p-120)) // a row of zeros has a scale, too
			k.If(f.first.EQI(0), func() { scales.Store(f.row, scale) })
			by := scale.Rcp()
			f.each(func(i int, at dsl.Reg[dsl.U32]) {
				var pairs []dsl.Reg[dsl.E4M3x2]
				for j := 0; j < f.width; j += 2 {
					pairs = append(pairs, dsl.Pack[dsl.E4M3x2](v[i][j].Mul(by), v[i][j+1].Mul(by)))
				}
				y.At64(f.start.ShrI(1)).StoreVec(at.ShrI(1), pairs)
			})
		}
	case isa.E2m1:
		y, scales := dsl.Global[dsl.E2M1x2](k, "y"), dsl.Global[dsl.E4M3](k, "scales")
		return func(v [][]dsl.Reg[dsl.F32]) {
			f.each(func(i int, at dsl.Reg[dsl.U32]) {
				most := k.F32(0)
				for _, x := range v[i] {
					most = most.Max(x.Abs())
				}
				code := dsl.To[dsl.E4M3](most.MulF(1.0 / 6))
				scales.At64(f.start.ShrI(4)).Store(at.ShrI(4), code)
				by := dsl.To[dsl.F32](code).Rcp().Min(k.F32(math.MaxFloat32)) // zero times it is zero
				var pairs []dsl.Reg[dsl.E2M1x2]
				for j := 0; j < 16; j += 2 {
					pairs = append(pairs, dsl.Pack[dsl.E2M1x2](v[i][j].Mul(by), v[i][j+1].Mul(by)))
				}
				y.At64(f.start.ShrI(1)).StoreVec(at.ShrI(1), pairs)
			})
		}
	}
	y := dsl.Global[E](k, "y")
	return func(v [][]dsl.Reg[dsl.F32]) { f.store(y.At64(f.start), v) }
}
