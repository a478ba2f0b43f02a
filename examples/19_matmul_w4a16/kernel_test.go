// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package w4a16

import (
	"testing"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/golden"
	"github.com/ptxdsl/ptxdsl/runtime"
	"github.com/ptxdsl/ptxdsl/runtime/kerneltest"
)

// TestPTX compares the PTX with the golden files, and checks and assembles it.
func TestPTX(t *testing.T) {
	for _, target := range Targets {
		m := dsl.New("matmul_w4a16."+target, target)
		Build(m)
		BuildFew(m)
		if m.Has(90) {
			BuildFewTensor(m)
		}
		golden.Verify(t, m)
	}
	m := dsl.New("w4a16_ahead.sm_90", "sm_90")
	BuildFewAhead(m, 0)
	BuildFewAhead(m, fewRows)
	golden.Verify(t, m)
	m = dsl.New("w4a16_box.sm_90", "sm_90")
	BuildFewAhead(m, 4)
	golden.Verify(t, m)
}

// TestRun runs the kernels in the emulator and compares the results with the reference.
func TestRun(t *testing.T) { kerneltest.Run(t, Check, Targets...).Tight(t, 4) }

// TestPack checks where a lane finds its weights of eight columns.
func TestPack(t *testing.T) {
	const n, k = 128, 32
	weights := make([]uint8, n*k)
	for i := range weights {
		weights[i] = uint8((i*7 + i/13) % 16)
	}
	packed, err := Pack(weights, n, k)
	if err != nil {
		t.Fatal(err)
	}
	// In the second group of 64 columns and the second step of 16 weights, the third word of lane
	// 13 belongs to columns 32+3 and 40+3.
	word := packed[(1*(k/16)+1)*128+13*4+2]
	for h, col := range []int{64 + 32 + 3, 64 + 40 + 3} {
		for i, at := range []int{2, 10, 3, 11} {
			shift := h*8 + i%2*4 + i/2*16
			if got, want := uint8(word>>shift&15), weights[col*k+16+at]; got != want {
				t.Errorf("weight %d of column %d is %d, not %d", at, col, got, want)
			}
		}
	}
	weights[5] = 16
	for _, wrong := range [][2]int{{n, k}, {64, k}, {n / 2, 2 * k}, {96, 32}} {
		if _, err := Pack(weights, wrong[0], wrong[1]); err == nil {
			t.Errorf("%v is accepted", wrong)
		}
	}
}

// TestPackScales checks that the scales of columns eight apart are adjacent.
func TestPackScales(t *testing.T) {
	scales := make([]runtime.F16, 2*128)
	for i := range scales {
		scales[i] = runtime.ToF16(float32(i))
	}
	packed, err := PackScales(scales, 128)
	if err != nil {
		t.Fatal(err)
	}
	for i, x := range packed[64+5*8 : 64+6*8] {
		if want := float32(64 + i*8 + 5); x.Float32() != want {
			t.Errorf("scale %d is %v, not %v", i, x.Float32(), want)
		}
	}
	if _, err := PackScales(scales, 96); err == nil {
		t.Error("rows of 96 are accepted")
	}
}

// TestBlocks checks that unsupported sizes are rejected.
func TestBlocks(t *testing.T) {
	if n, err := Blocks(129, 320, 128); n != 4 || err != nil {
		t.Error(n, err)
	}
	if x, y, err := BlocksFew(17, 320, 128); x != 5 || y != 2 || err != nil {
		t.Error(x, y, err)
	}
	for _, wrong := range [][3]int{{1, 64, 64}, {1, 32, 128}} {
		if _, err := Blocks(wrong[0], wrong[1], wrong[2]); err == nil {
			t.Errorf("%v is accepted", wrong)
		}
	}
}
