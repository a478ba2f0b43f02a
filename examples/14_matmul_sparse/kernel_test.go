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
	}{{isa.F16, "sm_80"}, {isa.Bf16, "sm_80"}, {isa.S8, "sm_80"}, {isa.E4m3, "sm_90"}} {
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
