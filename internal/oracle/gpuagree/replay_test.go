// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package gpuagree

import (
	"bytes"
	"testing"
)

// TestReplay compares every case and every input with the results of an H100. The record contains
// hashes of all results, and those results of approximate instructions that differ. The table is in
// bench/results/gpu-agree.md.
func TestReplay(t *testing.T) {
	const cases, equal, within, known = 7235, 7179, 30, 26
	r, err := Read("testdata/h100.rec")
	if err != nil {
		t.Fatal(err)
	}
	tallies, differences, err := Compare(r)
	if err != nil {
		t.Fatal(err)
	}
	var sum Tally
	for _, f := range tallies {
		sum.Cases += f.Cases
		sum.Equal += f.Equal
		sum.Within += f.Within
		sum.Known += f.Known
	}
	for _, d := range differences {
		if d.Reason == "" {
			t.Errorf("%s differs from an H100", d.ID)
		}
	}
	if sum.Cases != cases || sum.Equal != equal || sum.Within != within || sum.Known != known {
		t.Errorf("%d cases, %d equal, %d within the bounds, %d known differences; want %d, %d, %d, %d",
			sum.Cases, sum.Equal, sum.Within, sum.Known, cases, equal, within, known)
	}
}

// TestReplayFindsADifference checks that a changed byte of the record is detected.
func TestReplayFindsADifference(t *testing.T) {
	r, err := Read("testdata/h100.rec")
	if err != nil {
		t.Fatal(err)
	}
	const id = "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32"
	for _, result := range r.Results {
		if result.ID == id {
			result.Short = bytes.Clone(result.Short)
			result.Short[len(result.Short)-1] ^= 1
			r.Results = []Result{result}
			break
		}
	}
	tallies, differences, err := Compare(r)
	if err != nil {
		t.Fatal(err)
	}
	if len(tallies) != 1 || tallies[0].Differing != 1 || len(differences) != 1 ||
		differences[0].ID != id || differences[0].Reason != "" {
		t.Errorf("%+v %+v", tallies, differences)
	}
}
