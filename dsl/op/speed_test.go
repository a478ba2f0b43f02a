// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package op_test

import (
	"testing"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/dsl/op"
)

// BenchmarkWays compares appending instructions through generated methods and as text.
func BenchmarkWays(b *testing.B) {
	const count = 1000
	run := func(name string, way func(k *dsl.Kernel, x dsl.Reg[dsl.F32], p dsl.Reg[dsl.U64])) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				k := dsl.New("m", "sm_90").Kernel("k")
				way(k, dsl.NewReg[dsl.F32](k), dsl.NewReg[dsl.U64](k))
			}
			b.ReportMetric(float64(b.N)*count/b.Elapsed().Seconds(), "instructions/s")
		})
	}
	run("methods", func(k *dsl.Kernel, x dsl.Reg[dsl.F32], p dsl.Reg[dsl.U64]) {
		ptx := op.On(k)
		for i := range count {
			ptx.Ld().Global().NC().L1NoAllocate().F32().Do(x, dsl.At(p, int64(4*i)))
		}
	})
	run("text", func(k *dsl.Kernel, x dsl.Reg[dsl.F32], p dsl.Reg[dsl.U64]) {
		for i := range count {
			k.Ins("ld.global.nc.L1::no_allocate.f32", x, dsl.At(p, int64(4*i)))
		}
	})
}
