// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package inspect_test

import (
	"maps"
	"testing"

	"github.com/ptxdsl/ptxdsl/dsl"
	blackwell "github.com/ptxdsl/ptxdsl/examples/16_matmul_blackwell"
	"github.com/ptxdsl/ptxdsl/runtime"
	"github.com/ptxdsl/ptxdsl/runtime/emu"
	"github.com/ptxdsl/ptxdsl/runtime/emu/inspect"
	"github.com/ptxdsl/ptxdsl/runtime/kerneltest"
)

// count runs a kernel with the given body and returns the statistics. In the body, %d0 is the
// address of 4096 bytes and %r0 is the thread index.
func count(t *testing.T, target, body string, blocks, threads int) *inspect.Stats {
	t.Helper()
	s := inspect.NewStats()
	back, err := emu.New(emu.Options{Target: target, Observer: s})
	if err != nil {
		t.Fatal(err)
	}
	d := runtime.On(back)
	m, err := d.Load(runtime.PTX(".version 8.6\n.target " + target + `
.address_size 64
.visible .entry k(.param .u64 p) {
.reg .b16 %h<9>; .reg .b32 %r<20>; .reg .b64 %d<9>; .reg .f32 %f<9>; .reg .f64 %g<4>; .reg .pred %p<4>;
.shared .align 128 .b8 s[8192]; .shared .align 8 .b64 bar;
ld.param.u64 %d0, [p]; mov.u32 %r0, %tid.x; mov.u32 %r1, s;
` + body + "\nret;\n}\n"))
	if err != nil {
		t.Fatal(err)
	}
	k, err := m.Kernel("k")
	if err != nil {
		t.Fatal(err)
	}
	buffer, err := runtime.Upload(d, make([]uint32, 1024))
	if err != nil {
		t.Fatal(err)
	}
	if err := k.Launch(runtime.Grid(blocks).Block(threads), buffer); err != nil {
		t.Fatal(err)
	}
	return s
}

// TestOperations counts floating-point operations of each type.
func TestOperations(t *testing.T) {
	s := count(t, "sm_90a",
		`mov.f32 %f0, 0f3f800000; mov.f64 %g0, 0d3ff0000000000000; mov.b32 %r2, 0x3c003c00; mov.b16 %h0, 0x3c00;
fma.rn.f32 %f1, %f0, %f0, %f0; fma.rn.f32 %f1, %f1, %f0, %f0; mul.f32 %f1, %f1, %f0; add.f32 %f1, %f1, %f0; ex2.approx.f32 %f2, %f0;
fma.rn.f64 %g1, %g0, %g0, %g0; div.rn.f64 %g1, %g1, %g0; fma.rn.f16x2 %r3, %r2, %r2, %r2; add.f16 %h1, %h0, %h0; add.bf16x2 %r3, %r2, %r2;
add.u32 %r4, %r0, 1; mad.lo.u32 %r4, %r4, 3, %r0; setp.lt.u32 %p0, %r0, 3; @%p0 sub.f32 %f1, %f1, %f0;`, 2, 40)
	threads := int64(80)
	want := map[string]int64{"f32": 7*threads + 6, "f64": 3 * threads, "f16": 5 * threads,
		"bf16": 2 * threads}
	if !maps.Equal(s.Operations, want) {
		t.Errorf("operations %v, want %v", s.Operations, want)
	}
}

// TestTensorOperations counts the operations of matrix products by their shapes.
func TestTensorOperations(t *testing.T) {
	s := count(t, "sm_90a", `mov.b32 %r2, 0;
mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1,%f2,%f3,%f4}, {%r2,%r2,%r2,%r2}, {%r2,%r2}, {%f0,%f0,%f0,%f0};
mma.sync.aligned.m16n8k32.row.col.s32.s8.u8.s32 {%r4,%r5,%r6,%r7}, {%r2,%r2,%r2,%r2}, {%r2,%r2}, {%r2,%r2,%r2,%r2};`, 3, 64)
	want := map[string]int64{"mma f16": 6 * 2 * 16 * 8 * 16, "mma s8": 6 * 2 * 16 * 8 * 32}
	if !maps.Equal(s.Operations, want) {
		t.Errorf("operations %v, want %v", s.Operations, want)
	}
}

// TestBlackwellOperations compares the counts of a tcgen05 GEMM with those that follow from its
// shape: one tile of 128 x 256 with K = 128.
func TestBlackwellOperations(t *testing.T) {
	s := inspect.NewStats()
	back, err := emu.New(emu.Options{Target: "sm_100a", Observer: s})
	if err != nil {
		t.Fatal(err)
	}
	x := kerneltest.New(runtime.On(back))
	k, err := x.Kernel("matmul", func(m *dsl.Module) { blackwell.Build(m, blackwell.Default) })
	if err != nil {
		t.Fatal(err)
	}
	const m, n, depth = 128, 256, 128
	a := kerneltest.RandomMatrix(x, m, depth, kerneltest.BF16)
	b := kerneltest.RandomMatrix(x, n, depth, kerneltest.BF16)
	tolerance := kerneltest.BF16.ULPs(1).Plus(kerneltest.Abs(0x1p-10))
	err = kerneltest.Multiply(x, k, runtime.Grid(1), a, b, kerneltest.BF16, tolerance, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := s.Operations["tcgen05 f16"], int64(2*m*n*depth); got != want {
		t.Errorf("%d operations of %v, want %d", got, s.Operations, want)
	}
	if want := int64(2*(m*depth+n*depth) + 2*m*n); s.TMA != want {
		t.Errorf("TMA moved %d bytes, want %d", s.TMA, want)
	}
}

// TestBankConflicts counts the wavefronts of accesses to shared memory with known conflicts.
func TestBankConflicts(t *testing.T) {
	for _, x := range []struct {
		name, body   string
		parts, least int64
	}{
		{"words in a row", "mad.lo.u32 %r2, %r0, 4, %r1; st.shared.u32 [%r2], %r0;", 1, 1},
		{"every second word", "mad.lo.u32 %r2, %r0, 8, %r1; st.shared.u32 [%r2], %r0;", 2, 1},
		{"every third word", "mad.lo.u32 %r2, %r0, 12, %r1; st.shared.u32 [%r2], %r0;", 1, 1},
		{"one bank", "mad.lo.u32 %r2, %r0, 128, %r1; st.shared.u32 [%r2], %r0;", 32, 1},
		{"one word", "st.shared.u32 [%r1], 1; ld.shared.u32 %r3, [%r1];", 2, 2},
		{"bytes of a word", "add.u32 %r2, %r0, %r1; st.shared.u8 [%r2], %r0;", 1, 1},
		{"pairs in a row", "mad.lo.u32 %r2, %r0, 8, %r1; st.shared.v2.u32 [%r2], {%r0, %r0};", 2,
			2},
		{"fours in a row",
			"mad.lo.u32 %r2, %r0, 16, %r1; st.shared.v4.u32 [%r2], {%r0, %r0, %r0, %r0};", 4, 4},
		{"fours in one bank",
			"mad.lo.u32 %r2, %r0, 128, %r1; st.shared.v4.u32 [%r2], {%r0, %r0, %r0, %r0};", 32, 4},
		{"some lanes",
			"setp.lt.u32 %p0, %r0, 4; mad.lo.u32 %r2, %r0, 128, %r1; @%p0 st.shared.u32 [%r2], %r0;",
			4, 1},
	} {
		s := count(t, "sm_90a", x.body, 1, 32)
		if s.Shared.Parts != x.parts || s.Shared.Least != x.least {
			t.Errorf("%s: %d wavefronts where %d would do; want %d and %d", x.name, s.Shared.Parts,
				s.Shared.Least, x.parts, x.least)
		}
	}
}

// TestSectors counts the sectors of accesses to global memory.
func TestSectors(t *testing.T) {
	for _, x := range []struct {
		name, body   string
		parts, least int64
	}{
		{"words in a row", "mad.wide.u32 %d1, %r0, 4, %d0; st.global.u32 [%d1], %r0;", 4, 4},
		{"one word off", "mad.wide.u32 %d1, %r0, 4, %d0; st.global.u32 [%d1+4], %r0;", 5, 4},
		{"every second word", "mad.wide.u32 %d1, %r0, 8, %d0; st.global.u32 [%d1], %r0;", 8, 4},
		{"a sector each", "mad.wide.u32 %d1, %r0, 32, %d0; st.global.u32 [%d1], %r0;", 32, 4},
		{"one word", "ld.global.u32 %r2, [%d0];", 1, 1},
		{"fours in a row",
			"mad.wide.u32 %d1, %r0, 16, %d0; st.global.v4.u32 [%d1], {%r0, %r0, %r0, %r0};", 16,
			16},
		{"bytes in a row", "cvt.u64.u32 %d1, %r0; add.u64 %d1, %d1, %d0; st.global.u8 [%d1], %r0;",
			1, 1},
	} {
		s := count(t, "sm_90a", x.body, 1, 32)
		if s.Global.Parts != x.parts || s.Global.Least != x.least {
			t.Errorf("%s: %d sectors where %d would do; want %d and %d", x.name, s.Global.Parts,
				s.Global.Least, x.parts, x.least)
		}
	}
}

// TestBulkBytes counts the bytes of bulk copies in both directions.
func TestBulkBytes(t *testing.T) {
	s := count(t, "sm_90a", `setp.ne.u32 %p0, %r0, 0; @%p0 bra wait;
mbarrier.init.shared.b64 [bar], 1; mbarrier.arrive.expect_tx.shared.b64 %d2, [bar], 512;
cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [s], [%d0], 512, [bar];
test: mbarrier.try_wait.parity.shared.b64 %p1, [bar], 0; @!%p1 bra test;
cp.async.bulk.global.shared::cta.bulk_group [%d0+1024], [s], 256;
cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;
wait:`, 2, 32)
	if want := int64(2 * (512 + 256)); s.TMA != want {
		t.Errorf("bulk copies moved %d bytes, want %d", s.TMA, want)
	}
	if b := s.Barriers["mbarrier bar[0]"]; b == nil {
		t.Errorf("barriers %v", s.Barriers)
	} else if b.Phases != 2 || b.Waits != 2 {
		t.Errorf("the mbarrier: %+v, want two phases and two waits", b)
	}
}

// TestBarrierOccupancy counts how long warps wait: warp 0 arrives first, and warp 1 runs ten
// instructions more than warp 0 did.
func TestBarrierOccupancy(t *testing.T) {
	s := count(t, "sm_90a", `setp.lt.u32 %p0, %r0, 32; @%p0 bra meet;
add.u32 %r2, %r0, 1; add.u32 %r2, %r2, 1; add.u32 %r2, %r2, 1; add.u32 %r2, %r2, 1; add.u32 %r2, %r2, 1;
add.u32 %r2, %r2, 1; add.u32 %r2, %r2, 1; add.u32 %r2, %r2, 1; add.u32 %r2, %r2, 1; add.u32 %r2, %r2, 1;
meet: bar.sync 0;`, 1, 64)
	b := s.Barriers["barrier 0"]
	if b == nil || b.Phases != 1 || b.Arrivals != 64 || b.Waits != 2 {
		t.Fatalf("barrier 0: %+v", b)
	}
	// Warp 1 runs four instructions, ten additions and the barrier. The branch, which no lane
	// takes, is not counted.
	if b.Waited != 15 {
		t.Errorf("warps waited for %d instructions, want 15", b.Waited)
	}
}
