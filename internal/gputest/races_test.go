// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package gputest

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/ptxdsl/ptxdsl/internal/trial"
	"github.com/ptxdsl/ptxdsl/runtime"
	"github.com/ptxdsl/ptxdsl/runtime/emu"
	"github.com/ptxdsl/ptxdsl/runtime/emu/race"
)

// raceTargets are the targets for which the race test runs examples.
var raceTargets = map[string]string{
	"13_matmul_multistage": "sm_80", "16_matmul_blackwell": "sm_100a",
	"17_matmul_blockscaled": "sm_100a",
}

// TestExamplesRaceFree runs the examples with the race detector, which must find nothing.
func TestExamplesRaceFree(t *testing.T) {
	for _, c := range exampleChecks() {
		if strings.Contains(c.Name, "speed") {
			continue
		}
		t.Run(c.Name, func(t *testing.T) {
			target := raceTargets[c.Name]
			if target == "" {
				target = "sm_90a"
			}
			detector := race.New()
			back, err := emu.New(emu.Options{Target: target, Observer: detector})
			if err != nil {
				t.Fatal(err)
			}
			d := runtime.On(back)
			err = c.Run(&T{&trial.T{Device: d, Rand: rand.New(rand.NewPCG(1, 2)), Work: 1000}})
			if errors.Is(err, trial.ErrSkip) {
				t.Skip(err)
			}
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
