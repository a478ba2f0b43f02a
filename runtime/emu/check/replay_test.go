// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package check_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ptxdsl/ptxdsl/runtime/emu"
	"github.com/ptxdsl/ptxdsl/runtime/emu/check"
)

// TestReplay launches corrected twins several times: a launch starts from the same arrays as the
// one before, and has the same result.
func TestReplay(t *testing.T) {
	files, err := filepath.Glob("testdata/pairs/[ads]*/*.right.ptx") // async, dependent and shared
	if err != nil || len(files) < 50 {
		t.Fatalf("%d files: %v", len(files), err)
	}
	for _, path := range files {
		t.Run(filepath.Base(path), func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			target := "sm_90a"
			if strings.Contains(string(text), "\n.target sm_100") {
				target = "sm_100a"
			}
			d, err := emu.New(emu.Options{Target: target})
			if err != nil {
				t.Fatal(err)
			}
			r, err := check.NewReplay(d, filepath.Base(path), string(text))
			if err != nil {
				t.Fatal(err)
			}
			first, err := r.Once()
			if err != nil {
				t.Fatal(err)
			}
			if again, err := r.Once(); err != nil || again != first {
				t.Errorf("the second launch has another result: %v", err)
			}
		})
	}
}
