// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/ptxdsl/ptxdsl/diag"
)

// TestEdits applies each edit to a statement. An edit that does not fit the statement makes no fix.
func TestEdits(t *testing.T) {
	const noFix = "no fix"
	for _, test := range []struct {
		name      string
		statement string
		callee    string // the called function
		edit      Edit
		want      string
	}{
		{"rename", "x.Value(1)", "Value", Rename("Value", "Value64"), "x.Value64(1)"},
		{"rename instance", "F[int](1)", "F", Rename("F", "G"), "G[int](1)"},
		{"rename other", "x.Count(1)", "Count", Rename("Value", "Value64"), noFix},
		{"rename call", "b.ArriveAt(r)", "ArriveAt", RenameCall("ArriveAt", "Arrive()"),
			"b.Arrive()"},
		{"remove", "x.Release()", "Release", Remove(), ""},
		{"remove used", "y := x.Release()", "Release", Remove(), noFix},
		{"assign", "x.Add(1)", "Add", AssignResult(), "x.Set(x.Add(1))"},
		{"assign expression", "a.b().Add(1)", "Add", AssignResult(), noFix},
		{"assign used", "y = x.Add(1)", "Add", AssignResult(), noFix},
		{"string", `k.Special("tid")`, "Special", ReplaceString("tid", "%tid"),
			`k.Special("%tid")`},
		{"string twice", `k.F("a", "a")`, "F", ReplaceString("a", "b"), noFix},
		{"string variable", `k.F(a)`, "F", ReplaceString("a", "b"), noFix},
		{"modifier", `k.Ins("add.u33")`, "Ins", ReplaceModifier(".u33", ".u32"),
			`k.Ins("add.u32")`},
		{"modifier inside", `k.Ins("ld.v3.f32")`, "Ins", ReplaceModifier(".v3", ".v2"),
			`k.Ins("ld.v2.f32")`},
		{"modifier part", `k.Ins("ld.v33")`, "Ins", ReplaceModifier(".v3", ".v2"), noFix},
		{"int", "k.F(0x10, 3)", "F", ReplaceInt(16, 8), "k.F(8, 3)"},
		{"int negative", "k.F(-1)", "F", ReplaceInt(-1, 0), "k.F(0)"},
		{"int sign", "k.F(-1)", "F", ReplaceInt(1, 0), noFix},
		{"int option", "k.F(opt(64))", "F", ReplaceInt(64, 32), "k.F(opt(32))"},
		{"int in function", "k.F(func() { g(64) })", "F", ReplaceInt(64, 32), noFix},
		{"drop", "k.F(a, dsl.NC, b)", "F", DropArgument("NC"), "k.F(a, b)"},
		{"drop option", "k.F(a, p.O(1), p.O(2))", "F", DropArgument("O"), "k.F(a, p.O(1))"},
		{"drop first", "k.F(dsl.NC)", "F", DropArgument("NC"), noFix},
	} {
		t.Run(test.name, func(t *testing.T) {
			text := "package p\n\nfunc f() {\n\t" + test.statement + "\n}\n"
			file := filepath.Join(t.TempDir(), "p.go")
			if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
			call := make(Files).Call(file, 4, "p."+test.callee)
			if call.call == nil {
				t.Fatalf("the call of %s was not found", test.callee)
			}
			fix := call.Fix(test.edit)
			got := noFix
			if fix != nil {
				fixed, err := diag.Apply(text, fix.Edits)
				if err != nil {
					t.Fatal(err)
				}
				got = fixed[len("package p\n\nfunc f() {\n\t") : len(fixed)-len("\n}\n")]
			}
			if got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// TestUnknownCall checks that a finding without a known call has no fix.
func TestUnknownCall(t *testing.T) {
	call := make(Files).Call("missing.go", 1, "p.F")
	if fix := call.Fix(Remove()); fix != nil {
		t.Errorf("got %v, want no fix", fix)
	}
	if call.At.Line != 1 || call.At.Column != 1 {
		t.Errorf("got place %v, want line 1, column 1", call.At)
	}
}

// TestCall checks which call of a line is found: the one of the called function, or the only one.
func TestCall(t *testing.T) {
	file := filepath.Join(t.TempDir(), "p.go")
	text := "package p\n\nfunc f() {\n\ta(b(1), c(2))\n\td(3)\n\te(e(4))\n}\n"
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		line   int
		callee string
		column int
	}{
		{4, "p.a", 2}, {4, "p.b", 4}, {4, "p.(*T).c.func1", 10},
		{4, "p.x", 1}, // none of several calls
		{5, "p.x", 2}, // the only call
		{6, "p.e", 1}, // two calls of one function
		{7, "p.a", 1}, // no call
	} {
		if got := make(Files).Call(file, test.line, test.callee); got.At.Column != test.column {
			t.Errorf("line %d, %s: column %d, want %d", test.line, test.callee, got.At.Column,
				test.column)
		}
	}
}
