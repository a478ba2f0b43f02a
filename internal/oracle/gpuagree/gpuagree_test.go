// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package gpuagree

import (
	"path/filepath"
	"strings"
	"testing"
)

const (
	version = "8.8"
	target  = "sm_90a"
)

// TestComparison records the expected results with one of them changed, and checks that the change
// is found.
func TestComparison(t *testing.T) {
	s, err := NewSetting(version, target)
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Cases) < 7000 {
		t.Errorf("%d cases", len(s.Cases))
	}
	record := &Record{Device: "none", Target: target, Version: version}
	const wrong = "add.rn.f32"
	for i := range s.Cases {
		c := &s.Cases[i]
		bits := c.Group != nil && c.Group.A.Bits == 1
		if c.ID != wrong && !bits && i%40 != 0 {
			continue
		}
		words := c.Expect(s.Inputs)
		if c.ID == wrong {
			words[77] ^= 1
		}
		r, err := c.result(append(words, make([]uint64, maxResults*Rows)...), s.Inputs)
		if err != nil {
			t.Fatal(err)
		}
		record.Results = append(record.Results, r)
	}
	file := filepath.Join(t.TempDir(), "record")
	if err := record.Write(file); err != nil {
		t.Fatal(err)
	}
	again, err := Read(file)
	if err != nil {
		t.Fatal(err)
	}
	tallies, differences, err := Compare(again)
	if err != nil {
		t.Fatal(err)
	}
	want := Difference{ID: wrong, Row: 77, Count: 1}
	if len(differences) != 1 || differences[0].ID != want.ID || differences[0].Row != want.Row ||
		differences[0].Count != want.Count {
		t.Errorf("differences: %+v", differences)
	}
	var b strings.Builder
	if err := Print(&b, again, tallies, differences); err != nil {
		t.Error(err)
	}
	if !strings.Contains(b.String(), wrong+": 1 of 1024 differ; row 77") {
		t.Error(b.String())
	}
}

// TestKernelsAreTheSame checks that generating a kernel twice gives the same text.
func TestKernelsAreTheSame(t *testing.T) {
	a, err := NewSetting(version, target)
	if err != nil {
		t.Fatal(err)
	}
	b, err := NewSetting(version, target)
	if err != nil {
		t.Fatal(err)
	}
	for i := range a.Cases {
		x, y := a.Cases[i].Kernel("k", a.Inputs), b.Cases[i].Kernel("k", b.Inputs)
		if x != y {
			t.Fatalf("%s has two kernels:\n%s\n%s", a.Cases[i].ID, x, y)
		}
	}
}
