// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package gputest

import (
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/ptxdsl/ptxdsl/internal/trial"
	"github.com/ptxdsl/ptxdsl/runtime"
)

// TestEmulated runs the examples that the emulator can run, at small sizes, against their references.
func TestEmulated(t *testing.T) {
	emulated := map[string]string{
		"01_vecadd": "emu:sm_90a", "02_saxpy": "emu:sm_90a", "03_transpose": "emu:sm_90a", "04_reduce": "emu:sm_90a",
		"05_scan": "emu:sm_90a", "06_histogram": "emu:sm_90a", "07_softmax": "emu:sm_90a", "08_rmsnorm": "emu:sm_90a",
		"09_matmul_simt": "emu:sm_90a", "10_matmul_ladder": "emu:sm_90a", "11_clusters": "emu:sm_90a", "12_matmul_splitk": "emu:sm_90a", "13_matmul_multistage": "emu:sm_80", "15_matmul_hopper": "emu:sm_90a",
	}
	ran := 0
	for _, c := range exampleChecks() {
		place, ok := emulated[c.Name]
		if !ok {
			continue
		}
		ran++
		t.Run(c.Name, func(t *testing.T) {
			d, err := runtime.Open(place)
			if err != nil {
				t.Fatal(err)
			}
			work := 70_000
			if testing.Short() {
				work = 5000
			}
			err = c.Run(&T{&trial.T{Device: d, Rand: rand.New(rand.NewPCG(1, 2)), Work: work}})
			if err := errors.Join(err, d.Close()); err != nil {
				t.Error(err)
			}
		})
	}
	if ran != len(emulated) {
		t.Errorf("%d examples ran, %d are emulated", ran, len(emulated))
	}
}
