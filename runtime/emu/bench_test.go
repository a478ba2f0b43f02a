// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package emu_test

import (
	"testing"

	"github.com/ptxdsl/ptxdsl/runtime"
	"github.com/ptxdsl/ptxdsl/runtime/emu"
)

// saxpy computes y = a*x + y in a grid-stride loop.
const saxpy = `.version 8.3
.target sm_90a
.address_size 64
.visible .entry saxpy(.param .u64 x, .param .u64 y, .param .f32 a, .param .u32 n) {
	.reg .pred %p<3>; .reg .b32 %r<9>; .reg .b64 %d<9>; .reg .f32 %f<5>;
	ld.param.u64 %d0, [x]; cvta.to.global.u64 %d0, %d0;
	ld.param.u64 %d1, [y]; cvta.to.global.u64 %d1, %d1;
	ld.param.f32 %f0, [a]; ld.param.u32 %r0, [n];
	mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x; mad.lo.u32 %r4, %r1, %r2, %r3;
	mov.u32 %r5, %nctaid.x; mul.lo.u32 %r5, %r5, %r2;
loop:
	setp.ge.u32 %p0, %r4, %r0;
	@%p0 bra done;
	mul.wide.u32 %d2, %r4, 4;
	add.u64 %d3, %d0, %d2;
	add.u64 %d4, %d1, %d2;
	ld.global.f32 %f1, [%d3];
	ld.global.f32 %f2, [%d4];
	fma.rn.f32 %f3, %f0, %f1, %f2;
	st.global.f32 [%d4], %f3;
	add.u32 %r4, %r4, %r5;
	bra loop;
done:
	ret;
}
`

// BenchmarkSaxpy reports the thread instructions per second on one processor, with all checks.
func BenchmarkSaxpy(b *testing.B) {
	back, err := emu.New(emu.Options{Workers: 1})
	if err != nil {
		b.Fatal(err)
	}
	d := runtime.On(back)
	m, err := d.Load(runtime.PTX(saxpy))
	if err != nil {
		b.Fatal(err)
	}
	k, err := m.Kernel("saxpy")
	if err != nil {
		b.Fatal(err)
	}
	const n = 1 << 18
	x, err := runtime.Upload(d, make([]float32, n))
	if err != nil {
		b.Fatal(err)
	}
	y, err := runtime.Upload(d, make([]float32, n))
	if err != nil {
		b.Fatal(err)
	}
	before := back.Stats().Instructions
	for b.Loop() {
		if err := k.Launch(runtime.Grid(32).Block(256), x, y, float32(2), uint32(n)); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(back.Stats().Instructions-before)/b.Elapsed().Seconds()/1e6, "Minstr/s")
}
