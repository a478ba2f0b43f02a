// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package check_test

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/passes/verify/mutants"
	"github.com/ptxdsl/ptxdsl/runtime/emu"
	"github.com/ptxdsl/ptxdsl/runtime/emu/check"
)

var (
	updateMutants = flag.String("mutants", "", "check all mutants, and write the verdicts to this `file`")
	verifyFolder  = flag.String("verify", "../../../passes/verify", "`folder` of package verify, with the kernels")
)

// sampled is the number of mutants of which TestMutants checks one.
const sampled = 80

// TestMutants checks mutants of correct kernels and compares the verdicts with a list: a sample, or with
// -mutants all of them.
func TestMutants(t *testing.T) {
	kernels, err := mutants.Stored(*verifyFolder)
	if err != nil {
		t.Fatal(err)
	}
	var all []*mutation
	for _, k := range kernels {
		original := sync.OnceValues(func() (uint64, bool) { return outcome(k.Name, k.Text) })
		for i := range k.Mutants {
			all = append(all, &mutation{kernel: k.Name, Mutant: &k.Mutants[i], original: original})
		}
	}
	const golden = "testdata/mutants.txt"
	var want []string
	if *updateMutants == "" {
		text, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		want = strings.Split(strings.TrimSpace(string(text)), "\n")
		if len(want) != len(all) {
			t.Fatalf("%s has %d lines; there are %d mutants", golden, len(want), len(all))
		}
	}
	var wg sync.WaitGroup
	gate := make(chan bool, runtime.GOMAXPROCS(0))
	for i, m := range all {
		if want != nil && i%sampled != sampled/2 {
			continue
		}
		gate <- true
		wg.Go(func() {
			m.judge()
			<-gate
		})
	}
	wg.Wait()
	var b strings.Builder
	for i, m := range all {
		if line := m.String(); want == nil {
			b.WriteString(line + "\n")
		} else if m.verdict != "" && line != want[i] {
			t.Errorf("line %d: %s\nwant %s", i+1, line, want[i])
		}
	}
	if want == nil {
		if err := os.WriteFile(*updateMutants, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// A mutation is a mutant, and what check says of it.
type mutation struct {
	*mutants.Mutant
	kernel   string
	original func() (result uint64, known bool) // of the kernel that it was made of
	verdict  string                             // "" if it was not checked
	result   string                             // "same" or "other" as the original, "none" if the launch fails
	rules    []string
}

// String returns a line of the list.
func (m *mutation) String() string {
	return fmt.Sprintf("%-10s %-5s %s %d %s, %s %v", m.verdict, m.result, m.kernel, m.Line, m.Kind, m.What, m.rules)
}

// judge checks the mutant, and compares what one launch computes with the original.
func (m *mutation) judge() {
	results, err := check.File(m.kernel, m.Text, check.Options{})
	if err != nil {
		m.verdict, m.result = "refused", "none"
		return
	}
	m.verdict = worst(results)
	for _, r := range results {
		for _, d := range r.Findings {
			if d.Severity != diag.Note && !slices.Contains(m.rules, d.Rule) {
				m.rules = append(m.rules, d.Rule)
			}
		}
	}
	x, ended := outcome(m.kernel, m.Text)
	switch original, known := m.original(); {
	case !ended:
		m.result = "none"
	case known && x == original:
		m.result = "same"
	default:
		m.result = "other"
	}
}

// outcome returns what a launch of a kernel computes.
func outcome(name, text string) (result uint64, known bool) {
	d, err := emu.New(emu.Options{Target: targetOf(text), Limit: 20_000_000})
	if err != nil {
		return 0, false
	}
	r, err := check.NewReplay(d, name, text)
	if err != nil {
		return 0, false
	}
	result, err = r.Once()
	return result, err == nil
}

// targetOf returns the target that a text names.
func targetOf(text string) string {
	_, after, _ := strings.Cut(text, ".target")
	return strings.FieldsFunc(after, func(r rune) bool { return r == ' ' || r == '\n' || r == ',' || r == '\t' })[0]
}
