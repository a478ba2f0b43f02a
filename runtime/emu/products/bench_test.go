// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package products

import (
	"testing"

	"github.com/ptxdsl/ptxdsl/dsl"
	hopper "github.com/ptxdsl/ptxdsl/examples/15_matmul_hopper"
	blackwell "github.com/ptxdsl/ptxdsl/examples/16_matmul_blackwell"
	"github.com/ptxdsl/ptxdsl/runtime"
	"github.com/ptxdsl/ptxdsl/runtime/kerneltest"
)

// BenchmarkGEMM multiplies 512x512x512 in bf16 on one worker. It reports the time of the launches
// without the time of the reference.
func BenchmarkGEMM(b *testing.B) {
	// As in the example tests, tensor cores truncate after every 16 terms.
	tolerance := kerneltest.BF16.ULPs(0.5).Plus(kerneltest.Abs(0x1p-24).TruncatedEvery(16))
	for _, test := range []struct {
		name, target string
		build        func(m *dsl.Module)
	}{
		{"wgmma", "sm_90a", func(m *dsl.Module) { hopper.Build(m, hopper.Default) }},
		{"tcgen05", "sm_100a", func(m *dsl.Module) { blackwell.Build(m, blackwell.Default) }},
	} {
		b.Run(test.name, func(b *testing.B) {
			device := New(test.target)
			d := kerneltest.New(runtime.On(device))
			k, err := d.Kernel("matmul", test.build)
			if err != nil {
				b.Fatal(err)
			}
			before := device.Stats()
			for b.Loop() {
				x, y := kerneltest.RandomMatrix(d, 512, 512, kerneltest.BF16),
					kerneltest.RandomMatrix(d, 512, 512, kerneltest.BF16)
				if err := kerneltest.Multiply(d, k, runtime.Grid(8), x, y, kerneltest.BF16,
					tolerance, nil); err != nil {
					b.Fatal(err)
				}
			}
			after := device.Stats()
			b.ReportMetric(
				(after.Time-before.Time).Seconds()/float64(after.Launches-before.Launches),
				"s/launch")
		})
	}
}
