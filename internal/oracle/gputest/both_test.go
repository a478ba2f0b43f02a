// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package gputest

import (
	"regexp"
	"strings"
	"testing"

	"github.com/ptxdsl/ptxdsl/runtime/kerneltest"
)

// TestBoth compares the emulator with itself: all elements are equal, and checks for other targets
// are not run.
func TestBoth(t *testing.T) {
	var table, record strings.Builder
	failed, err := Both(&table, &record, "emu:sm_90a",
		regexp.MustCompile("^(02_saxpy|16_matmul_blackwell|11_clusters)//"))
	if err != nil || failed > 0 {
		t.Fatalf("%d failed: %v\n%s", failed, err, &table)
	}
	for _, want := range []string{"02_saxpy\t\tcheck of the example\tequal",
		"16_matmul_blackwell\t\tcheck of the example\tnot run: "} {
		if !strings.Contains(record.String(), want) {
			t.Errorf("the record lacks %q:\n%s", want, &record)
		}
	}
}

// TestDifference compares outcomes that differ.
func TestDifference(t *testing.T) {
	result := func(tolerance kerneltest.Tolerance, all ...float64) outcome {
		return outcome{results: []kerneltest.Result{{What: "x", Tolerance: tolerance, All: all}}}
	}
	exact := kerneltest.Tolerance{}
	for _, c := range []struct {
		gpu, emulated outcome
		want          string
		equal         int
	}{
		{result(exact, 1, 2), result(exact, 1, 2), "equal", 2},
		{result(exact, 1, 2), result(exact, 1, 3),
			"FAIL: the devices differ by more than twice the tolerance", 1},
		{result(kerneltest.Abs(1), 1, 2), result(kerneltest.Abs(1), 1, 3), "within the tolerance",
			1},
		{result(kerneltest.Abs(1), 1, 2), result(kerneltest.Abs(1), 1, 3.5),
			"within the tolerance of each", 1},
		{result(kerneltest.Abs(1), 1, 2), result(kerneltest.Abs(1), 1, 4.5),
			"FAIL: the devices differ by more than twice the tolerance", 1},
		{result(exact, 1), result(exact, 1, 3), "FAIL: the GPU compares x, the emulator x", 0},
		{result(exact), result(exact), "FAIL: compares nothing", 0},
	} {
		s := subject{gpu: c.gpu, emulated: c.emulated}
		if d := s.difference(); d.verdict != c.want || d.equal != c.equal {
			t.Errorf("%v and %v: %q with %d equal, want %q with %d", c.gpu.results[0].All,
				c.emulated.results[0].All, d.verdict, d.equal, c.want, c.equal)
		}
	}
}
