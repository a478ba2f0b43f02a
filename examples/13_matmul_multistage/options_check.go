// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package multistage

import (
	"fmt"
	"math"
	"slices"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/runtime"
	"github.com/ptxdsl/ptxdsl/runtime/kerneltest"
)

// A trial is a launch with options, the sizes of the launch, and the tolerance of its results.
type trial struct {
	Options
	tolerance kerneltest.Tolerance
	edges     bool // A has edge values, at most one in a row that is not zero; results are exact
	blocks    int  // of a stream-K launch
	ignore    bool // beta is zero, and C has only NaN
	parts     int  // of a split-K launch, along y
	batch     int  // pairs of matrices; 0 is one
}

// The arguments for alpha and beta. For INT8, alpha is narrow, which maps typical sums to the
// range of S8.
const alpha, beta, narrow = 0.75, -2, 0x1p-12

// nan is NaN.
var nan = float32(math.NaN())

// numbers holds a matrix twice: as the array for the kernel, and as float64 for the reference.
type numbers struct {
	array *kerneltest.Array
	value []float64
}

// A filling specifies how the elements of a matrix are chosen.
type filling int

const (
	uniform filling = iota
	edges           // one edge value per row, otherwise zeros; for integers several edge values
	powers          // powers of two, whose products with edge values are exact
)

// random returns count matrices of the type of A and B, stored by rows, or by columns if
// transposed.
func (x trial) random(t *kerneltest.T, rows, cols, count int, transposed bool,
	fill filling) numbers {
	switch x.Type {
	case isa.F16:
		return of(t, kerneltest.F16, rows, cols, count, transposed, fill)
	case isa.Bf16:
		return of(t, kerneltest.BF16, rows, cols, count, transposed, fill)
	case isa.Tf32:
		return of(t, kerneltest.TF32, rows, cols, count, transposed, fill)
	case isa.F32:
		return of(t, kerneltest.F32, rows, cols, count, transposed, fill)
	case isa.F64:
		return of(t, kerneltest.F64, rows, cols, count, transposed, fill)
	case isa.S8:
		return of(t, kerneltest.S8, rows, cols, count, transposed, fill)
	case isa.U8:
		return of(t, kerneltest.U8, rows, cols, count, transposed, fill)
	case isa.E4m3, isa.E5m2:
		return of(t, kerneltest.Narrow(x.Type), rows, cols, count, transposed, fill)
	}
	return x.packed(t, rows, cols)
}

// of returns count matrices of a format.
func of[E runtime.Element](t *kerneltest.T, f kerneltest.Format[E], rows, cols, count int,
	transposed bool, fill filling) numbers {
	xs := kerneltest.Random(t, f, rows*cols*count)
	list := f.Edges()
	if f.Name == kerneltest.F32.Name {
		list = append(list, f.From(largestSplit), f.From(0x1p-137)) // half the smallest of TF32
	}
	switch {
	case fill != uniform && f.High > 1: // integers
		xs = kerneltest.RandomEdges(t, f, len(xs))
	case fill == edges:
		clear(xs)
		for row := range rows * count {
			xs[row*cols+t.Rand.IntN(cols)] = f.From(f.Float(list[row%len(list)]))
		}
	case fill == powers:
		for i := range xs {
			xs[i] = f.From([]float64{0.5, 1, 2, -0.5, -1, -2}[t.Rand.IntN(6)])
		}
	}
	n := numbers{value: f.Decode(xs)}
	if transposed {
		turned := make([]E, len(xs))
		for i, x := range xs {
			m, row, col := i/(rows*cols), i/cols%rows, i%cols
			turned[m*rows*cols+col*rows+row] = x
		}
		xs = turned
	}
	n.array = kerneltest.In(xs)
	return n
}

// packed returns a random matrix of integers with one bit or four bits.
func (x trial) packed(t *kerneltest.T, rows, cols int) numbers {
	bits := x.Type.Bits()
	bytes := make([]uint8, rows*cols*bits/8)
	for i := range bytes {
		bytes[i] = uint8(t.Rand.Uint32())
	}
	n := numbers{array: kerneltest.In(bytes)}
	for i := range rows * cols {
		code := bytes[i*bits/8] >> (i * bits % 8) & (1<<bits - 1)
		if x.Type == isa.S4 {
			n.value = append(n.value, float64(int8(code<<4)>>4))
		} else {
			n.value = append(n.value, float64(code))
		}
	}
	return n
}

// largestSplit is the largest F32 that is the sum of two TF32: TF32 rounds larger ones to infinity.
const largestSplit = 0x1.ffdffep127

// inParts returns the values that F32 as the sum of two TF32 has: NaN for infinities, and for
// numbers beyond largestSplit.
func inParts(values []float64) []float64 {
	list := slices.Clone(values)
	for i, x := range list {
		if math.Abs(x) > largestSplit {
			list[i] = math.NaN()
		}
	}
	return list
}

// product returns A * B' in float64. For single bits that are combined with xor, it returns the
// number of one bits.
func (x trial) product(g kerneltest.GEMM, a, b []float64, xor bool) []float64 {
	d := make([]float64, g.M*g.N)
	for row := range g.M {
		for col := range g.N {
			sum, vs := 0.0, b[col*g.K:][:g.K]
			for k, u := range a[row*g.K:][:g.K] {
				if xor {
					sum += math.Abs(u - vs[k])
				} else {
					sum += u * vs[k]
				}
			}
			d[row*g.N+col] = sum
		}
	}
	return d
}

// finish applies the epilogue to one element.
func (e Epilogue) finish(sum, c, bias float64) float64 {
	if e.Scale {
		sum = alpha*sum + beta*c
	}
	if e.Bias {
		sum += bias
	}
	switch e.Activation {
	case ReLU:
		return max(0, sum)
	case GELU:
		return sum / 2 * (1 + math.Tanh(geluScale*(sum+geluCubic*sum*sum*sum)))
	}
	return sum
}

// check runs the kernel and checks its results.
func (x trial) check(t *kerneltest.T, g kerneltest.GEMM) error {
	m := dsl.New("options.ptx", t.Target())
	o, shape := x.Options.resolve(m)
	x.Options = o
	d := o.Epilogue.D
	if d == 0 {
		d = o.Sums
	}
	switch d {
	case isa.F64:
		return run(t, x, shape, g, kerneltest.F64)
	case isa.F16:
		return run(t, x, shape, g, kerneltest.F16)
	case isa.Bf16:
		return run(t, x, shape, g, kerneltest.BF16)
	case isa.S32:
		return run(t, x, shape, g, kerneltest.S32)
	case isa.S8:
		return run(t, x, shape, g, kerneltest.S8)
	}
	return run(t, x, shape, g, kerneltest.F32)
}

// run runs the kernel for an output of the given format, and checks its results.
func run[D runtime.Element](t *kerneltest.T, x trial, shape dsl.MMA, g kerneltest.GEMM,
	f kerneltest.Format[D]) error {
	k, err := t.Kernel("matmul"+name(x.Type), func(m *dsl.Module) { BuildWith(m, x.Options) })
	if err != nil {
		return err
	}
	count := max(1, x.batch)
	left, right := uniform, uniform
	if x.edges {
		left, right = edges, powers
	}
	a, b := x.random(t, g.M, g.K, count, x.TransposeA, left),
		x.random(t, g.N, g.K, count, x.TransposeB, right)
	if x.Type == isa.F32 {
		a.value = inParts(a.value)
	}
	c, bias := t.Float32s(g.M*g.N), t.Float32s(g.N)
	d := make([]D, count*g.M*g.N)
	config := runtime.Grid((g.M+x.Tiling.M-1)/x.Tiling.M*((g.N+x.Tiling.N-1)/x.Tiling.N),
		max(1, x.parts), count)
	if x.Split == StreamK {
		config = runtime.Grid(x.blocks)
	}
	scale := float32(alpha)
	if x.Sums == isa.S32 {
		scale = narrow
	}
	known := map[string]any{"a": a.array, "b": b.array, "d": kerneltest.InOut(d), "m": g.M,
		"n": g.N, "k": g.K,
		"c": kerneltest.In(c), "bias": kerneltest.In(bias), "alpha": scale, "beta": float32(beta)}
	if x.ignore {
		known["c"], known["beta"] = kerneltest.In(slices.Repeat([]float32{nan}, len(c))), float32(0)
		clear(c)
	}
	var args []any
	for _, p := range k.Params() {
		args = append(args, known[p.Name])
	}
	if err := t.Launch(k, config, args...); err != nil {
		return err
	}
	var want []float64
	for i := range count {
		part := x.product(g, a.value[i*g.M*g.K:][:g.M*g.K], b.value[i*g.N*g.K:][:g.N*g.K],
			shape.Bit == dsl.BitXor)
		for j, sum := range part {
			switch {
			case x.Sums == isa.S32 && x.Epilogue.D != 0:
				sum *= narrow
				if x.Epilogue.D == isa.S8 {
					sum = max(-128, min(127, math.RoundToEven(sum)))
				}
			case x.Sums == isa.S32:
				sum = max(math.MinInt32, min(math.MaxInt32, sum))
			case x.edges:
				sum = f.Float(f.From(sum)) // numbers beyond the range of the format become infinite
			}
			want = append(want, x.Epilogue.finish(sum, float64(c[j]), float64(bias[j%g.N])))
		}
	}
	what := fmt.Sprintf("%s, %s", k.Name(), g)
	allowed := x.tolerance.Sum(g.K)
	if x.edges {
		what += " with edge values"
		allowed = x.exactness()
	}
	return kerneltest.Compare(t, what, f.Decode(d), want, allowed)
}

// exactness is the tolerance of a product of an edge value and a power of two.
func (x trial) exactness() kerneltest.Tolerance {
	if x.Type == isa.F32 {
		// the smallest number of TF32, and the last bit of numbers with 24
		return kerneltest.Abs(0x1p-136).Plus(kerneltest.F32.ULPs(1))
	}
	return kerneltest.Tolerance{}
}

// checkGroups multiplies several pairs of matrices of different sizes in one launch, and checks
// the products. A row has at least 16 bytes.
func (x trial) checkGroups(t *kerneltest.T) error {
	k, err := t.Kernel("matmul"+name(x.Type), func(m *dsl.Module) { BuildWith(m, x.Options) })
	if err != nil {
		return err
	}
	tiling := Small(x.Type)
	var list []Group
	var as, bs []runtime.F16
	total := 0
	for _, g := range []kerneltest.GEMM{{M: 1, N: 2, K: 8}, {M: 65, N: 130, K: 72},
		{M: 33, N: 66, K: 200}} {
		list = append(list, Group{g.M, g.N, g.K, len(as), len(bs), total})
		as, bs = append(as, kerneltest.Random(t, kerneltest.F16, g.M*g.K)...),
			append(bs, kerneltest.Random(t, kerneltest.F16, g.N*g.K)...)
		total += g.M * g.N
	}
	d := make([]float32, total)
	words, blocks := tiling.Words(list)
	err = t.Launch(k, runtime.Grid(blocks), kerneltest.In(as), kerneltest.In(bs),
		kerneltest.InOut(d), kerneltest.In(words))
	if err != nil {
		return err
	}
	for _, g := range list {
		size := kerneltest.GEMM{M: g.M, N: g.N, K: g.K}
		want := x.product(size, kerneltest.F16.Decode(as[g.A:][:g.M*g.K]),
			kerneltest.F16.Decode(bs[g.B:][:g.N*g.K]), false)
		err := kerneltest.Compare(t, fmt.Sprintf("%s, %s", k.Name(), size), d[g.D:][:g.M*g.N], want,
			x.tolerance.Sum(g.K))
		if err != nil {
			return err
		}
	}
	return nil
}
