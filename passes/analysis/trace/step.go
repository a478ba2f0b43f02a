// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package trace

import (
	"slices"
	"strings"

	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
)

// A step is a decoded instruction. It is decoded once, because it is followed many times.
type step struct {
	in    *ir.Instr
	kind  Kind  // Other if it is not an event
	value bool  // its results matter
	run   int32 // index of the group of asynchronous register accesses
	size  int   // number of instructions that it represents
	head  string
	words []string // words of the opcode after the first
	// From the types: the width of the last one, and of the source of a conversion.
	width, from        int
	signed, fromSigned bool
	float              bool
	// Sums and products: wrapping without carry, with a double-width result, or the high half.
	plain, wide, high bool
	space             string // state space of a load
	polled            bool   // a load of memory that other threads may write concurrently
	memo              *memo  // nil if the results do not depend only on the operands
}

// newStep decodes an instruction. The map caches decoded opcodes.
func newStep(in *ir.Instr, kind Kind, opcodes map[string]step) step {
	s, met := opcodes[in.Op]
	if !met {
		s = opcode(in.Op)
		opcodes[in.Op] = s
	}
	s.in, s.kind = in, kind
	return s
}

// opcode decodes an opcode.
func opcode(op string) step {
	s := step{size: 1, width: 32, plain: true}
	words := strings.Split(op, ".")
	s.head, s.words = words[0], words[1:]
	first := true
	for _, word := range s.words {
		switch word {
		case "cc", "sat":
			s.plain = false
		case "wide":
			s.wide = true
		case "hi":
			s.high = true
		case "volatile", "relaxed", "acquire", "mmio":
			s.polled = true
		}
		if strings.HasPrefix(word, "bf16") || strings.HasPrefix(word, "f16") {
			s.float = true
		}
		s.plain = s.plain && !strings.HasSuffix(word, "x2")
		n := bitsOfWord(word)
		if n == 0 {
			continue
		}
		s.float = s.float || word[0] == 'f'
		s.signed = s.signed || word[0] == 's'
		s.from, s.fromSigned = n, word[0] == 's'
		if first || s.head != "cvt" {
			s.width = n
		}
		first = false
	}
	if s.head == "ld" {
		s.space = space(op)
		// Responses to clusterlaunchcontrol requests have 128 bits, and are read after they
		// arrived.
		s.polled = s.polled && (s.space != "shared" || !slices.Contains(s.words, "volatile") && !slices.Contains(s.words, "b128"))
	}
	return s
}

// bitsOfWord returns the width of a type word, or 0.
func bitsOfWord(word string) int {
	switch word {
	case "pred":
		return 1
	case "b8", "u8", "s8":
		return 8
	case "b16", "u16", "s16", "f16":
		return 16
	case "b32", "u32", "s32", "f32":
		return 32
	case "b64", "u64", "s64", "f64":
		return 64
	case "b128":
		return 128
	}
	return 0
}

// steps decodes the instructions of all blocks. The parameter relevant says which results matter.
func (p *program) steps(kinds [][]Kind, relevant []bool) {
	f := p.k.Func
	p.blocks = make([][]step, len(f.Blocks))
	p.ends = make([]*ir.Instr, len(f.Blocks))
	opcodes := make(map[string]step)
	longest := 0
	for _, b := range f.Blocks {
		longest = max(longest, len(b.Instrs))
	}
	steps := make([]step, 0, longest)
	for i, b := range f.Blocks {
		if in := b.Last(); in != nil && in.Ends() {
			p.ends[i] = in
		}
		steps = steps[:0]
		touch := -1 // the step that collects consecutive touches
		for j, in := range b.Instrs {
			if in.Directive() || in == p.ends[i] {
				continue
			}
			s := newStep(in, kinds[i][j], opcodes)
			in.Registers(func(r *ir.Reg, a isa.Access) {
				if n := p.number(r); n >= 0 && a != isa.Read && relevant[n] {
					s.value = true
				}
			})
			s.memo = p.newMemo(&s)
			if s.kind == Touch && in.Guard.Reg == nil {
				if touch >= 0 {
					t := &steps[touch]
					t.size++
					p.k.touched[t.run] = append(p.k.touched[t.run], in)
					s.kind, s.size = Other, 0
				} else {
					touch = len(steps)
				}
			} else if s.kind != Other {
				touch = -1
			}
			if s.kind == Touch {
				s.run = int32(len(p.k.touched))
				p.k.touched = append(p.k.touched, []*ir.Instr{in})
			}
			if s.kind != Other || s.value {
				steps = append(steps, s)
			}
		}
		p.blocks[i] = slices.Clone(steps)
		list := slices.DeleteFunc(p.wrote[i], func(n int) bool { return !relevant[n] })
		for j, n := range list {
			list[j] = int(p.slot[n])
		}
		slices.Sort(list)
		p.wrote[i] = slices.Compact(list)
	}
}
