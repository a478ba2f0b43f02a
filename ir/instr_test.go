// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package ir

import (
	"testing"

	"github.com/ptxdsl/ptxdsl/isa"
)

// TestHasMod queries modifiers that an opcode has, and that are only a part of one of its words.
func TestHasMod(t *testing.T) {
	in := Instr{Op: "ld.global.nc.L1::evict_last.v4.f32"}
	for _, m := range []isa.Mod{isa.ModGlobal, isa.ModNC, isa.ModL1EvictLast, isa.ModV4,
		isa.ModF32} {
		if !in.HasMod(m) || !in.HasMod(isa.ModSync, m) {
			t.Errorf("%s has no %s", in.Op, m)
		}
	}
	for _, m := range []isa.Mod{isa.ModSync, isa.ModL1EvictFirst, isa.ModV2, isa.ModF32x2,
		isa.ModShared} {
		if in.HasMod(m) {
			t.Errorf("%s has %s", in.Op, m)
		}
	}
	if in.HasMod() || (&Instr{}).HasMod(isa.ModGlobal) {
		t.Error("a modifier is found that is none")
	}
}
