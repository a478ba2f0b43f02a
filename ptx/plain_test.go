// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package ptx_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ptxdsl/ptxdsl/ptx"
)

// TestPlain checks that an instruction parsed directly from the text gives the same tree, or the
// same errors, as when parsed by tokens. A comment before its end forces parsing by tokens.
func TestPlain(t *testing.T) {
	operands := []string{
		"%r1", "x", "$L", "%", "$", "_", "a.b", "%tid.x", "%tid.xy", "%tid.q", "%tid.", "WARP_SZ",
		"function_name", "%tid .x",
		"0", "7", "1234567890", "08", "0x1F", "0xg", "0b101", "1U", "1.5", "1e5", "0f3F800000",
		"0f3F8", "0d3FF0000000000000", "12ab",
		"-5", "-0", "-x", "--5", "- 5", "-0f3F800000", "-1.5", "!p", "~1", "(1)",
		"[a]", "[a+4]", "[a+0x10]", "[a+-4]", "[a-4]", "[a+b]", "[a+08]", "[a+0f3F800000]",
		"[a+1.5]", "[a+4U]", "[4]", "[ a ]", "[_]", "[WARP_SZ]",
		"[a,{b}]", "[a+4].unified", "[", "[a", "[a+", "[]", "[%r1+8", "[a.x]",
		"{a,b}", "{a, b, c}", "{ a , b }", "{a,1}", "{_,a}", "{}", "{a", "{a,", "{a b}", "{a.x,b}",
		"{0f3F800000, -1}", "{\ta}",
		"{" + strings.Repeat("a,", 70) + "a}",
		"a+4", "a|b", "a[1]", "a:b", "\"s\"", "a b", "", ".x", "@p", "é", "//",
	}
	ops := []string{"add.s32", "ret", "_", "call", "call.uni", "mov .u32", "@p bra", "@!p bra.uni",
		"{", "L: add", "WARP_SZ"}
	random := rand.New(rand.NewPCG(1, 2))
	same := func(op string, args ...string) {
		t.Helper()
		text := op + " " + strings.Join(args, ", ")
		plain, want := statements(text+";"), statements(text+"/**/;")
		// The end position, and the positions of later errors, differ by the length of the comment.
		if diff := cmp.Diff(want, plain); diff != "" {
			t.Errorf("%q, by tokens and plainly:\n%s", text, diff)
		}
	}
	for _, op := range ops {
		same(op)
		for _, x := range operands {
			same(op, x)
			same(op, "%r1", x)
			same(op, x, "%r2")
		}
	}
	for range 5_000 {
		args := make([]string, 1+random.IntN(14))
		for i := range args {
			args[i] = operands[random.IntN(len(operands))]
		}
		same(ops[random.IntN(len(ops))], args...)
	}
}

// TestPlainData is the same for a line of data, which ends at the line end.
func TestPlainData(t *testing.T) {
	for _, x := range []string{"1", "0x1F", "08", "1.5", "-4", "a", "1, 2", "1,", "", "0f3F800000",
		"1U", "_", "99999999999"} {
		head := ".section .debug_info {\n.b32 " + x
		plain, want := dump(head+"\n    L:\n}"), dump(head+"/**/\nL:\n}")
		if diff := cmp.Diff(want, plain); diff != "" {
			t.Errorf("%q, by tokens and plainly:\n%s", x, diff)
		}
	}
}

// statements returns the tree of statements inside of a function.
func statements(text string) []string { return dump(".entry k()\n{\n" + text + "\n}") }

// dump returns a tree and its errors as text. Positions on the line of the comment are adjusted to
// those without it.
func dump(text string) []string {
	f, errs := ptx.Parse("x", text)
	var list []string
	operand := func(x ptx.Operand) string {
		return fmt.Sprintf("%d-%d %d %v %q", x.At, x.To, x.Kind, x.Spaced, x.Text)
	}
	var operands func(depth string, args []ptx.Operand)
	operands = func(depth string, args []ptx.Operand) {
		for _, x := range args {
			list = append(list, depth+operand(x))
			operands(depth+"  ", x.Args)
		}
	}
	var walk func(nodes []ptx.Node)
	walk = func(nodes []ptx.Node) {
		for _, n := range nodes {
			switch n := n.(type) {
			case *ptx.Func:
				walk(n.Body.Stmts)
			case *ptx.Block:
				walk(n.Stmts)
			case *ptx.Section:
				walk(n.Lines)
			case *ptx.Instr:
				list = append(list, fmt.Sprintf("instr %d %+v %+v", n.At, n.Guard, n.Op))
				operands("  ", n.Args)
			case *ptx.Data:
				list = append(list, fmt.Sprintf("data %s", n.Type.Text))
				operands("  ", n.Args)
			default:
				list = append(list, fmt.Sprintf("%T", n))
			}
		}
	}
	walk(f.Decls)
	for _, e := range errs {
		list = append(list, fmt.Sprintf("%d: %s", e.Place.Line, e.Message))
	}
	return list
}
