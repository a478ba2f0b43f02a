// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package program

import (
	"fmt"
	"strings"
)

// dump emits code in which all threads of the block store n bytes of shared memory, from the array
// named tile, to the output at an offset.
func (c *code) dump(n, threads, at int) {
	i, p, from, to, x := c.reg("b32"), c.reg("pred"), c.reg("b32"), c.reg("b64"), c.reg("b32")
	top, end := c.label(), c.label()
	c.line("bar.sync 0;")
	c.line("mul.lo.u32 %s, %%th, 4;", i)
	c.line("%s:", top)
	c.line("setp.ge.u32 %s, %s, %d;", p, i, n)
	c.line("@%s bra %s;", p, end)
	c.line("mov.b32 %s, tile;", from)
	c.line("add.u32 %s, %s, %s;", from, from, i)
	c.line("ld.shared.b32 %s, [%s];", x, from)
	c.line("cvt.u64.u32 %s, %s;", to, i)
	c.line("add.u64 %s, %s, %%out;", to, to)
	c.line("st.global.b32 [%s+%d], %s;", to, at, x)
	c.line("add.u32 %s, %s, %d;", i, i, 4*threads)
	c.line("bra %s;", top)
	c.line("%s:", end)
}

// fill emits code that copies n bytes of the input, from an offset on, to shared memory, the array
// named tile, and makes them visible to asynchronous copies.
func (c *code) fill(n, threads, at int) {
	i, p, to, from, x := c.reg("b32"), c.reg("pred"), c.reg("b32"), c.reg("b64"), c.reg("b32")
	top, end := c.label(), c.label()
	c.line("mul.lo.u32 %s, %%th, 4;", i)
	c.line("%s:", top)
	c.line("setp.ge.u32 %s, %s, %d;", p, i, n)
	c.line("@%s bra %s;", p, end)
	c.line("mov.b32 %s, tile;", to)
	c.line("add.u32 %s, %s, %s;", to, to, i)
	c.line("cvt.u64.u32 %s, %s;", from, i)
	c.line("add.u64 %s, %s, %%in;", from, from)
	c.line("ld.global.b32 %s, [%s+%d];", x, from, at)
	c.line("st.shared.b32 [%s], %s;", to, x)
	c.line("add.u32 %s, %s, %d;", i, i, 4*threads)
	c.line("bra %s;", top)
	c.line("%s:", end)
	c.line("fence.proxy.async;")
	c.line("bar.sync 0;")
}

// leader begins code that only thread 0 executes; the function it returns ends it.
func (c *code) leader() (end func()) {
	p, after := c.reg("pred"), c.label()
	c.line("setp.ne.u32 %s, %%th, 0;", p)
	c.line("@%s bra %s;", p, after)
	return func() { c.line("%s:", after) }
}

// Accesses returns programs that load and store every type and vector in every state space.
func Accesses() (all []Program) {
	types := strings.Fields("b8 b16 b32 b64 u8 u16 u32 u64 s8 s16 s32 s64 f32 f64")
	vectors := []int{1, 2, 4}
	for _, space := range []string{"global", "shared", "local", "generic", "const", "param"} {
		for _, kind := range types {
			for _, n := range vectors {
				size := typeBytes(kind)
				if size*n > 16 {
					continue
				}
				for _, class := range classes(kind) {
					all = append(all, access(space, kind, class, n, size))
				}
			}
		}
	}
	return all
}

func typeBytes(kind string) int {
	var bits int
	fmt.Sscanf(kind[1:], "%d", &bits)
	return bits / 8
}

// classes lists the register classes that a type can be loaded into: its own width and wider ones.
func classes(kind string) []string {
	if kind[0] == 'f' {
		return []string{kind}
	}
	all := []string{"16", "32", "64"}
	var some []string
	for _, bits := range all {
		var n int
		fmt.Sscanf(bits, "%d", &n)
		if n/8 >= typeBytes(kind) {
			some = append(some, string(kind[0])+bits)
		}
	}
	return some
}

// access returns a program of 32 threads that copy data through a state space.
func access(space, kind, class string, n, size int) Program {
	id := fmt.Sprintf("ld.st.%s.v%d.%s into %s", space, n, kind, class)
	c := &code{}
	bytes := size * n
	at, to := c.reg("b64"), c.reg("b64")
	c.line("mad.wide.u32 %s, %%th, %d, %%in;", at, bytes)
	c.line("mad.wide.u32 %s, %%th, %d, %%out;", to, bytes)
	var list []string
	for range n {
		list = append(list, c.reg(class))
	}
	regs, vec := list[0], ""
	if n > 1 {
		regs, vec = "{"+strings.Join(list, ", ")+"}", fmt.Sprintf(".v%d", n)
	}
	suffix := vec + "." + kind
	load := "global"
	var globals string
	switch space {
	case "shared", "local":
		decl := 32 * bytes
		place := c.reg("b64")
		c.line(".%s .align 16 .b8 tile[%d];", space, decl)
		c.line("mov.b64 %s, tile;", place)
		c.line("mad.wide.u32 %s, %%th, %d, %s;", place, bytes, place)
		c.line("ld.global%s %s, [%s];", suffix, regs, at)
		c.line("st.%s%s [%s], %s;", space, suffix, place, regs)
		for _, r := range list {
			c.line("mov.b%d %s, 0;", 8*typeBytes(class), r)
		}
		c.line("ld.%s%s %s, [%s];", space, suffix, regs, place)
		load = ""
	case "generic":
		c.line("cvta.global.u64 %s, %s;", at, at)
		c.line("ld%s %s, [%s];", suffix, regs, at)
		load = ""
	case "const":
		var values []string
		r := random(id)
		for range 32 * bytes {
			values = append(values, fmt.Sprint(r.IntN(256)))
		}
		place := c.reg("b64")
		globals = fmt.Sprintf(".const .align 16 .b8 NAME_table[%d] = {%s};\n", 32*bytes, strings.Join(values, ", "))
		c.line("mov.b64 %s, NAME_table;", place)
		c.line("mad.wide.u32 %s, %%th, %d, %s;", place, bytes, place)
		c.line("ld.const%s %s, [%s];", suffix, regs, place)
		load = ""
	case "param":
		c.line("ld.global.nc%s %s, [%s];", suffix, regs, at)
		load = ""
	}
	if load != "" {
		c.line("ld.%s%s %s, [%s];", load, suffix, regs, at)
	}
	c.line("st.global%s [%s], %s;", suffix, to, regs)
	out := 32 * bytes
	wide := typeBytes(class)
	for i, r := range list { // stores the whole register, including the extended bits
		c.line("mad.wide.u32 %s, %%th, %d, %%out;", to, wide)
		c.line("st.global.b%d [%s+%d], %s;", 8*wide, to, (out+7)/8*8+i*32*wide, r)
	}
	out = (out+7)/8*8 + n*32*wide
	return Program{ID: id, Family: "ld, st", In: noise(random(id), 32*bytes+16), Out: pattern(out),
		body: c.text.String(), globals: globals}
}

// Barriers returns programs of named barriers, barrier reductions and cluster barriers.
func Barriers() (all []Program) {
	for _, op := range []string{"popc.u32", "and.pred", "or.pred"} {
		for _, head := range []string{"barrier.cta.red", "bar.red"} {
			for _, threads := range []int{0, 64, 96} {
				id := fmt.Sprintf("%s.%s %d", head, op, threads)
				c := &code{}
				at, x, p, d := c.reg("b64"), c.reg("b32"), c.reg("pred"), c.reg("b32")
				c.line("mad.wide.u32 %s, %%th, 4, %%in;", at)
				c.line("ld.global.b32 %s, [%s];", x, at)
				c.line("mov.b32 %s, 99;", d)
				skip, q := c.label(), c.reg("pred")
				if threads > 0 {
					c.line("setp.ge.u32 %s, %%th, %d;", q, threads)
					c.line("@%s bra %s;", q, skip)
				}
				for bit := range 4 {
					c.line("bfe.u32 %s, %s, %d, %d;", d, x, bit*7, bit)
					c.line("setp.ne.u32 %s, %s, 0;", p, d)
					count := ""
					if threads > 0 {
						count = fmt.Sprintf(", %d", threads)
					}
					opcode := head
					if strings.HasPrefix(head, "barrier") {
						// .aligned is not needed: all warps are complete
						opcode += ""
					}
					if strings.HasSuffix(op, "pred") {
						r := c.reg("pred")
						c.line("%s.%s %s, %d%s, %s;", opcode, op, r, bit, count, p)
						c.line("selp.b32 %s, 1, 0, %s;", d, r)
					} else {
						c.line("%s.%s %s, %d%s, %s;", opcode, op, d, bit, count, p)
					}
					c.line("mad.wide.u32 %s, %%th, 4, %%out;", at)
					c.line("st.global.b32 [%s+%d], %s;", at, 512*bit, d)
				}
				c.line("%s:", skip)
				all = append(all, Program{ID: id, Family: "barrier", Block: 128,
					In: noise(random(id), 512), Out: pattern(2048), body: c.text.String()})
			}
		}
	}
	return all
}

// Clusters returns programs that use the shared memory of other blocks.
func Clusters() (all []Program) {
	for _, size := range []int{2, 4} {
		for _, how := range []string{"ld.shared::cluster", "st.shared::cluster", "st.async", "red.async",
			"generic", "atom"} {
			id := fmt.Sprintf("cluster of %d: %s", size, how)
			all = append(all, cluster(id, how, size))
		}
	}
	for _, op := range strings.Fields("inc.u32 dec.u32 min.u32 max.u32 add.u32 min.s32 max.s32 add.s32 " +
		"and.b32 or.b32 xor.b32 add.u64") {
		all = append(all, redAsync(op))
	}
	return all
}

// cluster returns a program in which every block writes its thread indices to the shared memory of
// its neighbour.
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
		In: noise(random(id), 4*threads*size), Out: pattern(8 * threads * size), body: c.text.String()}
}

// redAsync returns a program of one red.async operation on the block's own shared memory.
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

// Mbarriers returns programs in which one thread executes random operations on an mbarrier, and
// stores what it observes after each of them.
func Mbarriers() (all []Program) {
	for n := range 120 {
		id := fmt.Sprintf("mbarrier %d", n)
		r := random(id)
		c := &code{}
		end := c.leader()
		c.line(".shared .align 8 .b8 bar[8];")
		at, state, count, p := c.reg("b32"), c.reg("b64"), c.reg("b32"), c.reg("pred")
		c.line("mov.b32 %s, bar;", at)
		expected := 1 + r.IntN(6)
		pending, bytes := expected, 0
		c.line("mbarrier.init.shared::cta.b64 [%s], %d;", at, expected)
		out := 0
		keep := func(reg string) {
			c.line("st.global.b32 [%%out+%d], %s;", out, reg)
			out += 4
		}
		parity := func() {
			for parity := range 2 {
				c.line("mbarrier.test_wait.parity.shared::cta.b64 %s, [%s], %d;", p, at, parity)
				c.line("selp.b32 %s, 1, 0, %s;", count, p)
				keep(count)
			}
		}
		complete := func() {
			if pending == 0 && bytes == 0 {
				pending = expected
			}
		}
		var states []string
		remember := func() {
			s := c.reg("b64")
			c.line("mov.b64 %s, %s;", s, state)
			states = append(states, s)
		}
		for range 24 {
			switch r.IntN(9) {
			case 0, 1, 2:
				n := 1
				if pending == 0 {
					continue // the phase still waits for bytes
				}
				n += r.IntN(pending)
				if n == 1 {
					c.line("mbarrier.arrive.shared::cta.b64 %s, [%s];", state, at)
				} else {
					c.line("mbarrier.arrive.shared::cta.b64 %s, [%s], %d;", state, at, n)
				}
				pending -= n
				c.line("mbarrier.pending_count.b64 %s, %s;", count, state)
				keep(count)
				remember()
				complete()
			case 3:
				if pending == 0 || expected == 1 {
					continue
				}
				c.line("mbarrier.arrive_drop.shared::cta.b64 %s, [%s];", state, at)
				pending--
				expected--
				remember()
				c.line("mbarrier.pending_count.b64 %s, %s;", count, state)
				keep(count)
				complete()
			case 4:
				if pending == 0 {
					continue
				}
				n := 16 * (1 + r.IntN(8))
				c.line("mbarrier.arrive.expect_tx.shared::cta.b64 %s, [%s], %d;", state, at, n)
				pending--
				bytes += n
				remember()
				c.line("mbarrier.pending_count.b64 %s, %s;", count, state)
				keep(count)
			case 5:
				n := 16 * (1 + r.IntN(8))
				c.line("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%s], %d;", at, n)
				bytes += n
			case 6, 7:
				if bytes == 0 {
					continue
				}
				n := bytes
				if r.IntN(2) == 0 {
					n = 16 * (1 + r.IntN(bytes/16))
				}
				c.line("mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%s], %d;", at, n)
				bytes -= n
				complete()
			case 8:
				if pending < 2 {
					continue
				}
				n := 1 + r.IntN(pending-1)
				c.line("mbarrier.arrive.noComplete.shared::cta.b64 %s, [%s], %d;", state, at, n)
				pending -= n
				remember()
				c.line("mbarrier.pending_count.b64 %s, %s;", count, state)
				keep(count)
			}
			parity()
			if len(states) > 0 { // has the phase of the last arrival completed?
				c.line("mbarrier.test_wait.shared::cta.b64 %s, [%s], %s;", p, at, states[len(states)-1])
				c.line("selp.b32 %s, 1, 0, %s;", count, p)
				keep(count)
			}
		}
		end()
		all = append(all, Program{ID: id, Family: "mbarrier", Out: pattern(max(out, 4)),
			In: make([]byte, 16), body: c.text.String()})
	}
	return all
}
