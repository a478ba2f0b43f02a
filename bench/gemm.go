// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"errors"
	"fmt"
	"math"

	gemm "github.com/ptxdsl/ptxdsl/examples/23_gemm"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/runtime"
	"github.com/ptxdsl/ptxdsl/runtime/kerneltest"
)

// A Product is a matrix product D = A * B' to measure with the library call of example 23, which
// is tuned, and with the installed libraries. Layout has the letters of BLAS for B and then A:
// for B, T means that K is contiguous; for A, N means that K is contiguous.
type Product struct {
	M, N, K int
	Type    isa.Type // zero means BF16
	Layout  string
	Group   string // group of the job
}

// Layouts lists the operand layouts, in the notation of Product.Layout.
var Layouts = []string{"TN", "NN", "NT", "TT"}

// ProductTypes maps the name of a type in a flag to the operand type.
var ProductTypes = map[string]isa.Type{"bf16": isa.Bf16, "f16": isa.F16, "tf32": isa.Tf32,
	"s8": isa.S8, "e4m3": isa.E4m3}

// Weights returns N and K of the linear layers in models with 7 and 70 billion parameters:
// attention, its output, and the two halves of the MLP.
func Weights() [][2]int {
	return [][2]int{
		{12288, 4096}, {4096, 4096}, {22016, 4096}, {4096, 11008},
		{10240, 8192}, {8192, 8192}, {57344, 8192}, {8192, 28672},
	}
}

// String returns the size and the layout.
func (p Product) String() string { return fmt.Sprintf("%dx%dx%d %s", p.M, p.N, p.K, p.Layout) }

// Measure measures the product with the library call and the installed libraries.
func (p Product) Measure(b *Bench, l *BLAS, call *gemm.Library) ([]Result, error) {
	e4m3 := kerneltest.Narrow(isa.E4m3)
	if p.Type == (Product{}).Type {
		p.Type = isa.Bf16
	}
	switch p.Type {
	case isa.F16:
		return measureProduct(b, l, call, p, kerneltest.F16, kerneltest.F16, 1.0/512)
	case isa.Tf32:
		return measureProduct(b, l, call, p, kerneltest.TF32, kerneltest.F32, 1e-3)
	case isa.S8:
		return measureProduct(b, l, call, p, kerneltest.S8, kerneltest.S32, 0)
	case isa.E4m3:
		f := kerneltest.Format[gemm.E4M3]{
			Name: e4m3.Name, Low: -1, High: 1,
			From:  func(x float64) gemm.E4M3 { return gemm.E4M3(e4m3.From(x)) },
			Float: func(x gemm.E4M3) float64 { return e4m3.Float(uint8(x)) },
		}
		return measureProduct(b, l, call, p, f, kerneltest.BF16, 1.0/64)
	}
	return measureProduct(b, l, call, p, kerneltest.BF16, kerneltest.BF16, 1.0/128)
}

// operands holds the operands of a product. Their elements repeat after period elements, because
// generating random numbers takes longer than the products.
type operands[E runtime.Element] struct {
	a, b           *runtime.Buffer[E]
	as, bs         []E // the first elements, up to one period
	scaleA, scaleB *runtime.Buffer[float32]
}

// period is the number of different elements. It is prime, so that rows differ.
const period = 4194301

// repeatedNumbers returns a buffer of n elements that repeat after period random elements, and
// these elements.
func repeatedNumbers[E runtime.Element](b *Bench, n int,
	in kerneltest.Format[E]) (*runtime.Buffer[E], []E, error) {
	xs := make([]E, min(n, period))
	low, high := max(in.Low, -128), min(in.High, 127)
	for i := range xs {
		xs[i] = in.From(low + (high-low)*b.rand.Float64())
	}
	to, err := repeatInto(b, n, xs)
	return to, xs, err
}

// filledBuffer returns a buffer of n numbers in [-1, 1] that repeat after period random numbers.
func filledBuffer[E runtime.Element](b *Bench, n int,
	narrow func(float32) E) (*runtime.Buffer[E], error) {
	xs := make([]E, min(n, period))
	for i := range xs {
		xs[i] = narrow(2*b.rand.Float32() - 1)
	}
	return repeatInto(b, n, xs)
}

// repeatInto returns a buffer of n elements that repeats xs.
func repeatInto[E runtime.Element](b *Bench, n int, xs []E) (*runtime.Buffer[E], error) {
	to, e1 := runtime.Alloc[E](b.Device, n)
	from, e2 := runtime.Upload(b.Device, xs)
	if err := errors.Join(e1, e2); err != nil {
		return nil, err
	}
	for at := 0; at < n; at += len(xs) {
		some := min(len(xs), n-at)
		part, e1 := to.Slice(at, at+some)
		source, e2 := from.Slice(0, some)
		if err := errors.Join(e1, e2); err != nil {
			return nil, err
		}
		if err := part.CopyFrom(source); err != nil {
			return nil, err
		}
	}
	return to, from.Close()
}

// newOperands returns operands with random elements.
func newOperands[E runtime.Element](b *Bench, p Product,
	in kerneltest.Format[E]) (o operands[E], err error) {
	var e1, e2, e3, e4 error
	o.a, o.as, e1 = repeatedNumbers(b, p.M*p.K, in)
	o.b, o.bs, e2 = repeatedNumbers(b, p.N*p.K, in)
	o.scaleA, e3 = runtime.Upload(b.Device, []float32{0.5})
	o.scaleB, e4 = runtime.Upload(b.Device, []float32{0.25})
	return o, errors.Join(e1, e2, e3, e4)
}

func (o operands[E]) close() error {
	return errors.Join(o.a.Close(), o.b.Close(), o.scaleA.Close(), o.scaleB.Close())
}

// measureProduct measures a product of one operand type.
func measureProduct[E, D runtime.Element](b *Bench, l *BLAS, call *gemm.Library, p Product,
	in kerneltest.Format[E], out kerneltest.Format[D], tolerance float64,
) ([]Result, error) {
	o, e1 := newOperands(b, p, in)
	d, e2 := runtime.Alloc[D](b.Device, p.M*p.N)
	if err := errors.Join(e1, e2); err != nil {
		return nil, err
	}
	turnA, turnB := p.Layout[1] == 'T', p.Layout[0] == 'N'
	left, right := gemm.By(o.a, p.M, p.K), gemm.By(o.b, p.N, p.K).T()
	if turnA {
		left = gemm.By(o.a, p.K, p.M).T()
	}
	if turnB {
		right = gemm.By(o.b, p.K, p.N)
	}
	options := gemm.Options{TF32: p.Type == isa.Tf32}
	if p.Type == isa.E4m3 {
		options.ScaleA, options.ScaleB = o.scaleA, o.scaleB
	}
	result := gemm.By(d, p.M, p.N)
	call.Use(b.Stream)
	if b.Trials != nil {
		trials, err := gemm.Trials(call, result, left, right, options)
		if err != nil {
			return nil, err
		}
		b.printTrials(p, trials)
	}
	what, err := gemm.Describe(call, result, left, right, options)
	if err != nil {
		return nil, err
	}
	job := Job{
		Group: "GEMM " + p.Group, Name: p.String(), Base: "cuBLAS",
		Flop: 2 * float64(p.M) * float64(p.N) * float64(p.K),
	}
	kind := KindOf(p.Type, typeOf[D]())
	if kind.scaled {
		job.Base = "cuBLASLt"
	}
	theirs := l.Contenders(kind, Problem{
		M: p.M, N: p.N, K: p.K, A: o.a.Address(), B: o.b.Address(), D: d.Address(),
		TransposeA: turnA, TransposeB: turnB,
		ScaleA: o.scaleA.Address(), ScaleB: o.scaleB.Address(),
	})
	ours := Contender{"ours",
		func() error { return gemm.Multiply(call, result, left, right, options) }}
	job.Contenders = append(theirs, ours)
	results, err := compare(b, job, len(theirs), d, out, tolerance)
	if err != nil {
		return nil, err
	}
	results = keepBest(results)
	for i := range results {
		r := &results[i]
		run := ours.Run
		switch {
		case r.Contender == ours.Name:
			r.Kernel = what
		case r.Contender == job.Base && len(theirs) > 0:
			run = theirs[0].Run
		default:
			continue
		}
		if err := errors.Join(run(), b.Stream.Sync()); err != nil {
			return nil, err
		}
		if r.Contender == ours.Name {
			if err := repeats(b, job, d, ours.Run); err != nil {
				return nil, err
			}
		}
		if r.Deviation, err = deviation(b, p, o, d, in, out); err != nil {
			return nil, err
		}
	}
	return results, errors.Join(d.Close(), o.close())
}

// printTrials prints the time of each kernel that the library call tried for a product.
func (b *Bench) printTrials(p Product, trials []gemm.Trial) {
	for _, t := range trials {
		fmt.Fprintf(b.Trials, "%s %9.1f us  %s\n", p, float64(t.Took.Nanoseconds())/1e3, t.Kernel)
	}
}

// deviation returns the relative error of some elements of a product; see Result.Deviation.
func deviation[E, D runtime.Element](b *Bench, p Product, o operands[E], d *runtime.Buffer[D],
	in kerneltest.Format[E], out kerneltest.Format[D]) (float64, error) {
	ds, err := runtime.Download(d)
	if err != nil {
		return 0, err
	}
	at := func(transposed bool, row, k, rows int) int {
		if transposed {
			return k*rows + row
		}
		return row*p.K + k
	}
	scale := 1.0
	if p.Type == isa.E4m3 {
		scale = 0.5 * 0.25
	}
	const samples = 200
	var difference, size float64
	for range samples {
		row, col, sum := b.rand.IntN(p.M), b.rand.IntN(p.N), 0.0
		for k := range p.K {
			x := o.as[at(p.Layout[1] == 'T', row, k, p.M)%len(o.as)]
			y := o.bs[at(p.Layout[0] == 'N', col, k, p.N)%len(o.bs)]
			sum += in.Float(x) * in.Float(y)
		}
		sum *= scale
		size += sum * sum
		difference += math.Pow(out.Float(ds[row*p.N+col])-sum, 2)
	}
	return math.Sqrt(difference / size), nil
}

// typeOf returns the PTX type of a Go element type.
func typeOf[D runtime.Element]() isa.Type {
	switch any(*new(D)).(type) {
	case runtime.F16:
		return isa.F16
	case runtime.BF16:
		return isa.Bf16
	case int32:
		return isa.S32
	}
	return isa.F32
}
