// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package rmsnorm

import (
	"math"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/isa"
)

// A frame is a kernel for rows that stay in registers. E is the type of x.
type frame[E dsl.Scalar] struct {
	*dsl.RowTile[E] // set by begin
	k               *dsl.Kernel
	r               RowKernel
}

// newFrame declares a kernel.
func newFrame[E dsl.Scalar](m *dsl.Module, r RowKernel) *frame[E] {
	threads, blocks := r.Threads()
	options := []dsl.KernelOption{dsl.Threads(threads), dsl.Cluster(blocks)}
	if long := r.Cols >= 8192*blocks; long && r.Type.Bits() == 16 && !r.Residual && threads <= 512 {
		// limit the registers to 64 per thread, so that one block loads while another waits
		options = append(options, dsl.MinBlocks(1024/threads))
	}
	return &frame[E]{k: m.Kernel(string(r.Kind), options...), r: r}
}

// begin computes the position of the thread, after the parameters are declared. With an output of
// .e2m1, a thread has the 16 elements that share a scale.
func (f *frame[E]) begin() {
	width := 128 / f.r.Type.Bits()
	if f.r.Output == isa.E2m1 {
		width = 16
	}
	f.RowTile = dsl.NewRowTile[E](f.k, f.r.Cols, width)
}

func plus(a, b dsl.Reg[dsl.F32]) dsl.Reg[dsl.F32]    { return a.Add(b) }
func largest(a, b dsl.Reg[dsl.F32]) dsl.Reg[dsl.F32] { return a.Max(b) }
func magnitude(x dsl.Reg[dsl.F32]) dsl.Reg[dsl.F32]  { return x.Abs() }
func square(x dsl.Reg[dsl.F32]) dsl.Reg[dsl.F32]     { return x.Mul(x) }

// exp returns exp(x - most) as a power of two.
func exp(x, most dsl.Reg[dsl.F32]) dsl.Reg[dsl.F32] { return x.Sub(most).MulF(math.Log2E).Exp2() }
