// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package products

import (
	"testing"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/isa"
)

// deep returns the depth in elements of a row of the given number of bytes in shared memory.
func deep(t isa.Type, padded bool, bytes int) int {
	if n := t.Bits(); n >= 8 || !padded {
		return bytes * 8 / n
	}
	return bytes
}

// cases covers matrix products of all kinds: types, accumulator shapes, swizzles and operand
// layouts.
func cases() (list []productCase) {
	add := func(c productCase) {
		if c.stages == 0 {
			c.stages = 3
		}
		list = append(list, c)
	}
	shapes := [][2]int{{64, 8}, {64, 72}, {128, 16}, {128, 112}, {256, 32}, {256, 256}}
	dense := [][2]isa.Type{{isa.F16, isa.F16}, {isa.Bf16, isa.Bf16}, {isa.Tf32, isa.Tf32},
		{isa.E4m3, isa.E5m2}, {isa.E2m1, isa.E4m3}, {isa.E5m2, isa.E2m1}, {isa.E2m3, isa.E3m2},
		{isa.S8, isa.U8}, {isa.U8, isa.S8}}
	// Every pair of types in every shape.
	for _, t := range dense {
		for _, s := range shapes {
			if integer := t[0] == isa.S8 || t[0] == isa.U8; integer && s[1]%16 != 0 && s[1] != 8 {
				s[1] = 48
			}
			c := productCase{x: t[0], y: t[1], padded: true, rows: s[0], cols: s[1],
				depth: deep(t[0], true, 128), swizzle: dsl.Swizzle128}
			add(c)
			if s[0] >= 128 {
				c.sparse = true
				add(c)
			}
		}
	}
	// Swizzles, and tiles of several slabs.
	for _, w := range []dsl.Swizzle{dsl.Swizzle32, dsl.Swizzle64, dsl.Swizzle128} {
		for _, t := range []isa.Type{isa.Bf16, isa.E4m3, isa.Tf32, isa.S8} {
			for _, width := range []int{1, 2} {
				for _, s := range [][2]int{{64, 32}, {128, 48}, {256, 64}} {
					if t.Bits() == 8 && s[1] == 48 {
						s[1] = 96
					}
					add(productCase{x: t, y: t, rows: s[0], cols: s[1],
						depth: deep(t, false, int(w)*width), swizzle: w, stages: 2})
				}
			}
		}
	}
	// Transposed operands.
	for _, w := range []dsl.Swizzle{dsl.Swizzle32, dsl.Swizzle64, dsl.Swizzle128} {
		for _, t := range []isa.Type{isa.F16, isa.Bf16, isa.E4m3, isa.S8} {
			for _, turn := range [][2]bool{{true, false}, {false, true}, {true, true}} {
				for _, s := range [][2]int{{64, 64}, {128, 64}, {128, 128}, {256, 128},
					{256, 256}} {
					if n := s[1] / max(1, s[0]/128) * t.Bits() / 8; turn[1] && n%int(w) != 0 &&
						n > int(w) || s[1] == 64 && t.Bits() == 8 && w == dsl.Swizzle128 {
						continue
					}
					c := productCase{x: t, y: t, rows: s[0], cols: s[1],
						depth: deep(t, false, int(w)), turnX: turn[0], turnY: turn[1], swizzle: w,
						stages: 2}
					add(c)
					if turn[1] && !turn[0] && s[0] >= 128 && w == dsl.Swizzle128 {
						c.sparse = true
						add(c)
					}
				}
			}
		}
	}
	// Block scaling.
	scaled := []struct {
		x, y   isa.Type
		scale  dsl.BlockScale
		padded bool
		bytes  int
	}{
		{isa.E2m1, isa.E2m1, dsl.NVFP4, false, 128}, {isa.E2m1, isa.E2m1, dsl.NVFP4, false, 64},
		{isa.E2m1, isa.E2m1, dsl.MXFP4, false, 128},
		{isa.E2m1, isa.E2m1, dsl.BlockScale{Type: isa.Ue8m0, Vector: 16}, false, 128},
		{isa.E4m3, isa.E5m2, dsl.MXFP8, true, 128}, {isa.E2m3, isa.E3m2, dsl.MXFP6, true, 128},
		{isa.E4m3, isa.E2m1, dsl.MXFP8, true, 128}, {isa.E2m1, isa.E2m1, dsl.MXFP4, true, 128},
	}
	for _, f := range scaled {
		for _, s := range [][2]int{{128, 128}, {128, 256}, {256, 128}, {256, 256}} {
			c := productCase{x: f.x, y: f.y, padded: f.padded, scale: f.scale, rows: s[0],
				cols: s[1], depth: deep(f.x, f.padded, f.bytes), swizzle: dsl.Swizzle128, stages: 2}
			if f.bytes == 64 {
				c.swizzle = dsl.Swizzle64
			}
			add(c)
			if s[0] == 128 || s[0] == 256 {
				c.sparse, c.scale = true, f.scale.Sparse()
				add(c)
			}
		}
	}
	// F16 accumulators, with few terms and small values.
	for _, t := range [][2]isa.Type{{isa.F16, isa.F16}, {isa.E4m3, isa.E2m1}} {
		for _, s := range [][2]int{{64, 32}, {128, 64}, {256, 64}} {
			add(productCase{x: t[0], y: t[1], padded: true, rows: s[0], cols: s[1],
				depth: deep(t[0], true, 128), swizzle: dsl.Swizzle128, stages: 1, half: true})
		}
	}
	// Block-scaled types of 8, 6 and 4 bits in all combinations, and transposed 8-bit operands.
	small := []isa.Type{isa.E4m3, isa.E5m2, isa.E2m3, isa.E3m2, isa.E2m1}
	for i, x := range small {
		for j, y := range small {
			c := productCase{x: x, y: y, padded: true, scale: dsl.MXFP8, rows: 128, cols: 128,
				depth: 128, swizzle: dsl.Swizzle128, stages: 1}
			if (i+j)%3 == 0 {
				c.rows = 256
			}
			if (i+j)%2 == 1 {
				c.sparse, c.scale = true, c.scale.Sparse()
			}
			add(c)
			if x.Bits() == 8 && y.Bits() == 8 {
				c.turnY, c.turnX = true, !c.sparse
				add(c)
			}
		}
	}
	return list
}

// TestProducts runs kernels of package dsl with MMAs of every kind, shape and layout in the
// emulator, and compares all elements of D.
func TestProducts(t *testing.T) {
	all := cases()
	ran := make(map[string]int)
	for _, c := range all {
		d := New("sm_100a")
		if err := c.run(d); err != nil {
			t.Errorf("%s: %v", c, err)
			continue
		}
		for op, times := range d.Ran {
			ran[op] += times
		}
	}
	t.Logf("%d products", len(all))
	for _, kind := range []string{"f16", "tf32", "f8f6f4", "i8", "mxf8f6f4.block_scale.block32",
		"mxf4.block_scale.block32", "mxf4nvf4.block_scale.block16"} {
		for _, how := range []string{"", "sp."} {
			for _, group := range []string{"1", "2"} {
				if op := "tcgen05.mma." + how + "cta_group::" + group + ".kind::" +
					kind; ran[op] == 0 {
					t.Errorf("%s was not tried", op)
				}
			}
		}
	}
}
