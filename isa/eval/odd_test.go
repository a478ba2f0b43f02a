// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package eval

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// TestOddOpcodes builds and runs opcodes with modifiers that do not belong together, and checks
// that nothing panics.
func TestOddOpcodes(t *testing.T) {
	var heads, words []string
	seen := map[string]bool{}
	for _, s := range spellings() {
		for i, w := range strings.Split(s.opcode, ".") {
			if seen[w] {
				continue
			}
			seen[w] = true
			if i == 0 {
				heads = append(heads, w)
			} else {
				words = append(words, w)
			}
		}
	}
	words = append(words, "", "b128", "pred", "u4", "s2", "x4", "texref", "i32")
	r := rand.New(rand.NewPCG(13, 14))
	built := 0
	for range 60000 {
		opcode := heads[r.IntN(len(heads))]
		for range r.IntN(6) {
			opcode += "." + words[r.IntN(len(words))]
		}
		parts := Parts{}
		if r.IntN(4) == 0 {
			for i := range parts.Select {
				names := []string{"", "b1", "h0", "h32", "b7654", "x", ".b", "b9", "h10", "bb"}
				parts.Select[i] = names[r.IntN(len(names))]
			}
		}
		op, err := spelled(opcode)
		if parts != (Parts{}) {
			op, err = spelledParts(opcode, parts)
		}
		if err != nil {
			continue
		}
		built++
		runOdd(t, r, op, opcode)
	}
	if built < 100 {
		t.Errorf("%d opcodes were built", built)
	}
}

func runOdd(t *testing.T, r *rand.Rand, op *Op, opcode string) {
	defer func() {
		if e := recover(); e != nil {
			t.Errorf("%s: %v", opcode, e)
		}
	}()
	var f Frame
	var vectors [12]Vector
	for i := range 12 {
		for l := range vectors[i] {
			vectors[i][l] = r.Uint64()
		}
	}
	for i := range f.In {
		f.In[i] = &vectors[i]
	}
	for i := range f.Out {
		f.Out[i] = &vectors[8+i]
	}
	if len(op.In) > len(f.In) || len(op.Out) > len(f.Out) {
		t.Errorf("%s has %d operands and %d results", opcode, len(op.In), len(op.Out))
		return
	}
	op.Warp(&f)
	op.Lane(&Cell{In: [8]uint64{r.Uint64(), r.Uint64(), r.Uint64(), r.Uint64()}})
}

func FuzzOf(f *testing.F) {
	for _, op := range []string{"add.s32", "cvt.rn.satfinite.e4m3x2.f32", "vadd4.u32.u32.u32", ""} {
		f.Add(op)
	}
	f.Fuzz(func(t *testing.T, opcode string) {
		if op, err := spelled(opcode); err == nil {
			runOdd(t, rand.New(rand.NewPCG(1, 2)), op, opcode)
		}
	})
}
