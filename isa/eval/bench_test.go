// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package eval

import (
	"math/rand/v2"
	"testing"
)

// BenchmarkWarp runs the most frequent operations, 32 lanes at a time.
func BenchmarkWarp(b *testing.B) {
	for _, opcode := range []string{
		"add.s32", "mad.lo.s32", "mad.wide.s32", "shl.b32", "and.b32", "lop3.b32", "setp.lt.s32",
		"selp.b32",
		"add.f32", "mul.f32", "fma.rn.f32", "fma.rn.ftz.f32", "add.ftz.f32", "max.f32",
		"setp.gt.f32",
		"fma.rn.bf16x2", "fma.rn.f16x2", "add.f64", "fma.rn.f64", "fma.rn.f32x2",
		"cvt.rn.bf16x2.f32",
		"cvt.rn.f16.f32", "cvt.f32.f16", "cvt.f32.bf16", "cvt.rn.satfinite.e4m3x2.f32",
		"ex2.approx.ftz.f32",
		"rcp.approx.ftz.f32", "rsqrt.approx.ftz.f32", "prmt.b32", "cvt.u64.u32", "shf.l.wrap.b32",
	} {
		b.Run(opcode, func(b *testing.B) {
			op, err := spelled(opcode)
			if err != nil {
				b.Fatal(err)
			}
			r := rand.New(rand.NewPCG(1, 2))
			var f Frame
			var vectors [12]Vector
			for i := range op.In {
				for l := range vectors[i] {
					vectors[i][l] = operandBits(r, op.In[i], 0)
					if g := FormatOf(op.In[i]); g != nil {
						vectors[i][l] = g.Encode(r.NormFloat64(), Nearest)
					}
				}
				f.In[i] = &vectors[i]
			}
			for i := range op.Out {
				f.Out[i] = &vectors[8+i]
			}
			b.ReportAllocs()
			for b.Loop() {
				op.Warp(&f)
			}
			b.ReportMetric(32*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mlanes/s")
		})
	}
}
