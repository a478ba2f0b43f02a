// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package op

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/isa"
)

// PTX starts the instructions of one kernel. Each method starts an instruction, the methods of its
// result add modifiers, and Do appends the instruction to the kernel.
type PTX struct{ b *book }

// On returns the instructions for k. For the body of a device function f, pass f.Kernel.
func On(k *dsl.Kernel) PTX { return PTX{&book{k: k, first: make(map[int]*ins)}} }

// A book caches the instructions that a PTX has started, so that each opcode is spelled only once.
type book struct {
	k     *dsl.Kernel
	first map[int]*ins // instructions without modifiers, by index in the table
}

// An instruction is a name of the table, with the modifiers that all of its forms have.
type instruction struct {
	name  string
	fixed []string
}

// An ins is an instruction with the modifiers added so far. It is immutable: adding a modifier
// returns another ins.
type ins struct {
	b      *book
	number int    // index in the table
	words  string // the modifiers, in the author's order
	op     string // the full opcode; "" until it is needed
	last   string // the modifier that was added last
	next   []*ins // results of adding one more modifier
}

// begin returns the instruction with an index in the table.
func (p PTX) begin(number int) *ins {
	if p.b == nil {
		return nil
	}
	i := p.b.first[number]
	if i == nil {
		i = &ins{b: p.b, number: number}
		p.b.first[number] = i
	}
	return i
}

// with returns i with one more modifier, given with its dot.
func (i *ins) with(word string) *ins {
	if i == nil {
		return nil
	}
	for _, n := range i.next {
		if n.last == word {
			return n
		}
	}
	n := &ins{b: i.b, number: i.number, words: i.words + word, last: word}
	i.next = append(i.next, n)
	return n
}

// also returns i with modifiers that are computed in Go.
func (i *ins) also(words []dsl.Mod) *ins {
	for _, w := range words {
		i = i.with("." + strings.TrimPrefix(string(w), "."))
	}
	return i
}

// shape returns i with the shape of a matrix multiplication.
func (i *ins) shape(m, n, k int) *ins { return i.with(fmt.Sprintf(".m%dn%dk%d", m, n, k)) }

// do appends the instruction. A zero PTX has no kernel, so its instructions are dropped.
func (i *ins) do(operands ...any) {
	if i == nil || i.b.k == nil {
		return
	}
	if i.op == "" {
		i.op = i.spell()
	}
	i.b.k.Ins(i.op, operands...)
}

// spell returns the opcode, with the modifiers that every form has, in the manual's order. If no
// form has these modifiers, they keep the author's order, and the kernel reports the mistake.
func (i *ins) spell() string {
	entry := &table[i.number]
	written := strings.Split(i.words, ".")
	var b strings.Builder
	b.WriteString(entry.name)
	for _, word := range entry.fixed {
		if !slices.Contains(written, word[1:]) {
			b.WriteString(word)
		}
	}
	b.WriteString(i.words)
	op, _ := isa.Canonical(b.String())
	return op
}
