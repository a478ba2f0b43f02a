// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package sparse

import (
	"slices"
	"testing"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/golden"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/runtime/kerneltest"
)

// TestPTX compares the PTX with the golden files, and checks and assembles it for every type.
func TestPTX(t *testing.T) {
	for _, typ := range Types {
		target := "sm_80"
		if typ == isa.E4m3 {
			target = "sm_90"
		}
		m := dsl.New("sparse"+name(typ)+"."+target, target)
		Build(m, typ, Default)
		golden.Verify(t, m)
	}
}

// TestRun runs the kernel in the emulator and compares the results with the reference.
func TestRun(t *testing.T) { kerneltest.Run(t, Check, Targets...).Tight(t, 4) }

// TestCompress checks that two of four elements are kept, even if they are zero.
func TestCompress(t *testing.T) {
	kept, indices := Compress([]int{
		0, 5, 0, 7 /**/, 0, 0, 0, 0,
		1, 0, 0, 2 /**/, 0, 0, 3, 0,
	})
	if want := []int{5, 7, 0, 0, 1, 2, 0, 3}; !slices.Equal(kept, want) {
		t.Errorf("kept are %v, want %v", kept, want)
	}
	// Indices 1 and 3, 0 and 1; 0 and 3, 1 and 2.
	if want := []byte{0b01_00_11_01, 0b10_01_11_00}; !slices.Equal(indices, want) {
		t.Errorf("indices are %04b, want %04b", indices, want)
	}
}

// TestCompressSingles checks that one of two elements is kept, with the indices of its halves.
func TestCompressSingles(t *testing.T) {
	kept, indices := CompressSingles([]float32{0, 5, 7, 0, 0, 0, 1, 0})
	if want := []float32{5, 7, 0, 1}; !slices.Equal(kept, want) {
		t.Errorf("kept are %v, want %v", kept, want)
	}
	if want := []byte{0b0100_1110, 0b0100_1110}; !slices.Equal(indices, want) {
		t.Errorf("indices are %04b, want %04b", indices, want)
	}
}

// TestBlocks checks that unsupported sizes are rejected.
func TestBlocks(t *testing.T) {
	if x, y, err := Default.Blocks(isa.F16, 129, 2, 128); x != 1 || y != 2 || err != nil {
		t.Error(x, y, err)
	}
	for _, wrong := range [][3]int{{1, 2, 64}, {1, 3, 128}} {
		if _, _, err := Default.Blocks(isa.F16, wrong[0], wrong[1], wrong[2]); err == nil {
			t.Errorf("%v is accepted", wrong)
		}
	}
}
