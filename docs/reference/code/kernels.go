// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package code

import "github.com/ptxdsl/ptxdsl/dsl"

// Kernels shows kernel declarations and parameters.
func Kernels(m *dsl.Module) {
	//cuda: `__global__ __launch_bounds__(256) void f(...)`
	k := m.Kernel("f", dsl.Threads(256))

	//cuda: `const float *x, float *y`
	x, y := dsl.Global[dsl.F32](k, "x"), dsl.Global[dsl.F32](k, "y")

	//cuda: `float a, unsigned n`
	a, n := dsl.Param[dsl.F32](k, "a"), dsl.Param[dsl.U32](k, "n")

	//cuda: `struct args { float scale; int n; }; __global__ void g(args s)`
	type args struct {
		Scale dsl.Reg[dsl.F32]
		N     dsl.Reg[dsl.S32]
	}
	s := dsl.Struct[args](k, "s")

	//cuda: `unsigned i = blockIdx.x * blockDim.x + threadIdx.x;`
	i := k.CTAID().X.Mad(k.NTID().X, k.TID().X)

	//cuda: `gridDim.x`, `threadIdx.x % 32`, `threadIdx.x / 32`
	blocks, lane, warp := k.NCTAID().X, k.Lane(), k.WarpIndex()

	//cuda: `if (i < n) y[i] = a * x[i] + y[i];`
	k.If(i.LT(n), func() { y.Store(i, a.FMA(x.Load(i), y.Load(i))) })

	//cuda: `for (unsigned i = ...; i < n; i += gridDim.x * blockDim.x)`
	for i := range k.GridStride(n) {
		y.Store(i, x.Load(i).Mul(s.Scale))
	}

	use(blocks, lane, warp, s.N)
	more(m)
}

func more(m *dsl.Module) {
	//cuda: `__cluster_dims__(2, 1, 1)`
	c := m.Kernel("c", dsl.Threads(128), dsl.Cluster(2))

	//cuda: `__launch_bounds__(256, 2)`, `__maxnreg__(128)`
	b := m.Kernel("b", dsl.Threads(256), dsl.MinBlocks(2))
	r := m.Kernel("r", dsl.Threads(256), dsl.MaxRegs(128))

	//cuda: `__device__ float silu(float x)`, inlined
	silu := func(x f32) f32 { return x.Div(x.Neg().Exp().AddF(1)) }

	//cuda: `__device__ __noinline__ void put(float *to, float v)`, and a call
	f := m.Func("put")
	to, v := dsl.Global[dsl.F32](f.Kernel, "to"), dsl.Arg[dsl.F32](f, "v")
	to.StoreI(0, v)
	p := dsl.Global[dsl.F32](b, "p")
	b.Call(f, p, silu(b.F32(1)))

	use(c, r)
}
