// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package diag

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func at(file string, line, col, endLine, endCol int) Place {
	return Place{file, line, col, endLine, endCol}
}

func TestPrint(t *testing.T) {
	long := strings.Repeat("x", 300) + "HERE" + strings.Repeat("y", 300)
	src := Texts(map[string]string{
		"a.ptx": "ld.global.u32\t%r1, [%rd1];\n\n\tadd.u32 %r1, %r2;\r\n" +
			"\t/* größe 漢字 e\u0301 */ bad\n" + long + "\n\x1b[31mred\x00\n",
		"b.ptx": "first\nsecond line\n",
	})
	tests := []struct {
		name string
		d    Diagnostic
		want string
	}{
		{"range", Diagnostic{Place: at("a.ptx", 1, 1, 1, 14), Rule: "F201",
			Message: "no such form"}, `
a.ptx:1:1: error F201: no such form
    1 | ld.global.u32   %r1, [%rd1];
      | ^^^^^^^^^^^^^
`},
		{"tab, CRLF, end of line",
			Diagnostic{Place: at("a.ptx", 3, 17, 3, 18), Severity: Warning,
				Message: "more expected"}, `
a.ptx:3:17: warning: more expected
    3 |     add.u32 %r1, %r2;
      |                    ^
`},
		{"past the end",
			Diagnostic{Place: Place{File: "a.ptx", Line: 3, Column: 19}, Message: "more expected"},
			`
a.ptx:3:19: error: more expected
    3 |     add.u32 %r1, %r2;
      |                      ^
`},
		{"wide and combining characters",
			Diagnostic{Place: at("a.ptx", 4, 27, 4, 30), Severity: Note, Message: "here"}, `
a.ptx:4:27: note: here
    4 |     /* größe 漢字 ` + "e\u0301" + ` */ bad
      |                        ^^^
`},
		{"long line",
			Diagnostic{Place: at("a.ptx", 5, 301, 5, 305), Severity: Review, Message: "here"}, `
a.ptx:5:301: review: here
    5 | ...` + strings.Repeat("x", 50) + "HERE" + strings.Repeat("y", 43) + `...
      |    ` + strings.Repeat(" ", 50) + `^^^^
`},
		{"control characters", Diagnostic{Place: at("a.ptx", 6, 6, 6, 9), Message: "\x1b[2Jno"}, `
a.ptx:6:6: error: ` + "\ufffd" + `[2Jno
    6 | ` + "\ufffd[31mred\ufffd" + `
      |      ^^^
`},
		{"several lines", Diagnostic{Place: at("b.ptx", 1, 3, 2, 2), Message: "both\nmore of it"}, `
b.ptx:1:3: error: both
	more of it
    1 | first
      |   ^^^
`},
		{"related", Diagnostic{
			Place: at("a.ptx", 3, 2, 3, 9), Rule: "A2", Message: "may overwrite",
			Related: []Related{
				{at("a.ptx", 1, 1, 1, 2), "read here"},
				{at("a.ptx", 3, 2, 3, 9), "written here"},
				{at("a.ptx", 3, 10, 3, 13), "into this"},
				{at("b.ptx", 2, 1, 2, 7), "declared here"},
				{at("gone.ptx", 9, 1, 9, 2), "and here"},
			},
			From: []Place{at("main.go", 52, 3, 52, 4)},
			Fix:  &Fix{Message: "before line 3: fence"},
		}, `
a.ptx:3:2: error A2: may overwrite
    1 | ld.global.u32   %r1, [%rd1];
      | ^ read here
    3 |     add.u32 %r1, %r2;
      |     ^^^^^^^ written here
      |             ^^^ into this
   b.ptx:2:1:
    2 | second line
      | ^^^^^^ declared here
   gone.ptx:9:1: and here
   fix: before line 3: fence
   called from main.go:52:3
`},
		{"no text", Diagnostic{Place: at("gone.ptx", 9, 1, 9, 2), Message: "m",
			Fix: &Fix{Edits: []Edit{{at("gone.ptx", 9, 1, 9, 1), "x"}}}}, `
gone.ptx:9:1: error: m
   fix: at gone.ptx:9:1 insert x
`},
		{"nowhere", Diagnostic{Place: Place{File: "gone.ptx"}, Rule: "F101", Message: "m"}, `
gone.ptx: error F101: m
`},
		{"line that is not there", Diagnostic{Place: at("b.ptx", 99, 1, 99, 1), Message: "m"}, `
b.ptx:99:1: error: m
`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var b strings.Builder
			if err := (Printer{Source: src}).Print(&b, List{test.d}); err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(strings.TrimPrefix(test.want, "\n"), b.String()); d != "" {
				t.Errorf("(-want +got)\n%s", d)
			}
		})
	}
}

func TestPrintInColor(t *testing.T) {
	src := Texts(map[string]string{"a": "x y\n"})
	var b strings.Builder
	l := List{{Place: at("a", 1, 3, 1, 4), Rule: "F1", Message: "m", Fix: &Fix{Message: "f"}}}
	if err := (Printer{Source: src, Color: true}).Print(&b, l); err != nil {
		t.Fatal(err)
	}
	want := "\x1b[1ma:1:3:\x1b[0m \x1b[1;31merror F1\x1b[0m: \x1b[1mm\x1b[0m\n" +
		"\x1b[34m    1 |\x1b[0m x y\n" +
		"\x1b[34m      |\x1b[0m   \x1b[1;31m^\x1b[0m\n" +
		"   \x1b[32mfix:\x1b[0m f\n"
	if d := cmp.Diff(want, b.String()); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
}

// FuzzPrint checks that the printer handles arbitrary positions and texts.
func FuzzPrint(f *testing.F) {
	f.Add("a\tb\r\n\xff\xfe漢", 1, 2, 2, 9, 40)
	f.Add("", 0, 0, -1, 1<<40, 1)
	f.Fuzz(func(t *testing.T, text string, line, col, endLine, endCol, width int) {
		p := at("f", line, col, endLine, endCol)
		l := List{{Place: p, Message: text, Related: []Related{{p, text}},
			Fix: &Fix{Edits: []Edit{{p, text}}}}}
		src := Texts(map[string]string{"f": text})
		var b strings.Builder
		if err := (Printer{Source: src, Width: min(width, 1000)}).Print(&b, l); err != nil {
			t.Fatal(err)
		}
		if err := JSON(&b, l); err != nil {
			t.Fatal(err)
		}
		if err := GitHub(&b, src, l); err != nil {
			t.Fatal(err)
		}
		if err := SARIF(&b, Run{Source: src}, l); err != nil {
			t.Fatal(err)
		}
		ApplyFixes(text, l)
	})
}
