// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package check_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ptxdsl/ptxdsl/golden"
	"github.com/ptxdsl/ptxdsl/runtime/emu/check"
)

// verdictsFile has a line for each kernel of the pairs: its path, its verdict, and the rules of its
// most severe findings. A page of the documentation is made from it.
const verdictsFile = "testdata/pairs/verdicts.txt"

// TestPairs checks kernels with a bug and their corrected twins: the first have an error, the
// second are clean. A comment such as "check: review" gives another verdict: compilers rely on the
// bug, or only verify detects it. The verdicts must be those of verdictsFile, which -update writes.
func TestPairs(t *testing.T) {
	files, err := filepath.Glob("testdata/pairs/*/*.ptx")
	if err != nil || len(files) < 200 {
		t.Fatalf("%d files: %v", len(files), err)
	}
	if testing.Short() { // under the race detector: all pairs use the same goroutines
		files = slices.DeleteFunc(files, func(path string) bool { return len(path)%24 != 0 })
	}
	lines := make([]string, len(files))
	t.Run("all", func(t *testing.T) {
		for i, path := range files {
			name := strings.TrimPrefix(path, "testdata/pairs/")
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				lines[i] = name + " " + checkPair(t, path)
			})
		}
	})
	if golden.Updating() && !testing.Short() {
		text := strings.Join(lines, "\n") + "\n"
		if err := os.WriteFile(verdictsFile, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(verdictsFile)
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Split(strings.TrimSpace(string(text)), "\n")
	for _, line := range lines {
		if !slices.Contains(want, line) {
			t.Errorf("%s: not in %s; go test ./runtime/emu/check -run TestPairs -update", line,
				verdictsFile)
		}
	}
	if !testing.Short() && len(want) != len(lines) {
		t.Errorf("%s has %d lines, want %d", verdictsFile, len(want), len(lines))
	}
}

// checkPair checks one twin of a pair, and returns its verdict with the rules of its most severe
// findings.
func checkPair(t *testing.T, path string) string {
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	results, err := check.File("pair.ptx", string(text), check.Options{Seeds: 2})
	if err != nil {
		t.Fatal(err)
	}
	want := "clean"
	if strings.HasSuffix(path, ".wrong.ptx") {
		want = "error"
	}
	if _, after, found := strings.Cut(string(text), "\n// check: "); found {
		want, _, _ = strings.Cut(after, "\n")
	}
	got := worst(results)
	if got != want {
		t.Errorf("%s, want %s", got, want)
		for _, r := range results {
			t.Log(r.Kernel, r.Verdict(), r.Incomplete, r.NotReached)
			for _, d := range r.Findings {
				t.Log(check.Text(d))
			}
		}
	}
	var rules []string
	for _, r := range results {
		for _, d := range r.Findings {
			if d.Severity.String() == got && !slices.Contains(rules, d.Rule) {
				rules = append(rules, d.Rule)
			}
		}
	}
	slices.Sort(rules)
	return strings.TrimSpace(got + " " + strings.Join(rules, ", "))
}

// TestExamples checks that check finds no error in correct kernels, whatever else it cannot decide:
// the simple examples, and one that waits for other devices.
func TestExamples(t *testing.T) {
	for _, pattern := range []string{"0[1-8]_*", "11_*", "24_*"} {
		files, err := filepath.Glob("../../../examples/" + pattern + "/testdata/*.ptx")
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %d files: %v", pattern, len(files), err)
		}
		for _, path := range files {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			results, err := check.File(filepath.Base(path), string(text), check.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if got := worst(results); got == "error" {
				t.Errorf("%s: %v", path, results)
			}
		}
	}
}

// worst returns the most severe verdict.
func worst(results []check.Result) string {
	verdicts := []string{"clean", "incomplete", "review", "error"}
	most := 0
	for _, r := range results {
		most = max(most, slices.Index(verdicts, r.Verdict()))
	}
	return verdicts[most]
}

// TestLaunch checks that a given launch is used, and that its arrays have bounds.
func TestLaunch(t *testing.T) {
	const text = `.version 8.3
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 a, .param .u32 n) {
	.reg .b32 %r<4>; .reg .b64 %d<4>; .reg .pred %p<2>;
	ld.param.u64 %d0, [a]; cvta.to.global.u64 %d0, %d0; ld.param.u32 %r1, [n];
	mov.u32 %r0, %tid.x; setp.ge.u32 %p0, %r0, %r1; @%p0 bra e;
	mul.wide.u32 %d1, %r0, 4; add.u64 %d1, %d0, %d1; st.global.u32 [%d1], %r0;
e:	ret;
}
`
	for n, want := range map[uint32]string{16: "clean", 17: "error"} {
		l := &check.Launch{Grid: [3]uint32{1, 1, 1}, Block: [3]uint32{32, 1, 1}, Args: []check.Arg{
			{Array: make([]byte, 64), Text: "u32[16]"},
			{Value: []byte{byte(n), 0, 0, 0}, Text: "n"},
		}}
		results, err := check.File("k.ptx", text, check.Options{Launch: l})
		if err != nil {
			t.Fatal(err)
		}
		if got := results[0].Verdict(); got != want {
			t.Errorf("n = %d: %s, want %s: %v", n, got, want, results[0])
		}
	}
}
