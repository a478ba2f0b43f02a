// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package attention

import (
	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/runtime"
	"github.com/ptxdsl/ptxdsl/runtime/kerneltest"
)

// hopperBatchVariants returns one test configuration for each option of BuildHopperBatch.
func hopperBatchVariants() []kerneltest.Variant {
	var list []kerneltest.Variant
	for _, v := range []struct {
		option, name string
		b            Batch
	}{
		{"attention forward with variable length", "wgmma, bf16, 64, all keys",
			Batch{Shape{isa.Bf16, 64, false}, 2, 2, 0}},
		{"attention forward with variable length", "wgmma, f16, 128, causal",
			Batch{Shape{isa.F16, 128, true}, 2, 2, 0}},
		{"attention with a paged KV cache", "wgmma, pages of 64 tokens",
			Batch{Shape{isa.F16, 128, false}, 4, 2, 64}},
		{"attention with a paged KV cache", "wgmma, pages of 128 tokens, causal",
			Batch{Shape{isa.Bf16, 64, true}, 3, 1, 128}},
		{"attention with GQA and MQA", "wgmma, 3 heads of queries for 1 of keys, causal",
			Batch{Shape{isa.Bf16, 256, true}, 3, 1, 0}},
	} {
		list = append(list, kerneltest.Variant{
			Option: v.option, Name: v.name, Targets: []string{"sm_90a"},
			Build: func(m *dsl.Module) { BuildHopperBatch(m, v.b) },
			Check: func(t *kerneltest.T) error { return v.b.check(t, true) },
			Why:   "probabilities of at most 1 and the result are rounded to the type",
		})
	}
	return list
}

// launchHopper is launch for BuildHopperBatch.
func (b Batch) launchHopper(t *kerneltest.T, queries, keys []int, table []uint32, most int,
	args []any) error {
	kernel, err := t.Kernel("hopper_"+b.Name(), func(m *dsl.Module) { BuildHopperBatch(m, b) })
	if err != nil {
		return err
	}
	const blocks = 5
	starts, tasks := b.HopperTasks(queries, keys, most, blocks)
	if b.Width <= 128 {
		args = append(args, args[3])
	}
	args = append(args, kerneltest.In(starts), kerneltest.In(tasks))
	if b.PageTokens > 0 {
		args = append(args, kerneltest.In(table))
	}
	return t.Launch(kernel, runtime.Grid(blocks), args...)
}
