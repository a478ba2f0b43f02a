// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package trace_test

import "testing"

// TestUnseen checks that code that no thread reaches is reported, such as a role of warps that the
// block does not have. Code that only traps is not reported.
func TestUnseen(t *testing.T) {
	for _, c := range []struct{ what, body, unseen string }{
		{"a warp that is not there",
			"mov.u32 %r1, %tid.x;\nsetp.lt.u32 %p1, %r1, 64;\n@%p1 bra DONE;\nbar.sync 3;", "bar"},
		{"one that is",
			"mov.u32 %r1, %tid.x;\nsetp.lt.u32 %p1, %r1, 32;\n@%p1 bra DONE;\nbar.sync 3, 32;", ""},
		{"what is left over of turns by fours, of odd numbers",
			"ld.param.u32 %r1, [n];\nand.b32 %r2, %r1, 3;\nshr.u32 %r3, %r1, 2;\nmov.u32 %r4, 0;\n" +
				"FOURS:\nsetp.ge.u32 %p1, %r4, %r3;\n@%p1 bra REST;\nbar.sync 1;\nadd.u32 %r4, %r4, 1;\nbra FOURS;\nREST:\nand.b32 %r5, %r1, 1;\nsetp.eq.u32 %p2, %r5, 0;\n@%p2 bra DONE;\nbar.sync 2;",
			""},
		{"a trap",
			"bar.sync 0;\nmov.u32 %r1, %tid.x;\nsetp.lt.u32 %p1, %r1, 64;\n@%p1 bra DONE;\nbar.sync 3;\ntrap;",
			""},
	} {
		k := follow(t, ".reqntid 64", c.body)
		got := ""
		if k.Unreached != nil {
			got = k.Unreached.Head()
		}
		if got != c.unseen {
			t.Errorf("%s: %q is not come to, expected %q", c.what, got, c.unseen)
		}
	}
}

// TestShape checks the assumed block shape when only .maxntid is given: all threads along x if the
// kernel distinguishes more than one warp there, else one warp along x.
func TestShape(t *testing.T) {
	const axes = "mov.u32 %r2, %tid.y;\nmov.u32 %r3, %tid.z;\nmov.u32 %r4, %ctaid.y;\nmov.u32 %r5, %ntid.y;\nmad.lo.u32 %r6, %r3, %r5, %r2;\n"
	for _, c := range []struct {
		what, body string
		shape      [3]int
	}{
		{"no role", "mov.u32 %r1, %tid.x;\nsetp.lt.u32 %p1, %r1, 1;\n@%p1 bra DONE;\nbar.sync 0;",
			[3]int{32, 3, 4}},
		{"roles of threads",
			"mov.u32 %r1, %tid.x;\nsetp.lt.u32 %p1, %r1, 128;\n@%p1 bra DONE;\nbar.sync 3, 256;",
			[3]int{384, 1, 1}},
		{"the last thread",
			"mov.u32 %r1, %tid.x;\nsetp.gt.u32 %p1, %r1, 31;\n@%p1 bra DONE;\nbar.sync 3, 256;",
			[3]int{384, 1, 1}},
		{"roles of warps",
			"mov.u32 %r1, %tid.x;\nshr.u32 %r1, %r1, 5;\nsetp.eq.u32 %p1, %r1, 4;\n@%p1 bra DONE;\nbar.sync 3, 352;",
			[3]int{384, 1, 1}},
		{"lanes of a warp",
			"mov.u32 %r1, %tid.x;\nsetp.lt.u32 %p1, %r1, 31;\n@%p1 bra DONE;\nbar.warp.sync -1;",
			[3]int{32, 3, 4}},
	} {
		if k := follow(t, ".maxntid 384", axes+c.body); k.Pool.Shape != c.shape {
			t.Errorf("%s: block shape %v, expected %v", c.what, k.Pool.Shape, c.shape)
		}
	}
}
