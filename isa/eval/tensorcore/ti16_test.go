// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package tensorcore

import (
	"testing"

	"github.com/ptxdsl/ptxdsl/isa"
)

// TestS1Z4M11 checks the values and the refused codes of the elements of kind ti16.
func TestS1Z4M11(t *testing.T) {
	for code, want := range map[uint64]float64{
		0: 0, 0x8000: 0, 1: 1, 0x8001: -1, 0x7ff: 2047, 0x87ff: -2047,
	} {
		if got := S1Z4M11.Decode(code); got != want {
			t.Errorf("0x%04x is %v, want %v", code, got, want)
		}
		if err := S1Z4M11.Check(code); err != nil {
			t.Error(err)
		}
	}
	for bit := 11; bit < 15; bit++ {
		if S1Z4M11.Check(1<<bit) == nil {
			t.Errorf("0x%04x is accepted", 1<<bit)
		}
	}
}

// TestTi16Descriptor checks instruction descriptors of kind ti16.
func TestTi16Descriptor(t *testing.T) {
	const good = 2<<4 | 3<<7 | 3<<10 | 8<<17 | 8<<24
	in, err := InstructionOf(good, isa.ModKindTi16, isa.NoMod)
	if err != nil {
		t.Fatal(err)
	}
	if in.M != 128 || in.N != 64 || in.K != 16 || in.D != S32 || in.A != S1Z4M11 ||
		in.B != S1Z4M11 {
		t.Errorf("descriptor %#x: %+v", good, in)
	}
	for name, bad := range map[string]uint32{
		"saturates": good | 8, "transposed A": good | 1<<15, "transposed B": good | 1<<16,
		"f32 accumulators": good ^ 3<<4, "another A": good ^ 2<<7, "reserved bit": good | 1<<29,
	} {
		if _, err := InstructionOf(bad, isa.ModKindTi16, isa.NoMod); err == nil {
			t.Errorf("%s: descriptor %#x is accepted", name, bad)
		}
	}
}
