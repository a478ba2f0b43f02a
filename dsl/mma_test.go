// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/isa"
)

// TestShapes checks the opcode of each mma.sync shape, and the number of registers of each operand.
func TestShapes(t *testing.T) {
	xor := dsl.MMAFor(isa.B1, isa.S32)
	xor.Bit = dsl.BitXor
	for _, test := range []struct {
		shape dsl.MMA
		want  string
	}{
		{dsl.MMAFor(isa.F16, isa.F32), "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 4 4 2 4"},
		{dsl.MMAFor(isa.Tf32, isa.F32),
			"mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 4 4 2 4"},
		{dsl.MMAFor(isa.U4, isa.S32), "mma.sync.aligned.m16n8k64.row.col.s32.u4.u4.s32 4 4 2 4"},
		{dsl.MMAFor(isa.B1, isa.S32),
			"mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.and.popc 4 4 2 4"},
		{xor, "mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.xor.popc 4 4 2 4"},
		{dsl.SparseMMAFor(isa.Bf16, isa.F32),
			"mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.bf16.bf16.f32 4 4 4 4"},
		{dsl.SparseMMAFor(isa.E5m2, isa.F32),
			"mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.f32.e5m2.e5m2.f32 4 4 4 4"},
	} {
		m := dsl.New("shapes", "sm_90")
		k := m.Kernel("k", dsl.Threads(32))
		if test.shape.C == isa.S32 {
			shapeOnce[dsl.S32](k, test.shape)
		} else {
			shapeOnce[dsl.F32](k, test.shape)
		}
		text, err := m.Text()
		if err != nil {
			t.Errorf("%s: %v", test.want, err)
			continue
		}
		i := strings.Index(text, "mma.")
		ins := text[i : i+strings.IndexByte(text[i:], ';')]
		words := []string{strings.Fields(ins)[0]}
		for _, list := range strings.SplitAfter(ins, "}") {
			if strings.Contains(list, "{") {
				words = append(words,
					string(rune('1'+strings.Count(list[strings.Index(list, "{"):], ","))))
			}
		}
		if diff := cmp.Diff(test.want, strings.Join(words, " ")); diff != "" {
			t.Errorf("-want +got\n%s", diff)
		}
	}
}

// shapeOnce multiplies two tiles with rows of 128 bytes.
func shapeOnce[C dsl.Scalar](k *dsl.Kernel, s dsl.MMA) {
	tile := dsl.Tile{Type: s.A, Rows: 16, Cols: 1024 / s.A.Bits(), Swizzle: dsl.Swizzle128}
	x, y := k.SharedTile("x", tile), k.SharedTile("y", tile)
	w := dsl.NewWarpTile[C](k, s, 16, 16)
	if !s.Sparse {
		w.MMA(x, k.U32(0), y, k.U32(0))
		return
	}
	e := k.SharedTile("e", dsl.Tile{Type: isa.B8, Rows: 16, Cols: 256 / s.A.Bits()})
	w.SparseMMA(x, k.U32(0), e, []dsl.SharedTile{y, y}, k.U32(0))
}
