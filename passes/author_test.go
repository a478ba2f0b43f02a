// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package passes_test

import (
	"fmt"
	"slices"
	"strings"
)

// An author generates kernels from a sequence of bytes, with constructs that are hard for passes:
// loops with one or two entries, guarded instructions, and repetitions of earlier instructions.
type author struct {
	dice   []byte
	body   strings.Builder
	scope  scope // registers that are written on every path to this point
	count  map[string]int
	labels int
	depth  int
	past   []recipe
}

// A scope lists the registers that may be read, by prefix: r, d (64 bits), s (16 bits), p.
type scope map[byte][]string

// A recipe is an emitted instruction that may be emitted again.
type recipe struct {
	letter byte
	op     string
	rest   string
	reads  []string
}

var stems = map[byte]string{'r': "%r", 'd': "%rd", 's': "%rs", 'p': "%p"}

// numbers are constants at the limits of the widths.
var numbers = []string{
	"0", "1", "-1", "2", "3", "4", "7", "8", "16", "31", "32", "33", "63", "64", "65", "255",
	"-128", "65535", "-32768", "0x7fffffff", "0x80000000", "-2147483648",
	"0xffffffff", "0x100000000", "0x1ffffffff", "0x7fffffffffffffff", "0x8000000000000000", "-16",
	"4096", "8388607", "8388608", "-8388608",
}

// kernel generates a kernel.
func kernel(dice []byte) string {
	a := &author{dice: dice, scope: make(scope), count: make(map[string]int)}
	for i := range 3 {
		a.line("ld.param.u32 %s, [n%d];", a.fresh('r'), i)
		a.line("ld.param.u64 %s, [a%d];", a.fresh('d'), i)
	}
	a.line("ld.param.u16 %s, [h];", a.fresh('s'))
	a.line("setp.lt.s32 %s, %s, %s;", a.fresh('p'), a.scope['r'][0], a.scope['r'][1])
	a.statements(4 + a.roll(12))
	for _, letter := range []byte("rdsp") {
		for _, name := range a.scope[letter] {
			if a.roll(2) > 0 {
				a.show(letter, name)
			}
		}
	}
	var b strings.Builder
	b.WriteString(`.version 8.6
.target sm_100a
.address_size 64
.shared .align 8 .b8 room[4096];
.global .align 8 .b8 hall[4096];
.visible .entry k(.param .u32 n0, .param .u32 n1, .param .u32 n2, .param .u64 a0, .param .u64 a1, .param .u64 a2, .param .u16 h)
{
`)
	for _, letter := range []byte("rdsp") {
		kind := map[byte]string{'r': ".b32", 'd': ".b64", 's': ".b16", 'p': ".pred"}[letter]
		fmt.Fprintf(&b, "\t.reg %s %s<%d>;\n", kind, stems[letter], a.count[stems[letter]]+1)
	}
	b.WriteString(a.body.String())
	b.WriteString("\tret;\n}\n")
	return b.String()
}

// roll returns the next byte modulo n, or zero at the end of the bytes.
func (a *author) roll(n int) int {
	if len(a.dice) == 0 {
		return 0
	}
	v := int(a.dice[0])
	a.dice = a.dice[1:]
	return v % n
}

func (a *author) one(list ...string) string { return list[a.roll(len(list))] }

func (a *author) line(format string, args ...any) {
	fmt.Fprintf(&a.body, "\t"+format+"\n", args...)
}

// fresh returns an unused register.
func (a *author) fresh(letter byte) string {
	stem := stems[letter]
	a.count[stem]++
	name := fmt.Sprintf("%s%d", stem, a.count[stem])
	a.scope[letter] = append(a.scope[letter], name)
	return name
}

// some returns a register that has a value.
func (a *author) some(letter byte) string {
	list := a.scope[letter]
	// Recently written registers are preferred.
	return list[max(0, len(list)-1-a.roll(1+len(list)))]
}

// operand returns a register or a number.
func (a *author) operand(letter byte) string {
	if a.roll(5) < 2 {
		return numbers[a.roll(len(numbers))]
	}
	return a.some(letter)
}

// write emits an instruction whose result goes to a new register or to an existing one, sometimes
// with a guard.
func (a *author) write(letter byte, op, rest string) {
	a.past = append(a.past, recipe{letter, op, rest, a.read(rest)})
	switch {
	case a.roll(4) > 0:
		to := a.fresh(letter)
		a.line("%s %s, %s;", op, to, rest)
	case a.roll(2) == 0:
		a.line("%s%s %s, %s;", a.guard(), op, a.some(letter), rest)
	default:
		a.line("%s %s, %s;", op, a.some(letter), rest)
	}
}

// read returns the registers in a text.
func (a *author) read(rest string) []string {
	return slices.DeleteFunc(
		strings.FieldsFunc(rest, func(r rune) bool { return strings.ContainsRune(" ,{}[]!+", r) }),
		func(word string) bool {
			return word[0] != '%' || strings.Contains(word, ".") || word == "%clock"
		})
}

func (a *author) guard() string {
	if a.roll(2) == 0 {
		return "@!" + a.some('p') + " "
	}
	return "@" + a.some('p') + " "
}

// show emits a store of a register, which makes its value visible.
func (a *author) show(letter byte, name string) {
	switch letter {
	case 'r':
		a.line("st.global.b32 [hall+%d], %s;", 4*a.roll(64), name)
	case 'd':
		a.line("st.global.b64 [hall+%d], %s;", 8*a.roll(64), name)
	case 's':
		a.line("st.global.b16 [hall+%d], %s;", 2*a.roll(64), name)
	case 'p':
		a.line("@%s st.global.b32 [hall], %d;", name, a.roll(256))
	}
}
