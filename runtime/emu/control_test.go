// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package emu_test

import (
	"bytes"
	"slices"
	"testing"

	"github.com/ptxdsl/ptxdsl/runtime/emu"
)

// functions are device functions that the kernels of TestControl call.
const functions = `
.version 8.3
.target sm_90a
.address_size 64
.extern .func (.param .b32 r) vprintf (.param .b64 f, .param .b64 a);
.global .align 1 .b8 text[7] = {110, 61, 37, 100, 10, 0, 0};
.func (.param .b32 r) factorial (.param .b32 n) {
	.reg .pred %p; .reg .b32 %a, %b;
	ld.param.u32 %a, [n]; setp.le.u32 %p, %a, 1; mov.u32 %b, 1; @%p bra out;
	{
		.param .b32 x; .param .b32 y;
		sub.u32 %b, %a, 1; st.param.b32 [x], %b; call (y), factorial, (x); ld.param.b32 %b, [y];
	}
	mul.lo.u32 %b, %b, %a;
out:
	st.param.b32 [r], %b; ret;
}
.func (.reg .b32 r) twice (.reg .b32 n) { add.u32 r, n, n; ret; }
.func (.reg .b32 r) same (.reg .b32 n) { match.sync.any.b32 r, n, -1; ret; }
.func (.reg .b32 r) thrice (.reg .b32 n) { mad.lo.u32 r, n, 2, n; ret; }
.visible .entry k(.param .u64 out) {
	.reg .pred %p<9>; .reg .b32 %r<40>; .reg .b64 %d<20>;
	ld.param.u64 %d0, [out]; cvta.to.global.u64 %d0, %d0; mov.u32 %r0, %tid.x; mul.wide.u32 %d1, %r0, 4; add.u64 %d1, %d0, %d1;
`

// TestControl runs kernels whose lanes diverge and reconverge, call functions and wait for each
// other.
func TestControl(t *testing.T) {
	fact := func(i int) uint32 {
		f := uint32(1)
		for j := 2; j <= i%7; j++ {
			f *= uint32(j)
		}
		return f
	}
	for _, test := range []struct {
		name, body string
		want       func(i int) uint32
	}{
		{"recursion",
			`{ .param .b32 x; .param .b32 y; rem.u32 %r1, %r0, 7; st.param.b32 [x], %r1; call (y), factorial, (x); ld.param.b32 %r2, [y]; }`,
			fact},
		{"guarded call",
			`mov.u32 %r2, 5; and.b32 %r1, %r0, 1; setp.eq.u32 %p1, %r1, 0; @%p1 call (%r2), twice, (%r0);`,
			func(i int) uint32 { return []uint32{uint32(2 * i), 5}[i%2] }},
		{"indirect call",
			`and.b32 %r1, %r0, 1; setp.eq.u32 %p1, %r1, 0; mov.u64 %d2, twice; mov.u64 %d3, thrice; selp.b64 %d2, %d2, %d3, %p1;
			p: .callprototype (.reg .b32 _) _ (.reg .b32 _); call (%r2), %d2, (%r0), p;`,
			func(i int) uint32 { return uint32(i * (2 + i%2)) }},
		{"indexed branch",
			`t: .branchtargets a, b, c; rem.u32 %r1, %r0, 3; brx.idx %r1, t; a: mov.u32 %r2, 10; bra e; b: mov.u32 %r2, 20; bra e; c: mov.u32 %r2, 30; e:`,
			func(i int) uint32 { return uint32(10 * (i%3 + 1)) }},
		{"loops of different length",
			`mov.u32 %r2, 0; mov.u32 %r1, 0; l: setp.ge.u32 %p1, %r1, %r0; @%p1 bra e; add.u32 %r2, %r2, %r1; add.u32 %r1, %r1, 1; bra l; e:
			activemask.b32 %r3; setp.eq.u32 %p2, %r3, 0xffffffff; @!%p2 mov.u32 %r2, 77;`,
			func(i int) uint32 { return uint32(i * (i - 1) / 2) }},
		// One lane after the other takes the lock, and releases it only after the loop in which the
		// others spin.
		{"lock",
			`.shared .u32 s[2]; setp.eq.u32 %p1, %r0, 0; @%p1 st.shared.u32 [s], 0; @%p1 st.shared.u32 [s+4], 0; bar.sync 0;
			l: atom.shared.cas.b32 %r1, [s], 0, 1; setp.ne.u32 %p2, %r1, 0; @%p2 bra l;
			ld.volatile.shared.u32 %r3, [s+4]; add.u32 %r3, %r3, 1; st.volatile.shared.u32 [s+4], %r3; atom.shared.exch.b32 %r1, [s], 0;
			bar.sync 0; ld.shared.u32 %r2, [s+4];`, func(int) uint32 { return 64 }},
		{"early end", `setp.lt.u32 %p1, %r0, 40; @%p1 ret; bar.sync 0; mov.u32 %r2, 1;`,
			func(i int) uint32 {
				if i < 40 {
					return 0
				}
				return 1
			}},
		// Lanes with the same mask exchange values at different instructions with the same
		// qualifiers.
		{"shuffle from two branches",
			`and.b32 %r1, %r0, 1; setp.eq.u32 %p2, %r1, 0; mov.u32 %r3, 7; mov.u32 %r4, 30; @%p2 bra a;
			add.u32 %r5, %r0, 100; shfl.sync.idx.b32 %r2, %r5, 4, 31, -1; bra e;
			a: shfl.sync.idx.b32 %r2, %r0, 9, 31, -1; e:`, func(i int) uint32 {
				if i%2 == 1 {
					return uint32(i/32*32 + 4) // an even lane holds its index
				}
				return uint32(i/32*32 + 109) // an odd lane holds its index plus 100
			}},
		{"ballot from two branches",
			`and.b32 %r1, %r0, 3; setp.eq.u32 %p1, %r1, 0; setp.eq.u32 %p2, %r1, 3; setp.lt.u32 %p3, %r1, 2; @%p3 bra a;
			vote.sync.ballot.b32 %r2, %p2, -1; bra e; a: vote.sync.ballot.b32 %r2, %p1, -1; e:`, func(int) uint32 { return 0x99999999 }},
		{"reduction from two branches",
			`setp.lt.u32 %p1, %r0, 48; mov.u32 %r3, -1; @%p1 bra a; redux.sync.add.u32 %r2, %r0, %r3; bra e;
			a: mov.u32 %r4, 1000; redux.sync.add.u32 %r2, %r4, -1; e:`, func(i int) uint32 {
				if i < 32 {
					return 32000
				}
				return 16*1000 + (48+63)*16/2
			}},
		{"match from a function and a branch",
			`and.b32 %r1, %r0, 7; setp.lt.u32 %p1, %r0, 37; @%p1 bra a; call (%r2), same, (%r1); bra e;
			a: match.sync.any.b32 %r2, %r1, -1; e:`, func(i int) uint32 { return 0x01010101 << (i % 8) }},
		{"election from two branches",
			`setp.lt.u32 %p1, %r0, 3; mov.u32 %r2, 0; @%p1 bra a; elect.sync %r3|%p2, -1; @%p2 mov.u32 %r2, 1; bra e;
			a: elect.sync %r3|%p2, -1; @%p2 mov.u32 %r2, 2; e: mad.lo.u32 %r2, %r3, 10, %r2;`, func(i int) uint32 {
				switch i {
				case 0:
					return 2
				case 32:
					return 1
				}
				return 0
			}},
		{"vote of some",
			`setp.lt.u32 %p1, %r0, 32; and.b32 %r1, %r0, 1; setp.eq.u32 %p2, %r1, 0; @%p2 bra a; vote.sync.ballot.b32 %r2, %p1, 0xaaaaaaaa; bra e;
			a: vote.sync.ballot.b32 %r2, %p1, 0x55555555; e:`, func(i int) uint32 {
				if i >= 32 {
					return 0
				}
				return []uint32{0x55555555, 0xaaaaaaaa}[i%2]
			}},
	} {
		text := functions + test.body + "\nst.global.u32 [%d1], %r2;\nret;\n}\n"
		for _, seed := range []uint64{0, 1, 2} {
			got, err := try(t, open(t, emu.Options{Seed: seed}), text, 64)
			if err != nil {
				t.Errorf("%s: %v", test.name, err)
				break
			}
			for i, x := range got {
				if x != test.want(i) {
					t.Errorf("%s: thread %d stored %d, want %d", test.name, i, x, test.want(i))
					break
				}
			}
		}
	}
}

// TestPrintf checks that the output of a kernel reaches the host.
func TestPrintf(t *testing.T) {
	var out bytes.Buffer
	body := `{ .local .align 8 .b8 args[8]; .param .b64 f; .param .b64 a; .param .b32 r;
		setp.ne.u32 %p1, %r0, 3; @%p1 bra e; mov.u64 %d2, args; cvta.local.u64 %d3, %d2; st.local.u32 [args], %r0;
		mov.u64 %d4, text; cvta.global.u64 %d4, %d4; st.param.b64 [f], %d4; st.param.b64 [a], %d3; call (r), vprintf, (f, a); e: }`
	if _, err := try(t, open(t, emu.Options{Output: &out}), functions+body+"\nret;\n}\n",
		32); err != nil || out.String() != "n=3\n" {
		t.Errorf("printed %q: %v", out.String(), err)
	}
}

// TestCompletion checks that a kernel with its waits computes the same under every completion
// policy, and that a kernel without waits fails when copies complete late.
func TestCompletion(t *testing.T) {
	body := func(wait string) string {
		return `.shared .align 16 .b8 s[512]; .shared .align 8 .b64 m; shl.b32 %r1, %r0, 2; mov.u32 %r2, s; add.u32 %r3, %r2, %r1;
			st.shared.u32 [%r3], 7; add.u32 %r4, %r0, 100; st.global.u32 [%d1], %r4; bar.sync 0;
			cp.async.ca.shared.global [%r3], [%d1], 4; cp.async.commit_group; ` + wait + ` ld.shared.u32 %r5, [%r3]; st.global.u32 [%d1], %r5;`
	}
	bulk := `.shared .align 16 .b8 s[128]; .shared .align 8 .b64 m; shl.b32 %r1, %r0, 2; mov.u32 %r2, s; add.u32 %r3, %r2, %r1;
		add.u32 %r4, %r0, 100; st.global.u32 [%d1], %r4; setp.eq.u32 %p1, %r0, 0; @%p1 mbarrier.init.shared.b64 [m], 1; bar.sync 0;
		@!%p1 bra w; mbarrier.arrive.expect_tx.shared.b64 %d5, [m], 128;
		cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [s], [%d0], 128, [m];
		w: mbarrier.try_wait.parity.shared.b64 %p2, [m], 0; @!%p2 bra w; ld.shared.u32 %r5, [%r3]; st.global.u32 [%d1], %r5;`
	want := make([]uint32, 32)
	for i := range want {
		want[i] = uint32(100 + i)
	}
	for _, completion := range []emu.Completion{emu.Late, emu.Eager, emu.Random} {
		for _, text := range []string{body("cp.async.wait_group 0;"), bulk} {
			got, err := try(t, open(t, emu.Options{Completion: completion, Seed: 3}), source(text),
				32)
			if err != nil || !slices.Equal(got, want) {
				t.Errorf("completion %d: %v %v", completion, got, err)
			}
		}
	}
	if got, err := try(t, open(t, emu.Options{}), source(body("")), 32); err != nil || got[0] != 7 {
		t.Errorf("without a wait: %v %v", got, err)
	}
}
