// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package kernelcmd

import (
	"flag"
	"strings"
	"testing"

	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/runtime/kerneltest"
)

// TestOneOf checks the default of a flag, and the message for an invalid value.
func TestOneOf(t *testing.T) {
	chosen := Type(isa.F16, isa.Bf16, isa.S8)
	if *chosen != isa.F16 {
		t.Error(*chosen)
	}
	if err := flag.Set("type", "s8"); err != nil || *chosen != isa.S8 {
		t.Error(*chosen, err)
	}
	if err := flag.Set("type", "u8"); err == nil || err.Error() != "want f16, bf16 or s8" ||
		*chosen != isa.S8 {
		t.Error(*chosen, err)
	}
}

// TestRun checks the output of a run: the device, the numbers, and mismatches.
func TestRun(t *testing.T) {
	check := func(want float32) func(*kerneltest.T) error {
		return func(t *kerneltest.T) error {
			return kerneltest.Compare(t, "sum", []float32{1.5}, []float32{want},
				kerneltest.Tolerance{})
		}
	}
	var out strings.Builder
	if err := Run(&out, "k", "emu:sm_80", "sm_90", check(1.5)); err != nil {
		t.Fatal(err)
	}
	want := "k on emu:sm_80, PTX emulator (sm_80)\n  sum: 1 elements equal\n    computed 1.5\nk agrees with its reference\n"
	if out.String() != want {
		t.Errorf("got\n%swant\n%s", out.String(), want)
	}
	err := Run(&out, "k", "emu:sm_80", "sm_90", check(2))
	if err == nil ||
		!strings.Contains(err.Error(),
			"k on emu:sm_80: sum: 1 of 1 elements are wrong; the worst is [0]: got 1.5, want 2") {
		t.Error(err)
	}
	if err := Run(&out, "k", "emu:sm_80", "", nil); err == nil {
		t.Error("a program without a check runs")
	}
}
