// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package layout_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ptxdsl/ptxdsl/internal/layout"
)

// TestPage formats lines of each kind.
func TestPage(t *testing.T) {
	var p layout.Page
	put := func(kind layout.Kind, head, tail, note string) {
		p.Begin(kind)
		p.Put(head)
		if tail != "" {
			p.Tail()
			p.Put(tail)
		}
		if !p.End() || p.End() {
			t.Error("a line that ends once ends otherwise")
		}
		if note != "" {
			p.Note(note)
		}
	}
	page := func() string {
		p.Blank()
		put(layout.Plain, "{", "", "")
		p.Indent++
		put(layout.Decl, ".reg .b32", "a;", "")
		put(layout.Decl, ".reg .f16", "b;", "// half  ")
		p.Blank()
		p.Blank()
		put(layout.Instr, "mov.u32", "a, 1;", "")
		put(layout.Pass, ".loc 1 2 3", "", "")
		put(layout.Instr, "add.rn.f16", "b, b, b;", "// twice")
		put(layout.Instr, "neg.f16", "b, b;", "// minus")
		p.Comment("// behind all")
		put(layout.Instr, "an.opcode.that.is.longer.than.most", "x;", "")
		put(layout.Instr, "st", "[a], {"+strings.Repeat("value, ", 18)+"last};", "")
		p.Begin(layout.Instr)
		p.Before(func() { p.Comment("/* before */") })
		p.Put("ret;")
		p.End()
		p.Indent--
		put(layout.Plain, "}", "", "")
		return p.Text()
	}
	want := `{
	.reg .b32 a;
	.reg .f16 b;  // half

	mov.u32    a, 1;
	.loc 1 2 3
	add.rn.f16 b, b, b;  // twice
	neg.f16    b, b;     // minus
	// behind all
	an.opcode.that.is.longer.than.most x;
	st [a], {value, value, value, value, value, value, value, value, value, value, value, value, value, value,
		value, value, value, value, last};
	/* before */
	ret;
}
`
	for range 2 { // the second iteration reuses the memory of the first
		if d := cmp.Diff(strings.Split(want, "\n"), strings.Split(page(), "\n")); d != "" {
			t.Errorf("(-want +got)\n%s", d)
		}
		p.Reset(100)
	}
}
