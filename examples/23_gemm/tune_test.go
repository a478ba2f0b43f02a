// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package gemm

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ptxdsl/ptxdsl/runtime/kerneltest"
)

// TestTuned checks that the kernels of a product are measured once, that all of them are right, and
// that another library finds the choice in the file.
func TestTuned(t *testing.T) {
	x := kerneltest.Open(t, "emu:sm_90a")
	folder := t.TempDir()
	g := kerneltest.GEMM{M: 8, N: 64, K: 64}
	multiply := func() *Library {
		l, err := Tuned(x.Device, folder)
		if err != nil {
			t.Fatal(err)
		}
		err = check(x, l, g, false, true, kerneltest.BF16, kerneltest.BF16, Options{},
			kerneltest.BF16.ULPs(0.5).Plus(sum16))
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	l := multiply()
	files, err := filepath.Glob(filepath.Join(folder, "*.json"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	text, err := os.ReadFile(files[0])
	if err != nil ||
		!strings.Contains(string(text), "8x64x64 .bf16 to .bf16, A by rows, B by columns") {
		t.Errorf("%s %v", text, err)
	}
	kernels := len(l.kernels)
	if kernels < 10 {
		t.Errorf("%d kernels were measured", kernels)
	}
	if l := multiply(); len(l.kernels) != 1 {
		t.Errorf("%d kernels are loaded for a known product, not one", len(l.kernels))
	}
	if err := os.WriteFile(files[0], []byte("{"), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := Tuned(x.Device, folder); err == nil {
		t.Error("a broken file is accepted")
	}
}

// TestPlans runs every kernel that the library can choose.
func TestPlans(t *testing.T) {
	x := kerneltest.Open(t, "emu:sm_90a")
	for _, g := range []kerneltest.GEMM{{M: 24, N: 136, K: 72}, {M: 136, N: 40, K: 48}} {
		l, err := Tuned(x.Device, t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		for n, count := 0, 1; n < count; n++ {
			l.choices.choose = func(list []*plan) *plan { count = len(list); return list[n] }
			err := check(x, l, g, false, true, kerneltest.BF16, kerneltest.BF16, Options{},
				kerneltest.BF16.ULPs(0.5).Plus(sum16))
			if err != nil {
				t.Errorf("plan %d: %v", n, err)
			}
		}
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	}
}
