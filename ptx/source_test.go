// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package ptx_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ptxdsl/ptxdsl/ptx"
)

// TestSourceErrors checks the positions of errors in sections of source text: one error per
// section, and parsing continues after it.
func TestSourceErrors(t *testing.T) {
	const block = ".code_block {\n.ir_name: \"x\"\n.sourceFileName: 1\n.source_begin\n{ ( \" /*\n.source_end\n}\n"
	for _, test := range []struct{ from, to, want string }{
		{".code_block", ".block", `2:1 unexpected ".block", expected ".code_block" or "}"`},
		{".code_block {", ".code_block", `3:1 unexpected ".ir_name", expected "{"`},
		{`.ir_name: "x"`, `.ir_name "x"`, `3:1 unexpected ".ir_name", expected ".ir_name:"`},
		{`"x"`, "x", `3:11 unexpected "x", expected a string`},
		{".sourceFileName: 1", ".sourceFileName: 1.5",
			`4:18 unexpected "1.5", expected the number of a file`},
		{".source_begin", ".source_start",
			`5:1 unexpected ".source_start", expected ".source_begin"`},
		{".source_begin\n", ".source_begin // text\n",
			"5:1 .source_begin must be the last token of its line, which must end with a line feed"},
		{".source_end\n", "", "5:1 text has no line with the end mark .source_end"},
		{".source_end\n}\n", ".source_end\n", ""},
	} {
		text := ".nv_intermediate_source_section {\n" + strings.Replace(block, test.from, test.to,
			1) + "}\n.global .b32 x;\n"
		f, list := ptx.Parse("m", text)
		// the brace of the block closes the section, and the section's brace closes nothing
		if test.want == "" {
			if len(list) != 1 {
				t.Errorf("%q to %q: %v", test.from, test.to, list)
			}
			continue
		}
		if len(list) == 0 ||
			fmt.Sprintf("%d:%d %s", list[0].Place.Line, list[0].Place.Column,
				list[0].Message) != test.want {
			t.Errorf("%q to %q: %v\nwant %s", test.from, test.to, list, test.want)
			continue
		}
		_, read := f.Decls[len(f.Decls)-1].(*ptx.Var)
		if strings.Contains(text, ".source_end") && (len(list) != 1 || !read) {
			t.Errorf("%q to %q: what follows is not read: %v", test.from, test.to, list)
		}
	}
}

// TestSourceLinear checks that many unclosed texts are searched only once.
func TestSourceLinear(t *testing.T) {
	const open = ".nv_intermediate_source_section {\n.code_block {\n.ir_name: \"x\"\n.sourceFileName: 1\n.source_begin\n}\n}\n"
	start := time.Now()
	_, list := ptx.Parse("m", strings.Repeat(open, 20_000))
	if took := time.Since(start); took > 3*time.Second {
		t.Errorf("%v for %d errors", took, len(list))
	}
	if len(list) == 0 {
		t.Error("no errors")
	}
}
