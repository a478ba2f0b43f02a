// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package program

import (
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/isa/eval"
)

// barrier emits code that declares an mbarrier and initializes it for one arrival. It returns the
// register with its address.
func (c *code) barrier() string {
	bar := c.reg("b32")
	c.line(".shared .align 8 .b8 done[8];")
	c.line("mov.b32 %s, done;", bar)
	end := c.leader()
	c.line("mbarrier.init.shared::cta.b64 [%s], 1;", bar)
	c.line("fence.mbarrier_init.release.cluster;")
	end()
	c.line("bar.sync 0;")
	return bar
}

// wait emits a wait for the first phase of an mbarrier.
func (c *code) wait(bar string) {
	p, top := c.reg("pred"), c.label()
	c.line("%s:", top)
	c.line("mbarrier.try_wait.parity.shared::cta.b64 %s, [%s], 0;", p, bar)
	c.line("@!%s bra %s;", p, top)
}

// Copies returns programs of cp.async, bulk copies and bulk reductions.
func Copies() (all []Program) {
	for _, opcode := range []string{"cp.async.ca.shared.global 4", "cp.async.ca.shared.global 8",
		"cp.async.ca.shared.global 16", "cp.async.cg.shared.global 16",
		"cp.async.ca.shared::cta.global.L2::128B 16", "cp.async.cg.shared.global.L2::64B 16"} {
		for _, how := range []string{"", "size", "ignore", "group"} {
			all = append(all, copyAsync(opcode, how))
		}
	}
	for _, n := range []int{16, 48, 512, 4096} {
		all = append(all, bulkLoad(n), bulkStore(n), bulkPeer(n))
	}
	for _, op := range strings.Fields("add.u32 add.s32 add.u64 add.f16 add.bf16 add.f32 add.f64 " +
		"min.u32 min.s32 min.u64 min.s64 min.f16 min.bf16 " +
		"max.u32 max.s32 max.u64 max.s64 max.f16 max.bf16 " +
		"inc.u32 dec.u32 and.b32 and.b64 or.b32 or.b64 xor.b32 xor.b64") {
		all = append(all, bulkReduce(op, "global"))
	}
	for _, op := range strings.Fields("add.u32 add.s32 add.u64 min.u32 min.s32 max.u32 max.s32 " +
		"inc.u32 dec.u32 and.b32 or.b32 xor.b32") {
		all = append(all, bulkReduce(op, "shared::cluster"))
	}
	return all
}

func copyAsync(opcode, how string) Program {
	id := opcode + " " + how
	head, bytes, _ := strings.Cut(opcode, " ")
	var n int
	fmt.Sscan(bytes, &n)
	const threads = 64
	c := &code{}
	from, to, p := c.reg("b64"), c.reg("b32"), c.reg("pred")
	c.line(".shared .align 16 .b8 tile[%d];", n*threads)
	c.fill(n*threads, threads, n*threads)
	c.line("mad.wide.u32 %s, %%th, %d, %%in;", from, n)
	c.line("mov.b32 %s, tile;", to)
	c.line("mad.lo.u32 %s, %%th, %d, %s;", to, n, to)
	switch how {
	case "size":
		some := c.reg("b32")
		c.line("rem.u32 %s, %%th, %d;", some, n+1)
		c.line("%s [%s], [%s], %d, %s;", head, to, from, n, some)
	case "ignore":
		bit := c.reg("b32")
		c.line("and.b32 %s, %%th, 1;", bit)
		c.line("setp.eq.u32 %s, %s, 1;", p, bit)
		c.line("%s [%s], [%s], %d, %s;", head, to, from, n, p)
	default:
		c.line("%s [%s], [%s], %d;", head, to, from, n)
	}
	if how == "group" {
		c.line("cp.async.commit_group;")
		c.line("cp.async.wait_group 0;")
	} else {
		c.line("cp.async.wait_all;")
	}
	c.dump(n*threads, threads, 0)
	return Program{ID: id, Family: "cp.async", Block: threads, In: noise(random(id), 2*n*threads),
		Out: pattern(n * threads), body: c.text.String()}
}

const copyThreads = 64

func bulkLoad(n int) Program {
	id := fmt.Sprintf("cp.async.bulk.shared::cluster.global %d", n)
	c := &code{}
	c.line(".shared .align 128 .b8 tile[%d];", n+16)
	c.fill(n+16, copyThreads, n)
	bar := c.barrier()
	to := c.reg("b32")
	end := c.leader()
	c.line("mov.b32 %s, tile;", to)
	c.line("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%s], %d;", bar, n)
	c.line("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%s], [%%in], %d, [%s];",
		to, n, bar)
	end()
	c.wait(bar)
	c.dump(n+16, copyThreads, 0)
	return Program{ID: id, Family: "cp.async.bulk", Block: copyThreads,
		In:  noise(random(id), 2*n+16),
		Out: pattern(n + 16), body: c.text.String()}
}

// drain emits the commit of a bulk group and the wait for its completion.
func (c *code) drain() {
	c.line("cp.async.bulk.commit_group;")
	c.line("cp.async.bulk.wait_group 0;")
}

func bulkStore(n int) Program {
	id := fmt.Sprintf("cp.async.bulk.global.shared::cta %d", n)
	c := &code{}
	c.line(".shared .align 128 .b8 tile[%d];", n)
	c.fill(n, copyThreads, 0)
	from := c.reg("b32")
	end := c.leader()
	c.line("mov.b32 %s, tile;", from)
	c.line("cp.async.bulk.global.shared::cta.bulk_group [%%out+16], [%s], %d;", from, n)
	c.drain()
	end()
	return Program{ID: id, Family: "cp.async.bulk", Block: copyThreads, In: noise(random(id), n),
		Out: pattern(n + 32), body: c.text.String()}
}

func bulkPeer(n int) Program {
	id := fmt.Sprintf("cp.async.bulk.shared::cluster.shared::cta %d", n)
	c := &code{}
	c.line(".shared .align 128 .b8 tile[%d];", 2*n)
	c.fill(2*n, copyThreads, 0)
	bar := c.barrier()
	to, peer, there := c.reg("b32"), c.reg("b32"), c.reg("b32")
	c.line("mov.b32 %s, tile;", to)
	end := c.leader()
	c.line("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%s], %d;", bar, n)
	end()
	c.line("barrier.cluster.arrive.release;\n\tbarrier.cluster.wait.acquire;")
	c.line("xor.b32 %s, %%rank, 1;", peer)
	end = c.leader()
	c.line("mapa.shared::cluster.u32 %s, %s, %s;", there, bar, peer)
	c.line("mapa.shared::cluster.u32 %s, %s, %s;", peer, to, peer)
	c.line("add.u32 %s, %s, %d;", peer, peer, n)
	c.line("cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes "+
		"[%s], [%s], %d, [%s];",
		peer, to, n, there)
	end()
	c.wait(bar)
	c.line("barrier.cluster.arrive.release;\n\tbarrier.cluster.wait.acquire;")
	at := c.reg("b64")
	c.line("mul.wide.u32 %s, %%rank, %d;", at, 2*n)
	c.line("add.u64 %%out, %%out, %s;", at)
	c.dump(2*n, copyThreads, 0)
	return Program{ID: id, Family: "cp.async.bulk", Block: copyThreads, Grid: 2, Cluster: 2,
		In: noise(random(id), 2*n), Out: pattern(4 * n), body: c.text.String()}
}

// numbers returns n bytes of random values of a type.
func numbers(r source, kind string, n int) []byte {
	var b []byte
	t, _ := isa.ParseType(kind)
	element, _ := eval.Split(t)
	f := eval.FormatOf(element)
	size := typeBytes(kind)
	if kind == "bf16" || kind == "f16" {
		size = 2
	}
	for len(b) < n {
		var x uint64
		if f != nil {
			x = floating(r, f)
		} else if x = r.Uint64(); r.IntN(3) == 0 {
			x &= 7
		}
		var word [8]byte
		binary.LittleEndian.PutUint64(word[:], x)
		b = append(b, word[:size]...)
	}
	return b[:n]
}

func bulkReduce(op, space string) Program {
	_, kind, _ := strings.Cut(op, ".")
	opcode := "cp.reduce.async.bulk." + space + ".shared::cta.bulk_group." + op
	if kind == "f16" || kind == "bf16" {
		if strings.HasPrefix(op, "add") {
			opcode = strings.Replace(opcode, ".add.", ".add.noftz.", 1)
		}
	}
	const n = 1024
	r := random(opcode)
	in, out := numbers(r, kind, 2*n), numbers(r, kind, n)
	c := &code{}
	c.line(".shared .align 128 .b8 tile[%d];", 2*n)
	c.fill(2*n, copyThreads, 0)
	from := c.reg("b32")
	p := Program{Family: "cp.reduce.async.bulk", Block: copyThreads, In: in}
	if space == "global" {
		end := c.leader()
		c.line("mov.b32 %s, tile;", from)
		c.line("%s [%%out], [%s], %d;", opcode, from, n)
		c.drain()
		end()
		p.Out = out
	} else {
		opcode = strings.Replace(opcode, "bulk_group", "mbarrier::complete_tx::bytes", 1)
		bar := c.barrier()
		to, there, peer := c.reg("b32"), c.reg("b32"), c.reg("b32")
		end := c.leader()
		c.line("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%s], %d;", bar, n)
		end()
		c.line("barrier.cluster.arrive.release;\n\tbarrier.cluster.wait.acquire;")
		c.line("xor.b32 %s, %%rank, 1;", peer)
		end = c.leader()
		c.line("mov.b32 %s, tile;", from)
		c.line("mapa.shared::cluster.u32 %s, %s, %s;", to, from, peer)
		c.line("mapa.shared::cluster.u32 %s, %s, %s;", there, bar, peer)
		c.line("add.u32 %s, %s, %d;", from, from, n)
		c.line("%s [%s], [%s], %d, [%s];", opcode, to, from, n, there)
		end()
		c.wait(bar)
		c.line("barrier.cluster.arrive.release;\n\tbarrier.cluster.wait.acquire;")
		at := c.reg("b64")
		c.line("mul.wide.u32 %s, %%rank, %d;", at, n)
		c.line("add.u64 %%out, %%out, %s;", at)
		c.dump(n, copyThreads, 0)
		p.Out, p.Grid, p.Cluster = pattern(2*n), 2, 2
	}
	p.ID, p.body = opcode, c.text.String()
	return p
}

// normals returns n bytes of random floating-point numbers, most of them near one.
func normals(r source, kind string, n int) []byte {
	f := map[string]*eval.Format{"f64": eval.F64, "f32": eval.F32, "tf32": eval.TF32,
		"f16":  eval.F16,
		"bf16": eval.BF16, "e4m3": eval.E4M3, "e5m2": eval.E5M2}[kind]
	var b []byte
	for len(b) < n {
		x := f.Encode(r.NormFloat64(), eval.Nearest)
		for i := range f.Bits / 8 {
			b = append(b, byte(x>>(8*i)))
		}
	}
	return b[:n]
}
