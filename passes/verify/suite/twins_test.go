// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package suite_test

import (
	"strings"
	"testing"

	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/internal/filetest"
	"github.com/ptxdsl/ptxdsl/passes/verify"
	"github.com/ptxdsl/ptxdsl/passes/verify/suite"
)

// TestTwins compares findings with the comments of files. The prefix of a kernel's name specifies
// what to expect: r_ for no findings, q_ for reviews, w_ for errors.
func TestTwins(t *testing.T) {
	filetest.Run(t, "testdata/twins/*.ptx", func(name, text string) diag.List {
		m := module(t, name, text)
		r := suite.Run(m, verify.Options{})
		want := map[string]verify.Verdict{"q": verify.Review, "w": verify.Error}
		for _, k := range r.Kernels {
			kind, _, _ := strings.Cut(k.Kernel, "_")
			if v, doubtful := want[kind]; doubtful && k.Verdict != v ||
				!doubtful && k.Verdict > verify.Incomplete {
				t.Errorf("%s: %s is %s", name, k.Kernel, k.Verdict)
			}
		}
		list := r.Findings[:0]
		for _, d := range r.Findings {
			if d.Severity != diag.Note {
				list = append(list, d)
			}
		}
		return list
	})
}
