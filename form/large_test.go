// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package form_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ptxdsl/ptxdsl/form"
	"github.com/ptxdsl/ptxdsl/ptx"
)

// TestLargeNumbers checks that a number that does not fit into 64 bits is reported as such wherever
// it occurs, without follow-on errors.
func TestLargeNumbers(t *testing.T) {
	const head = ".version 9.4\n.target sm_90a\n.address_size 64\n"
	kernel := func(attrs, body string) string {
		return head + ".visible .entry k() " + attrs +
			" {\n.reg .b32 %r<3>;\n.reg .b64 %rd<3>;\n.reg .f64 %fd<3>;\n" + body + "\nret;\n}\n"
	}
	for _, test := range []struct{ name, text string }{
		{"dimension", kernel("", ".shared .b8 y[#];")},
		{"second dimension", head + ".global .b8 y[2][#];\n"},
		{"dimension with a value", head + ".global .b8 y[#] = {1};\n"},
		{"parameter", head + ".visible .entry k(.param .b8 a[#]) { ret; }\n"},
		{"alignment", head + ".global .align # .b8 y[4];\n"},
		{"range", kernel("", ".reg .b32 y<#>; mov.b32 y7, 1;")},
		{"threads", kernel(".maxntid #", "")},
		{"preserved registers", head + ".func f() .abi_preserve # { ret; }\n"},
		{"language", kernel(".language #", "")},
		{"operand", kernel("", "mov.b64 %rd1, #;")},
		{"offset", kernel("", "ld.global.u32 %r1, [%rd1+#];")},
		{"line", head + ".file 1 \"x\"\n" + kernel("", ".loc 1 # 1")[len(head):]},
		{"file", head + ".file # \"x\"\n"},
		{"size of a file", head + ".file 1 \"x\", 1, #\n"},
		{"value", head + ".global .b64 y = #;\n"},
		{"offset of a value", head + ".global .b32 x;\n.global .u64 y = x+#;\n"},
		{"mask", head + ".global .b32 x;\n.global .u8 y = #(x);\n"},
		{"debug data", head + ".section .debug_info {\n.b64 #\n}\n"},
		{"offset of debug data", head + ".section .debug_info {\nL: .b64 L+#\n}\n"},
		{"unified", head + ".global .attribute(.unified(#, 1)) .b32 x;\n"},
		{"address size", ".version 9.4\n.target sm_90\n.address_size #\n"},
	} {
		for _, number := range []string{"99999999999999999999", "99999999999999999999U",
			"0x1ffffffffffffffff0", "0777777777777777777777777"} {
			file, list := ptx.Parse("m.ptx", strings.Replace(test.text, "#", number, 1))
			list = append(list, form.Check(file, form.Options{})...)
			want := fmt.Sprintf("constant %s does not fit into 64 bits", number)
			if len(list) != 1 || list[0].Message != want {
				t.Errorf("%s: %v, want %s alone", test.name, list, want)
			}
		}
	}
	for number, fits := range map[string]bool{
		"1e-310": false, "4.9406564584124654e-324": false, "1e-400": false,
		"1e-99999999999999999999": false, "1.8e308": false,
		"2.2250738585072014e-308": true, "0.0e-999": true, "1.7976931348623157e308": true,
		"1e-300": true,
	} {
		file, list := ptx.Parse("m.ptx", kernel("", "mov.f64 %fd1, "+number+";"))
		list = append(list, form.Check(file, form.Options{})...)
		if (len(list) == 0) != fits {
			t.Errorf("%s: %v", number, list)
		}
	}
}
