// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package program

import (
	"fmt"
	"strings"
)

// Accesses returns programs that load and store every type, scalar and vector, in every state
// space.
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

// classes returns the register types into which a type can be loaded: those of its own width and
// wider ones.
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

// access returns a program in which 32 threads copy data through a state space.
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
		globals = fmt.Sprintf(".const .align 16 .b8 NAME_table[%d] = {%s};\n", 32*bytes,
			strings.Join(values, ", "))
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
	for i, r := range list { // stores the whole register, including the extension
		c.line("mad.wide.u32 %s, %%th, %d, %%out;", to, wide)
		c.line("st.global.b%d [%s+%d], %s;", 8*wide, to, (out+7)/8*8+i*32*wide, r)
	}
	out = (out+7)/8*8 + n*32*wide
	return Program{ID: id, Family: "ld, st", In: noise(random(id), 32*bytes+16), Out: pattern(out),
		body: c.text.String(), globals: globals}
}
