// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package rmsnorm

import (
	"math"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/isa"
)

// A Kind is a function that BuildRow computes for each row of a matrix.
type Kind string

// The kinds that BuildRow supports.
const (
	Normalize    Kind = "rmsnorm"       // x / sqrt(mean(x*x) + eps) * w
	LayerNorm    Kind = "layernorm"     // (x - mean) / sqrt(variance + eps) * w + b
	Softmax      Kind = "softmax"       // exp(x) / sum(exp(x))
	CrossEntropy Kind = "cross_entropy" // loss = log(sum(exp(x))) - x[target]
	Gradient     Kind = "cross_entropy_backward"
)

// A RowKernel describes a kernel that computes each row with a block of at least 128 threads, or
// with a cluster of blocks. The threads keep the row in registers: short rows as F32, long rows
// in the type in which they are stored.
type RowKernel struct {
	Kind Kind
	Type isa.Type // type of x and y: .f32, .f16 or .bf16
	Cols int      // row length; rows of a multiple of 16 bytes are faster
	// Residual selects a residual connection: the kernel first adds a second input to x, and
	// stores the sum in place of that input.
	Residual bool
	// Output is the type of y: zero or Type for the type of x, .e4m3 with one scale per row, or
	// .e2m1 with one .e4m3 scale per 16 elements. y is the result divided by its scale.
	Output isa.Type
}

// Threads returns the number of threads per block, and the number of blocks per row, such that a
// thread computes at most 64 elements, as far as 8 blocks of 1024 threads suffice.
func (r RowKernel) Threads() (threads, blocks int) {
	if r.streamed() {
		s := r.stream()
		return s.threads, s.blocks
	}
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

// BuildRow adds to m a kernel that computes the function of r for each row. A launch needs the
// number of blocks per row that Threads returns. Clusters need sm_90.
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

// buildRow adds the kernel for rows of type E.
func buildRow[E dsl.Scalar](m *dsl.Module, r RowKernel) {
	if r.streamed() {
		buildStream[E](m, r)
		return
	}
	f := newFrame[E](m, r)
	x := dsl.Global[E](f.k, "x")
	switch r.Kind {
	case Softmax:
		softmax(f, x)
	case CrossEntropy:
		crossEntropy(f, x)
	case Gradient:
		gradient(f, x)
	default:
		norm(f, x)
	}
}

// softmax emits a kernel that computes exp(x) / sum(exp(x)).
func softmax[E dsl.Scalar](f *frame[E], x dsl.Array[E]) {
	y := dsl.Global[E](f.k, "y")
	f.begin()
	v := f.Load(x.At64(f.Start()), math.Inf(-1))
	most := f.Reduce(v, "maxima", nil, largest)
	v = f.Map(v, func(x dsl.Reg[dsl.F32]) dsl.Reg[dsl.F32] { return exp(x, most) })
	part := f.Reduce(v, "sums", nil, plus).Rcp()
	f.Store(y.At64(f.Start()),
		f.Map(v, func(x dsl.Reg[dsl.F32]) dsl.Reg[dsl.F32] { return x.Mul(part) }))
}

// crossEntropy emits a kernel that computes the loss of each row, and the logarithm of the sum of
// exponentials, which the backward pass needs.
func crossEntropy[E dsl.Scalar](f *frame[E], x dsl.Array[E]) {
	k := f.k
	targets, losses, sums := dsl.Global[dsl.U32](k, "targets"), dsl.Global[dsl.F32](k, "losses"),
		dsl.Global[dsl.F32](k, "sums")
	f.begin()
	xs := x.At64(f.Start())
	v := f.Load(xs, math.Inf(-1))
	most := f.Reduce(v, "maxima", nil, largest)
	sum := f.Reduce(v, "sums", func(x dsl.Reg[dsl.F32]) dsl.Reg[dsl.F32] { return exp(x, most) },
		plus)
	k.If(f.IsFirst(), func() {
		log := sum.Log2().MulF(math.Ln2).Add(most)
		sums.Store(f.Row(), log)
		losses.Store(f.Row(), log.Sub(dsl.To[dsl.F32](xs.Load(targets.Load(f.Row())))))
	})
}

// gradient emits a kernel that computes the derivative of the loss with respect to x.
func gradient[E dsl.Scalar](f *frame[E], x dsl.Array[E]) {
	k := f.k
	targets, sums := dsl.Global[dsl.U32](k, "targets"), dsl.Global[dsl.F32](k, "sums")
	scale, y := dsl.Global[dsl.F32](k, "scale"), dsl.Global[E](k, "y")
	f.begin()
	v := f.Load(x.At64(f.Start()), 0)
	target, sum, by := targets.Load(f.Row()), sums.Load(f.Row()), scale.Load(f.Row())
	v = f.MapAt(v, func(col func() dsl.Reg[dsl.U32], x dsl.Reg[dsl.F32]) dsl.Reg[dsl.F32] {
		hit := col().EQ(target)
		return exp(x, sum).Sub(dsl.Select(hit, k.F32(1), k.F32(0))).Mul(by)
	})
	f.Store(y.At64(f.Start()), v)
}
