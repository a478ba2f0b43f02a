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

// PTX has a method for each instruction that can be appended to a kernel. The method returns the
// instruction without modifiers, the methods of its result add modifiers, and Do appends the
// instruction to the kernel.
type PTX struct{ cache *instructionCache }

// On returns the instructions for k. For the body of a device function f, pass f.Kernel.
func On(k *dsl.Kernel) PTX { return PTX{&instructionCache{k: k, bare: make(map[int]*ins)}} }

// An instructionCache holds the instructions that a PTX has returned, so that the text of each
// opcode is built only once.
type instructionCache struct {
	k    *dsl.Kernel
	bare map[int]*ins // instructions without modifiers, by index in the table
}

// An instruction is an entry of the generated table: an instruction name, with the modifiers that
// all of its forms have.
type instruction struct {
	name  string
	fixed []string
}

// An ins is an instruction with the modifiers that have been added to it. It is immutable: adding
// a modifier returns another ins.
type ins struct {
	cache  *instructionCache
	number int    // index in the table
	mods   string // the modifiers, in the author's order
	op     string // the full opcode; "" until it is needed
	last   string // the modifier that was added last
	next   []*ins // results of adding one more modifier
}

// begin returns the instruction with an index in the table, without modifiers.
func (p PTX) begin(number int) *ins {
	if p.cache == nil {
		return nil
	}
	i := p.cache.bare[number]
	if i == nil {
		i = &ins{cache: p.cache, number: number}
		p.cache.bare[number] = i
	}
	return i
}

// with returns i with one more modifier, which starts with a dot.
func (i *ins) with(word string) *ins {
	if i == nil {
		return nil
	}
	for _, n := range i.next {
		if n.last == word {
			return n
		}
	}
	n := &ins{cache: i.cache, number: i.number, mods: i.mods + word, last: word}
	i.next = append(i.next, n)
	return n
}

// withAll returns i with modifiers that are computed in Go code.
func (i *ins) withAll(words []dsl.Mod) *ins {
	for _, w := range words {
		i = i.with("." + strings.TrimPrefix(string(w), "."))
	}
	return i
}

// shape returns i with the shape modifier of a matrix multiplication, such as .m64n128k16.
func (i *ins) shape(m, n, k int) *ins { return i.with(fmt.Sprintf(".m%dn%dk%d", m, n, k)) }

// do appends the instruction to the kernel. A zero PTX has no kernel, so its instructions are
// dropped.
func (i *ins) do(operands ...any) {
	if i == nil || i.cache.k == nil {
		return
	}
	if i.op == "" {
		i.op = i.spell()
	}
	i.cache.k.Ins(i.op, operands...)
}

// spell returns the opcode, including the modifiers that every form has, in the order of the PTX
// manual. If no form has this set of modifiers, they keep the author's order, and the kernel
// reports the mistake.
func (i *ins) spell() string {
	entry := &table[i.number]
	written := strings.Split(i.mods, ".")
	var b strings.Builder
	b.WriteString(entry.name)
	for _, word := range entry.fixed {
		if !slices.Contains(written, word[1:]) {
			b.WriteString(word)
		}
	}
	b.WriteString(i.mods)
	op, _ := isa.Canonical(b.String())
	return op
}
