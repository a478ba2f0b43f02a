// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package ir

import "testing"

// TestMod queries modifiers that an opcode has, has as a part of another one, and does not have.
func TestMod(t *testing.T) {
	in := Instr{Op: "ld.global.nc.L1::evict_last.v4.f32"}
	for _, word := range []string{"global", "nc", "L1::evict_last", "v4", "f32"} {
		if !in.Mod(word) {
			t.Errorf("%s has no .%s", in.Op, word)
		}
	}
	for _, word := range []string{"", "ld", "glob", "lobal", "L1", "evict_last", "v", "f3", "32",
		"f32.x", "sync"} {
		if in.Mod(word) {
			t.Errorf("%s has .%s", in.Op, word)
		}
	}
	if (&Instr{}).Mod("") || (&Instr{Op: "bar.warp.sync.sync"}).Mod("warp.") {
		t.Error("a modifier is found that is none")
	}
}
