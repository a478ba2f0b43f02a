// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package gputest

import (
	"strings"
	"testing"

	"github.com/ptxdsl/ptxdsl/runtime"
	"github.com/ptxdsl/ptxdsl/runtime/emu"
	"github.com/ptxdsl/ptxdsl/runtime/emu/race"
	"github.com/ptxdsl/ptxdsl/runtime/kerneltest"
)

// raceTargets maps examples to the targets on which they run under the race detector.
var raceTargets = map[string]string{
	"01_vecadd": "sm_90a", "02_saxpy": "sm_90a", "03_transpose": "sm_90a", "04_reduce": "sm_90a",
	"05_scan":      "sm_90a",
	"06_histogram": "sm_90a", "07_softmax": "sm_90a", "08_rmsnorm": "sm_90a",
	"09_matmul_simt": "sm_90a", "10_matmul_ladder": "sm_90a",
	"11_clusters": "sm_90a", "12_matmul_splitk": "sm_90a", "13_matmul_multistage": "sm_80",
	"14_matmul_sparse": "sm_90a",
	"15_matmul_hopper": "sm_90a", "16_matmul_blackwell": "sm_100a",
	"17_matmul_blockscaled": "sm_100a", "18_attention": "sm_90a sm_100a",
	"19_matmul_w4a16": "sm_90a", "20_matmul_fp8": "sm_90a", "21_matmul_grouped": "sm_90a",
	"22_matmul_streamk": "sm_90a",
}

// TestExamplesRaceFree runs the examples with the race detector, which must find nothing.
func TestExamplesRaceFree(t *testing.T) {
	for _, c := range exampleChecks() {
		for _, target := range strings.Fields(raceTargets[c.Name]) {
			t.Run(c.Name+"/"+target, func(t *testing.T) {
				if testing.Short() && c.Name == "12_matmul_splitk" {
					t.Skip("takes seconds")
				}
				raceFree(t, c, target)
			})
		}
	}
}

// raceFree runs an example with small sizes and a race detector.
func raceFree(t *testing.T, c Check, target string) {
	detector := race.New()
	back, err := emu.New(emu.Options{Target: target, Observer: detector})
	if err != nil {
		t.Fatal(err)
	}
	d := runtime.On(back)
	x := kerneltest.New(d)
	x.Budget = 1000
	if err := c.Run(&T{x}); err != nil {
		t.Error(err)
	}
	if n := detector.Skipped(); n > 0 {
		t.Errorf("%d launches have more than %d threads", n, race.MostThreads)
	}
	for _, r := range detector.Races() {
		t.Errorf("%s %s: %s: %s\n%s at %s:%d %s\n%s at %s:%d %s\nmissing: %s", r.Rule, r.Kernel,
			r.Message, r.Address,
			r.First.What, r.First.Place.File, r.First.Place.Line, r.First.Opcode,
			r.Second.What, r.Second.Place.File, r.Second.Place.Line, r.Second.Opcode, r.Missing)
	}
}
