// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package trace_test

import "testing"

// TestUnseen names what no thread comes to: a role of warps that the block does not have. What traps is not meant to be come to.
func TestUnseen(t *testing.T) {
	for _, c := range []struct{ what, body, unseen string }{
		{"a warp that is not there", "mov.u32 %r1, %tid.x;\nsetp.lt.u32 %p1, %r1, 64;\n@%p1 bra DONE;\nbar.sync 3;", "bar"},
		{"one that is", "mov.u32 %r1, %tid.x;\nsetp.lt.u32 %p1, %r1, 32;\n@%p1 bra DONE;\nbar.sync 3, 32;", ""},
		{"a trap", "bar.sync 0;\nmov.u32 %r1, %tid.x;\nsetp.lt.u32 %p1, %r1, 64;\n@%p1 bra DONE;\nbar.sync 3;\ntrap;", ""},
	} {
		k := follow(t, ".reqntid 64", c.body)
		got := ""
		if k.Unseen != nil {
			got = k.Unseen.Head()
		}
		if got != c.unseen {
			t.Errorf("%s: %q is not come to, expected %q", c.what, got, c.unseen)
		}
	}
}
