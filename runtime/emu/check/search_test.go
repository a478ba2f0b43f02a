// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package check_test

import (
	"os"
	"testing"

	"github.com/ptxdsl/ptxdsl/runtime/emu/check"
)

// TestSearch checks that the search finds an order that no seed produces, that its replay is an
// error, and that nothing is found without a search.
func TestSearch(t *testing.T) {
	text, err := os.ReadFile("../schedule/testdata/pairs.ptx")
	if err != nil {
		t.Fatal(err)
	}
	run := func(o check.Options) check.Result {
		results, err := check.File("pairs.ptx", string(text), o)
		if err != nil {
			t.Fatal(err)
		}
		return results[0]
	}
	if r := run(check.Options{Search: -1}); r.Verdict() != "clean" || r.Search != nil {
		t.Errorf("without a search: %s: %v", r.Verdict(), r.Findings)
	}
	r := run(check.Options{})
	if r.Verdict() != "error" || len(r.Findings) != 1 || r.Findings[0].Rule != check.RuleSearch ||
		len(r.Timeline) == 0 {
		t.Fatalf("%s: %v", r.Verdict(), r.Findings)
	}
	again := run(check.Options{Order: r.Search.Violation.Witness})
	if again.Verdict() != "error" || again.Findings[0].Rule != check.RuleHang ||
		len(again.Incomplete) > 0 {
		t.Errorf("replay: %s: %v %v", again.Verdict(), again.Findings, again.Incomplete)
	}
}
