// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package gputest

import (
	"testing"

	"github.com/ptxdsl/ptxdsl/dsl"
	hopper "github.com/ptxdsl/ptxdsl/examples/15_matmul_hopper"
	"github.com/ptxdsl/ptxdsl/runtime"
	"github.com/ptxdsl/ptxdsl/runtime/emu"
	"github.com/ptxdsl/ptxdsl/runtime/emu/schedule"
	"github.com/ptxdsl/ptxdsl/runtime/kerneltest"
)

// A searcher searches the orders of each launch that it records.
type searcher struct {
	schedule.Recorder
	results []*schedule.Result
}

// Observe takes the next event.
func (s *searcher) Observe(e *emu.Event) {
	s.Recorder.Observe(e)
	if e.Kind == emu.EventEnd {
		s.results = append(s.results, schedule.Search(s.Trace(), schedule.Options{}))
	}
}

// TestSearchGEMM searches the orders of a warp-specialized matrix product with four stages: no
// order hangs, and all are equivalent.
func TestSearchGEMM(t *testing.T) {
	for name, cluster := range map[string]int{"one block": 1, "cluster of two": 2} {
		t.Run(name, func(t *testing.T) {
			tiling := hopper.Default
			tiling.N, tiling.Stages, tiling.Cluster = 64, 4, cluster
			s := &searcher{}
			back, err := emu.New(emu.Options{Target: "sm_90a", Observer: s})
			if err != nil {
				t.Fatal(err)
			}
			x := kerneltest.New(runtime.On(back))
			k, err := x.Kernel("matmul", func(m *dsl.Module) { hopper.Build(m, tiling) })
			if err != nil {
				t.Fatal(err)
			}
			if err := hopper.Multiply(x, k, tiling,
				kerneltest.GEMM{M: 128 * cluster, N: 64, K: 64 * 10}); err != nil {
				t.Fatal(err)
			}
			for _, r := range s.results {
				t.Logf("%d states, %d orders of %d steps, %d actors, %d merged, complete: %v",
					r.States, r.Orders, r.Steps, r.Actors, r.Merged, r.Complete)
				if r.Violation != nil {
					t.Errorf("%s: %v\n%s", r.Violation.Kind, r.Violation.Notes, r.Violation.Witness)
				} else if !r.Complete {
					t.Error("the search reached a bound")
				}
			}
			if len(s.results) == 0 {
				t.Error("no launch was searched")
			}
		})
	}
}
