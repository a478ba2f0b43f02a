// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package ptxas

import (
	"fmt"
	"testing"
)

func tool(t testing.TB) *Tool {
	t.Helper()
	found, err := Find()
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestTargets(t *testing.T) {
	list, err := tool(t).Targets(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range list { 
		fmt.Println(x)
	}
}

func TestJudge(t *testing.T) {
	decls := []string{".reg .b32 %r<4>;"}
	var probes []Probe
	want := []Status{Accepted, Rejected, Malformed, Accepted, Malformed, Rejected, Accepted, Malformed, Accepted}
	bodies := []string{"add.s32 %r0, %r1, %r2;", "add.s32 %r0, %r1;", "add.s32 %r0 %r1;", "L: bra L;", "add.s32 %r0, %r1, %r2", "bra UNKNOWN;", "/* */", "{ ret;", "ret;"}
	const n = 9000
	for i := range n {
		probes = append(probes, Probe{Decls: decls, Body: []string{bodies[i%len(bodies)]}})
	}
	got, err := tool(t).Judge(t.Context(), "9.5", "sm_90a", probes)
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range got {
		if v.Status != want[i%len(bodies)] {
			t.Fatalf("probe %d %s: %v", i, probes[i].Body, v)
		}
		if i < len(bodies) {
			fmt.Println(probes[i].Body, v)
		}
	}
}

func BenchmarkJudge(b *testing.B) {
	decls := []string{".reg .b32 %r<4>;"}
	probes := make([]Probe, 100000)
	for i := range probes {
		probes[i] = Probe{Decls: decls, Body: []string{"add.s32 %r0, %r1, %r2;"}}
	}
	tl := tool(b)
	tl.Targets(b.Context())
	for b.Loop() {
		tl.Judge(b.Context(), "9.5", "sm_90a", probes)
	}
	b.ReportMetric(float64(b.N)*float64(len(probes))/b.Elapsed().Seconds(), "probes/s")
}
