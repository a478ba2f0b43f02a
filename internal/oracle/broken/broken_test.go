// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package broken

import (
	"errors"
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
	each  = flag.Int("each", 60, "run every n-th mutant")
	first = flag.Int("first", 0, "the first mutant to run")
	only  = flag.String("only", quick,
		"run the mutants of kernels whose names begin with one of these words")
	more  = flag.Int("more", 0, "instead of the stored mutants, run so many others of each kernel")
	known = flag.String("known", "",
		"skip the mutants of this report for which check had an error")
	report = flag.String("report", "", "append one line for each mutant to this file")
)

// quick names the kernels whose mutants take little time.
const quick = "clusters reduce.sm elect_ring tokens tensor_memory cp_async_toggle reduce_store " +
	"scan.sm histogram.sm softmax_ rmsnorm_ v1.sm"

// small are kernels of the examples, besides the stored ones, whose mutants take little time.
var small = []string{
	"04_reduce/reduce.sm_120", "05_scan/scan.sm_90",
	"06_histogram/histogram.sm_90", "07_softmax/softmax_bf16_1024.sm_90",
	"07_softmax/softmax_f32_4096.sm_80", "07_softmax/softmax_bf16_32768.sm_90",
	"08_rmsnorm/rmsnorm_bf16_4096.sm_90", "08_rmsnorm/rmsnorm_f16_8192.sm_90",
	"10_matmul_ladder/v1.sm_90", "10_matmul_ladder/v0.sm_80", "11_clusters/clusters.sm_120",
	"12_matmul_splitk/splitk.sm_100", "13_matmul_multistage/matmul_u8.sm_80",
}

// mutantsOfSmall is the number of mutants of each of the small kernels.
const mutantsOfSmall = 40

// kernelsOf returns the kernels to mutate, with their mutants.
func kernelsOf(t *testing.T) []mutants.Kernel {
	list, err := mutants.Stored("../../../passes/verify")
	if err != nil {
		t.Fatal(err)
	}
	for i, name := range small {
		folder, file, _ := strings.Cut(name, "/")
		text, err := os.ReadFile("../../../examples/" + folder + "/testdata/" + file + ".ptx")
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, mutants.Kernel{Name: file + ".ptx", Text: string(text),
			Mutants: mutants.Of(string(text), uint64(i), mutantsOfSmall,
				slices.Concat(mutants.Plain(), mutants.Further()))})
	}
	return list
}

// chosen reports whether a kernel is one of those to run.
func chosen(name string) bool {
	return *only == "" ||
		slices.ContainsFunc(strings.Fields(*only),
			func(s string) bool { return strings.HasPrefix(name, s) })
}

// sizes returns the values of integer parameters for a kernel: a matrix product of a few tiles,
// which wraps its rings.
func sizes(text string) map[string]uint64 {
	switch {
	case strings.Contains(text, " kt)"):
		return map[string]uint64{"kt": 16}
	case strings.Contains(text, " m,") && !strings.Contains(text, "cluster_ctarank"):
		return map[string]uint64{"m": 256, "n": 256}
	}
	return nil
}

// A subject is a kernel with what is needed to judge its mutants.
type subject struct {
	mutants.Kernel
	integers map[string]uint64
	replay   *check.Replay // of the kernel itself
	results  string
	failure  error // of the last text that failed
}

// errOriginal says that a kernel does not run, so that its mutants cannot be judged.
var errOriginal = errors.New("the kernel does not run")

// A judgement is what the layers say about a mutant.
type judgement struct {
	static, run string
	rules       []string // of the errors of check
	differs     string   // whether the results differ; "" if they were not or cannot be compared
}

// broken reports whether a mutant hangs, races or computes something else in some schedule.
func (j judgement) broken() bool { return j.run == "error" || j.differs == "differs" }

// key names the verdicts in reports.
func (j judgement) key() string {
	state := "not broken"
	if j.broken() {
		state = "broken"
	}
	return fmt.Sprintf("%s: verify %s, check %s", state, j.static, j.run)
}

// TestMutants runs check and verify on mutants. A mutant is broken if check finds a race, a hang or
// a fault, or if it computes other results than its kernel in some schedule. No broken mutant may
// be clean in both. The results of mutants with an error of check are not compared.
func TestMutants(t *testing.T) {
	kernels := kernelsOf(t)
	skipped := withError(t)
	counts, total := make(map[string]int), 0
	n := 0
	for i, k := range kernels {
		if !chosen(k.Name) {
			continue
		}
		if *more > 0 {
			k.Mutants = others(k, uint64(1000+i))
		}
		s := &subject{Kernel: k}
		for _, m := range k.Mutants {
			if n++; (n-1)%*each != *first || skipped[label(k, m)] {
				continue
			}
			j, err := s.judge(m.Text)
			if err != nil {
				if errors.Is(err, errOriginal) {
					t.Errorf("%s: %v", k.Name, err)
					break
				}
				continue // ptxas refuses it too
			}
			if j.broken() {
				total++
			}
			key := j.key()
			counts[key]++
			line := fmt.Sprintf("%s: %s, %s %v\n", label(k, m), key, j.differs, j.rules)
			write(t, line)
			if j.broken() && j.run == "clean" && j.static == "clean" {
				t.Errorf("broken, but clean in both: %s", line)
			}
		}
	}
	for key, n := range counts {
		t.Logf("%4d %s", n, key)
	}
	t.Logf("%4d broken", total)
}

// label names a mutant in reports.
func label(k mutants.Kernel, m mutants.Mutant) string {
	return fmt.Sprintf("%s %d %s, %s", k.Name, m.Line, m.Kind, m.What)
}

// withError returns the labels of mutants in an earlier report for which check had an error.
func withError(t *testing.T) map[string]bool {
	if *known == "" {
		return nil
	}
	text, err := os.ReadFile(*known)
	if err != nil {
		t.Fatal(err)
	}
	list := make(map[string]bool)
	for line := range strings.Lines(string(text)) {
		if name, rest, ok := strings.Cut(line, ": broken: "); ok &&
			strings.Contains(rest, "check error") {
			list[name] = true
		}
	}
	return list
}

// write appends a line to the report.
func write(t *testing.T, line string) {
	if *report == "" {
		return
	}
	f, err := os.OpenFile(*report, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString(line); err != nil {
		t.Fatal(err)
	}
}

// others returns mutants of a kernel that are not stored.
func others(k mutants.Kernel, seed uint64) (list []mutants.Mutant) {
	known := make(map[string]bool)
	for _, m := range k.Mutants {
		known[m.Text] = true
	}
	for _, m := range mutants.Of(k.Text, seed, 3**more,
		slices.Concat(mutants.Plain(), mutants.Further())) {
		if !known[m.Text] && len(list) < *more {
			known[m.Text] = true
			list = append(list, m)
		}
	}
	return list
}

// judge runs verify and check on a mutant. If check has no error, it compares the results.
func (s *subject) judge(text string) (j judgement, err error) {
	if s.results == "" {
		s.integers = sizes(s.Text)
		if s.results = s.run(s.Text); s.replay == nil || strings.Contains(s.results, "fails") {
			return j, fmt.Errorf("%w: %v", errOriginal, s.failure)
		}
	}
	if j.run, j.rules, err = s.verdict(text); err != nil {
		return j, err
	}
	j.static = ptxdsl.Verify("mutant.ptx", text, ptxdsl.Options{}).Verdict().String()
	if j.run != "error" && s.ordered() {
		j.differs = "same"
		if s.run(text) != s.results {
			j.differs = "differs"
		}
	}
	return j, nil
}

// ordered reports whether the kernel computes the same in all schedules. The results of a launch
// with assumed boxes may depend on the order of its blocks.
func (s *subject) ordered() bool {
	list := strings.Fields(s.results)
	return len(slices.Compact(list)) == 1
}

// verdict returns the worst verdict of check on a text, and the rules of its errors.
func (s *subject) verdict(text string) (string, []string, error) {
	list, err := check.File("mutant.ptx", text,
		check.Options{Seeds: 2, Integers: s.integers, Stop: true})
	if err != nil {
		return "", nil, err
	}
	order := []string{"clean", "incomplete", "review", "error"}
	most := 0
	var rules []string
	for _, r := range list {
		most = max(most, slices.Index(order, r.Verdict()))
		for _, d := range r.Findings {
			if d.Severity == diag.Error && len(rules) < 3 {
				rules = append(rules, d.Rule)
			}
		}
	}
	return order[most], rules, nil
}

// seeds are the schedules in which the results of a mutant are compared with those of its kernel.
const seeds = 3

// run returns what the kernels of a text compute in several schedules, or how they fail. The first
// call is for the kernel; its mutants get the same arguments.
func (s *subject) run(text string) string {
	var b strings.Builder
	for seed := range seeds {
		d, err := emu.New(emu.Options{Target: target(s.Text), Seed: uint64(seed), Interleave: true,
			Workers: 1, Unchecked: true, Limit: 20_000_000,
			Completion: []emu.Completion{emu.Late, emu.Random, emu.Eager}[seed]})
		if err != nil {
			return err.Error()
		}
		var r *check.Replay
		if s.replay != nil {
			r, err = s.replay.Like(d, s.Name, text)
		} else if r, err = check.NewReplayWith(d, s.Name, text, s.integers); err == nil {
			s.replay = r
		}
		if err != nil {
			return err.Error()
		}
		sum, err := r.Once()
		if err != nil {
			s.failure = err
			b.WriteString("fails")
			return b.String()
		}
		fmt.Fprintf(&b, "%x ", sum)
	}
	return b.String()
}

// target returns the target of a text.
func target(text string) string {
	_, after, _ := strings.Cut(text, "\n.target ")
	name, _, _ := strings.Cut(after, "\n")
	return strings.TrimSpace(name)
}
