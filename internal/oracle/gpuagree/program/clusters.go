// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package program

import (
	"fmt"
	"strings"
)

// Clusters returns programs that use the shared memory of other blocks.
func Clusters() (all []Program) {
	for _, size := range []int{2, 4} {
		for _, how := range []string{"ld.shared::cluster", "st.shared::cluster", "st.async",
			"red.async",
			"generic", "atom"} {
			id := fmt.Sprintf("cluster of %d: %s", size, how)
			all = append(all, cluster(id, how, size))
		}
	}
	for _, op := range strings.Fields("inc.u32 dec.u32 min.u32 max.u32 add.u32 min.s32 max.s32 " +
		"add.s32 and.b32 or.b32 xor.b32 add.u64") {
		all = append(all, redAsync(op))
	}
	return all
}

// cluster returns a program in which each block writes its thread indices to the shared memory of
// the next block.
func cluster(id, how string, size int) Program {
	const threads = 64
	c := &code{}
	peer, next, rank, x, at := c.reg("b32"), c.reg("b32"), c.reg("b32"), c.reg("b32"), c.reg("b64")
	mine, p := c.reg("b32"), c.reg("pred")
	c.line(".shared .align 16 .b8 tile[%d];", 8*threads)
	c.line(".shared .align 8 .b8 done[8];")
	c.line("mov.u32 %s, %%cluster_ctarank;", rank)
	c.line("add.u32 %s, %s, 1;", next, rank)
	c.line("rem.u32 %s, %s, %d;", next, next, size)
	c.line("mad.lo.u32 %s, %%rank, %d, %%th;", x, threads)
	c.line("mad.wide.u32 %s, %s, 4, %%in;", at, x)
	c.line("ld.global.b32 %s, [%s];", x, at)
	c.line("mov.b32 %s, tile;", mine)
	c.line("mad.lo.u32 %s, %%th, 4, %s;", mine, mine)
	c.line("st.shared.b32 [%s], %s;", mine, x)
	c.line("st.shared.b32 [%s+%d], %s;", mine, 4*threads, x)
	c.line("mapa.shared::cluster.u32 %s, %s, %s;", peer, mine, next)
	bar, remote := c.reg("b32"), c.reg("b32")
	c.line("mov.b32 %s, done;", bar)
	c.line("mapa.shared::cluster.u32 %s, %s, %s;", remote, bar, next)
	end := c.leader()
	c.line("mbarrier.init.shared::cta.b64 [%s], 1;", bar)
	c.line("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%s], %d;", bar, 4*threads)
	end()
	c.line("fence.mbarrier_init.release.cluster;")
	c.line("barrier.cluster.arrive.release;\n\tbarrier.cluster.wait.acquire;")
	wait := func() {
		top := c.label()
		c.line("%s:", top)
		c.line("mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %s, [%s], 0;", p, bar)
		c.line("@!%s bra %s;", p, top)
	}
	d := c.reg("b32")
	switch how {
	case "ld.shared::cluster":
		c.line("ld.shared::cluster.b32 %s, [%s];", d, peer)
		c.line("st.shared.b32 [%s+%d], %s;", mine, 4*threads, d)
	case "st.shared::cluster":
		c.line("mad.lo.u32 %s, %s, 3, 1;", d, x)
		c.line("st.shared::cluster.b32 [%s+%d], %s;", peer, 4*threads, d)
	case "generic":
		wide := c.reg("b64")
		c.line("mov.b64 %s, tile;", wide)
		c.line("cvta.shared.u64 %s, %s;", wide, wide)
		c.line("mapa.u64 %s, %s, %s;", wide, wide, next)
		c.line("mad.wide.u32 %s, %%th, 4, %s;", wide, wide)
		c.line("ld.b32 %s, [%s];", d, wide)
		c.line("st.shared.b32 [%s+%d], %s;", mine, 4*threads, d)
	case "atom":
		c.line("atom.shared::cluster.add.u32 %s, [%s+%d], %s;", d, peer, 4*threads, x)
	case "st.async":
		c.line("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b32 [%s+%d], %s, [%s];",
			peer, 4*threads, x, remote)
		wait()
	case "red.async":
		c.line("red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 "+
			"[%s+%d], %s, [%s];", peer, 4*threads, x, remote)
		wait()
	}
	c.line("barrier.cluster.arrive.release;\n\tbarrier.cluster.wait.acquire;")
	c.line("mad.lo.u32 %s, %%rank, %d, 0;", d, 8*threads)
	c.line("cvt.u64.u32 %s, %s;", at, d)
	c.line("add.u64 %%out, %%out, %s;", at)
	c.dump(8*threads, threads, 0)
	return Program{ID: id, Family: "cluster", Grid: size, Cluster: size, Block: threads,
		In: noise(random(id), 4*threads*size), Out: pattern(8 * threads * size),
		body: c.text.String()}
}

// redAsync returns a program with one red.async operation on the shared memory of the block
// itself.
func redAsync(op string) Program {
	opcode := "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes." + op
	r := random(opcode)
	bits := 32
	if strings.HasSuffix(op, "64") {
		bits = 64
	}
	const threads = 64
	size := bits / 8
	c := &code{}
	mine, peer, at, p, bar := c.reg("b32"), c.reg("b32"), c.reg("b64"), c.reg("pred"), c.reg("b32")
	a, b := c.reg(fmt.Sprintf("b%d", bits)), c.reg(fmt.Sprintf("b%d", bits))
	c.line(".shared .align 16 .b8 tile[%d];", size*threads)
	c.line(".shared .align 8 .b8 done[8];")
	c.line("mad.wide.u32 %s, %%th, %d, %%in;", at, 2*size)
	c.line("ld.global.v2.b%d {%s, %s}, [%s];", bits, a, b, at)
	c.line("mov.b32 %s, tile;", mine)
	c.line("mad.lo.u32 %s, %%th, %d, %s;", mine, size, mine)
	c.line("st.shared.b%d [%s], %s;", bits, mine, a)
	c.line("mov.b32 %s, done;", bar)
	end := c.leader()
	c.line("mbarrier.init.shared::cta.b64 [%s], 1;", bar)
	c.line("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%s], %d;", bar, size*threads)
	end()
	c.line("barrier.cluster.arrive.release;\n\tbarrier.cluster.wait.acquire;")
	c.line("mapa.shared::cluster.u32 %s, %s, 0;", peer, mine)
	remote := c.reg("b32")
	c.line("mapa.shared::cluster.u32 %s, %s, 0;", remote, bar)
	c.line("%s [%s], %s, [%s];", opcode, peer, b, remote)
	top := c.label()
	c.line("%s:", top)
	c.line("mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %s, [%s], 0;", p, bar)
	c.line("@!%s bra %s;", p, top)
	c.dump(size*threads, threads, 0)
	in := noise(r, 2*size*threads)
	for i := range in { // some operands are small
		if i/(4*size)%3 == 0 && i%size > 0 {
			in[i] = 0
		}
	}
	return Program{ID: opcode, Family: "cluster", Cluster: 1, Block: threads, In: in,
		Out: pattern(size * threads), body: c.text.String()}
}
