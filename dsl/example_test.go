// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl_test

import (
	"fmt"
	"strings"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/isa"
)

func Example() {
	m := dsl.New("vecadd", "sm_80")
	k := m.Kernel("vecadd", dsl.Threads(256))
	a, b := dsl.Global[dsl.F32](k, "a"), dsl.Global[dsl.F32](k, "b")
	n := dsl.Param[dsl.U32](k, "n")
	i := k.CTAID().X.Mad(k.NTID().X, k.TID().X)
	k.If(i.LT(n), func() { b.Store(i, a.Load(i).Add(b.Load(i))) })
	text, err := m.Text()
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(text)
	// Output:
	// .version 7.0
	// .target sm_80
	// .address_size 64
	//
	// .visible .entry vecadd(
	// 	.param .u64 .ptr .global .align 4 a,
	// 	.param .u64 .ptr .global .align 4 b,
	// 	.param .u32 n
	// )
	// .reqntid 256, 1, 1
	// {
	// 	.reg .pred %p<1>;
	// 	.reg .b32  %r<3>;
	// 	.reg .f32  %f<3>;
	// 	.reg .b64  %rd<6>;
	// 	.reg .b64  %a, %b;
	// 	.reg .b32  %n;
	//
	// 	ld.param.u64       %rd0, [a];
	// 	cvta.to.global.u64 %a, %rd0;
	// 	ld.param.u64       %rd1, [b];
	// 	cvta.to.global.u64 %b, %rd1;
	// 	ld.param.u32       %n, [n];
	// 	mov.b32            %r0, %ctaid.x;
	// 	mov.b32            %r1, %tid.x;
	// 	mad.lo.u32         %r2, %r0, 256, %r1;
	// 	setp.lt.u32        %p0, %r2, %n;
	// 	@!%p0 bra          endif;
	// 	mul.wide.u32       %rd2, %r2, 4;
	// 	add.u64            %rd3, %a, %rd2;
	// 	ld.global.f32      %f0, [%rd3];
	// 	add.u64            %rd4, %b, %rd2;
	// 	ld.global.f32      %f1, [%rd4];
	// 	add.f32            %f2, %f0, %f1;
	// 	add.u64            %rd5, %b, %rd2;
	// 	st.global.f32      [%rd5], %f2;
	// endif:
	// 	ret;
	// }
}

func ExampleKernel_Range() {
	m := dsl.New("sum", "sm_80")
	k := m.Kernel("sum")
	x, n := dsl.Global[dsl.F32](k, "x"), dsl.Param[dsl.U32](k, "n")
	sum := k.F32(0).Var()
	for i := range k.Range(k.U32(0), n) {
		sum.Set(sum.Add(x.Load(i)))
	}
	x.StoreI(0, sum)
	text, _ := m.Text()
	fmt.Print(text)
	// Output:
	// .version 7.0
	// .target sm_80
	// .address_size 64
	//
	// .visible .entry sum(
	// 	.param .u64 .ptr .global .align 4 x,
	// 	.param .u32 n
	// )
	// {
	// 	.reg .pred %p<2>;
	// 	.reg .b32  %r<1>;
	// 	.reg .f32  %f<3>;
	// 	.reg .b64  %rd<3>;
	// 	.reg .b64  %x;
	// 	.reg .b32  %n;
	//
	// 	ld.param.u64       %rd0, [x];
	// 	cvta.to.global.u64 %x, %rd0;
	// 	ld.param.u32       %n, [n];
	// 	mov.f32            %f0, 0f00000000;
	// 	mov.b32            %r0, 0;
	// 	setp.ge.u32        %p0, %r0, %n;
	// 	@%p0 bra           done;
	// loop:
	// 	mul.wide.u32  %rd1, %r0, 4;
	// 	add.u64       %rd2, %x, %rd1;
	// 	ld.global.f32 %f1, [%rd2];
	// 	add.f32       %f2, %f0, %f1;
	// 	mov.f32       %f0, %f2;
	// 	add.u32       %r0, %r0, 1;
	// 	setp.lt.u32   %p1, %r0, %n;
	// 	@%p1 bra      loop;
	// done:
	// 	st.global.f32 [%x], %f0;
	// 	ret;
	// }
}

func ExampleKernel_Ins() {
	m := dsl.New("clock", "sm_90")
	k := m.Kernel("clock")
	out := dsl.Global[dsl.U64](k, "out")
	t := dsl.NewReg[dsl.U64](k)
	k.Ins("mov.u64", t, "%globaltimer")
	k.Ins("st.global.u64", out.Addr(), t)
	text, _ := m.Text()
	fmt.Print(text)
	// Output:
	// .version 7.8
	// .target sm_90
	// .address_size 64
	//
	// .visible .entry clock(
	// 	.param .u64 .ptr .global .align 8 out
	// )
	// {
	// 	.reg .b64 %rd<2>;
	// 	.reg .b64 %out;
	//
	// 	ld.param.u64       %rd0, [out];
	// 	cvta.to.global.u64 %out, %rd0;
	// 	mov.u64            %rd1, %globaltimer;
	// 	st.global.u64      [%out], %rd1;
	// 	ret;
	// }
}

func ExampleFunc() {
	m := dsl.New("silu", "sm_80")
	f := m.Func("silu")
	x := dsl.Arg[dsl.F32](f, "x")
	dsl.ReturnValue(f, x.Div(x.Neg().Exp().AddF(1), dsl.Approx))

	k := m.Kernel("apply")
	p := dsl.Global[dsl.F32](k, "p")
	i := k.TID().X
	p.Store(i, dsl.Call[dsl.F32](k, f, p.Load(i)))
	text, _ := m.Text()
	fmt.Print(text)
	// Output:
	// .version 7.0
	// .target sm_80
	// .address_size 64
	//
	// .func (.param .f32 result) silu(
	// 	.param .f32 x
	// )
	// {
	// 	.reg .f32 %f<5>;
	// 	.reg .f32 %x;
	//
	// 	ld.param.f32   %x, [x];
	// 	neg.f32        %f0, %x;
	// 	mul.f32        %f1, %f0, 0f3FB8AA3B;
	// 	ex2.approx.f32 %f2, %f1;
	// 	add.f32        %f3, %f2, 0f3F800000;
	// 	div.approx.f32 %f4, %x, %f3;
	// 	st.param.f32   [result], %f4;
	// 	ret;
	// }
	//
	// .visible .entry apply(
	// 	.param .u64 .ptr .global .align 4 p
	// )
	// {
	// 	.reg .b32 %r<1>;
	// 	.reg .f32 %f<2>;
	// 	.reg .b64 %rd<4>;
	// 	.reg .b64 %p;
	//
	// 	ld.param.u64       %rd0, [p];
	// 	cvta.to.global.u64 %p, %rd0;
	// 	mov.b32            %r0, %tid.x;
	// 	mul.wide.u32       %rd1, %r0, 4;
	// 	add.u64            %rd2, %p, %rd1;
	// 	ld.global.f32      %f0, [%rd2];
	// 	{
	// 		.param .f32 result;
	// 		.param .f32 arg;
	// 		st.param.f32 [arg], %f0;
	// 		call.uni     (result), silu, (arg);
	// 		ld.param.f32 %f1, [result];
	// 	}
	// 	add.u64       %rd3, %p, %rd1;
	// 	st.global.f32 [%rd3], %f1;
	// 	ret;
	// }
}

// A mistake is reported at the line of the call, with all others of the module.
func ExampleMatrix() {
	m := dsl.New("product", "sm_80")
	k := m.Kernel("product", dsl.Threads(128))
	a, b, d := k.Matrix("a", isa.F16), k.Matrix("b", isa.F16), k.Matrix("d", isa.F32)
	rows, cols, depth := dsl.Param[dsl.U32](k, "m"), dsl.Param[dsl.U32](k, "n"),
		dsl.Param[dsl.U32](k, "k")
	at := k.BlockTile(rows.CeilDiv(64), cols.CeilDiv(64), 8)
	row, col := at.Row.MulI(64), at.Col.MulI(64)
	a, b = a.Sized(rows, depth).RowsFrom(row), b.Sized(cols, depth).RowsFrom(col)
	tile := dsl.Tile{Type: isa.F16, Rows: 64, Cols: 64, Swizzle: dsl.Swizzle128}
	w := dsl.NewWarpTile[dsl.F32](k, dsl.MMAFor(isa.F16, isa.F32), 32, 32)
	fromA, fromB := w.Origin(k.WarpIndex(), 2)
	k.AsyncPipeline("ab", 3, tile, tile).Run(depth.CeilDiv(64),
		func(step dsl.Reg[dsl.U32], s dsl.AsyncStage) {
			a.CopyAsync(s.Tile(0), step.MulI(64))
			b.CopyAsync(s.Tile(1), step.MulI(64))
		},
		func(_ dsl.Reg[dsl.U32], s dsl.AsyncStage) { w.MMA(s.Tile(0), fromA, s.Tile(1), fromB) })
	w.Store(d.Sized(rows, cols), row.Add(fromA), col.Add(fromB))
	text, err := m.Text()
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(strings.Count(text, "mma.sync"),
		"multiplications of a warp in a step of 64 columns")
	// Output:
	// 32 multiplications of a warp in a step of 64 columns
}

func ExampleStruct() {
	type scaling struct {
		Factor dsl.Reg[dsl.F32]
		Shift  [2]dsl.Reg[dsl.F32]
	}
	m := dsl.New("scale", "sm_80")
	k := m.Kernel("scale", dsl.Threads(128))
	x, s := dsl.Global[dsl.F32](k, "x"), dsl.Struct[scaling](k, "s")
	i := k.CTAID().X.MadI(128, k.TID().X)
	x.Store(i, x.Load(i).FMA(s.Factor, s.Shift[1]))
	text, err := m.Text()
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, line := range strings.Split(text, "\n") {
		if strings.Contains(line, "[s") || strings.Contains(line, " s[") {
			fmt.Println(strings.Join(strings.Fields(line), " "))
		}
	}
	// Output:
	// .param .align 4 .b8 s[12]
	// ld.param.f32 %f0, [s];
	// ld.param.f32 %f1, [s+8];
}

func ExampleModule_Text() {
	m := dsl.New("m", "sm_80")
	k := m.Kernel("k", dsl.Cluster(2))
	k.Ins("wgmma.fence.sync.aligned")
	_, err := m.Text()
	for _, d := range err.(*dsl.Error).List {
		fmt.Println(d.Rule, d.Message)
	}
	// Output:
	// D102 sm_80 does not support clusters, which need sm_90
	// F402 wgmma.fence requires PTX 8.0 on sm_90a, but the module is for PTX 9.5 and sm_80
}

// Compaction: each thread computes the output index of its element, which is the number of nonzero
// elements before it.
func ExampleBlockExclusiveScan() {
	m := dsl.New("keep", "sm_80")
	k := m.Kernel("keep", dsl.Threads(64))
	x, kept := dsl.Global[dsl.F32](k, "x"), dsl.Global[dsl.F32](k, "kept")
	v := x.Load(k.TID().X)
	keep := v.EQF(0).Not()
	one := dsl.Select(keep, k.U32(1), k.U32(0))
	at, all := dsl.BlockExclusiveScan(one, k.U32(0), "counts",
		func(a, b dsl.Reg[dsl.U32]) dsl.Reg[dsl.U32] { return a.Add(b) })
	k.If(keep, func() { kept.Store(at, v) })
	dsl.Global[dsl.U32](k, "count").StoreI(0, all)
	_, list := m.Build()
	fmt.Println(len(list), "findings")
	// Output: 0 findings
}

// The result of one MMA is the A operand of the next, and stays in registers.
func ExampleWarpTile_ToFragments() {
	m := dsl.New("twice", "sm_80")
	k := m.Kernel("twice", dsl.Threads(32))
	x, y := k.Matrix("x", isa.F16).Sized(k.U32(64), k.U32(64)),
		k.Matrix("y", isa.F32).Sized(k.U32(16), k.U32(64))
	tile := k.SharedTile("tile",
		dsl.Tile{Type: isa.F16, Rows: 64, Cols: 64, Swizzle: dsl.Swizzle128})
	x.CopyAsync(tile, k.U32(0))
	k.CommitCopies()
	k.WaitCopies(0)
	k.Sync()
	mma := dsl.MMAFor(isa.F16, isa.F32)
	first, second := dsl.NewWarpTile[dsl.F32](k, mma, 16, 64),
		dsl.NewWarpTile[dsl.F32](k, mma, 16, 64)
	first.MMA(tile, k.U32(0), tile, k.U32(0))
	most := first.RowReduce(func(a, b dsl.Reg[dsl.F32]) dsl.Reg[dsl.F32] { return a.Max(b) })
	first.Map(func(c dsl.Cell, x dsl.Reg[dsl.F32]) dsl.Reg[dsl.F32] {
		return x.Sub(most[c.LocalRow]).Exp()
	})
	second.MMAFragments(first.ToFragments(isa.F16), tile.Transposed(), k.U32(0))
	second.Store(y, k.U32(0), k.U32(0))
	_, list := m.Build()
	fmt.Println(len(list), "findings")
	// Output: 0 findings
}

// Pointer loads from a table of pointers to arrays of different lengths.
func ExamplePointer() {
	m := dsl.New("batch", "sm_80")
	k := m.Kernel("batch", dsl.Threads(256))
	arrays, lengths := dsl.Global[dsl.U64](k, "arrays"), dsl.Global[dsl.U32](k, "lengths")
	x := dsl.Pointer[dsl.F32](arrays.Load(k.CTAID().Y), isa.Generic)
	for i := range k.GridStride(lengths.Load(k.CTAID().Y)) {
		x.Store(i, x.Load(i).MulF(2))
	}
	_, list := m.Build()
	fmt.Println(len(list), "findings")
	// Output: 0 findings
}
