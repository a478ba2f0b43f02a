// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package exampletest_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestReadme holds the code in the README against its sources, and its list of examples against the folders.
func TestReadme(t *testing.T) {
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	readme := string(text)
	blocks := regexp.MustCompile("(?s)<!-- source: (\\S+) -->\n```go\n(.*?)```").FindAllStringSubmatch(readme, -1)
	if len(blocks) == 0 {
		t.Error("the README shows no code of an example")
	}
	for _, b := range blocks {
		source, err := os.ReadFile(filepath.Join("../..", b[1]))
		if err != nil {
			t.Error(err)
			continue
		}
		if !strings.Contains(string(source), b[2]) {
			t.Errorf("README: the code of %s is not what stands there", b[1])
		}
	}
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
