// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package gputest

import (
	"testing"

	"github.com/ptxdsl/ptxdsl/internal/ptxas"
)

// TestKernels holds that the kernels assemble, and that the spoiled one does not.
func TestKernels(t *testing.T) {
	tool, err := ptxas.Find()
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		module interface{ Text() (string, error) }
		good   bool
	}{{kernels("sm_90a"), true}, {kernels("sm_80"), true}, {wild("sm_90a"), true}, {spoiled{wild("sm_90a")}, false}} {
		text, err := test.module.Text()
		if err != nil {
			t.Fatal(err)
		}
		_, verdict, err := tool.Assemble(t.Context(), text, ptxas.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if verdict.OK() != test.good {
			t.Errorf("%s\n%s", verdict, text)
		}
	}
}
