// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package passes_test

import (
	"fmt"
	"maps"
	"slices"
)

func (a *author) statements(n int) {
	for range n {
		a.statement()
	}
}

// statement emits one instruction, or a few related ones.
func (a *author) statement() {
	width, letter := "32", byte('r')
	if a.roll(3) == 0 {
		width, letter = "64", 'd'
	}
	x := func() string { return a.operand(letter) }
	word := func() string { return a.operand('r') }
	switch a.roll(24) {
	case 0, 1:
		a.write(letter, "mov."+a.one("b", "u", "s")+width, numbers[a.roll(len(numbers))])
	case 2:
		a.write(letter,
			a.one("add", "sub", "mul.lo", "mul.hi", "min", "max")+a.one(".u", ".s")+width,
			x()+", "+x())
	case 3:
		a.write(letter, a.one("and.b", "or.b", "xor.b")+width, x()+", "+x())
	case 4:
		a.write(letter, a.one("shl.b", "shr.b", "shr.s", "shr.u")+width, x()+", "+word())
	case 5:
		a.write('r', a.one("add.sat.s32", "sub.sat.s32", "min.relu.s32", "max.relu.s32"),
			word()+", "+word())
	case 6:
		a.write(letter, a.one("neg.s", "not.b")+width, x())
	case 7:
		a.write('d', a.one("mul.wide.u32", "mul.wide.s32"), word()+", "+word())
	case 8:
		a.write(letter, a.one("mad.lo.u", "mad.lo.s", "mad.hi.u")+width, x()+", "+x()+", "+x())
	case 9:
		a.carries(width, letter)
	case 10, 11:
		a.comparison(width, letter)
	case 12:
		a.write(letter, "selp.b"+width, x()+", "+x()+", "+a.some('p'))
	case 13:
		a.conversion()
	case 14:
		a.line("mov.b64 {%s, %s}, %s;", a.fresh('r'), a.one("_", a.fresh('r')), a.some('d'))
		a.write('d', "mov.b64", "{"+a.some('r')+", "+a.some('r')+"}")
	case 15, 16:
		a.address()
	case 17:
		a.write('r', "mov.u32", a.one("%tid.x", "%clock", "%ctaid.x", "%laneid", "%clock"))
	case 18:
		a.event()
	case 19, 20:
		a.again()
	case 21:
		a.show(letter, a.some(letter))
	default:
		a.control()
	}
}

// carries emits a chain of additions with carry, sometimes followed by a second one that differs
// only in its lowest words.
func (a *author) carries(width string, letter byte) {
	op := a.one("add", "sub", "mad.lo")
	links := 2 + a.roll(2)
	x, y, z := a.some(letter), a.some(letter), a.some(letter)
	for range 1 + a.roll(2) {
		low := a.some(letter)
		for i := range links {
			x := x
			if i == 0 {
				x = low
			}
			name, cc := op, ".cc"
			if i > 0 {
				name = map[string]string{"add": "addc", "sub": "subc", "mad.lo": "madc.hi"}[op]
			}
			if i == links-1 {
				cc = ""
			}
			rest := x + ", " + y
			if op == "mad.lo" {
				rest += ", " + z
			}
			a.line("%s%s.u%s %s, %s;", name, cc, width, a.fresh(letter), rest)
		}
	}
}

func (a *author) comparison(width string, letter byte) {
	how, kind := a.one("eq", "ne", "lt", "le", "gt", "ge"), a.one("u", "s")
	to := a.fresh('p')
	if a.roll(3) == 0 {
		to += "|" + a.fresh('p')
	}
	x, y := a.some(letter), a.operand(letter)
	if a.roll(3) > 0 {
		a.line("setp.%s.%s%s %s, %s, %s;", how, kind, width, to, x, y)
		return
	}
	a.line("setp.%s.%s.%s%s %s, %s, %s, %s%s;", how, a.one("and", "or", "xor"), kind, width, to, x,
		y, a.one("", "!"), a.scope['p'][0])
}

// conversion emits a conversion between widths. If the result is narrower than its register, it is
// zero-extended or sign-extended.
func (a *author) conversion() {
	switch a.roll(8) {
	case 0:
		a.write('r', a.one("cvt.u32.u16", "cvt.s32.s16"), a.some('s'))
	case 1:
		a.write('d', a.one("cvt.u64.u32", "cvt.s64.s32"), a.some('r'))
	case 2:
		a.write('r', "cvt.u32.u64", a.some('d'))
	case 3:
		a.write('s', "cvt.u16.u32", a.some('r'))
	case 4:
		a.write('r', a.one("cvt.u32.u8", "cvt.s32.s8"), a.some('r'))
	case 5:
		a.write('s', a.one("add.u16", "sub.s16", "mul.lo.s16", "min.s16", "max.u16"),
			a.some('s')+", "+a.operand('s'))
	case 6:
		a.write('s', a.one("mov.b16", "mov.u16"), numbers[a.roll(len(numbers))])
	default:
		a.write('s', a.one("shl.b16", "shr.s16", "shr.u16"), a.some('s')+", "+a.operand('r'))
	}
}

// address emits additions that may be folded into the addresses of later memory accesses.
func (a *author) address() {
	if a.roll(4) == 0 {
		at := a.fresh('r')
		a.line("and.b32 %s, %s, 0xffc;", at, a.some('r'))
		sum := a.fresh('r')
		a.line("add.s32 %s, %s, %s;", sum, at, a.one("4", "16", "-64", "0x7ffffffc"))
		a.line("st.shared.b32 [%s%s], %s;", sum, a.one("", "+8", "+-8"), a.some('r'))
		return
	}
	base := a.some('d')
	if a.roll(2) == 0 {
		product := a.fresh('d')
		index := a.some('r')
		a.line("mul.wide.%s %s, %s, %s;", a.one("u32", "s32"), product, index,
			a.one("4", "-4", "12"))
		if a.roll(4) == 0 {
			a.line("add.u32 %s, %s, 1;", index, index)
		}
		sum := a.fresh('d')
		a.line("add.s64 %s, %s;", sum, a.one(base+", "+product, product+", "+base))
		base = sum
	}
	for range 1 + a.roll(3) {
		sum := a.some('d')
		if a.roll(5) > 0 {
			sum = a.fresh('d')
		}
		a.line("%sadd.%s %s, %s, %s;", a.one("", "", a.guard()), a.one("s64", "u64"), sum, base,
			a.one("4", "16", "-64", "0x7ffff8", "0x800000", "0x7ffffffffffffff8"))
		base = sum
		switch a.roll(5) {
		case 0:
			a.line("ld.global.b32 %s, [%s];", a.fresh('r'), base)
		case 1:
			a.line("ld.volatile.global.b32 %s, [%s+%d];", a.fresh('r'), base, 4*a.roll(3))
		case 2:
			a.line("st.global.v2.b32 [%s+%d], {%s, %s};", base, 8*a.roll(3), a.some('r'),
				a.some('r'))
		case 3:
			a.line("atom.global.add.u32 %s, [%s], %s;", a.fresh('r'), base, a.some('r'))
		default:
			a.line("st.global.b64 [%s], %s;", base, a.some('d'))
		}
	}
}

// event emits an instruction with a visible effect.
func (a *author) event() {
	switch a.roll(6) {
	case 0:
		a.line("activemask.b32 %s;", a.fresh('r'))
	case 1:
		x := a.some('r')
		a.line("shfl.sync.bfly.b32 %s|%s, %s, 1, 31, -1;", a.fresh('r'), a.fresh('p'), x)
	case 2:
		x := a.some('p')
		a.line("vote.sync.ballot.b32 %s, %s, -1;", a.fresh('r'), x)
	case 3:
		a.line("elect.sync _|%s, -1;", a.fresh('p'))
	case 4:
		a.line("bar.sync 0;")
	default:
		x, y := a.some('d'), a.some('r')
		a.line("atom.global.exch.b32 %s, [%s], %s;", a.one("_", a.fresh('r')), x, y)
	}
}

// again emits an earlier instruction again, if its operands still have values.
func (a *author) again() {
	if len(a.past) == 0 {
		return
	}
	r := a.past[max(0, len(a.past)-1-a.roll(8))]
	for _, name := range r.reads {
		if !slices.ContainsFunc([]byte("rdsp"), func(letter byte) bool {
			return slices.Contains(a.scope[letter], name)
		}) {
			return
		}
	}
	a.line("%s %s, %s;", r.op, a.fresh(r.letter), r.rest)
}

// control emits a conditional, a loop, a loop with two entries, or unreachable code.
func (a *author) control() {
	if a.depth == 3 {
		return
	}
	a.depth++
	a.labels++
	n := a.labels
	outer := maps.Clone(a.scope)
	for letter := range outer {
		outer[letter] = slices.Clip(outer[letter])
	}
	leave := func() { a.scope = maps.Clone(outer) }
	switch a.roll(5) {
	case 0:
		a.line("%sbra ELSE%d;", a.guard(), n)
		a.statements(1 + a.roll(4))
		leave()
		a.line("bra END%d;", n)
		fmt.Fprintf(&a.body, "ELSE%d:\n", n)
		a.statements(1 + a.roll(4))
		leave()
		fmt.Fprintf(&a.body, "END%d:\n", n)
	case 1:
		a.line("%sbra END%d;", a.guard(), n)
		a.statements(1 + a.roll(4))
		leave()
		fmt.Fprintf(&a.body, "END%d:\n", n)
	case 2:
		fmt.Fprintf(&a.body, "LOOP%d:\n", n)
		a.statements(1 + a.roll(5))
		a.line("%sbra LOOP%d;", a.guard(), n)
	case 3:
		a.line("bra END%d;", n)
		a.statements(1 + a.roll(4))
		leave()
		fmt.Fprintf(&a.body, "END%d:\n", n)
	default:
		a.line("%sbra IN%d;", a.guard(), n)
		fmt.Fprintf(&a.body, "LOOP%d:\n", n)
		a.statements(1 + a.roll(4))
		leave()
		fmt.Fprintf(&a.body, "IN%d:\n", n)
		a.statements(1 + a.roll(4))
		a.line("%sbra LOOP%d;", a.guard(), n)
	}
	a.depth--
}
