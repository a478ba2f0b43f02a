// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package mutants_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/form"
	"github.com/ptxdsl/ptxdsl/lift"
	"github.com/ptxdsl/ptxdsl/passes/verify"
	"github.com/ptxdsl/ptxdsl/passes/verify/mutants"
	"github.com/ptxdsl/ptxdsl/passes/verify/suite"
	"github.com/ptxdsl/ptxdsl/ptx"
)

var update = flag.Bool("update", false, "rewrite the list of mutants and what is said of them")

// judge is the findings about a text, and whether its kernels are checked in full; not ok where it does
// not even pass the form checks.
func judge(text string) (list diag.List, full, ok bool) {
	file, faults := ptx.Parse("mutant.ptx", text)
	faults = append(faults, form.Check(file, form.Options{})...)
	if faults.Errors() > 0 {
		return nil, false, false
	}
	m, faults := lift.Module(file)
	if faults.Errors() > 0 {
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

// A judgement is what is said of a mutant.
type judgement struct {
	mutant   mutants.Mutant
	list     diag.List
	full, ok bool
}

// judgeAll judges mutants, several at a time.
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

// TestMutants breaks kernels of the examples, as they were, and holds what is said of each mutant against the list.
func TestMutants(t *testing.T) {
	var b strings.Builder
	counts := map[string]int{}
	total := 0
	names, err := filepath.Glob("testdata/kernels/*.ptx")
	if err != nil || len(names) == 0 {
		t.Fatalf("no kernels: %v", err)
	}
	for _, name := range []string{"elect_ring", "tokens", "tensor_memory", "wgmma_depth", "cp_async_toggle", "reduce_store"} {
		names = append(names, "../suite/testdata/right/"+name+".ptx")
	}
	for i, name := range names {
		pattern := filepath.Base(name)
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if list, _, ok := judge(string(text)); !ok || len(list) > 0 {
			t.Errorf("%s is not without findings as it is", pattern)
			continue
		}
		fmt.Fprintf(&b, "%s\n", pattern)
		for _, j := range judgeAll(mutants.Of(string(text), uint64(i), 32)) {
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
			fmt.Fprintf(&b, "  %-10s %-9s %4d %s [%s]\n", verdict, m.Kind, m.Line, m.What, strings.Join(ids[:min(3, len(ids))], " "))
		}
	}
	fmt.Fprintf(&b, "%d mutants: %d errors, %d reviews, %d incomplete, %d clean\n", total, counts["error"], counts["review"], counts["incomplete"], counts["clean"])
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
