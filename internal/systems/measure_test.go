// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package systems

import (
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/ptxdsl/ptxdsl"
	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/golden"
	"github.com/ptxdsl/ptxdsl/internal/ptxas"
	"github.com/ptxdsl/ptxdsl/passes/verify"
	"github.com/ptxdsl/ptxdsl/runtime"
	"github.com/ptxdsl/ptxdsl/runtime/emu"
	"github.com/ptxdsl/ptxdsl/runtime/emu/race"
	"github.com/ptxdsl/ptxdsl/runtime/kerneltest"
)

// data is the file with the measurements of the variants, from which the page is made.
const data = "testdata/measured.tsv"

// A row is what is known of a variant on a target. Empty errors are those of exact results.
type row struct {
	Directory, Option, Name, Target                    string
	Assembled, Verified, Races                         string
	Elements, Sizes                                    string
	Error, Allowed, Relative, Tolerance, Why, Hardware string
}

// cells returns the fields of a row in the order of the file.
func (r *row) cells() []*string {
	return []*string{
		&r.Directory, &r.Option, &r.Name, &r.Target, &r.Assembled, &r.Verified, &r.Races,
		&r.Elements, &r.Sizes, &r.Error, &r.Allowed, &r.Relative, &r.Tolerance, &r.Why,
	}
}

// key identifies a row.
func (r *row) key() string {
	return strings.Join([]string{r.Directory, r.Option, r.Name, r.Target}, "\t")
}

const header = "directory\toption\tvariant\ttarget\tptxas\tverify\traces\telements\tsizes\terror\tallowed\trelative\ttolerance\twhy\n"

// readRows reads the measurements.
func readRows(t *testing.T) map[string]row {
	text, err := os.ReadFile(data)
	if err != nil && !golden.Updating() {
		t.Fatal(err)
	}
	rows := make(map[string]row)
	for line := range strings.Lines(strings.TrimPrefix(string(text), header)) {
		var r row
		cells := r.cells()
		values := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(values) != len(cells) {
			t.Fatalf("%s: %d cells, want %d: %s", data, len(values), len(cells), line)
		}
		for i, value := range values {
			*cells[i] = value
		}
		rows[r.key()] = r
	}
	return rows
}

// line returns the row as a line of the file.
func (r *row) line() string {
	var values []string
	for _, c := range r.cells() {
		values = append(values, *c)
	}
	return strings.Join(values, "\t") + "\n"
}

// fill assembles, checks and runs a variant.
func (r *row) fill(t *testing.T, v kerneltest.Variant) {
	t.Run(v.Option+"/"+v.Name, func(t *testing.T) {
		text := r.verify(t, v)
		r.Assembled = assemble(t, text)
		r.Races = raceFree(t, v, r.Target)
		if runs := kerneltest.Run(t, v.Check, r.Target); len(runs) == 1 {
			r.emulated(runs[0].Results, v.Why)
		}
	})
}

// verify builds a variant, records the verdict of ptxdsl verify with all that was not checked, and
// returns the PTX.
func (r *row) verify(t *testing.T, v kerneltest.Variant) string {
	m := dsl.New("variant", r.Target)
	v.Build(m)
	text, err := m.Text()
	if err != nil {
		t.Fatal(err)
	}
	report := ptxdsl.Verify("variant.ptx", text, ptxdsl.Options{Whole: true})
	if r.Verified = report.Verdict().String(); report.Verdict() == verify.Error {
		t.Errorf("verify: %v", report.Findings)
	}
	if list := report.NotChecked(); len(list) > 0 {
		r.Verified += ": " + strings.Join(list, "; ")
	}
	return text
}

// assemble returns the result of ptxas.
func assemble(t *testing.T, text string) string {
	tool, err := ptxas.Find()
	if err != nil {
		t.Fatal(err)
	}
	_, verdict, err := tool.Assemble(t.Context(), text, ptxas.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if !verdict.OK() {
		t.Errorf("ptxas: %s", verdict)
		return "refused"
	}
	return "yes"
}

// launches counts the launches that a detector observes.
type launches struct {
	detector *race.Detector
	n        int
}

// Observe passes an event to the detector.
func (l *launches) Observe(e *emu.Event) {
	if e.Kind == emu.EventBegin {
		l.n++
	}
	l.detector.Observe(e)
}

// raceFree runs the variant under the race detector, with asynchronous operations that complete at
// random.
func raceFree(t *testing.T, v kerneltest.Variant, target string) string {
	detector := race.New()
	observer := &launches{detector: detector}
	back, err := emu.New(emu.Options{Target: target, Observer: observer, Completion: emu.Random,
		Seed: 5})
	if err != nil {
		t.Fatal(err)
	}
	x := kerneltest.New(runtime.On(back))
	x.Budget = 1000
	if err := v.Check(x); err != nil {
		t.Errorf("with the race detector: %v", err)
	}
	if observer.n == 0 {
		return "not checked: the launches are on devices that are not observed"
	}
	if n := detector.Skipped(); n > 0 {
		t.Logf("%d launches have more than %d threads", n, race.MaxThreads)
		return "incomplete: too many threads"
	}
	for _, r := range detector.Races() {
		t.Errorf("%s: %s: %s\n%s:%d %s\n%s:%d %s\nmissing: %s", r.Rule, r.Message, r.Address,
			r.First.What, r.First.Place.Line, r.First.Opcode, r.Second.What, r.Second.Place.Line,
			r.Second.Opcode, r.Missing)
	}
	return "no race"
}

// emulated records the comparisons, with the error of the element that comes closest to its
// tolerance.
func (r *row) emulated(results []kerneltest.Result, why string) {
	var worst kerneltest.Result
	elements := 0
	var sizes []string
	for _, x := range results {
		elements += x.Elements
		if x.Share() > worst.Share() {
			worst = x
		}
		size := x.What[strings.LastIndex(x.What, ", ")+1:]
		if size = strings.TrimSpace(size); !slices.Contains(sizes, size) {
			sizes = append(sizes, size)
		}
	}
	r.Elements, r.Sizes, r.Why = fmt.Sprint(elements), strings.Join(sizes, ", "), why
	r.Error, r.Allowed, r.Relative, r.Tolerance = "", "", "", ""
	if worst.Error > 0 {
		r.Error, r.Allowed = fmt.Sprintf("%.2g", worst.Error), fmt.Sprintf("%.2g", worst.Allowed)
		r.Relative = "zero expected"
		if worst.Want != 0 {
			r.Relative = fmt.Sprintf("%.2g", worst.Error/math.Abs(worst.Want))
		}
		r.Tolerance = strings.ReplaceAll(worst.Tolerance.String(), "|want|", "want")
	}
}
