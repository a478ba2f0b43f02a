// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package suite_test

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/ptxdsl/ptxdsl"
	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/internal/filetest"
	"github.com/ptxdsl/ptxdsl/passes/verify"
	"github.com/ptxdsl/ptxdsl/passes/verify/suite"
)

// severe matches the names of files. In NNN_what.error.ptx, all findings are errors.
var severe = regexp.MustCompile(`^\d{3}_\w+(?:\.(error|review))?\.ptx$`)

// TestFixedBugs checks that bugs of the analyzers stay fixed. The first line of every file
// specifies what it guards. If its name contains a severity, all its findings except notes have
// that severity.
func TestFixedBugs(t *testing.T) {
	filetest.Run(t, "testdata/fixedbugs/*.ptx", func(name, text string) diag.List {
		m := severe.FindStringSubmatch(filepath.Base(name))
		if m == nil || !strings.HasPrefix(text, "// ") {
			t.Errorf("%s: expected a name NNN_what.ptx, and a comment in the first line", name)
			return nil
		}
		module, faults := ptxdsl.Load(name, text)
		if len(faults) > 0 {
			return faults // an unexpected finding
		}
		list := suite.Run(module, verify.Options{}).Findings
		for _, d := range list {
			if m[1] != "" && d.Severity != diag.Note && d.Severity.String() != m[1] {
				t.Errorf("%s:%d: %s is %s, want %s", name, d.Place.Line, d.Rule, d.Severity, m[1])
			}
		}
		return list
	})
}
