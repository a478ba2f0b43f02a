// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package program

// dump emits code in which all threads of the block copy n bytes of the shared array tile to the
// output, at byte offset at.
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

// fill emits code in which all threads of the block copy n bytes of the input, from byte offset
// at on, to the shared array tile. It ends with the fence and barrier that asynchronous copies
// need.
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

// leader emits the beginning of code that only thread 0 executes. The function that it returns
// emits the end.
func (c *code) leader() (end func()) {
	p, after := c.reg("pred"), c.label()
	c.line("setp.ne.u32 %s, %%th, 0;", p)
	c.line("@%s bra %s;", p, after)
	return func() { c.line("%s:", after) }
}
