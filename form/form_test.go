// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package form

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/internal/filetest"
	"github.com/ptxdsl/ptxdsl/internal/ptxas"
	"github.com/ptxdsl/ptxdsl/ptx"
)

// judge returns ptxas.
func judge(t testing.TB) *ptxas.Tool {
	t.Helper()
	tool, err := ptxas.Find()
	if err != nil {
		t.Fatal(err)
	}
	return tool
}

// accepts asks ptxas for a verdict with code generation, on the text as a relocatable object or as
// a whole program.
func accepts(t testing.TB, tool *ptxas.Tool, text string) (bool, string) {
	t.Helper()
	v, _ := verdict(text)
	parsed, err := tool.Parse(t.Context(), text, ptxas.Options{Relocatable: v >= 301})
	if err != nil {
		t.Fatal(err)
	}
	if !parsed.OK() { // code generation takes longer and finds no fewer errors
		return false, parsed.String()
	}
	_, said, err := tool.Assemble(t.Context(), text, ptxas.Options{Relocatable: v >= 301})
	if err == nil {
		_, alone, _ := tool.Assemble(t.Context(), text, ptxas.Options{})
		// If no linker follows, ptxas adds up the resources of a kernel and of all functions that
		// it calls.
		if alone.OK() || said.OK() && strings.Contains(alone.String(), "Entry function") ||
			said.OK() && strings.Contains(alone.String(), "uses single CTA") {
			said = alone
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return said.OK(), said.String()
}

// verdict reads the .version of a module without the parser.
func verdict(text string) (int, bool) {
	m := regexp.MustCompile(`\.version[ \t]+(\d+)\.(\d+)`).FindStringSubmatch(text)
	if m == nil {
		return 0, false
	}
	major, _ := strconv.Atoi(m[1])
	minor, _ := strconv.Atoi(m[2])
	return major*100 + minor, true
}

// findings returns all findings of verify for a text: syntax and form.
func findings(name, text string) diag.List {
	f, list := ptx.Parse(name, text)
	return append(list, Check(f, Options{})...).Sort()
}

// TestBroken compares the findings for each file of testdata/broken with its want comments, and
// checks that ptxas rejects the file too.
func TestBroken(t *testing.T) {
	tool := judge(t)
	names, _ := filepath.Glob("testdata/broken/*.ptx")
	if len(names) < 200 {
		t.Errorf("%d broken files; 200 are the least", len(names))
	}
	for _, name := range names {
		t.Run(filepath.Base(name), func(t *testing.T) {
			t.Parallel()
			text := read(t, name)
			filetest.Check(t, name, text, findings(name, text))
			if ok, _ := accepts(t, tool, text); ok {
				t.Error("ptxas accepts it")
			}
		})
	}
}

// TestOK checks that the files of testdata/ok have no findings and that ptxas accepts them too.
func TestOK(t *testing.T) {
	tool := judge(t)
	names, _ := filepath.Glob("testdata/ok/*.ptx")
	if len(names) == 0 {
		t.Error("no files")
	}
	for _, name := range names {
		t.Run(filepath.Base(name), func(t *testing.T) {
			t.Parallel()
			text := read(t, name)
			for _, d := range findings(name, text) {
				t.Errorf("%v: %s %s", d.Place, d.Rule, d.Message)
			}
			if ok, said := accepts(t, tool, text); !ok {
				t.Errorf("ptxas refuses it: %s", said)
			}
		})
	}
}

func read(t testing.TB, name string) string {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// module completes the example of a rule to a whole module. An example with a header is unchanged.
// Declarations and functions get a header. Statements also get a kernel with registers.
func module(example string) string {
	const head = ".version 9.5\n.target sm_90\n.address_size 64\n"
	example = strings.Trim(example, "\n") + "\n"
	if strings.Contains(example, ".version ") || strings.HasPrefix(example, ".target") {
		return example
	}
	for _, word := range []string{".entry ", ".func ", ".global ", ".shared ", ".const", ".extern ",
		".visible ", ".common ", ".file ",
		".section ", ".alias ", `.pragma "`} {
		if strings.HasPrefix(example, word) || strings.Contains(example, ".entry ") {
			return head + example
		}
	}
	return head +
		".entry k() {\n.reg .pred %p<3>;\n.reg .b32 %r<10>;\n.reg .b64 %rd<10>;\n.reg .f32 %f<10>;\n" + example + "ret;\n}\n"
}

// TestRules checks the page of each rule: the wrong example violates that rule and ptxas rejects
// it, and the right one violates none and ptxas accepts it.
func TestRules(t *testing.T) {
	tool := judge(t)
	seen := make(map[string]bool)
	for _, r := range Rules() {
		if seen[r.ID] {
			t.Errorf("%s is the id of two rules", r.ID)
		}
		seen[r.ID] = true
		if r.Title == "" || r.What == "" || r.Why == "" || r.Fix == "" || r.Section == "" ||
			r.Layer != "form" {
			t.Errorf("%s: the page is not complete", r.ID)
		}
		if r.Wrong == "" {
			continue
		}
		t.Run(r.ID, func(t *testing.T) {
			t.Parallel()
			wrong, right := module(r.Wrong), module(r.Right)
			found := false
			list := findings("wrong.ptx", wrong)
			for _, d := range list {
				found = found || d.Rule == r.ID
			}
			if !found {
				t.Errorf("the wrong example does not violate the rule: %s\n%s", said(list), wrong)
			}
			if ok, _ := accepts(t, tool, wrong); ok != (r.Severity != diag.Error) {
				t.Errorf("ptxas and the rule disagree on the wrong example\n%s", wrong)
			}
			if list := findings("right.ptx", right); len(list) > 0 {
				t.Errorf("the right example violates rules: %s\n%s", said(list), right)
			}
			if ok, said := accepts(t, tool, right); !ok {
				t.Errorf("ptxas refuses the right example: %s\n%s", said, right)
			}
		})
	}
}

func said(list diag.List) string {
	var b strings.Builder
	for _, d := range list {
		fmt.Fprintf(&b, "\n%v: %s %s", d.Place, d.Rule, d.Message)
	}
	return b.String()
}

// TestLongSeries checks that a list with too many names to look up is reported at its first unknown
// name, without delay.
func TestLongSeries(t *testing.T) {
	f, errs := ptx.Parse("long.ptx", ".version 9.0\n.target sm_90\n.address_size 64\n"+
		".entry k()\n{\nL0:\nt: .branchtargets L<18446744073709551615>;\n\tret;\n}\n")
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	found := Check(f, Options{})
	if len(found) != 1 || found[0].Rule != "F501" {
		t.Error("found", found)
	}
}
