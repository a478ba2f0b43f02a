// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package gputest

import (
	"testing"

	"github.com/ptxdsl/ptxdsl/runtime"
	"github.com/ptxdsl/ptxdsl/runtime/emu"
	"github.com/ptxdsl/ptxdsl/runtime/emu/race"
	"github.com/ptxdsl/ptxdsl/runtime/kerneltest"
)

// raceTargets maps examples to the target on which they run under the race detector: those that
// take seconds.
var raceTargets = map[string]string{
	"01_vecadd": "sm_90a", "02_saxpy": "sm_90a", "03_transpose": "sm_90a", "04_reduce": "sm_90a", "05_scan": "sm_90a",
	"06_histogram": "sm_90a", "07_softmax": "sm_90a", "08_rmsnorm": "sm_90a", "09_matmul_simt": "sm_90a", "10_matmul_ladder": "sm_90a",
	"11_clusters": "sm_90a", "12_matmul_splitk": "sm_90a", "13_matmul_multistage": "sm_80", "15_matmul_hopper": "sm_90a",
}

// TestExamplesRaceFree runs the examples with the race detector, which must find no race in
// launches of up to race.MostThreads threads.
func TestExamplesRaceFree(t *testing.T) {
	for _, c := range exampleChecks() {
		target, ok := raceTargets[c.Name]
		if !ok || testing.Short() && c.Name == "12_matmul_splitk" {
			continue
		}
		t.Run(c.Name, func(t *testing.T) {
			detector := race.New()
			back, err := emu.New(emu.Options{Target: target, Observer: detector})
			if err != nil {
				t.Fatal(err)
			}
			d := runtime.On(back)
			x := kerneltest.New(d)
			x.Budget = 1000
			err = c.Run(&T{x})
			if err != nil {
				t.Error(err)
			}
			for _, r := range detector.Races() {
				t.Errorf("%s %s: %s: %s\n%s at %s:%d %s\n%s at %s:%d %s\nmissing: %s", r.Rule, r.Kernel, r.Message, r.Address,
					r.First.What, r.First.Place.File, r.First.Place.Line, r.First.Opcode,
					r.Second.What, r.Second.Place.File, r.Second.Place.Line, r.Second.Opcode, r.Missing)
			}
		})
	}
}
