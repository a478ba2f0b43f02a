// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package suite_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/passes/verify"
	"github.com/ptxdsl/ptxdsl/passes/verify/suite"
)

// TestRight checks that correct kernels have no findings, and that all but a few are checked in
// full. They are in different styles, written by hand or compiled by nvcc.
func TestRight(t *testing.T) {
	partly := map[string]string{
		// Threads copy data selected by their index.
		"cuda_pipeline":     "choose different branches",
		"multicast":         "the box",
		"tcgen_pair":        "the box",
		"tcgen_single":      "the box",
		"tma_load_store":    "the box",
		"warp_spec_counter": "the box",
		"wgmma":             "the box",
	}
	names, err := filepath.Glob("testdata/right/*.ptx")
	if err != nil || len(names) == 0 {
		t.Fatalf("no kernels: %v", err)
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		r := suite.Run(module(t, name, string(text)), verify.Options{})
		for _, d := range r.Findings {
			if d.Severity != diag.Note {
				t.Errorf("%s:%d: %s %s: %s", name, d.Place.Line, d.Severity, d.Rule, d.Message)
			}
		}
		missed := strings.Join(r.Kernels[0].Missed, "; ")
		why := partly[strings.TrimSuffix(filepath.Base(name), ".ptx")]
		if why == "" && missed != "" || !strings.Contains(missed, why) {
			t.Errorf("%s: not checked: %q, expected %q", name, missed, why)
		}
	}
}
