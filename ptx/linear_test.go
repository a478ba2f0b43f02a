// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package ptx_test

import (
	"strings"
	"testing"
	"time"

	"github.com/ptxdsl/ptxdsl/ptx"
)

// TestLinear: text made to hurt takes time in proportion to its length. A long text may take sixteen times its share,
// for the sake of caches and of a busy machine; what is quadratic takes 32.
func TestLinear(t *testing.T) {
	body := func(s string) func(int) string {
		return func(n int) string { return ".entry k()\n{\n" + strings.Repeat(s, n) + "\nret;\n}\n" }
	}
	repeat := func(s string) func(int) string { return func(n int) string { return strings.Repeat(s, n) } }
	within := func(before, s, after string) func(int) string {
		return func(n int) string { return before + strings.Repeat(s, n) + after }
	}
	for name, text := range map[string]func(int) string{
		"blanks":            repeat(" "),
		"lines":             repeat("\n"),
		"words":             repeat("word "),
		"dots":              repeat(".x "),
		"linkage":           repeat(".visible "),
		"linkage, comments": repeat(".visible /* */ "),
		"func":              repeat(".func "),
		"func names":        repeat(".func f "),
		"entries":           repeat(".entry k() "),
		"parameters":        within(".func f(", ".param .b32 x, ", ".param .b32 y);"),
		"half parameters":   within(".func f(", ".param ", ");"),
		"params, open":      repeat(".func f( "),
		"dimensions":        within(".global .b32 x", "[2]", ";"),
		"elements":          within(".global .b32 x[] = {", "1, ", "1};"),
		"braces":            within(".global .b32 x[] = ", "{", ";"),
		"names":             within(".global .b32 ", "x, ", "y;"),
		"attributes":        within(".global ", ".align 8 ", ".b32 x;"),
		"marks":             within(".global .attribute(", ".managed, ", ".managed) .b32 x;"),
		"targets":           within(".target ", "sm_90, ", "sm_90a"),
		"pragmas":           repeat(".pragma \"nounroll\";\n"),
		"function pragmas":  within(".func f() ", ".pragma \"nounroll\"; ", "{ ret; }"),
		"comments":          repeat("/**/"),
		"line comments":     repeat("//\n"),
		"open comments":     repeat("/*"),
		"quotes":            repeat("\""),
		"line markers":      repeat("# 1 \"x\"\n"),
		"half markers":      repeat("# "),
		"scopes":            body("{ }"),
		"open scopes":       body("{"),
		"closed scopes":     body("}"),
		"labels":            body("L: "),
		"guards":            body("@p "),
		"half guards":       body("@!"),
		"opcode parts":      within(".entry k() { add ", ".u32 ", " a, b; }"),
		"one opcode":        within(".entry k() { add", ".u32", " a, b; }"),
		"operands":          within(".entry k() { add ", "a, ", "b; }"),
		"vectors":           body("mov.b64 {a, b}, {c, d"),
		"vector":            within(".entry k() { mov.b64 {", "a, ", "b}, c; }"),
		"not a vector":      within(".entry k() { mov.b64 {", "a, ", "b c; }"),
		"addresses":         body("ld.u32 a, [b+"),
		"coordinates":       within(".entry k() { tex a, [b, {", "c, ", "d}]; }"),
		"minus":             body("add.s32 a, -"),
		"parentheses":       within(".entry k() { mov.b32 a, ", "(", "1; }"),
		"sums":              within(".entry k() { mov.b32 a, 1", "+1", "; }"),
		"conditions":        within(".entry k() { mov.b32 a, ", "1?", "2:3; }"),
		"calls":             body("call (r), f, (a, b"),
		"arguments":         within(".entry k() { call f, (", "a, ", "b); }"),
		"semicolons":        body(";"),
		"data":              within(".section .debug_info {", ".b8 1\n", "}"),
		"data in a line":    within(".section .debug_info {\n.b8 ", "1, ", "1\n}"),
		"sections":          repeat(".section .debug_info { .b8 "),
		"open sections":     repeat(".section .debug_info\n"),
		"zero bytes":        repeat("\x00"),
		"foreign bytes":     repeat("\x80"),
		"foreign letters":   repeat("ä "),
		"notes in a line":   body("add.s32 a, /* c */ b /* d */; "),
		"loc":               body(".loc 1 2 3, function_name L, inlined_at 1 2 3\n"),
		"files":             repeat(".file 1 \"x\", 1, 2\n"),
		"dwarf":             repeat("@@DWARF .b8 1\n"),
	} {
		t.Run(name, func(t *testing.T) {
			short, long := 1_500, 48_000
			if testing.Short() {
				short, long = 300, 9_600 // for the race detector, under which the whole takes minutes
			}
			few := time.Hour
			for range 5 {
				few = min(few, took(text(short)))
			}
			most := time.Duration(16*long/short) * max(few, 200*time.Microsecond)
			many := took(text(long))
			for range 8 { // other work on the machine makes a run long, never short
				if many <= most {
					return
				}
				many = min(many, took(text(long)))
			}
			t.Errorf("%d times the text takes %d times as long", long/short, int(many/few))
		})
	}
}

// took is how long it takes to format text, or to find what is wrong with it.
func took(text string) time.Duration {
	start := time.Now()
	ptx.Format("hostile", text)
	return time.Since(start)
}
