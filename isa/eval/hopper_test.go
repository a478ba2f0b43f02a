// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package eval

import "testing"

const inf, quiet = 0x7ff << 52, 0xfff8 << 48

// hopperResults are results of an H100 that the manual does not define, or defines differently.
var hopperResults = []struct {
	opcode string
	in     []uint64
	want   uint64
}{
	{"vadd.u32.u32.u32.sat", []uint64{0xfffffffe, 3}, 1},
	{"vsub.u32.u32.u32.sat", []uint64{1, 2}, 0},
	{"vadd.u32.u32.u32.min", []uint64{0x96c6d7a6, 1, 0xbe59461b}, 0xbe59461b},
	{"vset.s32.u32.eq.min", []uint64{1, 0, 0xffffffff}, 0xffffffff},
	{"vshl.s32.s32.u32.sat.clamp", []uint64{2, 32}, 0x80000000},
	{"vshl.s32.u32.u32.clamp.min", []uint64{0x80000000, 32, 0xffffffff}, 0},
	{"vmad.u32.u32.u32.sat", []uint64{0xffffffff, 1, 0}, 0},
	{"vmad.u32.u32.u32.sat.shr7", []uint64{0xffffffff, 1, 0}, 0xffffffff},
	{"vmad.u32.u32.s32.sat", []uint64{0x80000000, 2, 0}, 0x80000000},
	{"madc.hi.u16", []uint64{0xffff, 0xffff, 7}, 7},
	{"madc.hi.s16", []uint64{0xffff, 1, 7}, 6},
	{"madc.hi.sat.s32", []uint64{0x40000000, 4, 0x7fffffff}, 0x80000000},
	{"rem.u16", []uint64{5, 0}, 0xffff},
	{"rem.s64", []uint64{5, 0}, 0xffff_ffff_ffff_ffff},
	{"fns.b32", []uint64{1, 5, 0x80000000}, 0},
	{"fns.b32", []uint64{0xffffffff, 32, 0}, 0xffffffff},
	{"bfe.u64", []uint64{1 << 40, 0x100, 64}, 0},
	{"bfe.u32", []uint64{5, 0x100, 32}, 5},
	{"bfi.b64", []uint64{1, 0, 0x100, 1}, 0},
	{"cvt.rp.ftz.f16.f32", []uint64{1}, 1},
	{"cvt.rn.f16.f64", []uint64{0xfff8 << 48}, 0xfe00},
	{"cvt.rn.f32.f64", []uint64{0x7ff0_0000_0000_0001}, 0x7fc00000},
	{"cvt.f32.f32", []uint64{0xff800001}, 0xff800001},
	{"cvt.f64.f64", []uint64{0x7ff0_0000_0000_0001}, 0x7ff0_0000_0000_0001},
	{"cvt.f64.f16", []uint64{0xfc01}, 0xfff8_0400_0000_0000},
	{"cvt.f32.bf16", []uint64{0xff81}, 0xff810000},
	{"cvt.ftz.f32.bf16", []uint64{0xff81}, 0x7fffffff},
	{"cvt.ftz.f64.f32", []uint64{0xffffffff}, 0x7fff_ffff_e000_0000},
	{"cvt.rna.tf32.f32", []uint64{0x7f801001}, 0x7f800000},
	{"cvt.rna.satfinite.tf32.f32", []uint64{0x7f801001}, 0x7f7fe000},
	{"cvt.rn.tf32.f32", []uint64{0xffffffff}, 0x7fffe000},
	{"add.f64", []uint64{0x7ff0_0000_0000_0001, 0xffff << 48}, 0xffff << 48},
	{"fma.rn.f64", []uint64{0x7fff << 48, 0, quiet}, quiet},
	{"fma.rn.f64", []uint64{0, 0x7ff8 << 48, quiet}, 0x7ff8 << 48},
	{"add.rn.f64", []uint64{inf, inf | 1<<63}, quiet},
	{"mul.rz.f64", []uint64{inf, 0}, quiet},
	{"div.rn.f64", []uint64{0, 0}, quiet},
	{"sqrt.rn.f64", []uint64{0xc000 << 48}, quiet},
	{"neg.f64", []uint64{0x7ff0_0000_0000_0001}, 0x7ff8_0000_0000_0001},
	{"abs.f64", []uint64{quiet}, quiet},
	{"min.f64", []uint64{0x7ff0_0000_0000_0001, 0xffff << 48}, 0xffff << 48},
	{"mul.ftz.f32", []uint64{0x800000, 0x3f7fffff}, 0},
	{"fma.rn.ftz.f32", []uint64{0x800000, 0xbf7fffff, 0}, 0x80000000},
	{"fma.rn.ftz.f32", []uint64{0x97800000, 0x17800000, 0x800000}, 0x800000},
	{"fma.rn.ftz.sat.f32", []uint64{0x97800000, 0x17800000, 0x800000}, 0x800000},
	{"mul.ftz.f16", []uint64{0x400, 0x3bff}, 0},
	{"fma.rn.oob.f16", []uint64{0x7ff7, 0x4000, 0x4200}, 0},
	{"fma.rn.oob.bf16", []uint64{0x4000, 0xfff7, 0x4200}, 0},
	{"fma.rn.oob.f16", []uint64{0x4000, 0x4000, 0x7ff7}, 0x7fff},
	{"fma.rn.oob.f16", []uint64{0x7fff, 0x4000, 0x4200}, 0x7fff},
	{"sin.approx.f32", []uint64{0xde9c712f}, 0x80000000},
	{"cos.approx.f32", []uint64{0xde9c712f}, 0x3f800000},
	{"ex2.approx.f16", []uint64{0xce2c}, 0},
	{"ex2.approx.f16", []uint64{0x573c}, 0x7c00},
}

// TestHopper computes hopperResults by lane and by warp.
func TestHopper(t *testing.T) {
	for _, test := range hopperResults {

		op, err := spelled(test.opcode)
		if err != nil {
			t.Error(err)
			continue
		}
		var c Cell
		copy(c.In[:], test.in)
		op.Lane(&c)
		if c.Out[0] != test.want {
			t.Errorf("%s %#x: %#x, want %#x", test.opcode, test.in, c.Out[0], test.want)
		}
		var f Frame
		var vectors [9]Vector
		for i := range op.In {
			f.In[i] = &vectors[i]
			for l := range Lanes {
				vectors[i][l] = test.in[i]
			}
		}
		f.Out[0] = &vectors[8]
		if op.Warp(&f); vectors[8][31] != test.want {
			t.Errorf("%s %#x: warp %#x, want %#x", test.opcode, test.in, vectors[8][31], test.want)
		}
	}
}
