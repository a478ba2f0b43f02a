// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package program

import (
	"fmt"
	"strings"
)

// Matrices returns programs of ldmatrix, stmatrix, movmatrix and wmma.
func Matrices() (all []Program) {
	for _, trans := range []string{"", ".trans"} {
		for _, n := range []int{1, 2, 4} {
			all = append(all, loadMatrix(n, trans), storeMatrix(n, trans))
		}
	}
	all = append(all, moveMatrix())
	for _, a := range []string{"row", "col"} {
		for _, b := range []string{"row", "col"} {
			for _, cd := range []string{"row", "col"} {
				for _, w := range wmmas {
					if w.fixed && (a != "row" || b != "col") {
						continue
					}
					all = append(all, w.program(a, b, cd))
				}
			}
		}
	}
	return all
}

func (c *code) registers(n int, class string) []string {
	list := make([]string, n)
	for i := range list {
		list[i] = c.reg(class)
	}
	return list
}

func group(list []string) string { return "{" + strings.Join(list, ", ") + "}" }

// rows emits the computation of the address that each lane passes to ldmatrix. The rows are in a
// permuted order.
func (c *code) rows(at string) {
	c.line("mul.lo.u32 %s, %%ln, 21;", at)
	c.line("and.b32 %s, %s, 31;", at, at)
	t := c.reg("b32")
	c.line("mov.b32 %s, tile;", t)
	c.line("mad.lo.u32 %s, %s, 16, %s;", at, at, t)
}

func (c *code) storeAll(regs []string, class string, threads int) {
	var bits int
	fmt.Sscanf(class[1:], "%d", &bits)
	to := c.reg("b64")
	c.line("mad.wide.u32 %s, %%th, %d, %%out;", to, bits/8)
	for i, r := range regs {
		c.line("st.global.%s [%s+%d], %s;", class, to, i*threads*bits/8, r)
	}
}

func loadMatrix(n int, trans string) Program {
	id := fmt.Sprintf("ldmatrix.sync.aligned.m8n8.x%d%s.shared.b16", n, trans)
	c := &code{}
	c.line(".shared .align 16 .b8 tile[512];")
	c.fill(512, 32, 0)
	at := c.reg("b32")
	c.rows(at)
	d := c.registers(n, "b32")
	c.line("%s %s, [%s];", id, group(d), at)
	c.storeAll(d, "b32", 32)
	return Program{ID: id, Family: "ldmatrix", In: noise(random(id), 512), Out: pattern(128 * n),
		body: c.text.String()}
}

func storeMatrix(n int, trans string) Program {
	id := fmt.Sprintf("stmatrix.sync.aligned.m8n8.x%d%s.shared.b16", n, trans)
	c := &code{}
	c.line(".shared .align 16 .b8 tile[512];")
	c.fill(512, 32, 0)
	at, from := c.reg("b32"), c.reg("b64")
	c.rows(at)
	d := c.registers(n, "b32")
	c.line("mad.wide.u32 %s, %%th, 4, %%in;", from)
	for i, r := range d {
		c.line("ld.global.b32 %s, [%s+%d];", r, from, 512+128*i)
	}
	c.line("%s [%s], %s;", id, at, group(d))
	c.dump(512, 32, 0)
	return Program{ID: id, Family: "ldmatrix", In: noise(random(id), 1024), Out: pattern(512),
		body: c.text.String()}
}

func moveMatrix() Program {
	id := "movmatrix.sync.aligned.m8n8.trans.b16"
	c := &code{}
	from, x, d := c.reg("b64"), c.reg("b32"), c.reg("b32")
	c.line("mad.wide.u32 %s, %%th, 4, %%in;", from)
	c.line("ld.global.b32 %s, [%s];", x, from)
	c.line("%s %s, %s;", id, d, x)
	c.storeAll([]string{d}, "b32", 32)
	return Program{ID: id, Family: "ldmatrix", In: noise(random(id), 128), Out: pattern(128),
		body: c.text.String()}
}

// A wmma is a shape and operation of wmma, with the types of its fragments and their register
// counts.
type wmma struct {
	shape, op, a, b, c, d string
	na, nb, nc, nd        int
	fixed                 bool // A must be row-major and B column-major
}

var wmmas = append(halfShapes(), []wmma{
	{"m16n16k16", "", "bf16", "bf16", "f32", "f32", 4, 4, 8, 8, false},
	{"m8n32k16", "", "bf16", "bf16", "f32", "f32", 2, 8, 8, 8, false},
	{"m32n8k16", "", "bf16", "bf16", "f32", "f32", 8, 2, 8, 8, false},
	{"m16n16k8", "", "tf32", "tf32", "f32", "f32", 4, 4, 8, 8, false},
	{"m8n8k4", "", "f64", "f64", "f64", "f64", 1, 1, 2, 2, false},
	{"m16n16k16", "", "s8", "s8", "s32", "s32", 2, 2, 8, 8, false},
	{"m16n16k16", "", "u8", "u8", "s32", "s32", 2, 2, 8, 8, false},
	{"m8n32k16", "", "s8", "s8", "s32", "s32", 1, 4, 8, 8, false},
	{"m32n8k16", "", "u8", "u8", "s32", "s32", 4, 1, 8, 8, false},
	{"m16n16k16", "satfinite", "s8", "s8", "s32", "s32", 2, 2, 8, 8, false},
	{"m8n8k32", "", "s4", "s4", "s32", "s32", 1, 1, 2, 2, true},
	{"m8n8k32", "", "u4", "u4", "s32", "s32", 1, 1, 2, 2, true},
	{"m8n8k32", "satfinite", "s4", "s4", "s32", "s32", 1, 1, 2, 2, true},
	{"m8n8k128", "xor.popc", "b1", "b1", "s32", "s32", 1, 1, 2, 2, true},
	{"m8n8k128", "and.popc", "b1", "b1", "s32", "s32", 1, 1, 2, 2, true},
}...)

func halfShapes() (all []wmma) {
	for _, shape := range []string{"m16n16k16", "m8n32k16", "m32n8k16"} {
		for _, c := range []string{"f16", "f32"} {
			for _, d := range []string{"f16", "f32"} {
				n := map[string]int{"f16": 4, "f32": 8}
				all = append(all, wmma{shape, "", "f16", "f16", c, d, 8, 8, n[c], n[d], false})
			}
		}
	}
	return all
}

// elementBits returns the width of an element in memory.
func elementBits(kind string) int {
	switch kind {
	case "b1":
		return 1
	case "s4", "u4":
		return 4
	}
	return 8 * mapTypeBytes(kind)
}

func (w wmma) program(la, lb, lcd string) Program {
	var m, n, k int
	fmt.Sscanf(w.shape, "m%dn%dk%d", &m, &n, &k)
	id := strings.Join([]string{"wmma", w.shape, w.op, la, lb, lcd, w.d, w.a, w.b, w.c}, " ")
	ldm := func(layout string, rows, cols int) int {
		if layout == "row" {
			return cols
		}
		return rows
	}
	class := func(kind string) string {
		if kind == "f64" || kind == "f32" || kind == "s32" {
			return map[string]string{"f64": "f64", "f32": "f32", "s32": "b32"}[kind]
		}
		return "b32"
	}
	bytes := func(kind string, rows, cols int) int { return rows * cols * elementBits(kind) / 8 }
	sa, sb, sc := bytes(w.a, m, k), bytes(w.b, k, n), bytes(w.c, m, n)
	round := func(n int) int { return (n + 127) / 128 * 128 }
	c := &code{}
	load := func(which, layout, kind string, at, regs, stride int) []string {
		list := c.registers(regs, class(kind))
		from := c.reg("b64")
		c.line("add.u64 %s, %%in, %d;", from, at)
		c.line("wmma.load.%s.sync.aligned.%s.%s.global.%s %s, [%s], %d;", which, layout, w.shape,
			kind,
			group(list), from, stride)
		return list
	}
	a := load("a", la, w.a, 0, w.na, ldm(la, m, k))
	b := load("b", lb, w.b, round(sa), w.nb, ldm(lb, k, n))
	x := load("c", lcd, w.c, round(sa)+round(sb), w.nc, ldm(lcd, m, n))
	d := c.registers(w.nd, class(w.d))
	var opcode string
	switch {
	case w.a == "f16":
		opcode = fmt.Sprintf("wmma.mma.sync.aligned.%s.%s.%s.%s.%s", la, lb, w.shape, w.d, w.c)
	case w.a == "b1":
		opcode = fmt.Sprintf("wmma.mma.%s.sync.aligned.row.col.%s.s32.b1.b1.s32", w.op, w.shape)
	default:
		rn := ""
		if w.a == "f64" {
			rn = ".rn"
		}
		opcode = fmt.Sprintf("wmma.mma.sync.aligned.%s.%s.%s%s.%s.%s.%s.%s",
			la, lb, w.shape, rn, w.d, w.a, w.b, w.c)
		if w.op != "" {
			opcode += "." + w.op
		}
	}
	c.line("%s %s, %s, %s, %s;", opcode, group(d), group(a), group(b), group(x))
	c.line("wmma.store.d.sync.aligned.%s.%s.global.%s [%%out], %s, %d;", lcd, w.shape, w.d,
		group(d),
		ldm(lcd, m, n))
	r := random(id)
	in := make([]byte, round(sa)+round(sb)+round(sc))
	copy(in, operand(r, w.a, sa))
	copy(in[round(sa):], operand(r, w.b, sb))
	copy(in[round(sa)+round(sb):], operand(r, w.c, sc))
	return Program{ID: id, Family: "wmma", In: in, Out: pattern(bytes(w.d, m, n)),
		body: c.text.String()}
}

// operand returns n bytes of random elements of moderate size.
func operand(r source, kind string, n int) []byte {
	switch kind {
	case "b1", "s4", "u4", "s8", "u8", "b8":
		return noise8(r, n)
	case "s32":
		return numbers(r, kind, n)
	}
	return normals(r, kind, n)
}

func noise8(r source, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uint64())
	}
	return b
}

// A warpgroup is a wgmma of one shape, with the layouts of its operands in shared memory.
type warpgroup struct {
	n          int
	d, a, b    string
	k          int
	swizzle    int // bytes, or 0
	ta, tb     int // 1 if the operand is transposed
	registers  bool
	na, nb, sd int // negate A, negate B, and accumulate onto D
}

// Warpgroups returns programs of wgmma that cover every column count, swizzle and layout.
func Warpgroups() (all []Program) {
	for n := 16; n <= 248; n += 8 {
		if n == 24 || n == 64 || n == 96 {
			continue
		}
		g := warpgroup{n: n, d: "f32", a: "bf16", b: "bf16", k: 16, swizzle: 128, sd: 1}
		all = append(all, g.program())
	}
	for _, kind := range [][4]string{{"f32", "f16", "f16", "16"}, {"f16", "f16", "f16", "16"},
		{"f32", "bf16", "bf16", "16"}, {"f32", "tf32", "tf32", "8"}, {"f32", "e4m3", "e5m2", "32"},
		{"f16", "e5m2", "e4m3", "32"}, {"s32", "s8", "u8", "32"}, {"s32", "u8", "u8", "32"}} {
		var k int
		fmt.Sscan(kind[3], &k)
		half := kind[3] == "16"
		for _, n := range []int{8, 24, 64, 96, 256} {
			if kind[0] == "s32" && n == 24 {
				n = 32
			}
			for _, swizzle := range []int{0, 32, 64, 128} {
				g := warpgroup{n: n, d: kind[0], a: kind[1], b: kind[2], k: k, swizzle: swizzle,
					sd: 1}
				all = append(all, g.program())
				g.registers = true
				all = append(all, g.program())
				g.registers = false
				if !half || n == 96 {
					continue
				}
				for t := 1; t < 4; t++ {
					g.ta, g.tb = t&1, t>>1
					g.na, g.sd = t&1, t>>1
					all = append(all, g.program())
				}
			}
		}
	}
	return all
}

// String returns a text that identifies the configuration.
func (g warpgroup) String() string {
	return fmt.Sprintf("wgmma m64n%dk%d %s %s %s swizzle %d transposed %d %d registers %v "+
		"negated %d %d add %d",
		g.n, g.k, g.d, g.a, g.b, g.swizzle, g.ta, g.tb, g.registers, g.na, g.nb, g.sd)
}

// descriptor returns a shared-memory matrix descriptor without the start address.
func (g warpgroup) descriptor(transposed int) uint64 {
	mode := map[int]uint64{0: 0, 128: 1, 64: 2, 32: 3}[g.swizzle]
	leading, stride := 128, 256
	switch {
	case g.swizzle != 0 && transposed == 0:
		leading, stride = 16, 8*g.swizzle
	case g.swizzle != 0:
		leading, stride = 16*g.swizzle, 8*g.swizzle
	case transposed == 1:
		leading, stride = 256, 128
	}
	return mode<<62 | uint64(stride>>4)<<32 | uint64(leading>>4)<<16
}

func (g warpgroup) program() Program {
	const threads, tileA, tileB = 128, 8192, 32768
	c := &code{}
	c.line(".shared .align 1024 .b8 tile[%d];", tileA+tileB)
	c.fill(tileA+tileB, threads, 0)
	da, db, base := c.reg("b64"), c.reg("b64"), c.reg("b32")
	set := func(d string, at, transposed int) {
		c.line("mov.b32 %s, tile;", base)
		c.line("add.u32 %s, %s, %d;", base, base, at)
		c.line("bfe.u32 %s, %s, 4, 14;", base, base)
		c.line("cvt.u64.u32 %s, %s;", d, base)
		c.line("or.b64 %s, %s, %#x;", d, d, g.descriptor(transposed))
	}
	set(da, 0, g.ta)
	set(db, tileA, g.tb)
	nd := g.n / 2
	if g.d == "f16" {
		nd = g.n / 4
	}
	from := c.reg("b64")
	c.line("mad.wide.u32 %s, %%th, 4, %%in;", from)
	accumulators := tileA + tileB
	d := c.registers(nd, "b32")
	for i, r := range d {
		c.line("ld.global.b32 %s, [%s+%d];", r, from, accumulators+4*threads*i)
	}
	a := da
	if g.registers {
		list := c.registers(4, "b32")
		for i, r := range list {
			c.line("ld.global.b32 %s, [%s+%d];", r, from, 4*threads*i)
		}
		a = group(list)
	}
	p := c.reg("pred")
	c.line("setp.eq.u32 %s, 1, %d;", p, g.sd)
	opcode := fmt.Sprintf("wgmma.mma_async.sync.aligned.m64n%dk%d.%s.%s.%s", g.n, g.k, g.d, g.a,
		g.b)
	args := []string{group(d), a, db, p}
	if g.d != "s32" {
		args = append(args, fmt.Sprint(1-2*g.na), fmt.Sprint(1-2*g.nb))
	}
	if g.k == 16 {
		if !g.registers {
			args = append(args, fmt.Sprint(g.ta))
		}
		args = append(args, fmt.Sprint(g.tb))
	}
	c.line("wgmma.fence.sync.aligned;")
	c.line("%s %s;", opcode, strings.Join(args, ", "))
	c.line("wgmma.commit_group.sync.aligned;")
	c.line("wgmma.wait_group.sync.aligned 0;")
	c.storeAll(d, "b32", threads)
	id := g.String()
	r := random(id)
	in := make([]byte, accumulators+4*threads*nd)
	copy(in, operand(r, g.a, tileA))
	copy(in[tileA:], operand(r, g.b, tileB))
	copy(in[accumulators:], operand(r, g.d, 4*threads*nd))
	return Program{ID: id, Family: "wgmma", Block: threads, In: in, Out: pattern(4 * threads * nd),
		body: c.text.String()}
}
