// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package op_test

import (
	"fmt"
	"strings"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/dsl/op"
)

// A sum over a warp with redux.sync, and an explicit wait loop for an mbarrier.
func Example() {
	m := dsl.New("wait", "sm_90")
	k := m.Kernel("wait", dsl.Threads(32))
	out := dsl.Global[dsl.U32](k, "out")
	ptx := op.On(k)

	sum := dsl.NewReg[dsl.U32](k).Named("sum")
	ptx.Redux().Sync().Add().U32().Do(sum, k.TID().X, -1)

	bar := dsl.Shared[dsl.U64](k, "bar", 1).Addr()
	k.When(k.TID().X.EQI(0), func() { ptx.MbarrierInit().SharedCTA().Do(bar, 32) })
	k.Sync()
	state := dsl.NewReg[dsl.U64](k).Named("state")
	ptx.MbarrierArrive().Release().CTA().SharedCTA().Do(state, bar)
	done := dsl.NewReg[dsl.Pred](k).Named("done")
	again := k.NewLabel("again")
	k.PlaceLabel(again)
	ptx.MbarrierTryWait().Acquire().CTA().SharedCTA().Do(done, bar, state)
	k.Unless(done, func() { ptx.Bra().Do(again) })

	out.Store(k.TID().X, sum)
	text, err := m.Text()
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(text)
	// Output:
	// .version 8.0
	// .target sm_90
	// .address_size 64
	//
	// .visible .entry wait(
	// 	.param .u64 .ptr .global .align 4 out
	// )
	// .reqntid 32, 1, 1
	// {
	// 	.reg .pred             %p<1>;
	// 	.reg .b32              %r<1>;
	// 	.reg .b64              %rd<3>;
	// 	.reg .b64              %out;
	// 	.reg .b32              %sum;
	// 	.reg .b64              %state;
	// 	.reg .pred             %done;
	// 	.shared .align 16 .u64 bar[1];
	//
	// 	ld.param.u64       %rd0, [out];
	// 	cvta.to.global.u64 %out, %rd0;
	// 	mov.b32            %r0, %tid.x;
	// 	redux.sync.add.u32 %sum, %r0, -1;
	// 	setp.eq.u32        %p0, %r0, 0;
	// 	@%p0 mbarrier.init.shared::cta.b64 [bar], 32;
	// 	bar.sync           0;
	// 	mbarrier.arrive.release.cta.shared::cta.b64 %state, [bar];
	// again:
	// 	mbarrier.try_wait.acquire.cta.shared::cta.b64 %done, [bar], %state;
	// 	@!%done bra   again;
	// 	mul.wide.u32  %rd1, %r0, 4;
	// 	add.u64       %rd2, %out, %rd1;
	// 	st.global.u32 [%rd2], %sum;
	// 	ret;
	// }
}

// An opcode is a value; adding a modifier returns a new one.
func ExampleLd() {
	m := dsl.New("load", "sm_80")
	k := m.Kernel("k")
	x := dsl.Global[dsl.F32](k, "x")
	for _, readOnly := range []bool{false, true} {
		load := op.On(k).Ld().Global()
		if readOnly {
			load = load.NC()
		}
		load.V2().F32().Do(dsl.List(dsl.NewReg[dsl.F32](k), dsl.NewReg[dsl.F32](k)), x.Addr())
	}
	text, err := m.Text()
	if err != nil {
		fmt.Println(err)
		return
	}
	for line := range strings.Lines(text) {
		if strings.Contains(line, "ld.global") {
			fmt.Println(strings.TrimSpace(line))
		}
	}
	// Output:
	// ld.global.v2.f32    {%f0, %f1}, [%x];
	// ld.global.nc.v2.f32 {%f2, %f3}, [%x];
}

// An invalid modifier is reported when the kernel is built, at the line that uses it.
func Example_mistake() {
	m := dsl.New("mistake", "sm_80")
	k := m.Kernel("k")
	x := dsl.Global[dsl.F32](k, "x")
	op.On(k).Ld().Global().Volatile().CG().F32().Do(dsl.NewReg[dsl.F32](k), x.Addr())
	_, list := m.Build()
	found, belongs, _ := strings.Cut(list[0].Message, "; ")
	fmt.Println(list[0].Rule, found)
	fmt.Println(belongs)
	// Output:
	// F205 .volatile cannot be combined with the other modifiers here
	// it belongs to ld.volatile{.space}{.l2}{.size}{.vec}.type
}
