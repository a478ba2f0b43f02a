// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ptxdsl/ptxdsl"
	"github.com/ptxdsl/ptxdsl/diag"
)

// TestCheckPage compares docs/reference/check.md with the verdicts of verify and check on pairs of
// wrong and right kernels; -update writes the page. The verdicts of check are those that TestPairs
// of runtime/emu/check compares.
func TestCheckPage(t *testing.T) {
	head, err := os.ReadFile("testdata/check_head.md")
	if err != nil {
		t.Fatal(err)
	}
	comparePage(t, "check.md", generated+string(head)+pairTable(t))
}

// pairTable returns the table of pairs, with a summary by class.
func pairTable(t *testing.T) string {
	t.Helper()
	root := filepath.Join("..", "..", "runtime", "emu", "check", "testdata", "pairs")
	checked := checkVerdicts(t, filepath.Join(root, "verdicts.txt"))
	files, err := filepath.Glob(filepath.Join(root, "*", "*.wrong.ptx"))
	if err != nil || len(files) == 0 {
		t.Fatal(err)
	}
	type counts struct{ pairs, verify, clean, check, either, right int }
	classes := map[string]*counts{}
	var order []string
	var rows strings.Builder
	for _, path := range files {
		class := filepath.Base(filepath.Dir(path))
		c := classes[class]
		if c == nil {
			c = &counts{}
			classes[class] = c
			order = append(order, class)
		}
		c.pairs++
		name := class + "/" + filepath.Base(path)
		wrongStatic, what := verifyVerdict(t, path)
		rightStatic, _ := verifyVerdict(t, strings.Replace(path, ".wrong.", ".right.", 1))
		wrongRun, rightRun := checked[name], checked[strings.Replace(name, ".wrong.", ".right.", 1)]
		if wrongRun == "" || rightRun == "" {
			t.Errorf("%s has no verdict in verdicts.txt", name)
		}
		if strings.HasPrefix(wrongStatic, "error") {
			c.verify++
		}
		if strings.HasPrefix(wrongStatic, "clean") {
			c.clean++
		}
		if strings.HasPrefix(wrongRun, "error") {
			c.check++
		}
		if strings.HasPrefix(wrongStatic, "error") || strings.HasPrefix(wrongRun, "error") {
			c.either++
		}
		if !strings.HasPrefix(rightStatic, "error") && !strings.HasPrefix(rightRun, "error") {
			c.right++
		}
		fmt.Fprintf(&rows, "| %s | %s | %s | %s | %s | %s |\n", class, what, wrongStatic, wrongRun,
			rightStatic, rightRun)
	}
	var b strings.Builder
	b.WriteString(
		"| subject | pairs | wrong kernel: error in verify | wrong kernel: clean in verify | wrong kernel: error in check | wrong kernel: error in verify or check | right kernel: no error |\n|---|---|---|---|---|---|---|\n")
	for _, class := range order {
		c := classes[class]
		fmt.Fprintf(&b, "| %s | %d | %d | %d | %d | %d | %d |\n", class, c.pairs, c.verify, c.clean,
			c.check, c.either, c.right)
	}
	b.WriteString(
		"\n## All pairs\n\nThe verdicts, with the rules of the findings:\n\n| subject | bug | wrong kernel in verify | wrong kernel in check | right kernel in verify | right kernel in check |\n|---|---|---|---|---|---|\n")
	return b.String() + rows.String()
}

// checkVerdicts returns the verdicts of check, with the rules of the most severe findings, by the
// path of the kernel.
func checkVerdicts(t *testing.T, path string) map[string]string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	all := make(map[string]string)
	for line := range strings.Lines(string(text)) {
		name, verdict, _ := strings.Cut(strings.TrimSpace(line), " ")
		all[name] = verdict
	}
	return all
}

// verifyVerdict returns the verdict of verify on a file, with the rules of the most severe
// findings, and the description in the file's first line.
func verifyVerdict(t *testing.T, path string) (verdict, what string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	what, _, _ = strings.Cut(strings.TrimPrefix(string(text), "// "), ".\n")
	r := ptxdsl.Verify("pair.ptx", string(text), ptxdsl.Options{})
	return withRules(r.Verdict().String(), r.Findings), what
}

// withRules adds the rules of findings of the severity that a verdict names.
func withRules(verdict string, l diag.List) string {
	var ids []string
	for _, d := range l {
		if d.Severity.String() == verdict && !slices.Contains(ids, d.Rule) {
			ids = append(ids, d.Rule)
		}
	}
	if len(ids) == 0 {
		return verdict
	}
	slices.Sort(ids)
	return verdict + " " + strings.Join(ids, ", ")
}
