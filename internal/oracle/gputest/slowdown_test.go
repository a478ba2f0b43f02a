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

// BenchmarkDetector runs the checks of examples on one goroutine, without and with the race
// detector.
func BenchmarkDetector(b *testing.B) {
	for _, c := range exampleChecks() {
		target := targetsOf(c)[0]
		for _, name := range []string{"plain", "detector"} {
			b.Run(c.Name+"/"+name, func(b *testing.B) {
				for b.Loop() {
					o := emu.Options{Target: target, Workers: 1}
					if name == "detector" {
						o.Observer = race.New()
					}
					back, err := emu.New(o)
					if err != nil {
						b.Fatal(err)
					}
					x := kerneltest.New(runtime.On(back))
					x.Budget = 1000
					if err := c.Run(&T{x}); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
