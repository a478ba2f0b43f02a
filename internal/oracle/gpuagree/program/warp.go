// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package program

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"strings"
)

// A warpProgram consists of several steps. In each step, some lanes execute one instruction
// together, the other lanes execute another instruction, and all lanes store their results.
type warpProgram struct {
	code
	r   *rand.Rand
	out int // bytes stored per thread so far
	x   string
}

const warpThreads = 64

// store emits a store of a 32-bit register by every thread.
func (w *warpProgram) store(reg string) {
	w.line("st.global.b32 [%%mine+%d], %s;", w.out*warpThreads, reg)
	w.out += 4
}

func newWarp(id string) *warpProgram {
	w := &warpProgram{r: random(id)}
	w.line(".reg .b64 %%mine;")
	w.line("mad.wide.u32 %%mine, %%th, 4, %%out;")
	w.x = w.reg("b32")
	w.line("mad.wide.u32 %%mine, %%th, 4, %%in;")
	w.line("ld.global.b32 %s, [%%mine];", w.x)
	w.line("mad.wide.u32 %%mine, %%th, 4, %%out;")
	return w
}

func (w *warpProgram) done(id, family string) Program {
	return Program{ID: id, Family: family, Block: warpThreads,
		In: noise(random(id+" in"), 4*warpThreads), Out: pattern(w.out * warpThreads),
		body: w.text.String()}
}

// split emits code that the lanes in mask execute, and other code for the remaining lanes.
func (w *warpProgram) split(mask uint32, then, otherwise func(mask uint32)) {
	p, bit := w.reg("pred"), w.reg("b32")
	other, end := w.label(), w.label()
	w.line("shr.b32 %s, %#x, %%ln;", bit, mask)
	w.line("and.b32 %s, %s, 1;", bit, bit)
	w.line("setp.eq.u32 %s, %s, 0;", p, bit)
	w.line("@%s bra %s;", p, other)
	if mask != 0 {
		then(mask)
	}
	w.line("bra %s;", end)
	w.line("%s:", other)
	if ^mask != 0 {
		otherwise(^mask)
	}
	w.line("%s:", end)
	w.line("bar.warp.sync 0xffffffff;")
}

// masks returns a random lane mask: all lanes, one lane, half of the lanes, or any lanes.
func masks(r *rand.Rand) uint32 {
	switch r.IntN(6) {
	case 0:
		return 0xffffffff
	case 1:
		return 1 << r.IntN(32)
	case 2:
		return 0xffff << (16 * r.IntN(2))
	case 3:
		return 0x55555555 << r.IntN(2)
	}
	return r.Uint32()
}

// Warps returns programs of warp instructions that diverged lanes execute.
func Warps() (all []Program) {
	add := func(id, family string, build func(w *warpProgram, mask uint32, d string)) {
		w := newWarp(id)
		for range 12 {
			d := w.reg("b32")
			w.line("mov.b32 %s, 0x7777;", d)
			run := func(mask uint32) { build(w, mask, d) }
			w.split(masks(w.r), run, run)
			w.store(d)
		}
		all = append(all, w.done(id, family))
	}
	predicate := func(w *warpProgram) string {
		p, bit := w.reg("pred"), w.reg("b32")
		w.line("shr.b32 %s, %s, %d;", bit, w.x, w.r.IntN(32))
		w.line("and.b32 %s, %s, 1;", bit, bit)
		w.line("setp.ne.u32 %s, %s, 0;", p, bit)
		return p
	}
	keep := func(w *warpProgram, d, p string) { w.line("selp.b32 %s, 1, 0, %s;", d, p) }
	for _, mode := range []string{"all", "any", "uni"} {
		for _, not := range []string{"", "!"} {
			add("vote.sync."+mode+".pred"+not, "vote", func(w *warpProgram, mask uint32, d string) {
				p, q := w.reg("pred"), predicate(w)
				w.line("vote.sync.%s.pred %s, %s%s, %#x;", mode, p, not, q, mask)
				keep(w, d, p)
			})
		}
	}
	add("vote.sync.ballot.b32", "vote", func(w *warpProgram, mask uint32, d string) {
		w.line("vote.sync.ballot.b32 %s, %s, %#x;", d, predicate(w), mask)
	})
	add("activemask.b32", "vote", func(w *warpProgram, mask uint32, d string) {
		w.line("bar.warp.sync %#x;", mask)
		w.line("activemask.b32 %s;", d)
	})
	for _, kind := range []string{"b32", "b64"} {
		for _, mode := range []string{"any", "all"} {
			add("match."+mode+".sync."+kind, "match", func(w *warpProgram, mask uint32, d string) {
				few := w.reg("b32")
				w.line("and.b32 %s, %s, %d;", few, w.x, w.r.IntN(4))
				value := few
				if kind == "b64" {
					value = w.reg("b64")
					w.line("mov.b64 %s, {7, %s};", value, few)
				}
				if mode == "any" {
					w.line("match.any.sync.%s %s, %s, %#x;", kind, d, value, mask)
					return
				}
				p, one := w.reg("pred"), w.reg("b32")
				w.line("match.all.sync.%s %s|%s, %s, %#x;", kind, d, p, value, mask)
				keep(w, one, p)
				w.line("xor.b32 %s, %s, %s;", d, d, one)
			})
		}
	}
	for _, op := range strings.Fields("add.u32 add.s32 min.u32 min.s32 max.u32 max.s32 " +
		"and.b32 or.b32 xor.b32") {
		base, kind, _ := strings.Cut(op, ".")
		opcode := "redux.sync." + base + "." + kind
		add(opcode, "redux", func(w *warpProgram, mask uint32, d string) {
			w.line("%s %s, %s, %#x;", opcode, d, w.x, mask)
		})
	}
	add("elect.sync", "elect", func(w *warpProgram, mask uint32, d string) {
		p, one := w.reg("pred"), w.reg("b32")
		w.line("elect.sync %s|%s, %#x;", d, p, mask)
		keep(w, one, p)
		w.line("mad.lo.u32 %s, %s, 64, %s;", d, d, one)
	})
	add("bar.warp.sync", "vote", func(w *warpProgram, mask uint32, d string) {
		// the lanes of a mask exchange values through shared memory
		at, to := w.reg("b32"), w.reg("b32")
		w.line("{\n\t.shared .align 4 .b8 cells[%d];", 4*warpThreads)
		w.line("mov.b32 %s, cells;", at)
		w.line("mad.lo.u32 %s, %%th, 4, %s;", at, at)
		w.line("st.shared.b32 [%s], %s;", at, w.x)
		w.line("bar.warp.sync %#x;", mask)
		low := 31 - bits.LeadingZeros32(mask)
		w.line("sub.u32 %s, %%th, %%ln;", to)
		w.line("add.u32 %s, %s, %d;", to, to, low)
		w.line("mov.b32 %s, cells;", at)
		w.line("mad.lo.u32 %s, %s, 4, %s;", at, to, at)
		w.line("ld.shared.b32 %s, [%s];\n\t}", d, at)
		w.line("bar.warp.sync %#x;", mask)
	})
	for _, mode := range []string{"up", "down", "bfly", "idx"} {
		for _, width := range []int{4, 8, 16, 32} {
			id := fmt.Sprintf("shfl.sync.%s.b32 width %d", mode, width)
			all = append(all, shuffle(id, mode, width))
		}
	}
	return all
}

// shuffle returns a program whose masks consist of whole segments of the given width, so that
// every source lane participates.
func shuffle(id, mode string, width int) Program {
	w := newWarp(id)
	for range 12 {
		d := w.reg("b32")
		w.line("mov.b32 %s, 0x7777;", d)
		var mask uint32
		for at := 0; at < 32; at += width {
			if w.r.IntN(3) > 0 {
				mask |= uint32(1<<width-1) << at
			}
		}
		clamp := 31
		if mode == "up" {
			clamp = 0
		}
		bound := (32-width)<<8 | clamp
		run := func(mask uint32) {
			by, p, one := w.reg("b32"), w.reg("pred"), w.reg("b32")
			if w.r.IntN(2) == 0 {
				w.line("mov.b32 %s, %d;", by, w.r.IntN(40))
			} else {
				w.line("shr.b32 %s, %s, %d;", by, w.x, w.r.IntN(28))
			}
			if mode == "bfly" { // the source lane is in the segment
				w.line("and.b32 %s, %s, %d;", by, by, width-1)
			}
			w.line("shfl.sync.%s.b32 %s|%s, %s, %s, %d, %#x;", mode, d, p, w.x, by, bound, mask)
			w.line("selp.b32 %s, 1, 0, %s;", one, p)
			w.line("xor.b32 %s, %s, %s;", d, d, one)
		}
		w.split(mask, run, run)
		w.store(d)
	}
	return w.done(id, "shfl")
}

// Flows returns programs of random nested branches and loops whose iteration counts differ
// between lanes.
func Flows() (all []Program) {
	for n := range 60 {
		id := fmt.Sprintf("control flow %d", n)
		w := newWarp(id)
		acc := w.reg("b32")
		w.line("mov.b32 %s, %s;", acc, w.x)
		w.tree(acc, 0)
		w.store(acc)
		all = append(all, w.done(id, "control flow"))
	}
	return all
}

// tree emits random statements, up to a maximum nesting depth.
func (w *warpProgram) tree(acc string, depth int) {
	for range 1 + w.r.IntN(3) {
		switch kind := w.r.IntN(7); {
		case depth > 3 || kind < 2:
			w.line("mad.lo.u32 %s, %s, %d, %d;", acc, acc, w.r.Uint32()|1, w.r.IntN(1000))
		case kind < 5:
			w.branch(acc, func() { w.tree(acc, depth+1) })
		case kind == 5:
			w.loop(acc, func() { w.tree(acc, depth+1) })
		default: // counts the active lanes, which shows where lanes reconverge
			q, m := w.reg("pred"), w.reg("b32")
			w.line("and.b32 %s, %s, %d;", m, acc, w.r.IntN(16))
			w.line("setp.gt.u32 %s, %s, 5;", q, m)
			w.line("@%s xor.b32 %s, %s, %d;", q, acc, acc, w.r.Uint32())
			w.line("@!%s shf.l.wrap.b32 %s, %s, %s, 5;", q, acc, acc, acc)
		}
	}
}

// branch emits a branch on random bits of acc, with code on both sides.
func (w *warpProgram) branch(acc string, side func()) {
	p, bit := w.reg("pred"), w.reg("b32")
	other, end := w.label(), w.label()
	w.line("bfe.u32 %s, %s, %d, %d;", bit, acc, w.r.IntN(28), 1+w.r.IntN(2))
	w.line("setp.eq.u32 %s, %s, 0;", p, bit)
	w.line("@%s bra %s;", p, other)
	side()
	w.line("bra %s;", end)
	w.line("%s:", other)
	side()
	w.line("%s:", end)
}

// loop emits a loop of at most seven iterations, which some lanes leave early.
func (w *warpProgram) loop(acc string, body func()) {
	p, n, bit := w.reg("pred"), w.reg("b32"), w.reg("b32")
	top, end := w.label(), w.label()
	w.line("bfe.u32 %s, %s, %d, 3;", n, acc, w.r.IntN(28))
	w.line("%s:", top)
	w.line("setp.eq.u32 %s, %s, 0;", p, n)
	w.line("@%s bra %s;", p, end)
	w.line("sub.u32 %s, %s, 1;", n, n)
	body()
	if w.r.IntN(2) == 0 {
		w.line("bfe.u32 %s, %s, %d, 3;", bit, acc, w.r.IntN(28))
		w.line("setp.eq.u32 %s, %s, 1;", p, bit)
		w.line("@%s bra %s;", p, end)
	}
	w.line("bra %s;", top)
	w.line("%s:", end)
}
