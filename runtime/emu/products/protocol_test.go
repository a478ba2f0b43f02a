// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package products

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/ptxdsl/ptxdsl/runtime"
	"github.com/ptxdsl/ptxdsl/runtime/emu"
)

// TestTensorFaults runs kernels that misuse tensor memory and expects faults.
func TestTensorFaults(t *testing.T) {
	const alloc = "@%p2 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r8+12], "
	same := func(s string) string { return s }
	for _, test := range []struct {
		name, body, want string
		edit             func(string) string
	}{
		{"columns", "mov.u32 %r14, 48;\n" + alloc + "%r14;\n", "power of two from 32 to 512", same},
		{"columns that differ", alloc + "%r0;\n", "differs between the lanes", same},
		{"blocked", alloc + "32;\n",
			"waits for 32 columns of tensor memory; allocated are columns 0 to 511", same},
		{"permit", "@%p2 tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;\n" + alloc +
			"32;\n", "after tcgen05.relinquish_alloc_permit", same},
		{"more", "@%p2 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r10, 256;\n" + alloc +
			"0x200;\n", "must not be larger",
			func(s string) string { return strings.ReplaceAll(s, ", 512;", ", 256;") }},
		{"part", "@%p2 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r10, 256;\n",
			"does not match an allocation", same},
		{"leak", "", "tensor memory leak: the block exits without deallocating 512 columns",
			func(s string) string {
				return strings.Replace(s,
					"@%p2 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r10, 512;\n", "", 1)
			}},
		{"quarter", "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%w0}, [%r10];\n",
			"warp 1 of a warpgroup can access only lanes 32 to 63", same},
		{"bounds",
			"tcgen05.ld.sync.aligned.32x32b.x4.b32 {%w0,%w1,%w2,%w3}, [%r12+510];\ntcgen05.wait::ld.sync.aligned;\n",
			"tensor memory out of bounds", same},
		{"never written", "", "read of tensor memory that was never written",
			func(s string) string {
				a := strings.Index(s, "tcgen05.st.sync")
				return s[:a] + s[a+strings.Index(s[a:], "\n")+1:]
			}},
		{"freed", "@%p2 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r10, 512;\nbar.sync 0;\n",
			"nothing is allocated", same},
		{"shift", "add.u32 %r15, %r10, 0x100008;\n@%p1 tcgen05.shift.cta_group::1.down [%r15];\n",
			"expected a multiple of 32", same},
		{"descriptor", "mov.b64 %d5, 0;\n@%p1 tcgen05.cp.cta_group::1.128x128b [%r10], %d5;\n",
			"bits 46-48 are 0, want 1", same},
		{"collector",
			"mov.b64 %d5, 0x400000000000;\nmov.b32 %r30, 0x08100490;\nsetp.eq.u32 %p5, 0, 1;\n" +
				"@%p1 tcgen05.mma.cta_group::1.kind::f16.collector::a::use [%r10], %d5, %d5, %r30, %p5;\n",
			"the buffer does not hold this operand", same},
		{"shape",
			"mov.b64 %d5, 0x400000000000;\nmov.b32 %r30, 0x08120490;\nsetp.eq.u32 %p5, 0, 1;\n" +
				"@%p1 tcgen05.mma.cta_group::1.kind::f16 [%r10], %d5, %d5, %r30, %p5;\n",
			"kind f16 has no shape m128n72", same},
		{"pair", "@%p1 tcgen05.commit.cta_group::2.mbarrier::arrive::one.b64 [%d9];\n",
			"this block has no peer",
			func(s string) string { return strings.ReplaceAll(s, "cta_group::1", "cta_group::2") }},
	} {
		text := test.edit(tensorText("sm_100a", test.body, 1))
		_, _, err := launchTensor(t, "sm_100a", text, nil, make([]uint32, 128*512),
			make([]uint32, 128), emu.Options{})
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v; want %q", test.name, err, test.want)
		}
	}
}

// TestLateLoads checks that registers of tcgen05.ld hold their old values until the wait, except
// when they are used before it in the same basic block, where ptxas and the hardware track them.
func TestLateLoads(t *testing.T) {
	tracked := "mov.u32 %w0, 77;\ntcgen05.ld.sync.aligned.32x32b.x1.b32 {%w0}, [%r12];\nst.global.b32 [%d2], %w0;\ntcgen05.wait::ld.sync.aligned;\nst.global.b32 [%d2+4], %w0;\n"
	tensor := make([]uint32, 128*512)
	for i := range tensor {
		tensor[i] = 5
	}
	apart := strings.Replace(tracked, "[%r12];\n", "[%r12];\nbra.uni NEXT;\nNEXT:\n", 1)
	for _, test := range []struct {
		name, body string
		completion emu.Completion
		want       [2]uint32
	}{
		{"late, in another block", apart, emu.Late, [2]uint32{77, 5}},
		{"eager, in another block", apart, emu.Eager, [2]uint32{5, 5}},
		{"late, in the block of the load", tracked, emu.Late, [2]uint32{5, 5}},
	} {
		_, words := runTensor(t, "sm_100a", test.body, nil, tensor, make([]uint32, 256),
			emu.Options{Completion: test.completion})
		if words[0] != test.want[0] || words[1] != test.want[1] {
			t.Errorf("%s: %v, want %v", test.name, words[:2], test.want)
		}
	}
}

// TestOverwrittenOperands overwrites the operands of a matrix product before it is complete. The
// result must change if the product completes late, and must not change if the kernel waits.
func TestOverwrittenOperands(t *testing.T) {
	zero := "mov.b32 %r19, 0;\nshl.b32 %r2, %r0, 6;\nadd.u32 %r3, %r1, %r2;\nst.shared.v4.b32 [%r3], {%r19,%r19,%r19,%r19};\nst.shared.v4.b32 [%r3+16], {%r19,%r19,%r19,%r19};\n" +
		"st.shared.v4.b32 [%r3+32], {%r19,%r19,%r19,%r19};\nst.shared.v4.b32 [%r3+48], {%r19,%r19,%r19,%r19};\nbar.sync 0;\n"
	c := groupCase{d: "f32", a: "bf16", b: "bf16", n: 16, k: 16, swizzleA: 32, swizzleB: 32,
		exactly: true}
	fill := func(text string) (bool, error) {
		d, err := emu.New(emu.Options{Target: "sm_90a", Workers: 1, Completion: emu.Late})
		if err != nil {
			return false, err
		}
		memory := make([]byte, 65536)
		left, right := c.layouts()
		one := [][]uint64{slices.Repeat([]uint64{0x3f80}, 16)}
		left.place(memory, 1024, bf16, false, slices.Repeat(one, 64))
		right.place(memory, 1024+groupOffsetB, bf16, false, slices.Repeat(one, 16))
		out, err := launchGroup(runtime.On(d), text, memory[1024:], make([]uint32, 128*13), 128*8)
		if err != nil {
			return false, err
		}
		return out[0] == 0x41800000, nil // the float 16
	}
	text := c.kernel()
	const wait = "wgmma.wait_group.sync.aligned 0;\n"
	for _, test := range []struct {
		name, text string
		right      bool
	}{
		{"waits", text, true},
		{"overwrites after the wait", strings.Replace(text, wait, wait+zero, 1), true},
		{"overwrites before the wait", strings.Replace(text, wait, zero+wait, 1), false},
		{"does not wait", strings.Replace(text, wait, "", 1), false},
		{"waits for one group less",
			strings.Replace(text, wait, "wgmma.wait_group.sync.aligned 1;\n", 1), false},
	} {
		right, err := fill(test.text)
		if err != nil || right != test.right {
			t.Errorf("%s: %v, %v; want %v", test.name, right, err, test.right)
		}
	}
	skip := strings.Replace(text, "wgmma.mma_async",
		"setp.ge.u32 %p2, %r0, 96;\n@%p2 bra over;\nwgmma.mma_async", 1)
	skip = strings.Replace(skip, "wgmma.commit", "over:\nwgmma.commit", 1)
	if _, err := fill(skip); err == nil || !strings.Contains(err.Error(), "3 of the 4 warps") {
		t.Errorf("a warp that skips wgmma: %v", err)
	}
}

// TestRegisterPool checks that setmaxnreg.inc waits for registers that setmaxnreg.dec releases, and
// hangs if there are not enough.
func TestRegisterPool(t *testing.T) {
	text := func(more int) string {
		return fmt.Sprintf(
			".version 8.3\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 out) .reqntid 256 .maxnreg 64 {\n"+
				".reg .pred %%p;\n.reg .b32 %%r;\nmov.u32 %%r, %%tid.x;\nsetp.lt.u32 %%p, %%r, 128;\n@%%p bra less;\nsetmaxnreg.inc.sync.aligned.u32 %d;\nret;\n"+
				"less:\nsetmaxnreg.dec.sync.aligned.u32 24;\nret;\n}\n", more)
	}
	for more, want := range map[int]string{104: "", 112: "each thread has 64 and requests 112",
		56: "setmaxnreg.inc requests 56 registers, but the warp has 64"} {
		d, err := emu.New(emu.Options{Target: "sm_90a", Workers: 1})
		if err != nil {
			t.Fatal(err)
		}
		dev := runtime.On(d)
		m, err := dev.Load(runtime.PTX(text(more)))
		if err != nil {
			t.Fatal(err)
		}
		k, err := m.Kernel("k")
		if err != nil {
			t.Fatal(err)
		}
		out, err := runtime.Alloc[uint32](dev, 1)
		if err != nil {
			t.Fatal(err)
		}
		err = k.Launch(runtime.Grid(1).Block(256), out)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%d: %v; want %q", more, err, want)
		}
	}
}

// TestLaunchControl runs blocks that take over clusters, alone or in pairs, and checks that the
// work of each block is done once.
func TestLaunchControl(t *testing.T) {
	for _, size := range []int{1, 2} {
		all := ""
		if size == 2 {
			all = ".multicast::cluster::all"
		}
		meet := "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\n"
		text := ".version 8.7\n.target sm_100a\n.address_size 64\n.visible .entry k(.param .u64 out) {\n.reg .pred %p<5>;\n.reg .b32 %r<20>;\n.reg .b64 %d<9>;\n.reg .b128 %q;\n" +
			".shared .align 16 .b8 answer[16];\n.shared .align 8 .b64 bar;\nld.param.u64 %d0, [out];\nmov.u32 %r0, %tid.x;\nmov.u32 %r1, %ctaid.x;\nmov.u32 %r2, %cluster_ctarank;\n" +
			"setp.eq.u32 %p0, %r0, 0;\n@%p0 mbarrier.init.shared.b64 [bar], 1;\nfence.mbarrier_init.release.cluster;\nmov.u32 %r5, 0;\n" + meet +
			"work:\nmul.wide.u32 %d1, %r1, 4;\nadd.u64 %d1, %d0, %d1;\n@%p0 red.global.add.u32 [%d1], 1;\n@%p0 mbarrier.arrive.expect_tx.shared.b64 %d3, [bar], 16;\n" + meet +
			"setp.eq.and.u32 %p1, %r2, 0, %p0;\n@%p1 clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes" + all + ".b128 [answer], [bar];\n" +
			"wait:\nmbarrier.try_wait.parity.shared.b64 %p2, [bar], %r5;\n@!%p2 bra wait;\nxor.b32 %r5, %r5, 1;\nld.shared.b128 %q, [answer];\n" +
			"clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p3, %q;\nclusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128 %r1, %q;\nadd.u32 %r1, %r1, %r2;\n" + meet +
			"@%p3 bra work;\nret;\n}\n"
		for completion := range emu.Completion(3) {
			for seed := range uint64(4) {
				d, err := emu.New(emu.Options{Target: "sm_100a", Workers: 1 + int(seed)%2,
					Completion: completion, Seed: seed})
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
				out, err := runtime.Upload(dev, make([]uint32, 22))
				if err != nil {
					t.Fatal(err)
				}
				config := runtime.Grid(22).Block(32)
				if size == 2 {
					config = config.Cluster(2)
				}
				if err := k.Launch(config, out); err != nil {
					t.Fatalf("%d blocks, completion %d, seed %d: %v", size, completion, seed, err)
				}
				got, err := runtime.Download(out)
				if err != nil || slices.ContainsFunc(got, func(n uint32) bool { return n != 1 }) {
					t.Errorf("%d blocks, completion %d, seed %d: %v, %v", size, completion, seed,
						got, err)
				}
			}
		}
	}
}

// TestPolicies checks that completion policies and seeds do not change the results of correct
// kernels.
func TestPolicies(t *testing.T) {
	r := rand.New(rand.NewPCG(41, 42))
	all := tensorCases(r)
	for seed := range uint64(12) {
		c := all[int(seed)*23%len(all)]
		if err := c.run(emu.Options{Completion: emu.Random, Seed: seed}, r); err != nil {
			t.Errorf("seed %d: %s: %v", seed, c.opcode(), err)
		}
	}
}
