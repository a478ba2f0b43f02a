// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package emu_test

import (
	"strings"
	"testing"

	"github.com/ptxdsl/ptxdsl/runtime"
	"github.com/ptxdsl/ptxdsl/runtime/emu"
)

// open opens an emulated device.
func open(t testing.TB, o emu.Options) *runtime.Device {
	t.Helper()
	d, err := emu.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return runtime.On(d)
}

// source returns PTX for sm_90a with a kernel k that has a pointer parameter out and the given
// body.
func source(body string) string {
	return ".version 8.3\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 out) {\n" +
		".reg .pred %p<9>; .reg .b16 %h<9>; .reg .b32 %r<40>; .reg .b64 %d<20>; .reg .f32 %f<9>;\n" +
		"ld.param.u64 %d0, [out]; cvta.to.global.u64 %d0, %d0;\nmov.u32 %r0, %tid.x; mul.wide.u32 %d1, %r0, 4; add.u64 %d1, %d0, %d1;\n" + body + "\nret;\n}\n"
}

// try runs kernel k of a text with the given number of threads and returns what it stored.
func try(t testing.TB, d *runtime.Device, text string, threads int) ([]uint32, error) {
	t.Helper()
	m, err := d.Load(runtime.PTX(text))
	if err != nil {
		return nil, err
	}
	k, err := m.Kernel("k")
	if err != nil {
		return nil, err
	}
	out, err := runtime.Upload(d, make([]uint32, threads))
	if err != nil {
		t.Fatal(err)
	}
	if err := k.Launch(runtime.Grid(1).Block(threads), out); err != nil {
		return nil, err
	}
	return runtime.Download(out)
}

// TestKernels runs small kernels whose threads each store a word.
func TestKernels(t *testing.T) {
	for _, test := range []struct {
		name, body string
		threads    int
		want       func(i int) uint32
	}{
		{"tid", "st.global.u32 [%d1], %r0;", 40, func(i int) uint32 { return uint32(i) }},
		{"barrier",
			".shared .u32 s[64]; mov.u32 %r1, s; shl.b32 %r2, %r0, 2; add.u32 %r2, %r1, %r2; st.shared.u32 [%r2], %r0; bar.sync 0;" +
				"xor.b32 %r3, %r0, 63; shl.b32 %r3, %r3, 2; add.u32 %r3, %r3, %r1; ld.shared.u32 %r4, [%r3]; st.global.u32 [%d1], %r4;",
			64, func(i int) uint32 { return uint32(63 - i) }},
		{"carry of a difference",
			"sub.cc.u32 %r1, %r0, 20; addc.u32 %r2, 0, 0; st.global.u32 [%d1], %r2;", 40,
			func(i int) uint32 {
				if i >= 20 {
					return 1
				}
				return 0
			}},
		{"laneid", "mov.u32 %r1, %laneid; st.global.u32 [%d1], %r1;", 40,
			func(i int) uint32 { return uint32(i % 32) }},
		{"butterfly",
			"mov.u32 %r1, %r0; shfl.sync.bfly.b32 %r2, %r1, 16, 31, 0xffffffff; st.global.u32 [%d1], %r2;",
			64, func(i int) uint32 { return uint32(i ^ 16) }},
	} {
		got, err := try(t, open(t, emu.Options{}), source(test.body), test.threads)
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		for i, x := range got {
			if x != test.want(i) {
				t.Errorf("%s: thread %d stored %d, want %d", test.name, i, x, test.want(i))
				break
			}
		}
	}
}

// TestFaults runs kernels that do something invalid.
func TestFaults(t *testing.T) {
	for _, test := range []struct{ name, body, want string }{
		{"bounds", "st.global.u32 [%d1+4], %r0;", "access out of bounds"},
		{"null", "mov.u64 %d2, 0; ld.u32 %r1, [%d2];", "in no state space"},
		{"alignment", "add.u64 %d1, %d1, 2; st.global.u32 [%d1], %r0;", "not a multiple of 4"},
		{"uninitialized", ".shared .u32 s[64]; ld.shared.u32 %r1, [s]; st.global.u32 [%d1], %r1;",
			"never written"},
		{"parameter", "mov.b64 %d2, out; cvta.param.u64 %d2, %d2; st.u32 [%d2], %r0;",
			"cannot write kernel parameters"},
		{"trap", "trap;", "trap"},
		{"barrier", "setp.eq.u32 %p1, %r0, 0; @%p1 bra a; bar.sync 1; a: bar.sync 2;", "hangs"},
		{"unsupported", "tex.1d.v4.f32.s32 {%f1,%f2,%f3,%f4}, [%d1, {%r1}];", "not emulated"},
	} {
		_, err := try(t, open(t, emu.Options{Workers: 1}), source(test.body), 32)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v; want %q", test.name, err, test.want)
		}
	}
}
