// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package program

import (
	"fmt"
)

// Mbarriers returns programs in which one thread executes random operations on an mbarrier and
// stores the observed state after each of them.
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
					continue // the phase is still waiting for bytes
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
			if len(states) > 0 { // test whether the phase of the last arrival has completed
				c.line("mbarrier.test_wait.shared::cta.b64 %s, [%s], %s;", p, at,
					states[len(states)-1])
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
