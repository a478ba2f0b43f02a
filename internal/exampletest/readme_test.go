// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package exampletest_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestReadme compares the README's list of examples with the folders.
func TestReadme(t *testing.T) {
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	readme := string(text)
	folders, err := filepath.Glob("../../examples/*")
	if err != nil || len(folders) == 0 {
		t.Fatal("no examples", err)
	}
	for _, f := range folders {
		if name := filepath.Base(f); !strings.Contains(readme, "| ["+name+"](examples/"+name+"/kernel.go) |") {
			t.Errorf("README: no row for %s", name)
		}
		for _, name := range []string{"kernel.go", "main/main.go", "kernel_test.go"} {
			if _, err := os.Stat(filepath.Join(f, name)); err != nil {
				t.Errorf("%s has no %s", f, name)
			}
		}
	}
}
