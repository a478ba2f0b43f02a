// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package agree

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ptxdsl/ptxdsl/internal/gen"
	"github.com/ptxdsl/ptxdsl/internal/ptxas"
	"github.com/ptxdsl/ptxdsl/isa"
)

// mistaken is a table with one correct form and one kind of mistake in each of the others.
const mistaken = `family mistaken "most forms contain a mistake"
ins add "a correct form"
  form add.u32 >d:u32, a:u32, b:u32
ins sub "a gate that is too early"
  form sub.u16x2 >d:u16x2, a:u16x2, b:u16x2
ins mul.lo "a type that ptxas rejects"
  form mul.lo.type >d:.type, a:.type, b:.type
    set .type = .u32 .f32
ins popc "a gate that is too late"
  form popc.b32 >d:u32, a:b32
    since 8.0 on 80
ins mad.lo "an operand too few"
  form mad.lo.u32 >d:u32, a:u32, b:u32
`

func mistakenSet(t *testing.T) *isa.Set {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"types.isa", "targets.isa"} {
		text, err := os.ReadFile(filepath.Join("../../../isa/spec", name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "mistaken.isa"), []byte(mistaken),
		0o666); err != nil {
		t.Fatal(err)
	}
	spec, err := gen.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	return spec.Set()
}

// TestMistakes checks that the harness finds exactly the mistakes in a table.
func TestMistakes(t *testing.T) {
	tool, err := ptxas.Find()
	if err != nil {
		t.Fatal(err)
	}
	report, err := Run(context.Background(), mistakenSet(t), tool,
		Config{PerForm: 10, Table: true, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]bool{}
	for _, d := range report.Families[0].Disputes {
		op, _, _ := strings.Cut(d.Text, " ")
		side := "accepts wrongly"
		if d.Ours != "" {
			side = "rejects wrongly"
		}
		got[op+" "+side] = true
	}
	want := map[string]bool{
		"sub.u16x2 accepts wrongly":  true,
		"mul.lo.f32 accepts wrongly": true,
		"popc.b32 rejects wrongly":   true,
		"mad.lo.u32 accepts wrongly": true,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	if report.CheckThresholds() == nil {
		t.Error("a table with mistakes passes")
	}
}

// TestSeeds checks that one seed always gives the same probes.
func TestSeeds(t *testing.T) {
	make1 := func(seed uint64) []string {
		r := &Runner{set: mistakenSet(t),
			config: Config{PerForm: 10, Variants: 1, Mutants: 20, Discover: 20, Seed: seed},
			report: &Report{}, probes: map[place][]probe{}}
		var out []string
		for ins := range r.set.All() {
			r.tally = r.report.family("mistaken")
			r.instruction(ins)
		}
		for p, list := range r.probes {
			for _, x := range list {
				out = append(out, p.String()+" "+x.String())
			}
		}
		return out
	}
	one, two, other := make1(7), make1(7), make1(8)
	sorted := cmp.Transformer("sort", func(list []string) map[string]int {
		m := map[string]int{}
		for _, s := range list {
			m[s]++
		}
		return m
	})
	if diff := cmp.Diff(one, two, sorted); diff != "" {
		t.Errorf("one seed, two sets of probes:\n%s", diff)
	}
	if cmp.Equal(one, other, sorted) {
		t.Error("two seeds, one set of probes")
	}
}

func TestExceptions(t *testing.T) {
	write := func(text string) string {
		path := filepath.Join(t.TempDir(), "exceptions")
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		return path
	}
	ex, err := ReadExceptions(write("# known\naccepts \\S+ sm_90 add\\.u32 .*; -- a defect\n"))
	if err != nil {
		t.Fatal(err)
	}
	sm90, _ := isa.ParseTarget("sm_90")
	sm80, _ := isa.ParseTarget("sm_80")
	for _, test := range []struct {
		target   isa.Target
		text     string
		accepted bool
		want     bool
	}{
		{sm90, "add.u32 %r1;", true, true},
		{sm90, "add.u32 %r1;", false, false},
		{sm80, "add.u32 %r1;", true, false},
		{sm90, "sub.u32 %r1;", true, false},
	} {
		if got := ex.excludes(place{isa.Newest(), test.target}, test.text,
			test.accepted); got != test.want {
			t.Errorf("%s %s: %v, want %v", test.target, test.text, got, test.want)
		}
	}
	for text, want := range map[string]string{
		"accepts foo\n":         "exceptions:1: want",
		"\nbelieves x -- y\n":   "exceptions:2: want",
		"accepts ( -- broken\n": "exceptions:1: error parsing regexp",
	} {
		if _, err := ReadExceptions(write(text)); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

// TestMerge checks that reports of different families are added up, and that two reports of one
// family, or with different seeds, are rejected.
func TestMerge(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, seed uint64, family string, probes int) string {
		f := &Family{Name: family}
		f.Counts[Mutant] = Count{Probes: probes, FalseRejects: 1}
		f.Disputes = []Dispute{{Kind: Mutant, Text: "add.u32 %r1;", Ours: "F302"}}
		path := filepath.Join(dir, name)
		report := &Report{Seed: seed, Forms: 2, Families: []*Family{f}}
		if err := report.WriteFile(path); err != nil {
			t.Fatal(err)
		}
		return path
	}
	a, b := write("a", 7, "move", 10), write("b", 7, "arith", 5)
	sum, err := ReadReports([]string{a, b})
	if err != nil {
		t.Fatal(err)
	}
	if total := sum.Total(Mutant); total != (Count{Probes: 15, FalseRejects: 2}) ||
		sum.Forms != 4 || sum.Parts != 2 {
		t.Errorf("the sum is %+v, %d forms, %d parts", total, sum.Forms, sum.Parts)
	}
	if sum.Families[0].Name != "arith" || sum.disputes() != 2 {
		t.Errorf("the families begin with %s and have %d disputes", sum.Families[0].Name,
			sum.disputes())
	}
	if _, err := ReadReports([]string{a, write("c", 8, "half", 1)}); err == nil ||
		!strings.Contains(err.Error(), "seed 8, expected 7") {
		t.Errorf("another seed: %v", err)
	}
	if _, err := ReadReports([]string{a, write("d", 7, "move", 1)}); err == nil ||
		!strings.Contains(err.Error(), "family move is in two reports") {
		t.Errorf("one family twice: %v", err)
	}
}
