// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package diag

import (
	"bytes"
	"encoding/json"
	"flag"
	"net/url"
	"os"
	"reflect"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite golden files")

func TestSARIF(t *testing.T) {
	src, l := sample()
	run := Run{
		Tool: "ptxdsl", Version: "1.2.3", URI: "https://example.org/ptxdsl", Source: src,
		Help:     "https://example.org/rules#%s",
		Failures: []string{"c.ptx: no such file"},
		Rules: Rules{
			{ID: "F101", Title: "one", Layer: "form", What: "Looks.\nAt it.", Wrong: "x {",
				Right: "y"},
			{ID: "F201", Title: "two", Layer: "form", Severity: Review},
		},
	}
	var b bytes.Buffer
	if err := SARIF(&b, run, l); err != nil {
		t.Fatal(err)
	}
	const golden = "testdata/sample.sarif"
	if *update {
		if err := os.WriteFile(golden, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), b.String()); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
	validate(t, b.Bytes())

	b.Reset()
	if err := SARIF(&b, Run{Tool: "ptxdsl"}, nil); err != nil {
		t.Fatal(err)
	}
	validate(t, b.Bytes())
}

// validate checks a log against the parts of the standard that this package uses: no unknown
// properties, all required ones, closed sets of words, numbers in range, distinct elements, valid
// addresses, and indices that refer to existing rules. The golden file itself was validated with
// the official JSON schema (sarif-schema-2.1.0.json, errata 01) when it was last changed.
func validate(t *testing.T, data []byte) {
	t.Helper()
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	var log sarifLog
	if err := dec.Decode(&log); err != nil {
		t.Fatal(err)
	}
	if log.Version != "2.1.0" || len(log.Runs) != 1 {
		t.Fatalf("version %q, %d runs", log.Version, len(log.Runs))
	}
	run := log.Runs[0]
	if run.Tool.Driver.Name == "" || run.Results == nil || run.Tool.Driver.Rules == nil {
		t.Error("a run needs a tool's name, rules and results, be they empty")
	}
	oneOf := func(what, got string, words ...string) {
		t.Helper()
		if !slices.Contains(words, got) {
			t.Errorf("%s is %q, want one of %q", what, got, words)
		}
	}
	oneOf("columnKind", run.ColumnKind, "utf16CodeUnits", "unicodeCodePoints")
	for _, i := range run.Invocations {
		for _, n := range i.Notifications {
			oneOf("level", n.Level, "none", "note", "warning", "error")
		}
		distinct(t, i.Notifications)
	}
	distinct(t, run.Tool.Driver.Rules)
	for _, r := range run.Tool.Driver.Rules {
		oneOf("level", r.Config.Level, "none", "note", "warning", "error")
		if r.ID == "" || r.Short.Text == "" || r.Help.Text == "" {
			t.Errorf("rule %+v lacks a text", r)
		}
		checkURI(t, r.URI)
	}
	for _, r := range run.Results {
		oneOf("kind", r.Kind, "notApplicable", "pass", "fail", "review", "open", "informational")
		oneOf("level", r.Level, "none", "note", "warning", "error")
		if (r.Kind == "fail") == (r.Level == "none") {
			t.Errorf("kind %q does not go with level %q", r.Kind, r.Level)
		}
		if r.Message.Text == "" {
			t.Error("a result needs a message")
		}
		if r.Index != nil && run.Tool.Driver.Rules[*r.Index].ID != r.Rule {
			t.Errorf("rule index %d is not %s", *r.Index, r.Rule)
		}
		distinct(t, r.Related)
		for _, l := range slices.Concat(r.Locations, r.Related) {
			checkURI(t, l.Physical.Artifact.URI)
			checkRegion(t, l.Physical.Region)
		}
		for _, f := range r.Fixes {
			if len(f.Changes) == 0 {
				t.Error("a fix needs a change")
			}
			for _, c := range f.Changes {
				checkURI(t, c.Artifact.URI)
				if len(c.Replacements) == 0 {
					t.Error("a change needs a replacement")
				}
				for _, e := range c.Replacements {
					checkRegion(t, &e.Deleted)
				}
			}
		}
	}
}

func checkURI(t *testing.T, s string) {
	t.Helper()
	u, err := url.Parse(s)
	if err != nil {
		t.Error(err)
	} else if u.String() != s {
		t.Errorf("address %q is not escaped: %q", s, u.String())
	}
}

func checkRegion(t *testing.T, r *sarifRegion) {
	t.Helper()
	if r == nil {
		return
	}
	if min(r.Line, r.Column, r.EndLine, r.EndColumn) < 1 || r.EndLine < r.Line ||
		r.EndLine == r.Line && r.EndColumn < r.Column {
		t.Errorf("region %+v", *r)
	}
}

func distinct[T any](t *testing.T, list []T) {
	t.Helper()
	for i := range list {
		for j := range i {
			if reflect.DeepEqual(list[i], list[j]) {
				t.Errorf("elements %d and %d are the same: %+v", j, i, list[i])
			}
		}
	}
}

func TestAddress(t *testing.T) {
	for file, want := range map[string]string{
		"a/b c.ptx": "a/b%20c.ptx", "/abs/x.ptx": "file:///abs/x.ptx", "a:b.ptx": "./a:b.ptx",
		"<standard input>": "%3Cstandard%20input%3E", "50%.ptx": "50%25.ptx",
		"ä?#.ptx": "%C3%A4%3F%23.ptx",
	} {
		if got := address(file); got != want {
			t.Errorf("address(%q) = %q, want %q", file, got, want)
		}
	}
}
