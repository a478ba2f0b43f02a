// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package emu_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/ptxdsl/ptxdsl/runtime"
	"github.com/ptxdsl/ptxdsl/runtime/emu"
)

// kernelOf returns a kernel k with a pointer to input words and one to output words, for 32
// threads.
func kernelOf(version, target, declarations, body string) string {
	return fmt.Sprintf(".version %s\n.target %s\n.address_size 64\n", version, target) +
		declarations +
		".visible .entry k(.param .u64 out, .param .u64 in) {\n" +
		".reg .pred %p<9>; .reg .b16 %h<9>; .reg .b32 %r<40>; .reg .b64 %d<20>; .reg .f32 %f<40>; .reg .b128 %q<4>;\n" +
		"ld.param.u64 %d0, [out]; ld.param.u64 %d1, [in]; mov.u32 %r0, %tid.x; mul.wide.u32 %d2, %r0, 4; add.u64 %d2, %d0, %d2;\n" +
		"setp.eq.u32 %p0, %r0, 0;\n" + body + "\nret;\n}\n"
}

// compute runs a kernel with 32 threads and returns the contents of out.
func compute(t *testing.T, text string, out int, in []uint32) []uint32 {
	t.Helper()
	target := text[strings.Index(text, ".target ")+8:]
	target = target[:strings.IndexByte(target, '\n')]
	d := open(t, emu.Options{Target: target})
	m, err := d.Load(runtime.PTX(text))
	if err != nil {
		t.Fatal(err)
	}
	k, err := m.Kernel("k")
	if err != nil {
		t.Fatal(err)
	}
	to, err := runtime.Upload(d, make([]uint32, out))
	if err != nil {
		t.Fatal(err)
	}
	from, err := runtime.Upload(d, in)
	if err != nil {
		t.Fatal(err)
	}
	if err := k.Launch(runtime.Grid(1).Block(32), to, from); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	got, err := runtime.Download(to)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// pattern returns n different bytes, as words and as bytes.
func pattern(n int) (words []uint32, bytes []byte) {
	for i := range n {
		bytes = append(bytes, byte(i*37+i/256*11+5))
	}
	for i := 0; i < n; i += 4 {
		words = append(words,
			uint32(bytes[i])|uint32(bytes[i+1])<<8|uint32(bytes[i+2])<<16|uint32(bytes[i+3])<<24)
	}
	return words, bytes
}

// fillShared copies 512 bytes from in to s.
const fillShared = ".shared .align 128 .b8 s[512];\n"

const fillBody = "mul.wide.u32 %d3, %r0, 16; add.u64 %d3, %d1, %d3; ld.global.v4.u32 {%r20, %r21, %r22, %r23}, [%d3];" +
	"mov.u32 %r1, s; mad.lo.u32 %r2, %r0, 16, %r1; st.shared.v4.u32 [%r2], {%r20, %r21, %r22, %r23}; bar.sync 0;\n"

// TestLdmatrix compares every shape with the fragments in the PTX manual, for contiguous rows.
func TestLdmatrix(t *testing.T) {
	in, bytes := pattern(512)
	// field returns n bits of a row from a bit position on.
	field := func(row, bit, n int) uint32 {
		x := uint32(0)
		for i := range n {
			x |= uint32(bytes[row*16+(bit+i)/8]>>((bit+i)%8)&1) << i
		}
		return x
	}
	for _, test := range []struct {
		op, target, version string
		registers           int
		want                func(lane, register, byte int) uint32
	}{
		{"m8n8.x4.shared.b16", "sm_90a", "8.3", 4, func(l, r, i int) uint32 {
			return uint32(bytes[(8*r+l/4)*16+l%4*4+i])
		}},
		{"m8n8.x2.trans.shared.b16", "sm_90a", "8.3", 2, func(l, r, i int) uint32 {
			return uint32(bytes[(8*r+l%4*2+i/2)*16+l/4*2+i%2])
		}},
		{"m16n16.x2.trans.shared.b8", "sm_100a", "8.6", 4, func(l, r, i int) uint32 {
			return uint32(bytes[(16*(r/2)+4*(l%4)+2*(r%2)+i%2)*16+l/4+8*(i/2)])
		}},
		{"m8n16.x4.shared.b8x16.b6x16_p32", "sm_100a", "8.6", 4, func(l, r, i int) uint32 {
			return field(8*r+l/4, (l%4*4+i)*6, 6)
		}},
		{"m8n16.x1.shared.b8x16.b4x16_p64", "sm_100a", "8.6", 1, func(l, r, i int) uint32 {
			return field(l/4, (l%4*4+i)*4, 4)
		}},
		{"m16n16.x1.trans.shared.b8x16.b4x16_p64", "sm_100a", "8.6", 2, func(l, r, i int) uint32 {
			return field(4*(l%4)+2*r+i%2, (l/4+8*(i/2))*4, 4)
		}},
		{"m8n16.x2.shared.s8.s4", "sm_100a", "9.4", 2, func(l, r, i int) uint32 {
			return uint32(uint8(int8(field(8*r+l/4, (l%4*4+i)*4, 4)<<4) >> 4))
		}},
	} {
		regs := []string{"%r4", "%r5", "%r6", "%r7"}[:test.registers]
		body := fillBody + "ldmatrix.sync.aligned." + test.op + " {" + strings.Join(regs, ", ") +
			"}, [%r2];\nmul.wide.u32 %d3, %r0, 16; add.u64 %d3, %d0, %d3;\n"
		for i, r := range regs {
			body += fmt.Sprintf("st.global.u32 [%%d3+%d], %s;\n", 4*i, r)
		}
		got := compute(t, kernelOf(test.version, test.target, fillShared, body), 128, in)
		for l := range 32 {
			for r := range regs {
				want := uint32(0)
				for i := range 4 {
					want |= test.want(l, r, i) << (8 * i)
				}
				if x := got[4*l+r]; x != want {
					t.Fatalf("%s: lane %d, register %d: %08x, want %08x", test.op, l, r, x, want)
				}
			}
		}
	}
}

// TestStmatrix compares stored fragments with the PTX manual.
func TestStmatrix(t *testing.T) {
	in, bytes := pattern(512) // lane l holds bytes 16l to 16l+15
	for _, test := range []struct {
		op, target, version string
		registers           int
		at                  func(lane, register, byte int) int // offset in shared memory
	}{
		{"m8n8.x4.shared.b16", "sm_90a", "8.3", 4, func(l, r, i int) int {
			return (8*r+l/4)*16 + l%4*4 + i
		}},
		{"m8n8.x4.trans.shared.b16", "sm_90a", "8.3", 4, func(l, r, i int) int {
			return (8*r+l%4*2+i/2)*16 + l/4*2 + i%2
		}},
		{"m16n8.x4.trans.shared.b8", "sm_100a", "8.6", 4, func(l, r, i int) int {
			return (8*r+l%4*2+i%2)*16 + l/4 + 8*(i/2)
		}},
		{"m16n8.x1.trans.shared.b8", "sm_100a", "8.6", 1, func(l, r, i int) int {
			return (l%4*2+i%2)*16 + l/4 + 8*(i/2)
		}},
	} {
		regs := []string{"%r20", "%r21", "%r22", "%r23"}[:test.registers]
		body := fillBody +
			"mov.u32 %r30, 0; st.shared.v4.u32 [%r2], {%r30, %r30, %r30, %r30};\nbar.sync 0;\nstmatrix.sync.aligned." + test.op + " [%r2], {" +
			strings.Join(regs, ", ") +
			"};\nbar.sync 0;\nld.shared.v4.u32 {%r4, %r5, %r6, %r7}, [%r2];\nmul.wide.u32 %d3, %r0, 16; add.u64 %d3, %d0, %d3;\n" +
			"st.global.v4.u32 [%d3], {%r4, %r5, %r6, %r7};\n"
		got := compute(t, kernelOf(test.version, test.target, fillShared, body), 128, in)
		want := make([]byte, 512)
		for l := range 32 {
			for r := range regs {
				for i := range 4 {
					want[test.at(l, r, i)] = bytes[16*l+4*r+i]
				}
			}
		}
		for i, x := range got {
			if w := uint32(want[4*i]) | uint32(want[4*i+1])<<8 | uint32(want[4*i+2])<<16 |
				uint32(want[4*i+3])<<24; x != w {
				t.Fatalf("%s: word %d: %08x, want %08x", test.op, i, x, w)
			}
		}
	}
}

// TestWMMAKernels multiplies matrices of small integers and compares the results with plain loops.
func TestWMMAKernels(t *testing.T) {
	for _, test := range []struct {
		m, n, k      int
		kind, result string // of the elements in memory
		a, b, c      int    // number of registers
		rowA, rowB   bool
	}{
		{16, 16, 16, "f16", "f32", 8, 8, 8, true, false},
		{32, 8, 16, "f16", "f32", 8, 8, 8, false, true},
		{8, 32, 16, "bf16", "f32", 2, 8, 8, true, true},
		{16, 16, 8, "tf32", "f32", 4, 4, 8, false, false},
		{16, 16, 16, "s8", "s32", 2, 2, 8, true, false},
		{8, 32, 16, "u8", "s32", 1, 4, 8, false, true},
	} {
		value := func(i, j int) int { return (i*5+j*3)%7 + 1 }
		encode := func(x int) uint32 {
			switch test.kind {
			case "f16":
				return uint32(math.Float32bits(float32(x))>>13&0x3ff) |
					uint32(math.Float32bits(float32(x))>>23-112)<<10
			case "bf16":
				return math.Float32bits(float32(x)) >> 16
			case "tf32":
				return math.Float32bits(float32(x))
			}
			return uint32(x)
		}
		width := map[string]int{"f16": 2, "bf16": 2, "tf32": 4, "s8": 1, "u8": 1}[test.kind]
		store := func(rows, cols int, row bool, of func(i, j int) int) []byte {
			b := make([]byte, rows*cols*width)
			for i := range rows {
				for j := range cols {
					at := i*cols + j
					if !row {
						at = j*rows + i
					}
					for k := range width {
						b[at*width+k] = byte(encode(of(i, j)) >> (8 * k))
					}
				}
			}
			return b
		}
		a := store(test.m, test.k, test.rowA, value)
		b := store(test.k, test.n, test.rowB, func(i, j int) int { return value(j, i+1) })
		var in []uint32
		for all := slices.Concat(a, b); len(all) > 0; all = all[4:] {
			in = append(in, uint32(all[0])|uint32(all[1])<<8|uint32(all[2])<<16|uint32(all[3])<<24)
		}
		word := func(row bool) string {
			if row {
				return "row"
			}
			return "col"
		}
		stride := func(row bool, rows, cols int) int {
			if row {
				return cols
			}
			return rows
		}
		list := func(prefix string, from, n int) string {
			var regs []string
			for i := range n {
				regs = append(regs, fmt.Sprintf("%%%s%d", prefix, from+i))
			}
			return "{" + strings.Join(regs, ", ") + "}"
		}
		shape := fmt.Sprintf("m%dn%dk%d", test.m, test.n, test.k)
		types := test.result + "." + test.kind + "." + test.kind + "." + test.result
		if test.kind == "f16" {
			types = "f32.f32"
		}
		d, zero := "f", "0f00000000"
		if test.result == "s32" {
			d, zero = "r", "0"
		}
		body := fmt.Sprintf("wmma.load.a.sync.aligned.%s.%s.global.%s %s, [%%d1], %d;\n",
			word(test.rowA), shape, test.kind, list("r", 10, test.a),
			stride(test.rowA, test.m, test.k))
		body += fmt.Sprintf("wmma.load.b.sync.aligned.%s.%s.global.%s %s, [%%d1+%d], %d;\n",
			word(test.rowB), shape, test.kind, list("r", 20, test.b), len(a),
			stride(test.rowB, test.k, test.n))
		for i := range 8 {
			body += fmt.Sprintf("mov.b32 %%%s%d, %s;\n", d, 30+i, zero)
		}
		body += fmt.Sprintf("wmma.mma.sync.aligned.%s.%s.%s.%s %s, %s, %s, %s;\n", word(test.rowA),
			word(test.rowB), shape, types,
			list(d, 30, 8), list("r", 10, test.a), list("r", 20, test.b), list(d, 30, 8))
		body += fmt.Sprintf("wmma.store.d.sync.aligned.row.%s.global.%s [%%d0], %s, %d;\n", shape,
			test.result, list(d, 30, 8), test.n)
		got := compute(t, kernelOf("8.3", "sm_90a", "", body), test.m*test.n, in)
		for i := range test.m {
			for j := range test.n {
				want := 0
				for k := range test.k {
					want += value(i, k) * value(j, k+1)
				}
				x := int(int32(got[i*test.n+j]))
				if test.result == "f32" {
					x = int(math.Float32frombits(got[i*test.n+j]))
				}
				if x != want {
					t.Fatalf("%s of %s: row %d, column %d: %d, want %d", shape, test.kind, i, j, x,
						want)
				}
			}
		}
	}
}

// TestExactSums checks that the models of architectures and exact sums differ where they should: 1
// plus fifteen products of 2^-25. Ampere truncates each of them to zero, Hopper truncates their
// sum, and a sum in float64 is rounded up.
func TestExactSums(t *testing.T) {
	body := `mov.b32 %r1, 0x0c000c00; mov.b32 %r2, 0x08000800; and.b32 %r3, %r0, 3; setp.ne.u32 %p1, %r3, 0; @%p1 bra m;
mov.b32 %r4, 0x0c003c00; mov.b32 %r5, 0x08003c00; bra n;
m: mov.b32 %r4, %r1; mov.b32 %r5, %r2;
n: mov.f32 %f0, 0f00000000;
mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1, %f2, %f3, %f4}, {%r4, %r4, %r1, %r1}, {%r5, %r2}, {%f0, %f0, %f0, %f0};
st.global.f32 [%d1], %f1;`
	for _, test := range []struct {
		target string
		exact  bool
		want   uint32
	}{
		{"sm_80", false, 0x3f800000}, {"sm_90a", false, 0x3f800003}, {"sm_100a", false, 0x3f800003},
		{"sm_80", true, 0x3f800004}, {"sm_90a", true, 0x3f800004},
	} {
		d := open(t, emu.Options{Target: test.target, Exact: test.exact})
		got, err := try(t, d,
			strings.NewReplacer("sm_90a", test.target, "8.3", "8.8").Replace(source(body)), 32)
		if err != nil {
			t.Fatal(err)
		}
		for lane, x := range got {
			if x != test.want {
				t.Errorf("%s, exact %v: lane %d has %08x, want %08x", test.target, test.exact, lane,
					x, test.want)
				break
			}
		}
	}
}
