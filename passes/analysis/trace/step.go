// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package trace

import (
	"strings"

	"github.com/ptxdsl/ptxdsl/ir"
)

// A step is one instruction to be followed, with what its opcode says taken apart: it is followed many times.
type step struct {
	in    *ir.Instr
	kind  Kind  // Other where it is no event
	value bool  // its results matter
	run   int32 // of touches of registers in the background, those that this one stands for
	size  int   // instructions that it stands for
	head  string
	words []string // behind the head
	// What the types say: of the last one, and of the source of a conversion.
	width, from        int
	signed, fromSigned bool
	float              bool
	// Sums and products that wrap and carry nothing; of numbers twice as wide as their factors; high halves.
	plain, wide, high bool
	space             string // of a load
	polled            bool   // a load that others are taken to write while it is made
	memo              *memo  // nil where the results rest on more than operands
}

// newStep takes an instruction apart.
func newStep(in *ir.Instr, kind Kind) step {
	s := step{in: in, kind: kind, size: 1, width: 32, plain: true}
	words := strings.Split(in.Op, ".")
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
		s.space = space(in.Op)
		s.polled = s.polled && (s.space != "shared" || !in.Mod("volatile"))
	}
	return s
}

// bitsOfWord is the width that a type word says, or 0.
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
