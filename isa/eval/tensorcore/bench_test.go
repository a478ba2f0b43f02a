// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package tensorcore

import (
	"math/rand/v2"
	"testing"

	"github.com/ptxdsl/ptxdsl/isa/eval"
)

// BenchmarkMMA runs one MMA instruction of a warp. A bf16 GEMM of 1024x1024x1024 needs 524,288
// instructions of m16n8k16.
func BenchmarkMMA(b *testing.B) {
	for _, op := range []string{
		"mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32",
		"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32",
		"mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16",
		"mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32",
		"mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32",
		"mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32",
		"mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.bf16.bf16.f32",
	} {
		b.Run(op[17:], func(b *testing.B) {
			m, err := spelled(op, Hopper)
			if err != nil {
				b.Fatal(err)
			}
			r := rand.New(rand.NewPCG(1, 2))
			f := newFrame()
			for lane := range 32 {
				for i := range 8 {
					f.A[i][lane] = eval.BF16.Encode(r.NormFloat64(), 0)<<16 |
						eval.BF16.Encode(r.NormFloat64(), 0)
					f.B[i][lane] = eval.BF16.Encode(r.NormFloat64(), 0)<<16 |
						eval.BF16.Encode(r.NormFloat64(), 0)
				}
				f.Meta[lane] = 0x44444444
			}
			b.ReportAllocs()
			for b.Loop() {
				m.Run(f)
			}
			products := float64(m.M * m.N * m.K)
			b.ReportMetric(products*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mproducts/s")
		})
	}
}
