// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package products

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/ptxdsl/ptxdsl/runtime"
	"github.com/ptxdsl/ptxdsl/runtime/emu"
)

// tensorText returns PTX that fills tensor memory from global memory, runs a body with the words of
// out in registers, and stores tensor memory again. In the body, %r10 is the allocation, %r12 the
// warp's part of it, %r8 an mbarrier, %r1 shared memory and %d2 the thread's part of the words.
func tensorText(target, body string, words int) string {
	var s strings.Builder
	fmt.Fprintf(&s,
		".version 8.8\n.target %s\n.address_size 64\n.extern .shared .align 1024 .b8 memory[];\n",
		target)
	s.WriteString(
		".visible .entry k(.param .u64 image, .param .u64 tensor, .param .u64 words) {\n.reg .pred %p<9>;\n.reg .b32 %r<50>;\n.reg .b64 %d<20>;\n.reg .b32 %w<140>;\n" +
			"ld.param.u64 %d0, [image];\nld.param.u64 %d1, [tensor];\nld.param.u64 %d2, [words];\nmov.u32 %r0, %tid.x;\nmov.u32 %r1, memory;\n" +
			"mad.wide.u32 %d1, %r0, 2048, %d1;\n")
	fmt.Fprintf(&s, "mad.wide.u32 %%d2, %%r0, %d, %%d2;\n", 4*words)
	s.WriteString(
		"shl.b32 %r2, %r0, 4;\nloop:\ncvt.u64.u32 %d3, %r2;\nadd.u64 %d3, %d0, %d3;\nld.global.v4.b32 {%r4,%r5,%r6,%r7}, [%d3];\n" +
			"add.u32 %r3, %r1, %r2;\nst.shared.v4.b32 [%r3], {%r4,%r5,%r6,%r7};\nadd.u32 %r2, %r2, 2048;\nsetp.lt.u32 %p0, %r2, 16384;\n@%p0 bra loop;\n" +
			"add.u32 %r8, %r1, 16384;\nsetp.eq.u32 %p1, %r0, 0;\n@%p1 mbarrier.init.shared.b64 [%r8], 1;\nfence.proxy.async;\nbar.sync 0;\n" +
			"setp.lt.u32 %p2, %r0, 32;\n@%p2 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r8+8], 512;\nbar.sync 0;\nld.shared.u32 %r10, [%r8+8];\n" +
			"shl.b32 %r11, %r0, 16;\nand.b32 %r11, %r11, 0x600000;\nadd.u32 %r12, %r10, %r11;\nmov.u32 %r2, 0;\n" +
			"fill:\nmad.wide.u32 %d3, %r2, 4, %d1;\nld.global.v4.b32 {%r20,%r21,%r22,%r23}, [%d3];\nadd.u32 %r3, %r12, %r2;\n" +
			"tcgen05.st.sync.aligned.32x32b.x4.b32 [%r3], {%r20,%r21,%r22,%r23};\nadd.u32 %r2, %r2, 4;\nsetp.lt.u32 %p0, %r2, 512;\n@%p0 bra fill;\n" +
			"tcgen05.wait::st.sync.aligned;\nbar.sync 0;\n" + body +
			"bar.sync 0;\nmov.u32 %r2, 0;\n" +
			"read:\nadd.u32 %r3, %r12, %r2;\ntcgen05.ld.sync.aligned.32x32b.x4.b32 {%r20,%r21,%r22,%r23}, [%r3];\ntcgen05.wait::ld.sync.aligned;\n" +
			"mad.wide.u32 %d3, %r2, 4, %d1;\nst.global.v4.b32 [%d3], {%r20,%r21,%r22,%r23};\nadd.u32 %r2, %r2, 4;\nsetp.lt.u32 %p0, %r2, 512;\n@%p0 bra read;\n" +
			"bar.sync 0;\n@%p2 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r10, 512;\nret;\n}\n")
	return s.String()
}

// commitText waits for the operations that thread 0 issued.
const commitText = "@%p1 tcgen05.commit.cta_group::1.mbarrier::arrive::one.b64 [%d9];\nwait:\nmbarrier.try_wait.parity.shared.b64 %p4, [%r8], 0;\n@!%p4 bra wait;\n"

// runTensor runs such a text and returns tensor memory and the words that follow it.
func runTensor(t *testing.T, target, body string, shared []byte, tensor, words []uint32,
	o emu.Options) ([]uint32, []uint32) {
	t.Helper()
	x, y, err := launchTensor(t, target, tensorText(target, body, len(words)/128), shared, tensor,
		words, o)
	if err != nil {
		t.Fatalf("%v\n%s", err, body)
	}
	return x, y
}

// launchTensor runs a text and returns what runTensor does, or the launch error.
func launchTensor(t *testing.T, target, text string, shared []byte, tensor, words []uint32,
	o emu.Options) ([]uint32, []uint32, error) {
	t.Helper()
	o.Target, o.Workers = target, 1
	d, err := emu.New(o)
	if err != nil {
		t.Fatal(err)
	}
	dev := runtime.On(d)
	m, err := dev.Load(runtime.PTX(text))
	if err != nil {
		t.Fatal(err)
	}
	k, err := m.Kernel("k")
	if err != nil {
		t.Fatal(err)
	}
	a, e1 := runtime.Upload(dev, append(slices.Clone(shared), make([]byte, 16384-len(shared))...))
	b, e2 := runtime.Upload(dev, tensor)
	c, e3 := runtime.Upload(dev, words)
	if e1 != nil || e2 != nil || e3 != nil {
		t.Fatal(e1, e2, e3)
	}
	if err := k.Launch(runtime.Grid(1).Block(128).Shared(32768), a, b, c); err != nil {
		return nil, nil, err
	}
	x, e1 := runtime.Download(b)
	y, e2 := runtime.Download(c)
	if e1 != nil || e2 != nil {
		t.Fatal(e1, e2)
	}
	return x, y, nil
}

// A moveShape is a shape of tcgen05.ld and tcgen05.st. Place follows CUTLASS's copy traits: it
// gives the row and the column of a register of a lane.
type moveShape struct {
	name  string
	each  int // registers of .x1
	most  int // largest .num
	half  bool
	place func(register, lane int) (row, column int)
}

var moveShapes = []moveShape{
	{"32x32b", 1, 128, false, func(i, l int) (int, int) { return l, i }},
	{"16x64b", 1, 128, false, func(i, l int) (int, int) { return l>>2 | l&1<<3, i<<1 | l>>1&1 }},
	{"16x128b", 2, 64, false, func(i, l int) (int, int) { return l>>2 | i&1<<3, i>>1<<2 | l&3 }},
	{"16x256b", 4, 32, false, func(i, l int) (int, int) {
		return l>>2 | i>>1&1<<3, i>>2<<3 | l&3<<1 | i&1
	}},
	{"16x32bx2", 1, 128, true, func(i, l int) (int, int) { return l & 15, i + l>>4*200 }},
}

func registerList(n int) string { return "{" + list("%w", n) + "}" }

// TestTensorMoves loads and stores every shape and repetition count, packed and unpacked, in both
// halves of a warp's lanes.
func TestTensorMoves(t *testing.T) {
	r := rand.New(rand.NewPCG(31, 32))
	count := 0
	for _, s := range moveShapes {
		for num := 1; num <= s.most; num *= 2 {
			packed := num%4 == 2 && num*s.each <= 32
			regs := num * s.each
			upper := 0
			if s.name != "32x32b" && num%2 == 0 {
				upper = 16
			}
			half := ""
			if s.half {
				half = ", 200"
			}
			pack, unpack := "", ""
			if packed {
				pack, unpack = ".pack::16b", ".unpack::16b"
			}
			var body strings.Builder
			fmt.Fprintf(&body,
				"add.u32 %%r13, %%r12, 0x%x;\ntcgen05.ld.sync.aligned.%s.x%d%s.b32 %s, [%%r13]%s;\ntcgen05.wait::ld.sync.aligned;\n",
				upper<<16, s.name, num, pack, registerList(regs), half)
			for i := range regs {
				fmt.Fprintf(&body, "st.global.b32 [%%d2+%d], %%w%d;\nnot.b32 %%w%d, %%w%d;\n", 4*i,
					i, i, i)
			}
			fmt.Fprintf(&body,
				"tcgen05.st.sync.aligned.%s.x%d%s.b32 [%%r13]%s, %s;\ntcgen05.wait::st.sync.aligned;\n",
				s.name, num, unpack, half, registerList(regs))
			tensor := make([]uint32, 128*512)
			for i := range tensor {
				tensor[i] = r.Uint32()
			}
			got, words := runTensor(t, "sm_100a", body.String(), nil, tensor,
				make([]uint32, 128*regs), emu.Options{Completion: emu.Completion(count % 3)})
			want := slices.Clone(tensor)
			for thread := range 128 {
				for i := range regs {
					row, col := s.place(i, thread%32)
					at := (thread/32*32+upper+row)*512 + col
					x := tensor[at]
					if packed {
						at += col
						x = tensor[at]&0xffff | tensor[at+1]<<16
						want[at], want[at+1] = ^x&0xffff, ^x>>16
					} else {
						want[at] = ^x
					}
					if words[thread*regs+i] != x {
						t.Fatalf("%s.x%d: thread %d, register %d is %#x, want %#x", s.name, num,
							thread, i, words[thread*regs+i], x)
					}
				}
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s.x%d: stores differ", s.name, num)
			}
			count++
		}
	}
	t.Logf("%d moves", count)
}

// TestTensorReductions loads with a reduction per lane.
func TestTensorReductions(t *testing.T) {
	r := rand.New(rand.NewPCG(33, 34))
	for _, op := range []string{"min.u32", "max.u32", "min.s32", "max.s32", "min.f32",
		"max.abs.f32"} {
		tensor := make([]uint32, 128*512)
		for i := range tensor {
			tensor[i] = r.Uint32() &^ 0x4000_0000 // no NaN
		}
		body := "tcgen05.ld.red.sync.aligned.32x32b.x4." + op +
			" {%w0,%w1,%w2,%w3}, %w4, [%r12];\ntcgen05.wait::ld.sync.aligned;\nst.global.b32 [%d2], %w4;\n"
		_, words := runTensor(t, "sm_103a", body, nil, tensor, make([]uint32, 128), emu.Options{})
		for thread, got := range words {
			want := uint32(0)
			for i, x := range tensor[thread*512:][:4] {
				if strings.Contains(op, "abs") {
					x &= 1<<31 - 1
				}
				var less bool
				switch {
				case strings.HasSuffix(op, "u32"):
					less = x < want
				case strings.HasSuffix(op, "s32"):
					less = int32(x) < int32(want)
				default:
					less = math.Float32frombits(x) < math.Float32frombits(want)
				}
				if i == 0 || less == strings.HasPrefix(op, "min") {
					want = x
				}
			}
			if got != want {
				t.Fatalf("%s: thread %d: %#x, want %#x", op, thread, got, want)
			}
		}
	}
}

// TestTensorCopies copies from shared to tensor memory in every shape, with and without
// decompression, and shifts rows.
func TestTensorCopies(t *testing.T) {
	r := rand.New(rand.NewPCG(35, 36))
	for _, s := range []struct {
		shape string
		rows  int
		units int
		lanes func(row int) []int
	}{
		{"128x256b", 128, 2, func(r int) []int { return []int{r} }},
		{"128x128b", 128, 1, func(r int) []int { return []int{r} }},
		{"4x256b", 4, 2, func(r int) []int { return []int{r * 32} }},
		{"64x128b.warpx2::02_13", 64, 1, func(r int) []int { return []int{r, r + 64} }},
		{"64x128b.warpx2::01_23", 64, 1,
			func(r int) []int { return []int{r + r/32*32, r + r/32*32 + 32} }},
		{"32x128b.warpx4", 32, 1, func(r int) []int { return []int{r, r + 32, r + 64, r + 96} }},
	} {
		for _, expand := range []string{"", ".b8x16.b6x16_p32", ".b8x16.b4x16_p64"} {
			shared := make([]byte, 16384)
			for i := range shared {
				shared[i] = byte(r.Uint32())
			}
			l := layout{swizzle: 32, leading: 16, stride: 256}
			if s.units == 1 {
				l = layout{leading: 16, stride: 128}
			}
			tensor := make([]uint32, 128*512)
			for i := range tensor {
				tensor[i] = r.Uint32()
			}
			body := fmt.Sprintf(
				"and.b32 %%r14, %%r1, 0x3ffff;\nshr.u32 %%r14, %%r14, 4;\ncvt.u64.u32 %%d5, %%r14;\nor.b64 %%d5, %%d5, 0x%x;\nadd.u32 %%r15, %%r10, 100;\n"+
					"cvt.u64.u32 %%d9, %%r8;\ncvta.shared.u64 %%d9, %%d9;\n@%%p1 tcgen05.cp.cta_group::1.%s%s [%%r15], %%d5;\n%s",
				l.blackwell(), s.shape, expand, commitText)
			got, _ := runTensor(t, "sm_100a", body, shared, tensor, make([]uint32, 128),
				emu.Options{})
			want := slices.Clone(tensor)
			for row := range s.rows {
				for u := range s.units {
					unit := [16]byte(shared[l.swizzled(1024+l.unit(row, u))-1024:])
					for _, lane := range s.lanes(row) {
						for i := range 16 {
							x := unit[i]
							switch {
							case strings.Contains(expand, "b6"):
								x = byte(word(unit[:])>>(6*i)) & 63
								if i >= 10 {
									x = byte(word(unit[4:12])>>(6*i-32)) & 63
								}
							case expand != "":
								x = unit[i/2] >> (i % 2 * 4) & 15
							}
							cell := &want[lane*512+100+u*4+i/4]
							*cell = *cell&^(255<<(i%4*8)) | uint32(x)<<(i%4*8)
						}
					}
				}
			}
			if !slices.Equal(got, want) {
				t.Errorf("tcgen05.cp %s%s differs", s.shape, expand)
			}
		}
	}
	tensor := make([]uint32, 128*512)
	for i := range tensor {
		tensor[i] = uint32(i)
	}
	body := "add.u32 %r15, %r10, 0x200008;\ncvt.u64.u32 %d9, %r8;\ncvta.shared.u64 %d9, %d9;\n@%p1 tcgen05.shift.cta_group::1.down [%r15];\n" + commitText
	got, _ := runTensor(t, "sm_100a", body, nil, tensor, make([]uint32, 128), emu.Options{})
	want := slices.Clone(tensor)
	for lane := 33; lane < 64; lane++ {
		copy(want[lane*512+8:lane*512+16], tensor[(lane-1)*512+8:])
	}
	if !slices.Equal(got, want) {
		t.Error("tcgen05.shift differs")
	}
}
