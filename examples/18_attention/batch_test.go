// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package attention

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/golden"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/runtime/kerneltest"
)

// TestPTXBatch compares the PTX of two kernels for batches with the golden files, and checks and
// assembles that of all.
func TestPTXBatch(t *testing.T) {
	for i, v := range batchVariants() {
		m := dsl.New(fmt.Sprintf("batch%d.sm_80", i), "sm_80")
		v.Build(m)
		if i < 2 {
			golden.Verify(t, m)
			continue
		}
		text, err := m.Text()
		if err != nil {
			t.Errorf("%s, %s: %v", v.Option, v.Name, err)
			continue
		}
		golden.AssembleText(t, v.Name, text)
	}
}

// TestRunBatch runs the kernels for batches in the emulator and compares the results with the
// reference.
func TestRunBatch(t *testing.T) {
	kerneltest.Run(t, checkAll(batchVariants()), BatchTargets[0]).Tight(t, 4)
}

// TestPTXOther compares the PTX of kernels for the backward pass and for MLA with the golden files.
func TestPTXOther(t *testing.T) {
	s := Shape{Type: isa.Bf16, Width: 64, Causal: true}
	for name, build := range map[string]func(m *dsl.Module){
		s.rowsName(): func(m *dsl.Module) { BuildRows(m, s) },
		s.kvName():   func(m *dsl.Module) { BuildBackwardKV(m, s) },
		s.qName():    func(m *dsl.Module) { BuildBackwardQ(m, s) },
		"mla_bf16":   func(m *dsl.Module) { BuildMLA(m, MLA{isa.Bf16, 64}) },
	} {
		m := dsl.New(name+".sm_80", "sm_80")
		build(m)
		golden.Verify(t, m)
	}
}

// TestRunBackward runs the kernels of the backward pass in the emulator.
func TestRunBackward(t *testing.T) {
	kerneltest.Run(t, checkAll(backwardVariants()), BatchTargets[0]).Tight(t, 4)
}

// TestRunMLA runs the kernels for MLA in the emulator.
func TestRunMLA(t *testing.T) {
	kerneltest.Run(t, checkAll(mlaVariants()), MLATargets[0]).Tight(t, 4)
}

// TestBatchMistakes checks the errors for options that the kernel does not support.
func TestBatchMistakes(t *testing.T) {
	for _, c := range []struct {
		b    Batch
		want string
	}{
		{Batch{Shape{isa.F32, 64, false}, 1, 1, 0}, "heads of 64 .f32"},
		{Batch{Shape{isa.F16, 80, false}, 1, 1, 0}, "heads of 80"},
		{Batch{Shape{isa.F16, 64, false}, 3, 2, 0}, "3 heads of queries for 2 of keys"},
		{Batch{Shape{isa.F16, 64, false}, 2, 2, 48}, "pages of 48 tokens"},
	} {
		m := dsl.New("wrong", "sm_80")
		BuildBatch(m, c.b)
		if _, err := m.Text(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v; want %s", c.b, err, c.want)
		}
	}
}
