// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package suite_test

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ptxdsl/ptxdsl"
	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/internal/filetest"
	"github.com/ptxdsl/ptxdsl/internal/oracle/roundtrip"
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/passes/verify"
	"github.com/ptxdsl/ptxdsl/passes/verify/suite"
)

func module(t testing.TB, name, text string) *ir.Module {
	t.Helper()
	m, list := ptxdsl.Load(name, text)
	for _, d := range list {
		t.Fatalf("%v: %s %s", d.Place, d.Rule, d.Message)
	}
	return m
}

// TestFiles compares the findings of each analyzer with the comments in its test files.
func TestFiles(t *testing.T) {
	filetest.Run(t, "testdata/*.ptx", func(name, text string) diag.List {
		return suite.Run(module(t, name, text), verify.Options{}).Findings
	})
}

// TestList checks that each analyzer has a description and each rule one owner.
func TestList(t *testing.T) {
	seen := make(map[string]string)
	for _, a := range suite.List() {
		if a.Doc == "" || a.Run == nil || a.Name != "unchecked" &&
			(len(a.Rules)+len(a.Tells) == 0 || len(a.Requires) == 0 && !a.Flow) {
			t.Errorf("%s is incomplete", a.Name)
		}
		for _, r := range a.Rules {
			if r.Layer != a.Name || seen[r.ID] != "" {
				t.Errorf("%s of %s has layer %s, and belongs to %q", r.ID, a.Name, r.Layer,
					seen[r.ID])
			}
			seen[r.ID] = a.Name
		}
	}
}

// TestRules checks that every rule of the design that can be detected in PTX text has an analyzer,
// or is reported under another rule. It must have a page with a wrong and a right example, which
// cmd/ptxdsl runs.
func TestRules(t *testing.T) {
	reportedAs := map[string]string{ // rules whose findings are reported under another rule
		"B4":  "B3", // several uses of one barrier are reported as arrivals that can mix
		"T11": "A1", // operands of tcgen05 are read through the async proxy like any others
		"A3":  "A1", // nothing to detect: completion is assumed to make results visible
	}
	highest := map[string]int{"A": 14, "B": 13, "C": 5, "G": 4, "M": 11, "R": 8, "S": 4, "T": 12,
		"W": 5}
	have := make(map[string]diag.Rule)
	for _, r := range suite.Rules() {
		have[r.ID] = r
	}
	for id := range have {
		n, err := strconv.Atoi(id[1:])
		if err == nil && id[0] != 'V' && n > highest[id[:1]] {
			t.Errorf("%s is not in the table of this test", id)
		}
	}
	for class, n := range highest {
		for i := 1; i <= n; i++ {
			id := fmt.Sprint(class, i)
			if other := reportedAs[id]; other != "" {
				if have[id].ID != "" {
					t.Errorf("%s has a page, and is listed as reported under %s", id, other)
				}
				id = other
			}
			r, ok := have[id]
			if !ok {
				t.Errorf("%s has no analyzer", id)
			} else if forms := id == "R1"; r.What == "" || r.Why == "" ||
				r.Fix == "" || r.Section == "" || (r.Wrong == "" || r.Right == "") && !forms {
				// A wrong count for R1 does not pass the form checks, so its page has no PTX.
				t.Errorf("the page of %s is incomplete", id)
			}
		}
	}
}

const head = ".version 8.6\n.target sm_90a\n.address_size 64\n.visible .entry k()\n.reqntid 64\n{\n\t.reg .pred %p<4>;\n\t.reg .b32 %r<4>;\n\tmov.u32 %r1, %tid.x;\n\tsetp.ne.u32 %p1, %r1, 5;\n"

// TestVerdicts checks the verdicts on kernels, with and without suppressions.
func TestVerdicts(t *testing.T) {
	for _, test := range []struct{ name, body, want string }{
		{"clean", "bar.sync 0;", "clean []"},
		{"error", "@%p1 bra ON;\nmov.u32 %r2, 1;\nbar.sync 0;\nON: bar.sync 1;", "error [B2]"},
		{"suppressed",
			"@%p1 bra ON;\nmov.u32 %r2, 1;\n// ptxdsl:ignore B2 the other lanes do not come here\nbar.sync 0;\nON: bar.sync 1;",
			"clean []"},
		{"suppressed behind",
			"@%p1 bra ON;\nmov.u32 %r2, 1;\nbar.sync 0; // ptxdsl:ignore B2 the other lanes do not come here\nON: bar.sync 1;",
			"clean []"},
		{"no reason",
			"@%p1 bra ON;\nmov.u32 %r2, 1;\nbar.sync 0; // ptxdsl:ignore B2\nON: bar.sync 1;",
			"error [B2 V102]"},
		{"no rule", "bar.sync 0; // ptxdsl:ignore", "clean [V102]"},
		{"another rule",
			"@%p1 bra ON;\nmov.u32 %r2, 1;\nbar.sync 0; // ptxdsl:ignore B1 for no reason\nON: bar.sync 1;",
			"error [B2 V103]"},
		{"unknown comment", "bar.sync 0; // ptxdsl:bogus", "clean [V103]"},
		{"known and unknown comments", "bar.sync 0; // ptxdsl:box 8x16 ptxdsl:elements 4",
			"clean [V103]"},
		{"known comments", "bar.sync 0; // ptxdsl:bytes 512 ptxdsl:element 4 ptxdsl:box 8x16",
			"clean []"},
		{"nothing to suppress", "bar.sync 0; // ptxdsl:ignore B2 all come", "clean [V103]"},
		{"count", "bar.sync 1, 96;", "error [B1]"},
	} {
		r := suite.Run(module(t, "k.ptx", head+test.body+"\nret;\n}\n"), verify.Options{})
		var ids []string
		for _, d := range r.Findings {
			ids = append(ids, d.Rule)
		}
		if got := fmt.Sprint(r.Kernels[0].Verdict, " ", ids); got != test.want {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
	}
}

// TestSelection checks that only the selected rules are reported.
func TestSelection(t *testing.T) {
	m := module(t, "k.ptx",
		head+"@%p1 bra ON;\nmov.u32 %r2, 1;\nbar.sync 0;\nON: bar.sync 1, 32;\nret;\n}\n")
	for _, test := range []struct{ rules, want string }{{"B1", "B1"}, {"B2", "B2"}, {"A1", ""}} {
		var ids []string
		for _, d := range suite.Run(m,
			verify.Options{Rules: map[string]bool{test.rules: true}}).Findings {
			ids = append(ids, d.Rule)
		}
		if got := strings.Join(ids, " "); got != test.want {
			t.Errorf("%s: found %q, want %q", test.rules, got, test.want)
		}
	}
}

// TestSelected checks that a rule that several analyzers report is found if only that rule is
// selected.
func TestSelected(t *testing.T) {
	for _, rule := range []string{"A1", "M4", "M5", "M6", "T4"} {
		names, err := filepath.Glob("../zoo/testdata/" + rule + "/*.bad.ptx")
		if err != nil || len(names) == 0 {
			t.Fatalf("no kernels for %s: %v", rule, err)
		}
		for _, name := range names {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			if r := suite.Run(module(t, name, string(text)),
				verify.Options{Rules: map[string]bool{rule: true}}); len(r.Findings) == 0 {
				t.Errorf("%s: %s is not found if it alone is looked for", name, rule)
			}
		}
	}
}

// TestRepeats checks that two runs give the same report.
func TestRepeats(t *testing.T) {
	text, err := os.ReadFile("../zoo/testdata/M4/20_too_few.sm_90a.bad.ptx")
	if err != nil {
		t.Fatal(err)
	}
	m := module(t, "k.ptx", string(text))
	a, b := suite.Run(m, verify.Options{}), suite.Run(m, verify.Options{})
	if d := cmp.Diff(a, b); d != "" {
		t.Errorf("two runs differ:\n%s", d)
	}
}

// TestExamples checks that the kernels of the examples have no findings, and that all are checked
// in full, except those with data-dependent behavior.
func TestExamples(t *testing.T) {
	open := map[string]string{
		"histogram": "shared-memory accesses at data-dependent addresses (B8)",
		// The digits of the elements decide which branches of the radix selection a warp takes.
		"topk_f32_50": "more paths through the kernel than the limit (35 traces); interleavings of warps (B8): some paths through the kernel are unknown",
		// A block takes pairs of tiles of queries with different numbers of key tiles.
		"hopper_attention_bf16_256_causal": "more paths through the kernel than the limit (12 traces); interleavings of warps (B8, M4, M6, M7, M11): some paths through the kernel are unknown",
		// The tasks of a block are loaded from memory.
		"hopper_attention_f16_128_causal_2of2": "more paths through the kernel than the limit (30 traces); interleavings of warps (B8, M4, M6, M7, M11): some paths through the kernel are unknown",
		"hopper_attention_f16_128_4of2_pages":  "more paths through the kernel than the limit (44 traces); interleavings of warps (B8, M4, M6, M7, M11): some paths through the kernel are unknown",
		// Three warpgroups that exchange tiles and wait for each other have many interleavings. In
		// the ordered ones, a register holds which sum a warpgroup has yet to pass on.
		"hopper_attention_bf16_64_backward":                 "interleavings of warps (B8, M4, M6, M7, M11): data-dependent arrivals",
		"hopper_attention_bf16_64_backward_ordered":         "some combinations of branches (there are too many); more paths through the kernel than the limit (40 traces); paths beyond this kernel's share of the work limit of a large module (a larger -effort follows them); interleavings of warps (B8, M4, M6, M7, M11): some paths through the kernel are unknown",
		"hopper_attention_bf16_128_causal_backward":         "more paths through the kernel than the limit (33 traces); paths beyond this kernel's share of the work limit of a large module (a larger -effort follows them); interleavings of warps (B8, M4, M6, M7, M11): some paths through the kernel are unknown",
		"hopper_attention_bf16_128_causal_backward_ordered": "more paths through the kernel than the limit (24 traces); interleavings of warps (B8, M4, M6, M7, M11): some paths through the kernel are unknown",
		// The sizes of the groups are loaded from memory, so each warp may take another number of
		// trips.
		"matmul_nvfp4_grouped": "interleavings of warps (B8, M4, M6, M7, M11): some paths of one warp contradict every path of another warp; interleavings of warps (B8, M4, M6, M7, M11): the simulation exceeds its limit (a larger -effort continues it)",
		// The kernels share the work limit of a module; with -effort 4 they are checked in full.
		"w4a16_few_sm_90":        "interleavings of warps (B8): the simulation exceeds its limit (a larger -effort continues it)",
		"w4a16_few_tensor_sm_90": "interleavings of warps (B8, M4, M6, M7, M11): the simulation exceeds its limit (a larger -effort continues it)",
	}
	names, err := filepath.Glob("../../../examples/*/testdata/*.ptx")
	if err != nil || len(names) == 0 {
		t.Fatalf("no examples: %v", err)
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
		for _, k := range r.Kernels {
			key := k.Kernel
			// The variants of an example share the name of their kernel.
			for _, variant := range []string{"_grouped", "_ordered"} {
				if (key == "matmul_nvfp4" || strings.HasSuffix(key, "_backward")) &&
					strings.Contains(name, variant) {
					key += variant
				}
			}
			if strings.HasPrefix(key, "w4a16_few") && strings.Contains(name, "sm_90") {
				key += "_sm_90"
			}
			if why := strings.Join(k.Missed, "; "); why != open[key] {
				t.Errorf("%s: %s is not checked in full: %q, want %q", name, k.Kernel, why,
					open[key])
			}
		}
	}
}

// TestCorpus compares the errors found in kernels from nvcc and Triton with a list of errors that
// were examined one by one. These are true errors, in kernels that try out instructions. Each
// kernel may have at most two reviews per rule.
func TestCorpus(t *testing.T) {
	list, err := roundtrip.Sources("../../../internal/oracle/corpus/testdata/corpus.tar.gz")
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]string{
		"A8":  "bulk: plain reduces into memory that a copy in flight reads",
		"A13": "bulk: tensors begins boxes at element 1 of their innermost dimension",
		"A5":  "async: inlined reads what other threads copied",
		"A7":  "async: alone waits for all groups but the one it reads",
		"C4":  "bulk: remote uses its peer's memory up to its end",
		"M2":  "bulk: barriers waits on an mbarrier that is never initialized",
		"T5":  "tcgen: allocatepair, with no barrier of the cluster",
	}
	for i, s := range list {
		if testing.Short() && i%8 != 0 {
			continue
		}
		n := make(map[string]int)
		r := suite.Run(module(t, s.Name, s.Text), verify.Options{})
		for _, d := range r.Findings {
			if d.Severity == diag.Error &&
				(known[d.Rule] == "" ||
					!strings.HasPrefix(filepath.Base(s.Name),
						strings.SplitN(known[d.Rule], ":", 2)[0])) {
				t.Errorf("%s:%d: %s: %s", s.Name, d.Place.Line, d.Rule, d.Message)
			}
			if d.Severity == diag.Review {
				n[d.Rule]++
			}
		}
		for rule, reviews := range n {
			if reviews > 2*len(r.Kernels) {
				t.Errorf("%s: %d reviews of %s in %d kernels", s.Name, reviews, rule,
					len(r.Kernels))
			}
		}
	}
}

// BenchmarkRun verifies the kernels of the examples. It also reports the median and the slowest of
// their best times, and of their processor times.
func BenchmarkRun(b *testing.B) {
	names, err := filepath.Glob("../../../examples/*/testdata/*.ptx")
	if err != nil || len(names) == 0 {
		b.Fatalf("no examples: %v", err)
	}
	var list []*ir.Module
	size := int64(0)
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			b.Fatal(err)
		}
		size += int64(len(text))
		list = append(list, module(b, name, string(text)))
	}
	b.SetBytes(size)
	b.ReportAllocs()
	best := slices.Repeat([]time.Duration{math.MaxInt64}, len(list))
	busy := slices.Clone(best)
	for b.Loop() {
		for i, m := range list {
			start, used := time.Now(), processor(b)
			suite.Run(m, verify.Options{})
			best[i] = min(best[i], time.Since(start))
			busy[i] = min(busy[i], processor(b)-used)
		}
	}
	for _, of := range []struct {
		unit string
		list []time.Duration
	}{{"ms", best}, {"cpu-ms", busy}} {
		slices.Sort(of.list)
		n := len(of.list)
		b.ReportMetric(float64(of.list[n/2].Microseconds())/1000, "median-"+of.unit)
		b.ReportMetric(float64(of.list[n-1].Microseconds())/1000, "slowest-"+of.unit)
	}
}
