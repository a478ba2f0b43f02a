// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package mutants_test

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ptxdsl/ptxdsl"
	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/passes/verify"
	"github.com/ptxdsl/ptxdsl/passes/verify/mutants"
	"github.com/ptxdsl/ptxdsl/passes/verify/suite"
)

var update = flag.Bool("update", false, "rewrite the list of mutants with their verdicts")

// judge returns the findings in a text, and whether its kernels are checked in full. It returns ok
// = false if the text does not pass the form checks.
func judge(text string) (list diag.List, full, ok bool) {
	m, _ := ptxdsl.Load("mutant.ptx", text)
	if m == nil {
		return nil, false, false
	}
	r := suite.Run(m, verify.Options{})
	full = true
	for _, k := range r.Kernels {
		full = full && len(k.Missed) == 0
	}
	for _, d := range r.Findings {
		if d.Severity != diag.Note {
			list = append(list, d)
		}
	}
	return list, full, true
}

// A judgement is the result of verifying a mutant.
type judgement struct {
	mutant   mutants.Mutant
	list     diag.List
	full, ok bool
}

// judgeAll verifies several mutants at a time.
func judgeAll(list []mutants.Mutant) []judgement {
	out := make([]judgement, len(list))
	var wg sync.WaitGroup
	gate := make(chan bool, runtime.GOMAXPROCS(0))
	for i, m := range list {
		wg.Go(func() {
			gate <- true
			found, full, ok := judge(m.Text)
			out[i] = judgement{m, found, full, ok}
			<-gate
		})
	}
	wg.Wait()
	return out
}

// A tally counts mutants by verdict.
type tally map[string]int

// String formats the tally in the order of verdicts.
func (c tally) String() string {
	total := 0
	for _, n := range c {
		total += n
	}
	return fmt.Sprintf("%d mutants: %d errors, %d reviews, %d incomplete, %d clean", total,
		c["error"], c["review"], c["incomplete"], c["clean"])
}

// reasons reads why mutants with a clean verdict behave like the original kernel. Each line is
// "kernel line kind, what: reason".
func reasons(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile("testdata/clean.txt")
	if err != nil {
		t.Fatal(err)
	}
	list := make(map[string]string)
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		key, reason, ok := strings.Cut(line, ": ")
		if !ok || list[key] != "" {
			t.Fatalf("testdata/clean.txt: not a mutant and a reason, or one of two: %s", line)
		}
		list[key] = reason
	}
	return list
}

// TestMutants mutates stored kernels of the examples, and compares the verdict on each mutant with
// a list.
func TestMutants(t *testing.T) {
	var b strings.Builder
	counts, byKind := tally{}, make(map[string]tally)
	total := 0
	why, used := reasons(t), 0
	kernels, err := mutants.Stored("..")
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range kernels {
		if list, _, ok := judge(k.Text); !ok || len(list) > 0 {
			t.Errorf("%s is not without findings as it is", k.Name)
			continue
		}
		fmt.Fprintf(&b, "%s\n", k.Name)
		for _, j := range judgeAll(k.Mutants) {
			m, list, full := j.mutant, j.list, j.full
			if !j.ok {
				continue
			}
			verdict := "clean"
			if !full {
				verdict = "incomplete"
			}
			var ids []string
			for _, d := range list {
				if d.Severity == diag.Error {
					verdict = "error"
				} else if verdict != "error" {
					verdict = "review"
				}
				if len(ids) == 0 || ids[len(ids)-1] != d.Rule {
					ids = append(ids, d.Rule)
				}
			}
			total++
			counts[verdict]++
			if byKind[m.Kind] == nil {
				byKind[m.Kind] = tally{}
			}
			byKind[m.Kind][verdict]++
			said := "[" + strings.Join(ids[:min(3, len(ids))], " ") + "]"
			if verdict == "clean" {
				how, _, _ := strings.Cut(m.What, ": ")
				key := fmt.Sprintf("%s %d %s, %s", k.Name, m.Line, m.Kind, how)
				if said = why[key]; said == "" {
					t.Errorf("called clean, and testdata/clean.txt has no reason: %s", key)
				} else {
					used++
				}
			}
			fmt.Fprintf(&b, "  %-10s %-9s %4d %s %s\n", verdict, m.Kind, m.Line, m.What, said)
		}
	}
	for _, k := range append(mutants.Plain(), mutants.Further()...) {
		fmt.Fprintf(&b, "%-9s %s\n", k, byKind[k])
	}
	fmt.Fprintf(&b, "all       %s\n", counts)
	if used != len(why) {
		t.Errorf("testdata/clean.txt has %d reasons, and %d are of mutants that are called clean",
			len(why), used)
	}
	const golden = "testdata/mutants.txt"
	if *update {
		if err := os.WriteFile(golden, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), b.String()); d != "" {
		t.Errorf("run with -update if this is meant (-want +got):\n%s", d)
	}
	if total < 150 {
		t.Errorf("%d mutants, expected at least 150", total)
	}
}
