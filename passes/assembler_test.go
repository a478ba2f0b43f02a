// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package passes_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ptxdsl/ptxdsl/internal/ptxas"
	"github.com/ptxdsl/ptxdsl/internal/ptxas/cubin"
	"github.com/ptxdsl/ptxdsl/lower"
	"github.com/ptxdsl/ptxdsl/passes"
)

// TestConstants folds operations on numbers at the limits of their widths, and compares with ptxas:
// folding by the pass and by ptxas must give the same machine code. Some operands are unknown, so
// that constants are also tried as operands.
func TestConstants(t *testing.T) {
	tool, err := ptxas.Find()
	if err != nil {
		t.Fatal(err)
	}
	fold, err := passes.Named("fold-constants")
	if err != nil {
		t.Fatal(err)
	}
	for _, width := range []string{"32", "64"} {
		t.Run(width, func(t *testing.T) {
			m := module(t, "constants.ptx", constants(width))
			before := lower.Text(m)
			if n := passes.Run(m, fold, nil)[0].Changes; n < 1000 {
				t.Errorf("only %d changes", n)
			}
			var code [2]*cubin.Code
			for i, text := range []string{before, lower.Text(m)} {
				image, v, err := tool.Assemble(t.Context(), text, ptxas.Options{})
				if err != nil || !v.OK() {
					t.Fatal(v.String(), err)
				}
				if code[i], err = cubin.Read(image); err != nil {
					t.Fatal(err)
				}
			}
			for _, d := range cubin.Diff(code[0], code[1]) {
				t.Error(d)
			}
		})
	}
}

// constants returns a module with every folded operation on every pair of some numbers, and on each
// number and a parameter. Each kernel has one operation.
func constants(width string) string {
	var b strings.Builder
	b.WriteString(".version 8.0\n.target sm_90\n.address_size 64\n")
	list := []string{"0", "1", "-1", "5", "31", "32", "33", "64", "-32768", "0x7fffffff",
		"0x80000000", "0xffffffff", "0x1ffffffff", "0x8000000000000000"}
	for i, op := range []string{"add.u", "sub.s", "mul.lo.s", "and.b", "or.b", "xor.b", "min.u",
		"min.s", "max.u", "max.s", "shl.b", "shr.b", "shr.u", "shr.s", "not.b", "neg.s", "mad.lo.u",
		"selp.b", "setp.lt.s", "setp.lo.u"} {
		fmt.Fprintf(&b, ".visible .entry k%d(.param .u64 p, .param .u%s x)\n{\n", i, width)
		fmt.Fprintf(&b,
			"\t.reg .pred %%q, %%p<%[3]d>;\n\t.reg .b%[1]s %%x, %%c<%[2]d>, %%v<%[3]d>;\n\t.reg .b32 %%by<%[2]d>;\n\t.reg .b64 %%rd;\n\tld.param.u64 %%rd, [p];\n\tld.param.u%[1]s %%x, [x];\n\tsetp.eq.u%[1]s %%q, %%x, 7;\n",
			width, len(list), 3*len(list)*len(list))
		for j, number := range list {
			fmt.Fprintf(&b, "\tmov.u%s %%c%d, %s;\n\tmov.b32 %%by%d, %s;\n", width, j, number, j,
				number)
		}
		n := 0
		try := func(x, y string) {
			rest := x + ", " + y
			switch {
			case op == "not.b" || op == "neg.s":
				rest = x
			case strings.HasPrefix(op, "sh"):
				rest = x + ", " + strings.Replace(y, "%c", "%by", 1)
				if y == "%x" {
					return
				}
			case op == "mad.lo.u":
				rest += ", " + x
			case op == "selp.b":
				rest += ", %q"
			}
			if strings.HasPrefix(op, "setp") {
				fmt.Fprintf(&b, "\t%s%s %%p%d, %s;\n\tselp.b%s %%v%d, 1, 0, %%p%d;\n", op, width, n,
					rest, width, n, n)
			} else {
				fmt.Fprintf(&b, "\t%s%s %%v%d, %s;\n", op, width, n, rest)
			}
			fmt.Fprintf(&b, "\tst.global.u%s [%%rd+%d], %%v%d;\n", width, 8*n, n)
			n++
		}
		for j := range list {
			for k := range list {
				try(fmt.Sprintf("%%c%d", j), fmt.Sprintf("%%c%d", k))
			}
			try(fmt.Sprintf("%%c%d", j), "%x")
			try("%x", fmt.Sprintf("%%c%d", j))
		}
		b.WriteString("\tret;\n}\n")
	}
	return b.String()
}
