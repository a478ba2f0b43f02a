// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package broken

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/ptxdsl/ptxdsl"
	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/passes/verify/mutants"
	"github.com/ptxdsl/ptxdsl/runtime/emu"
	"github.com/ptxdsl/ptxdsl/runtime/emu/check"
)

var (
	each  = flag.Int("each", 40, "run every n-th mutant")
	first = flag.Int("first", 0, "the first mutant to run")
	only  = flag.String("only", quick,
		"run the mutants of kernels whose names begin with one of these words")
	report = flag.String("report", "", "write one line for each mutant to this file")
)

// quick names the kernels whose mutants take little time.
const quick = "clusters reduce.sm elect_ring tokens tensor_memory cp_async_toggle reduce_store"

// chosen reports whether a kernel is one of those to run.
func chosen(name string) bool {
	return *only == "" ||
		slices.ContainsFunc(strings.Fields(*only),
			func(s string) bool { return strings.HasPrefix(name, s) })
}

// seeds are the schedules in which the results of a mutant are compared with those of its kernel.
const seeds = 3

// TestMutants runs check and verify on mutants. A mutant is broken if check finds a race, a hang, a
// fault or an order on which the results depend, or if it computes other results than its kernel in
// some schedule. No broken mutant may be clean in both.
func TestMutants(t *testing.T) {
	kernels, err := mutants.Stored("../../../passes/verify")
	if err != nil {
		t.Fatal(err)
	}
	var lines strings.Builder
	counts := make(map[string]int)
	n := 0
	for _, k := range kernels {
		if !chosen(k.Name) {
			continue
		}
		original := ""
		for _, m := range k.Mutants {
			n++
			if (n-1)%*each != *first {
				continue
			}
			if original == "" {
				original = results(k.Name, k.Text)
			}
			static := ptxdsl.Verify("mutant.ptx", m.Text, ptxdsl.Options{}).Verdict().String()
			run, rules, err := verdict(m.Text)
			if err != nil {
				continue // ptxas refuses it too
			}
			differs := original != results(k.Name, m.Text)
			state := "same"
			if differs {
				state = "differs"
			}
			key := fmt.Sprintf("%s: verify %s, check %s", state, static, run)
			counts[key]++
			line := fmt.Sprintf("%s %d %s, %s: %s [%s]\n", k.Name, m.Line, m.Kind, m.What, key,
				rules)
			lines.WriteString(line)
			if *report != "" {
				if err := os.WriteFile(*report, []byte(lines.String()), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if differs && run == "clean" && static == "clean" {
				t.Errorf("broken, but clean in both: %s", line)
			}
		}
	}
	for key, n := range counts {
		t.Logf("%4d %s", n, key)
	}
}

// verdict returns the worst verdict of check on a text, and the rules of its findings.
func verdict(text string) (string, string, error) {
	list, err := check.File("mutant.ptx", text, check.Options{Seeds: 2})
	if err != nil {
		return "", "", err
	}
	order := []string{"clean", "incomplete", "review", "error"}
	most := 0
	var rules []string
	for _, r := range list {
		for i, v := range order {
			if v == r.Verdict() {
				most = max(most, i)
			}
		}
		for _, d := range r.Findings {
			if d.Severity == diag.Error && len(rules) < 3 {
				rules = append(rules, d.Rule)
			}
		}
	}
	return order[most], strings.Join(rules, " "), nil
}

// results returns what the kernels of a text compute in several schedules, or how they fail.
func results(name, text string) string {
	var b strings.Builder
	for seed := range seeds {
		d, err := emu.New(emu.Options{Seed: uint64(seed), Interleave: true, Workers: 1,
			Unchecked: true, Limit: 20_000_000,
			Completion: []emu.Completion{emu.Late, emu.Random, emu.Eager}[seed]})
		if err != nil {
			return err.Error()
		}
		r, err := check.NewReplay(d, name, text)
		if err != nil {
			return err.Error()
		}
		sum, err := r.Once()
		if err != nil {
			return "fails"
		}
		fmt.Fprintf(&b, "%x ", sum)
	}
	return b.String()
}
