// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package show

import (
	"flag"
	"testing"

	"github.com/ptxdsl/ptxdsl/isa"
)

// TestChoice holds that a flag has the first value unless it is told another, and says what it takes.
func TestChoice(t *testing.T) {
	chosen := Type(isa.F16, isa.Bf16, isa.S8)
	if *chosen != isa.F16 {
		t.Error(*chosen)
	}
	if err := flag.Set("type", "s8"); err != nil || *chosen != isa.S8 {
		t.Error(*chosen, err)
	}
	if err := flag.Set("type", "u8"); err == nil || err.Error() != "f16, bf16 or s8 is expected" || *chosen != isa.S8 {
		t.Error(*chosen, err)
	}
}
