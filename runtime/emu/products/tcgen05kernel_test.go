// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package products

import (
	"fmt"
	"strings"

	"github.com/ptxdsl/ptxdsl/runtime"
	"github.com/ptxdsl/ptxdsl/runtime/emu"
)

// launch runs the kernel on both blocks and returns their tensor memory.
func (c *tensorCase) launch(o emu.Options, images []*image) ([]uint32, error) {
	o.Target, o.Workers = c.target, 1
	d, err := emu.New(o)
	if err != nil {
		return nil, err
	}
	dev := runtime.On(d)
	m, err := dev.Load(runtime.PTX(c.kernel()))
	if err != nil {
		return nil, err
	}
	k, err := m.Kernel("k")
	if err != nil {
		return nil, err
	}
	var shared []byte
	var tensor []uint32
	for _, im := range images {
		shared, tensor = append(append(shared, im.shared[1024:]...), im.shared[:1024]...),
			append(tensor, im.tensor[:]...)
	}
	in, err := runtime.Upload(dev, shared)
	if err != nil {
		return nil, err
	}
	t, err := runtime.Upload(dev, tensor)
	if err != nil {
		return nil, err
	}
	config := runtime.Grid(len(images)).Block(128).Shared(65536)
	if c.pair {
		config = config.Cluster(2)
	}
	if err := k.Launch(config, in, t); err != nil {
		return nil, err
	}
	return runtime.Download(t)
}

// kernel returns PTX that fills shared and tensor memory, multiplies, and stores tensor memory.
func (c *tensorCase) kernel() string {
	var s strings.Builder
	meet := "tcgen05.fence::before_thread_sync;\nbar.sync 0;\n"
	if c.pair {
		meet = "tcgen05.fence::before_thread_sync;\nbarrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\n"
	}
	meet += "tcgen05.fence::after_thread_sync;\n"
	group := fmt.Sprint("cta_group::", c.blocks())
	version := "8.8"
	if c.target == "sm_107a" {
		version = "9.4"
	}
	fmt.Fprintf(&s,
		".version %s\n.target %s\n.address_size 64\n.extern .shared .align 1024 .b8 memory[];\n",
		version, c.target)
	s.WriteString(
		".visible .entry k(.param .u64 image, .param .u64 tensor) {\n.reg .pred %p<9>;\n.reg .b32 %r<50>;\n.reg .b64 %d<20>;\n" +
			"ld.param.u64 %d0, [image];\nld.param.u64 %d1, [tensor];\nmov.u32 %r0, %tid.x;\nmov.u32 %r1, memory;\nmov.u32 %r9, %cluster_ctarank;\n" +
			"mad.wide.u32 %d0, %r9, 65536, %d0;\nmad.wide.u32 %d1, %r9, 262144, %d1;\nmad.wide.u32 %d1, %r0, 2048, %d1;\n" +
			"shl.b32 %r2, %r0, 4;\nloop:\ncvt.u64.u32 %d3, %r2;\nadd.u64 %d3, %d0, %d3;\nld.global.v4.b32 {%r4,%r5,%r6,%r7}, [%d3];\n" +
			"add.u32 %r3, %r1, %r2;\nst.shared.v4.b32 [%r3], {%r4,%r5,%r6,%r7};\nadd.u32 %r2, %r2, 2048;\n")
	fmt.Fprintf(&s,
		"setp.lt.u32 %%p0, %%r2, %d;\n@%%p0 bra loop;\nadd.u32 %%r8, %%r1, %d;\nsetp.eq.u32 %%p1, %%r0, 0;\n",
		tensorBarrier, tensorBarrier)
	s.WriteString(
		"@%p1 mbarrier.init.shared.b64 [%r8], 1;\nfence.mbarrier_init.release.cluster;\nfence.proxy.async;\n" + meet)
	fmt.Fprintf(&s,
		"setp.lt.u32 %%p2, %%r0, 32;\n@%%p2 tcgen05.alloc.%s.sync.aligned.shared::cta.b32 [%%r8+8], 512;\n%sld.shared.u32 %%r10, [%%r8+8];\n",
		group, meet)
	s.WriteString(
		"shl.b32 %r11, %r0, 16;\nand.b32 %r11, %r11, 0x600000;\nadd.u32 %r12, %r10, %r11;\nmov.u32 %r2, 0;\n" +
			"fill:\nmad.wide.u32 %d3, %r2, 4, %d1;\nld.global.v4.b32 {%r20,%r21,%r22,%r23}, [%d3];\nld.global.v4.b32 {%r24,%r25,%r26,%r27}, [%d3+16];\n" +
			"add.u32 %r3, %r12, %r2;\ntcgen05.st.sync.aligned.32x32b.x8.b32 [%r3], {%r20,%r21,%r22,%r23,%r24,%r25,%r26,%r27};\n" +
			"add.u32 %r2, %r2, 8;\nsetp.lt.u32 %p0, %r2, 512;\n@%p0 bra fill;\ntcgen05.wait::st.sync.aligned;\n" + meet)
	s.WriteString("or.b32 %r13, %r0, %r9;\nsetp.ne.u32 %p3, %r13, 0;\n@%p3 bra wait;\n")
	c.issue(&s)
	s.WriteString("tcgen05.commit." + group + ".mbarrier::arrive::one.shared::cluster")
	if c.pair {
		s.WriteString(".multicast::cluster.b64 [%r8], %h0;\n")
	} else {
		s.WriteString(".b64 [%r8];\n")
	}
	s.WriteString(
		"wait:\nmbarrier.try_wait.parity.shared.b64 %p4, [%r8], 0;\n@!%p4 bra wait;\ntcgen05.fence::after_thread_sync;\nmov.u32 %r2, 0;\n" +
			"read:\nadd.u32 %r3, %r12, %r2;\ntcgen05.ld.sync.aligned.32x32b.x8.b32 {%r20,%r21,%r22,%r23,%r24,%r25,%r26,%r27}, [%r3];\n" +
			"tcgen05.wait::ld.sync.aligned;\nmad.wide.u32 %d3, %r2, 4, %d1;\nst.global.v4.b32 [%d3], {%r20,%r21,%r22,%r23};\n" +
			"st.global.v4.b32 [%d3+16], {%r24,%r25,%r26,%r27};\nadd.u32 %r2, %r2, 8;\nsetp.lt.u32 %p0, %r2, 512;\n@%p0 bra read;\n" + meet)
	fmt.Fprintf(&s, "@%%p2 tcgen05.dealloc.%s.sync.aligned.b32 %%r10, 512;\nret;\n}\n", group)
	return s.String()
}

// issue writes the instruction with its operands.
func (c *tensorCase) issue(s *strings.Builder) {
	left, right := c.layouts()
	s.WriteString(".reg .b16 %h0;\nmov.b16 %h0, 3;\n")
	fmt.Fprintf(s,
		"and.b32 %%r14, %%r1, 0x3ffff;\ncvt.u64.u32 %%d4, %%r14;\nshr.u64 %%d4, %%d4, 4;\nor.b64 %%d5, %%d4, 0x%x;\n",
		left.blackwell())
	fmt.Fprintf(s, "add.u64 %%d4, %%d4, %d;\nor.b64 %%d6, %%d4, 0x%x;\n", tensorOffsetB/16,
		right.blackwell())
	fmt.Fprintf(s, "mov.b32 %%r30, 0x%x;\nadd.u32 %%r31, %%r10, 0x%x;\n", c.descriptor(),
		c.base<<16)
	for i, column := range []int{columnA, columnMeta} {
		fmt.Fprintf(s, "add.u32 %%r%d, %%r31, %d;\n", 32+i, column)
	}
	fmt.Fprintf(s,
		"add.u32 %%r34, %%r10, %d;\nadd.u32 %%r35, %%r10, %d;\nsetp.ne.u32 %%p5, %d, 0;\n",
		columnSFA, columnSFB, bit(c.accumulates))
	for i := range 4 * c.blocks() {
		fmt.Fprintf(s, "mov.b32 %%r%d, 0x%x;\n", 40+i, c.off[i])
	}
	fmt.Fprintf(s, "%s [%%r31], ", c.opcode())
	if c.inTensor {
		s.WriteString("[%r32], %d6")
	} else {
		s.WriteString("%d5, %d6")
	}
	if c.sparse {
		s.WriteString(", [%r33]")
	}
	s.WriteString(", %r30")
	if c.vector > 0 {
		s.WriteString(", [%r34], [%r35]")
	}
	if c.masked {
		regs := make([]string, 4*c.blocks())
		for i := range regs {
			regs[i] = fmt.Sprint("%r", 40+i)
		}
		s.WriteString(", {" + strings.Join(regs, ", ") + "}")
	}
	s.WriteString(", %p5")
	if c.divide > 0 {
		fmt.Fprint(s, ", ", c.divide)
	}
	s.WriteString(";\n")
}
