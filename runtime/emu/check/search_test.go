// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package check_test

import (
	"fmt"
	"os"
	"strings"
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
	if r := run(check.Options{Search: -1}); r.Verdict() != "clean" || r.Search != nil ||
		len(r.Bounds) != 1 {
		t.Errorf("without a search: %s: %v, bounds %q", r.Verdict(), r.Findings, r.Bounds)
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

// TestBounds checks that a verdict names the bounds of the search of orders, and that it is not
// clean if an unknown part of the orders was not searched.
func TestBounds(t *testing.T) {
	flag := func(polls int) string { // pairs of warps that meet in different elements
		return body(".reqntid 64", fmt.Sprintf(`mov.u32 %%r5, 0; setp.ge.u32 %%p1, %%r1, 32;
l:	@%%p1 bra w; setp.ne.u32 %%p2, %%r1, 0; @%%p2 bra n; st.release.gpu.global.u32 [%%d1], 1; bra n;
w:	ld.acquire.gpu.global.u32 %%r2, [%%d1]; setp.eq.u32 %%p3, %%r2, 0; @%%p3 bra w;
n:	add.u64 %%d1, %%d1, 4; add.u32 %%r5, %%r5, 1; setp.ne.u32 %%p4, %%r5, %d; @%%p4 bra l;`, polls))
	}
	unrolled := strings.Repeat("atom.global.add.u32 %r2, [%d1], 1;\n", 70)
	for _, test := range []struct{ name, text, verdict, bound string }{
		{"barrier", body(".reqntid 64", "bar.sync 0;"), "clean", ""},
		{"one flag", flag(1), "clean", "at most 2 delayed warps at an access to a flag"},
		{"flags in a loop", flag(8), "clean", "at most 2 delayed warps at an access to a flag"},
		{"many counters", body(".reqntid 64", unrolled), "incomplete", ""},
	} {
		results, err := check.File("k.ptx", test.text, check.Options{Seeds: 1})
		if err != nil {
			t.Fatal(err)
		}
		r := results[0]
		if got := strings.Join(r.Bounds, "; "); r.Verdict() != test.verdict || got != test.bound {
			t.Errorf("%s: %s (%s), want %s (%s): %v %v", test.name, r.Verdict(), got, test.verdict,
				test.bound, r.Findings, r.Incomplete)
		}
	}
}

// TestManyStates checks that a search that stops at its limit makes the verdict incomplete.
func TestManyStates(t *testing.T) {
	text, err := os.ReadFile("testdata/pairs/mbarrier/stage_not_awaited.right.ptx")
	if err != nil {
		t.Fatal(err)
	}
	results, err := check.File("k.ptx", string(text), check.Options{Seeds: 1, Search: 2})
	if err != nil {
		t.Fatal(err)
	}
	if r := results[0]; r.Verdict() != "incomplete" || !r.Search.Stopped {
		t.Errorf("%s: %v, %v", r.Verdict(), r.Search, r.Incomplete)
	}
}
