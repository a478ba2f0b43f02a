// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package memmodel

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// herd formats a test of testdata/litmus.txt for herd.
func herd(name, places, threads, condition string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "PTX %s\n\"from litmus.txt\"\n{\n", name)
	for _, alias := range []string{"t @ texture aliases x", "s @ surface aliases x",
		"c @ constant aliases x", "v aliases x"} {
		fmt.Fprintf(&b, "%s;\n", alias)
	}
	b.WriteString("}\n")
	var header []string
	for i, p := range strings.Fields(places) {
		parts := strings.Split(p, ".")
		cluster, gpu := parts[0], "0"
		if len(parts) > 1 {
			cluster = parts[1]
		}
		if len(parts) > 2 {
			gpu = parts[2]
		}
		header = append(header,
			fmt.Sprintf("P%d@cta %s, cluster %s, gpu %s", i, parts[0], cluster, gpu))
	}
	b.WriteString(strings.Join(header, " | ") + " ;\n")
	var columns [][]string
	rows := 0
	for _, th := range strings.Split(threads, "||") {
		column := strings.Split(th, ";")
		columns = append(columns, column)
		rows = max(rows, len(column))
	}
	for i := range rows {
		var cells []string
		for _, c := range columns {
			cell := ""
			if i < len(c) {
				cell = strings.TrimSpace(c[i])
			}
			cells = append(cells, cell)
		}
		b.WriteString(strings.Join(cells, " | ") + " ;\n")
	}
	fmt.Fprintf(&b, "exists (%s)\n", condition)
	return b.String()
}

// TestLitmus decides the tests of litmus.txt.
func TestLitmus(t *testing.T) {
	text, err := os.ReadFile("testdata/litmus.txt")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		f := strings.Split(strings.TrimSpace(line), " # ")
		if len(f) != 6 {
			t.Fatalf("%d fields: %s", len(f), line)
		}
		n++
		test, err := Parse(herd(f[0], f[1], f[2], f[3]))
		if err != nil {
			t.Error(err)
			continue
		}
		v, err := Decide(test)
		if err != nil {
			t.Error(err)
			continue
		}
		if want := f[4] == "allowed"; v.Possible != want {
			t.Errorf("%s: possible is %v, want %s: %s", f[0], v.Possible, f[4], f[5])
		}
		if v.Executions == 0 {
			t.Errorf("%s has no execution", f[0])
		}
	}
	if n < 150 {
		t.Errorf("%d tests, want at least 150", n)
	}
}
