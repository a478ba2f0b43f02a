// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package diag

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func sample() (Source, List) {
	src := Texts(map[string]string{"d/é x.ptx": "/*ü*/ add.u23 {%r1};\n", "b.ptx": "one\ntwo\n"})
	return src, List{
		{
			Place: at("d/é x.ptx", 1, 8, 1, 15), Rule: "F201",
			Message: `add <.u23>, {a} 100%: "no"`,
			Related: []Related{{at("b.ptx", 1, 1, 2, 1), "see"}, {at("b.ptx", 1, 1, 2, 1), "see"}},
			From:    []Place{at("main.go", 5, 2, 0, 0)},
			Fix: &Fix{Message: "write .u32",
				Edits: []Edit{{at("d/é x.ptx", 1, 11, 1, 15), ".u32"}}},
		},
		{Place: Place{File: "b.ptx", Line: 2, Column: 1}, Rule: "X9", Severity: Review,
			Message: "two\nlines"},
		{Place: Place{File: "b.ptx"}, Severity: Note, Message: "whole file"},
	}
}

func TestJSON(t *testing.T) {
	_, l := sample()
	var b strings.Builder
	if err := JSON(&b, l); err != nil {
		t.Fatal(err)
	}
	want := `{"file":"d/é x.ptx","line":1,"column":8,"end_line":1,"end_column":15,"rule":"F201","severity":"error",` +
		`"message":"add <.u23>, {a} 100%: \"no\"","related":[` +
		strings.Repeat(
			`{"file":"b.ptx","line":1,"column":1,"end_line":2,"end_column":1,"message":"see"},`,
			2) +
		`],"called_from":[{"file":"main.go","line":5,"column":2,"end_line":5,"end_column":2}],` +
		`"fix":{"message":"write .u32","edits":[{"file":"d/é x.ptx","line":1,"column":11,"end_line":1,"end_column":15,"new":".u32"}]}}
{"file":"b.ptx","line":2,"column":1,"end_line":2,"end_column":1,"rule":"X9","severity":"review","message":"two\nlines"}
{"file":"b.ptx","line":0,"column":0,"end_line":0,"end_column":0,"rule":"","severity":"note","message":"whole file"}
`
	want = strings.ReplaceAll(want, "},]", "}]")
	if d := cmp.Diff(want, b.String()); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
}

func TestGitHub(t *testing.T) {
	src, l := sample()
	l[0].Place.File = "d/é x.ptx"
	l = append(l,
		Diagnostic{Place: at("a,b:c.ptx", 3, 4, 3, 4), Rule: "F1", Severity: Warning, Message: "m"})
	var b strings.Builder
	if err := GitHub(&b, src, l); err != nil {
		t.Fatal(err)
	}
	want := `::error file=d/é x.ptx,line=1,endLine=1,col=7,endColumn=13,title=F201::add <.u23>, {a} 100%25: "no"` +
		`%0Ab.ptx:1:1: see%0Ab.ptx:1:1: see%0Afix: write .u32
::warning file=b.ptx,line=2,endLine=2,col=1,endColumn=1,title=X9::two%0Alines
::notice file=b.ptx::whole file
::warning file=a%2Cb%3Ac.ptx,line=3,endLine=3,col=4,endColumn=4,title=F1::m
`
	if d := cmp.Diff(want, b.String()); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
}

func TestApply(t *testing.T) {
	text := "one two\r\nthree\n"
	edits := []Edit{
		{at("f", 2, 6, 2, 6), "!"},
		{at("f", 1, 1, 1, 4), "1"},
		{at("f", 1, 4, 1, 5), ""},
		{at("f", 3, 1, 3, 1), "end"},
	}
	got, err := Apply(text, edits)
	if want := "1two\r\nthree!\nend"; err != nil || got != want {
		t.Errorf("got %q, %v; want %q", got, err, want)
	}
	for _, bad := range [][]Edit{
		{{at("f", 1, 1, 1, 4), ""}, {at("f", 1, 3, 1, 5), ""}},
		{{at("f", 1, 1, 1, 1), "a"}, {at("f", 1, 1, 1, 1), "b"}},
		{{at("f", 4, 1, 4, 1), ""}},
		{{at("f", 1, 10, 1, 10), ""}},
		{{at("f", 0, 0, 0, 0), ""}},
	} {
		if got, err := Apply(text, bad); err == nil {
			t.Errorf("Apply(%v) = %q, want an error", bad, got)
		}
	}
}

func TestApplyFixes(t *testing.T) {
	fix := func(edits ...Edit) Diagnostic { return Diagnostic{Fix: &Fix{Edits: edits}} }
	l := List{
		fix(Edit{at("f", 1, 1, 1, 2), "A"}, Edit{at("f", 1, 3, 1, 4), "C"}),
		// the second edit overlaps, so the whole fix is skipped
		fix(Edit{at("f", 1, 2, 1, 3), "B"}, Edit{at("f", 1, 3, 1, 4), "x"}),
		fix(Edit{at("f", 1, 4, 1, 5), "D"}),
		{Message: "no fix"},
		fix(Edit{at("f", 7, 1, 7, 1), "?"}),
		{Fix: &Fix{Edits: []Edit{{at("f", 1, 2, 1, 3), "guess"}}, Guess: true}},
	}
	got, made, left := ApplyFixes("abcd\n", l)
	if got != "AbCD\n" || made != 2 || left != 2 {
		t.Errorf("got %q, %d made, %d left", got, made, left)
	}
}

func TestSort(t *testing.T) {
	d := func(file string, line, col int, rule string) Diagnostic {
		return Diagnostic{Place: Place{File: file, Line: line, Column: col}, Rule: rule}
	}
	l := List{d("b", 1, 1, "F1"), d("a", 2, 9, "F1"), d("a", 2, 1, "F1"), d("a", 2, 5, "F2"),
		d("a", 0, 0, "F1"), d("a", 0, 0, "F1")}
	want := List{d("a", 0, 0, "F1"), d("a", 0, 0, "F1"), d("a", 2, 1, "F1"), d("a", 2, 5, "F2"),
		d("b", 1, 1, "F1")}
	if diff := cmp.Diff(want, l.Sort()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestNearest(t *testing.T) {
	names := []string{"ld", "ldu", "st", "add", "addc", "mbarrier", "verify", "fmt", "explain",
		"-format", "-fix"}
	for word, want := range map[string]string{
		"verfiy": "verify", "adc": "add", "mbarier": "mbarrier", "ftm": "fmt", "exlpain": "explain",
		"formt": "", "xyz": "", "": "", "q": "", "ad": "add", "-fromat": "-format", "verify": "",
	} {
		if got := Nearest(word, names); got != want {
			t.Errorf("Nearest(%q) = %q, want %q", word, got, want)
		}
	}
}

func TestPage(t *testing.T) {
	r := Rule{
		ID: "F101", Title: "text that is no statement", Layer: "form",
		What: strings.Repeat("word ", 20) + "\n\nSecond.",
		Why:  "It stops.", Wrong: "\n\tadd.u32 %r1\n\n\tret;\n", Right: "add.u32 %r1, %r2, %r3;",
		Section: "4.1",
	}
	want := `F101: text that is no statement
layer form, severity error

What
    word word word word word word word word word word word word word word word
    word word word word word

    Second.

Why
    It stops.

Wrong
    	add.u32 %r1

    	ret;

Right
    add.u32 %r1, %r2, %r3;

Manual
    PTX ISA, section 4.1
`
	if d := cmp.Diff(want, r.Page()); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
}
