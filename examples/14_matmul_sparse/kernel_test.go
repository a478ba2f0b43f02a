// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package sparse

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/internal/exampletest"
	"github.com/ptxdsl/ptxdsl/isa"
)

// TestSparse holds the kernel of every type.
func TestSparse(t *testing.T) {
	for _, test := range []struct {
		e      isa.Type
		target string
	}{{isa.F16, "sm_80"}, {isa.Bf16, "sm_80"}, {isa.Tf32, "sm_80"}, {isa.S8, "sm_80"}, {isa.S4, "sm_80"}, {isa.E4m3, "sm_90"}} {
		exampletest.Check(t, "sparse"+name(test.e), test.target, func(m *dsl.Module) { Build(m, test.e, Default) })
	}
}

// TestCompress: two of four are kept, whatever they are.
func TestCompress(t *testing.T) {
	kept, places := Compress([]int{
		0, 5, 0, 7 /**/, 0, 0, 0, 0,
		1, 0, 0, 2 /**/, 0, 0, 3, 0,
	})
	if diff := cmp.Diff([]int{5, 7, 0, 0, 1, 2, 0, 3}, kept); diff != "" {
		t.Errorf("kept: -want +got\n%s", diff)
	}
	// Places 1 and 3, 0 and 1; 0 and 3, 1 and 2.
	if diff := cmp.Diff([]byte{0b01_00_11_01, 0b10_01_11_00}, places); diff != "" {
		t.Errorf("places: -want +got\n%s", diff)
	}
}

// TestCompressSingles: one of two is kept, and its halves are told.
func TestCompressSingles(t *testing.T) {
	kept, places := CompressSingles([]float32{0, 5, 7, 0, 0, 0, 1, 0})
	if diff := cmp.Diff([]float32{5, 7, 0, 1}, kept); diff != "" {
		t.Errorf("kept: -want +got\n%s", diff)
	}
	if diff := cmp.Diff([]byte{0b0100_1110, 0b0100_1110}, places); diff != "" {
		t.Errorf("places: -want +got\n%s", diff)
	}
}

// TestBlocks: sizes that the kernel does not take are refused before it runs.
func TestBlocks(t *testing.T) {
	if x, y, err := Default.Blocks(isa.F16, 129, 2, 128); x != 1 || y != 2 || err != nil {
		t.Error(x, y, err)
	}
	for _, wrong := range [][3]int{{1, 2, 64}, {1, 3, 128}} {
		if _, _, err := Default.Blocks(isa.F16, wrong[0], wrong[1], wrong[2]); err == nil {
			t.Errorf("%v is taken", wrong)
		}
	}
}
