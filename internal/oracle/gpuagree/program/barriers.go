// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package program

import (
	"fmt"
	"strings"
)

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
					if strings.HasSuffix(op, "pred") {
						r := c.reg("pred")
						c.line("%s.%s %s, %d%s, %s;", head, op, r, bit, count, p)
						c.line("selp.b32 %s, 1, 0, %s;", d, r)
					} else {
						c.line("%s.%s %s, %d%s, %s;", head, op, d, bit, count, p)
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
