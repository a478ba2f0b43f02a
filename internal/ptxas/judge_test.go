// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package ptxas

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// tool returns the installed ptxas. If there is none the test fails and specifies how to install
// it.
func tool(t testing.TB) *Tool {
	t.Helper()
	found, err := Find()
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// samples are probe bodies with their expected status, whatever other probes surround them.
var samples = []struct {
	body   string
	status Status
	line   int // line of the error, or 0 for none, or for the closing brace
}{
	{"add.s32 %r0, %r1, %r2;", Accepted, 0},
	{"add.s32 %r0, %r1, %r2;\nadd.s32 %r0, %r1;", Rejected, 2},
	{"add.s32 %r0 %r1;", Malformed, 1},
	{"L: bra L;", Accepted, 0},
	{"add.s32 %r0, %r1, %r2", Malformed, 0},
	{"bra UNKNOWN;", Rejected, 1},
	{"/* closed { */ ret; // and \" open", Accepted, 0},
	// ptxas carries the modifiers over to the next statement
	{"add.rn.sync.v4.tile.cta_group::1", Malformed, 0},
	{"{ ret;", Malformed, 0},
	{"ret; /* open", Malformed, 1},
	{"} } .entry other () { { ret;", Accepted, 0},
	{"", Accepted, 0},
	{".pragma \"nounroll\";", Accepted, 0},
	{".pragma \"open;", Malformed, 1},
	{"mov.b32 %r0, 09;", Malformed, 1},
	{"frob.s32.rn.sync.v4.cta %r0;", Rejected, 1},
	{".reg .b32 own; mov.b32 own, %r1;", Accepted, 0},
	{"ret;", Accepted, 0},
}

func TestJudge(t *testing.T) {
	decls := []string{".reg .b32 %r<4>;"}
	const n = 360 // enough probes for several files, kernels and rounds
	probes := make([]Probe, n)
	for i := range probes {
		probes[i] = Probe{Decls: decls, Body: strings.Split(samples[i%len(samples)].body, "\n")}
	}
	got, err := tool(t).Judge(t.Context(), "9.5", "sm_90a", probes)
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range got {
		want := samples[i%len(samples)]
		if v.Status != want.status {
			t.Errorf("probe %d %q: %v, want %v", i, probes[i].Body, v, want.status)
			continue
		}
		if v.OK() {
			continue
		}
		if !slices.ContainsFunc(v.Messages,
			func(m Message) bool { return m.Level >= Error && m.Line == want.line }) {
			t.Errorf("probe %d %q: %v, want an error on line %d", i, probes[i].Body, v, want.line)
		}
	}
}

// An error in a shared declaration rejects all probes that share it, and no others.
func TestJudgeShared(t *testing.T) {
	probe := func(module, params, decls, body string) Probe {
		return Probe{Module: []string{module}, Params: []string{params}, Decls: []string{decls},
			Body: []string{body}}
	}
	var probes []Probe
	var want []Status
	for i := range 40 {
		good := probe(".global .b32 cell;", ".param .u64 p", ".reg .b32 %r;",
			"ld.param.b32 %r, [p]; st.global.b32 [cell], %r;")
		bad := good
		status := Accepted
		switch i % 5 {
		case 1:
			bad.Module, status = []string{fmt.Sprintf(".global .b32 bad%d = ;", i)}, Malformed
		case 2:
			bad.Decls, status = []string{".reg .b32 %r; .reg .b32 %r;"}, Rejected
		case 3:
			bad.Params, status = []string{".param .u33 p"}, Malformed
		case 4:
			// a neighbor in the same module declares the symbol
			bad.Module, status = nil, Accepted
		}
		probes = append(probes, bad)
		want = append(want, status)
	}
	got, err := tool(t).Judge(t.Context(), "8.0", "sm_80", probes)
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range got {
		if i%5 == 4 {
			// module-scope names of other probes are visible; callers must make names unique
			continue
		}
		if v.Status != want[i] && !(want[i] == Malformed && v.Status == Rejected) {
			t.Errorf("probe %d: %v, want %v", i, v, want[i])
		}
	}
}

func TestJudgeOld(t *testing.T) {
	for _, test := range []struct{ version, target, body string }{
		{"1.0", "sm_10", "add.s32 %r0, %r1, %r1;"},
		{"2.0", "sm_20", "popc.b32 %r0, %r1;"},
		{"3.0", "sm_30", "shfl.up.b32 %r0, %r1, 1, 0;"},
		{"8.6", "sm_101a", "add.s32 %r0, %r1, %r1;"},
		{"9.5", "sm_121f", "add.s32 %r0, %r1, %r1;"},
	} {
		probes := []Probe{{Decls: []string{".reg .b32 %r<2>;"}, Body: []string{test.body}}}
		v, err := tool(t).Judge(t.Context(), test.version, test.target, probes)
		if err != nil || !v[0].OK() {
			t.Errorf("%s %s: %v, %v", test.version, test.target, v, err)
		}
	}
	// An instruction that needs sm_20, on a target before and after it.
	for target, ok := range map[string]bool{"sm_13": false, "sm_20": true} {
		v, err := tool(t).Judge(t.Context(), "2.0", target,
			[]Probe{{Decls: []string{".reg .b32 %r<2>;"}, Body: []string{"popc.b32 %r0, %r1;"}}})
		if err != nil || v[0].OK() != ok {
			t.Errorf("popc on %s: %v, %v", target, v, err)
		}
	}
}

func TestJudgeImpossible(t *testing.T) {
	for _, test := range []struct {
		version, target string
	}{{"7.0", "sm_90"}, {"9.5", "sm_91"}, {"9.9", "sm_90"}, {"", ""}} {
		if _, err := tool(t).Judge(t.Context(), test.version, test.target,
			make([]Probe, 1)); err == nil {
			t.Errorf("%q %q: no error", test.version, test.target)
		}
	}
	if v, err := tool(t).Judge(t.Context(), "8.0", "sm_90", nil); err != nil || len(v) != 0 {
		t.Errorf("no probes: %v, %v", v, err)
	}
}

func TestContained(t *testing.T) {
	for text, want := range map[string]bool{
		"add {a, b}": true, "{": false, "}": false, "} {": false, "{ }": true, "/* { */": true,
		"/* {": false,
		"// {": true, "// {\n{": false, `"{"`: true, `"`: false, `"\"`: false, "# 3": false,
		"": true, "a / b * c": true,
	} {
		if got := isContained(&Probe{Body: strings.Split(text, "\n")}); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}

func TestCompose(t *testing.T) {
	probes := []Probe{
		{Module: []string{"M1", "M2"}, Decls: []string{"D"}, Body: []string{"a1\na1b", "a2"}},
		{Module: []string{"M1"}, Decls: []string{"D"}, Body: []string{"b1"}},
		{Params: []string{"P", "Q"}, Body: []string{"c1"}},
	}
	s := compose("8.0", "sm_80", probes, []int{0, 1, 2})
	want := map[string]span{
		"M1": {first: 0, last: 2}, "M2": {first: 0, last: 2}, "D": {first: 0, last: 1},
		".entry p2 (P,": {first: 2, last: 2},
		"a1":            {first: 0, last: 0, body: 1}, "a1b": {first: 0, last: 0, body: 1},
		"a2": {first: 0, last: 0, body: 2},
		"b1": {first: 1, last: 1, body: 1}, "c1": {first: 2, last: 2, body: 1},
	}
	seen := 0
	for i, line := range strings.Split(string(s.text), "\n") {
		if w, ok := want[line]; ok {
			seen++
			got := s.owner(i + 1)
			got.line = 0
			if got != w {
				t.Errorf("line %q belongs to %+v, want %+v", line, got, w)
			}
		}
	}
	if seen != len(want) {
		t.Errorf("%d of %d lines:\n%s", seen, len(want), s.text)
	}
}

func TestTargets(t *testing.T) {
	list, err := tool(t).Targets(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range strings.Fields(
		"sm_10 sm_20 sm_52 sm_75 sm_80 sm_90 sm_90a sm_100 sm_100a sm_100f sm_101a sm_103f sm_107 sm_110a sm_120f sm_121a") {
		if !slices.ContainsFunc(list,
			func(x Target) bool { return x.Name == name && x.Arch != "" && x.Real != "" }) {
			t.Errorf("no %s in %v", name, list)
		}
	}
	for name, since := range map[string]string{"sm_75": "6.3", "sm_90a": "8.0", "sm_107": "9.4",
		"sm_13": "1.2"} {
		if got, err := tool(t).Since(t.Context(), name); got != since || err != nil {
			t.Errorf("%s since %s (%v), want %s", name, got, err, since)
		}
	}
	if newest, err := tool(t).NewestPTX(t.Context()); newest != "9.5" || err != nil {
		t.Errorf("newest is %s, %v", newest, err)
	}
	if release, err := tool(t).Release(t.Context()); release != "13.5.37" || err != nil {
		t.Errorf("release is %s, %v", release, err)
	}
}

func BenchmarkJudge(b *testing.B) {
	for _, bad := range []int{0, 10, 2} {
		b.Run(fmt.Sprintf("malformed=1in%d", bad), func(b *testing.B) {
			probes := make([]Probe, 40000)
			for i := range probes {
				probes[i] = Probe{Decls: []string{".reg .b32 %r<4>;"},
					Body: []string{"add.s32 %r0, %r1, %r2;"}}
				if bad > 0 && i%bad == 0 {
					probes[i].Body = []string{"add.s32 %r0 %r1;"}
				}
			}
			tool := tool(b)
			if _, err := tool.Targets(b.Context()); err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				if _, err := tool.Judge(b.Context(), "9.5", "sm_90a", probes); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.N)*float64(len(probes))/b.Elapsed().Seconds(), "probes/s")
		})
	}
}
