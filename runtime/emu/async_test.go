// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package emu_test

import (
	"slices"
	"testing"
)

// waitBar waits for phase 0 of the mbarrier bar.
const waitBar = "w: mbarrier.try_wait.parity.shared.b64 %p1, [bar], 0; @!%p1 bra w;\n"

// asyncShared declares the shared variables of these kernels.
const asyncShared = ".shared .align 128 .b8 s[512];\n.shared .align 8 .b64 bar;\n"

// initBar initializes bar with a count of one and sets the expected bytes.
func initBar(bytes string) string {
	return "@%p0 mbarrier.init.shared.b64 [bar], 1; bar.sync 0; @%p0 mbarrier.arrive.expect_tx.shared.b64 %d5, [bar], " + bytes + ";\n"
}

// TestAsync runs stores, reductions and copies that complete later, and compares them with plain
// loops.
func TestAsync(t *testing.T) {
	in := make([]uint32, 128)
	for i := range in {
		in[i] = uint32(i*i + 7)
	}
	bytesOf := func(words []uint32) (b []byte) {
		for _, x := range words {
			b = append(b, byte(x), byte(x>>8), byte(x>>16), byte(x>>24))
		}
		return b
	}
	wordsOf := func(b []byte) (words []uint32) {
		for i := 0; i < len(b); i += 4 {
			words = append(words,
				uint32(b[i])|uint32(b[i+1])<<8|uint32(b[i+2])<<16|uint32(b[i+3])<<24)
		}
		return words
	}
	each := func(f func(i int) uint32) []uint32 {
		list := make([]uint32, 32)
		for i := range list {
			list[i] = f(i)
		}
		return list
	}
	load := "mul.wide.u32 %d3, %r0, 4; add.u64 %d3, %d1, %d3; ld.global.u32 %r3, [%d3]; mov.u32 %r1, s; mad.lo.u32 %r2, %r0, 4, %r1; mov.u32 %r8, bar;\n"
	show := "ld.shared.u32 %r4, [%r2]; st.global.u32 [%d2], %r4;"
	masked := bytesOf(make([]uint32, 32))
	for i, b := range bytesOf(in[:32]) {
		if 0x0f31>>(i%16)&1 != 0 {
			masked[i] = b
		}
	}
	for _, test := range []struct {
		name, version, target, body string
		want                        []uint32
	}{
		{"st.async", "8.3", "sm_90a",
			load + initBar("128") +
				"st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r2], %r3, [%r8];\n" + waitBar + show, in[:32]},
		{"st.async vectors", "8.3", "sm_90a",
			load + initBar("128") +
				`setp.ge.u32 %p2, %r0, 8; @%p2 bra w; mad.lo.u32 %r5, %r0, 16, %r1; add.u32 %r6, %r3, 1;
			st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [%r5], {%r3, %r6, %r0, %r0}, [%r8];` + "\n" + waitBar + show,
			each(func(i int) uint32 {
				return []uint32{in[i/4], in[i/4] + 1, uint32(i / 4), uint32(i / 4)}[i%4]
			})},
		{"red.async", "8.3", "sm_90a", load + "st.shared.u32 [%r2], 100;" + initBar("128") +
			"xor.b32 %r5, %r0, 1; mad.lo.u32 %r5, %r5, 4, %r1; red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%r5], %r3, [%r8];\n" + waitBar + show,
			each(func(i int) uint32 { return 100 + in[i^1] })},
		{"st.bulk", "8.6", "sm_100",
			load + "st.shared.u32 [%r2], %r3; bar.sync 0; mov.u64 %d6, 64; mov.u64 %d7, s; cvta.shared.u64 %d7, %d7; @%p0 st.bulk.weak [%d7], %d6, 0;\nbar.sync 0;" + show,
			each(func(i int) uint32 { return in[i] * uint32(i/16) })},
		{"bulk with a byte mask", "8.6", "sm_100",
			load + `st.shared.u32 [%r2], %r3; bar.sync 0; @!%p0 bra e; mov.b16 %h1, 0x0f31;
			cp.async.bulk.global.shared::cta.bulk_group.cp_mask [%d0], [s], 128, %h1; cp.async.bulk.commit_group; cp.async.bulk.wait_group 0; e:`, wordsOf(masked)},
		{"bulk without its ends", "9.2", "sm_90a",
			load + "st.shared.u32 [%r2], 1;" + initBar("128") +
				`@%p0 cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes.ignore_oob [s], [%d1], 128, 4, 12, [bar];
			` + waitBar + "sub.u32 %r5, %r0, 1; setp.lt.u32 %p2, %r5, 28;\n@%p2 ld.shared.u32 %r4, [%r2]; @!%p2 mov.u32 %r4, 9; st.global.u32 [%d2], %r4;",
			each(func(i int) uint32 {
				if i < 1 || i > 28 {
					return 9
				}
				return in[i]
			})},
		{"bulk reduction", "8.3", "sm_90a",
			load + `st.shared.u32 [%r2], %r3; st.global.u32 [%d2], 5; bar.sync 0; @!%p0 bra e;
			cp.reduce.async.bulk.global.shared::cta.bulk_group.max.u32 [%d0], [s], 128; cp.async.bulk.commit_group; cp.async.bulk.wait_group 0; e:`,
			each(func(i int) uint32 { return max(5, in[i]) })},
		{"atomic exchange of 128 bits", "8.4", "sm_90a",
			load + `mul.wide.u32 %d6, %r0, 16; setp.ge.u32 %p2, %r0, 8; @%p2 bra e; add.u64 %d7, %d0, %d6; add.u64 %d8, %d1, %d6;
			ld.global.b128 %q1, [%d8]; atom.global.exch.b128 %q2, [%d7], %q1; atom.global.cas.b128 %q3, [%d7], %q1, %q2; atom.global.cas.b128 %q3, [%d7], %q2, %q1; e:`, in[:32]},
		{"multimem", "8.3", "sm_90a",
			load + `multimem.st.relaxed.gpu.global.u32 [%d2], %r3; multimem.red.relaxed.gpu.global.add.u32 [%d2], 3;
			multimem.ld_reduce.relaxed.gpu.global.add.u32 %r4, [%d2]; add.u32 %r4, %r4, 1; multimem.st.weak.global.u32 [%d2], %r4;`,
			each(func(i int) uint32 { return in[i] + 4 })},
		{"vector reductions", "8.3", "sm_90a",
			load + `mul.wide.u32 %d6, %r0, 16; setp.ge.u32 %p2, %r0, 8; @%p2 bra e; add.u64 %d7, %d0, %d6; mov.f32 %f1, 0f3f800000; mov.f32 %f2, 0f40000000;
			red.global.add.v4.f32 [%d7], {%f1, %f2, %f1, %f2}; atom.global.add.v4.f32 {%f3, %f4, %f5, %f6}, [%d7], {%f2, %f2, %f2, %f2}; e:`,
			each(func(i int) uint32 { return []uint32{0x40400000, 0x40800000}[i%2] })},
		{"three operands", "8.8", "sm_100",
			load + "cvt.rn.f32.u32 %f1, %r0; max.f32 %f2, %f1, 0f40000000, 0f41000000; cvt.rni.u32.f32 %r4, %f2; st.global.u32 [%d2], %r4;",
			each(func(i int) uint32 { return uint32(max(i, 8)) })},
		{"redux of one lane", "8.6", "sm_100a",
			load + "setp.ne.u32 %p2, %r0, 5; @%p2 bra e; mov.f32 %f1, 0fc0000000; redux.sync.min.abs.f32 %f2, %f1, 0x20; st.global.f32 [%d2], %f2; e:",
			each(func(i int) uint32 {
				if i == 5 {
					return 0x40000000
				}
				return 0
			})},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := compute(t, kernelOf(test.version, test.target, asyncShared, test.body), 32, in)
			if !slices.Equal(got, test.want) {
				t.Errorf("%v, want %v", got, test.want)
			}
		})
	}
}

// TestVideo compares video instructions with plain arithmetic.
func TestVideo(t *testing.T) {
	in := make([]uint32, 128)
	for i := range in {
		in[i] = uint32(i) * 0x9e3779b9
	}
	for _, test := range []struct {
		op   string
		want func(a, b, c uint32) uint32
	}{
		{"vadd.s32.u32.s32 %r4, %r3.b1, %r5.h1", func(a, b, c uint32) uint32 {
			return uint32(int32(a>>8&255) + int32(int16(b>>16)))
		}},
		{"vsub.u32.u32.u32.sat %r4, %r3.b0, %r5.b3", func(a, b, c uint32) uint32 {
			return uint32(max(0, int32(a&255)-int32(b>>24)))
		}},
		{"vabsdiff.u32.u32.u32.add %r4, %r3.h0, %r5.h1, %r6", func(a, b, c uint32) uint32 {
			x, y := int32(a&0xffff), int32(b>>16)
			return uint32(max(x-y, y-x)) + c
		}},
		{"vmin.s32.s32.s32 %r4.b2, %r3, %r5, %r6", func(a, b, c uint32) uint32 {
			return c&^0xff0000 | uint32(min(int32(a), int32(b)))&255<<16
		}},
		{"vshl.u32.u32.u32.wrap %r4, %r3, %r5", func(a, b, c uint32) uint32 {
			return a << (b & 31)
		}},
		{"vset.s32.s32.lt %r4, %r3.b0, %r5.b0", func(a, b, c uint32) uint32 {
			if int8(a) < int8(b) {
				return 1
			}
			return 0
		}},
		{"vmad.s32.s32.s32 %r4, -%r3.b0, %r5.b1, %r6", func(a, b, c uint32) uint32 {
			return uint32(-int32(int8(a))*int32(int8(b>>8))) + c
		}},
		{"vadd4.u32.u32.u32 %r4.b20, %r3.b7531, %r5.b0246, %r6", func(a, b, c uint32) uint32 {
			all := uint64(b)<<32 | uint64(a)
			r := c
			for i, s := range [][2]int{{1, 6}, {3, 4}, {5, 2}, {7, 0}} {
				if i%2 == 0 {
					x := uint32(all>>(8*s[0])&255+all>>(8*s[1])&255) & 255
					r = r&^(255<<(8*i)) | x<<(8*i)
				}
			}
			return r
		}},
		{"vabsdiff2.s32.s32.s32.add %r4, %r3, %r5, %r6", func(a, b, c uint32) uint32 {
			for i := range 2 {
				x, y := int32(int16(a>>(16*i))), int32(int16(b>>(16*i)))
				c += uint32(max(x-y, y-x))
			}
			return c
		}},
	} {
		body := "mul.wide.u32 %d3, %r0, 4; add.u64 %d3, %d1, %d3; ld.global.u32 %r3, [%d3]; ld.global.u32 %r5, [%d3+128]; ld.global.u32 %r6, [%d3+256];\n" +
			test.op + ";\nst.global.u32 [%d2], %r4;"
		got := compute(t, kernelOf("8.3", "sm_90a", "", body), 32, in)
		for i, x := range got {
			if want := test.want(in[i], in[32+i], in[64+i]); x != want {
				t.Errorf("%s: lane %d: %08x, want %08x of %08x %08x %08x", test.op, i, x, want,
					in[i], in[32+i], in[64+i])
				break
			}
		}
	}
}
