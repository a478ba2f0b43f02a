// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package eval

import (
	"slices"
	"strings"
	"testing"

	"github.com/ptxdsl/ptxdsl/isa"
)

// spelled returns the operation of an opcode in PTX text, as tests write it.
func spelled(opcode string) (*Op, error) { return Of(isa.KindOf(opcode), isa.ModsOf(opcode)) }

// spelledParts is spelled for video instructions.
func spelledParts(opcode string, parts Parts) (*Op, error) {
	return OfParts(isa.KindOf(opcode), isa.ModsOf(opcode), parts)
}

// spelledMod returns the modifier that a word without its dot names.
func spelledMod(word string) isa.Mod { return isa.ModsOf("." + word)[0] }

// spelledMods returns the modifiers that words without their dots name.
func spelledMods(words []string) (mods []isa.Mod) {
	for _, w := range words {
		mods = append(mods, spelledMod(w))
	}
	return mods
}

// TestSpelled checks that the text of each opcode names the kind and the modifiers of its form, so
// that tests evaluate the instructions that they name.
func TestSpelled(t *testing.T) {
	for _, s := range spellings() {
		if got := isa.KindOf(s.opcode); got != s.form.Kind {
			t.Errorf("%s: kind %s, expected %s", s.opcode, got, s.form.Kind)
		}
		mods := slices.DeleteFunc(slices.Clone(s.mods),
			func(m isa.Mod) bool { return m == isa.NoMod })
		got := isa.ModsOf(s.opcode)
		if name := strings.Count(s.name, "."); name > 0 { // words of the name may be modifiers too
			got = got[max(len(got)-len(mods), 0):]
		}
		if !slices.Equal(got, mods) {
			t.Errorf("%s: modifiers %v, expected %v", s.opcode, got, mods)
		}
	}
}
