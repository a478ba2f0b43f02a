// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package blockscaled

import (
	"regexp"
	"testing"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/runtime"
	"github.com/ptxdsl/ptxdsl/runtime/kerneltest"
)

// run multiplies matrices of a format in the emulator.
func run(t *kerneltest.T, f Format, tiling Tiling, g kerneltest.GEMM) error {
	return Case{Name: f.Name, Format: f, Tiling: tiling, Epilogue: bfloat}.Check(t, g)
}

// TestClusters multiplies in clusters of several shapes, whose blocks share the loads of tiles and
// scale factors.
func TestClusters(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		f          Format
		n          int
		rows, cols int
		pair       bool
	}{
		{nvfp4, 128, 2, 1, false}, {mxfp8, 128, 1, 2, false}, {nvfp4, 192, 2, 2, false},
		{mxfp4.Zeros(), 128, 2, 2, false},
		{nvfp4, 256, 4, 1, true}, {mxfp8, 256, 2, 2, true}, {nvfp4, 64, 4, 4, false},
	} {
		tiling := Tiling{N: c.n, Stages: 2, Group: 8, Pair: c.pair, Rows: c.rows, Cols: c.cols}
		if err := run(kerneltest.Open(t, "emu:sm_100a"), c.f, tiling,
			kerneltest.GEMM{M: 392, N: 264, K: 256}); err != nil {
			t.Errorf("%s, %+v: %v", c.f.Name, tiling, err)
		}
	}
}

// A mistake is an edit of the PTX that a test must detect.
type mistake struct{ what, old, with string }

// inject edits the PTX of all modules that are loaded.
func (m mistake) inject(t *testing.T) func(*dsl.Module) (runtime.Source, error) {
	return func(module *dsl.Module) (runtime.Source, error) {
		text, err := module.Text()
		if err != nil {
			return nil, err
		}
		changed := regexp.MustCompile(m.old).ReplaceAllString(text, m.with)
		if changed == text {
			t.Errorf("%s: the PTX has no %s", m.what, m.old)
		}
		return edited{module, changed}, nil
	}
}

// edited is a module with edited text.
type edited struct {
	*dsl.Module
	text string
}

// Text returns the text.
func (e edited) Text() (string, error) { return e.text, nil }

// TestClusterMistakes checks that TestClusters detects clusters whose blocks load wrong parts, or
// for wrong blocks, or whose mbarriers expect too few bytes.
func TestClusterMistakes(t *testing.T) {
	t.Parallel()
	tiling := Tiling{N: 256, Stages: 2, Group: 8, Pair: true, Rows: 4, Cols: 2}
	for _, m := range []mistake{
		{"mask of blocks for rows", `shl\.b32\s+(%\w+), 17,`, "shl.b32 $1, 33,"},
		{"mask of blocks for columns", `shl\.b32\s+(%\w+), 15,`, "shl.b32 $1, 3,"},
		{"mask of blocks for halves", `shl\.b32\s+(%\w+), 5,`, "shl.b32 $1, 3,"},
		{"rows that are loaded", `(mad\.lo\.u32\s+%\w+, %\w+, )64,`, "${1}32,"},
		{"where rows are stored", `mul\.lo\.u32(\s+%\w+, %\w+), 8192;`, "mul.lo.u32$1, 4096;"},
		{"factors that are loaded", `(mad\.lo\.u32\s+%\w+, %\w+, )128,`, "${1}64,"},
		{"blocks that free a stage", `or\.b32\s+(%\w+, %\w+), %\w+;`, "or.b32 $1, 0;"},
		{"blocks that wait for the accumulator", `shl\.b32\s+(%\w+), 3,`, "shl.b32 $1, 1,"},
		{"block whose barrier is used", `0xfeffffff`, "0xffffffff"},
	} {
		k := kerneltest.Open(t, "emu:sm_100a")
		k.Edit = m.inject(t)
		if err := run(k, nvfp4, tiling, kerneltest.GEMM{M: 400, N: 512, K: 256}); err == nil {
			t.Errorf("%s: not found", m.what)
		} else {
			t.Logf("%s: %v", m.what, err)
		}
	}
}

// TestEpilogueMistakes checks that TestEpilogues detects an epilogue with one wrong number.
func TestEpilogueMistakes(t *testing.T) {
	for _, m := range []struct {
		epilogue int
		mistake
	}{
		{0, mistake{"where units of a row are", `and\.b32(\s+%\w+, %\w+), 7;`, "and.b32$1, 3;"}},
		{1, mistake{"the factor of C", `(mul(?:\.rn)?\.f32\s+%\w+, %\w+), %beta;`, "$1, %alpha;"}},
		{1, mistake{"the row of C", `mad\.lo\.u32(\s+%\w+, %\w+), 32,`, "mad.lo.u32$1, 16,"}},
		{3, mistake{"the largest number", `0f3E2AAAAB`, "0f3E800000"}},
		{3, mistake{"where the factors of a row are", `and\.b32(\s+%\w+, %\w+), 0x1f;`,
			"and.b32$1, 0xf;"}},
		{3, mistake{"the order of factors", `mov\.b32(\s+%\w+), \{(%rs\w+), (%rs\w+)\};`,
			"mov.b32$1, {$3, $2};"}},
		{3, mistake{"the divisor of numbers", `rcp\.approx\.ftz\.f32(\s+%\w+), %\w+;`,
			"rcp.approx.ftz.f32$1, 0f40000000;"}},
		{4, mistake{"the exponent of a factor", `, 254,`, ", 253,"}},
		{4, mistake{"the absolute value", `abs\.f32`, "neg.f32"}},
	} {
		e := Epilogues[m.epilogue]
		c := Case{Name: e.Name, Format: nvfp4, Tiling: e.tiling(nvfp4.Default(false)), Epilogue: e}
		k := kerneltest.Open(t, "emu:sm_100a")
		k.Edit = m.inject(t)
		if err := c.Check(k, kerneltest.GEMM{M: 136, N: 224, K: 256}); err == nil {
			t.Errorf("%s: not found", m.what)
		} else {
			t.Logf("%s: %v", m.what, err)
		}
	}
}

// TestSyncMistakes checks that a check detects sparse kernels with mma.sync in which one constant
// is wrong.
func TestSyncMistakes(t *testing.T) {
	t.Parallel()
	f := mxfp8.Zeros()
	for _, m := range []mistake{
		{"the half of a scale factor atom", `shl\.b32(\s+%\w+, %\w+), 1;`, "shl.b32$1, 2;"},
		{"the factor of an instruction", `\{3, 0\}`, "{2, 0}"},
		{"metadata of the lower rows", `\{0, 0\}, %r`, "{1, 0}, %r"},
		{"the row of the metadata", `mul\.lo\.u32(\s+%\w+, %\w+), 32;`, "mul.lo.u32$1, 64;"},
	} {
		k := kerneltest.Open(t, "emu:sm_120a")
		k.Edit = m.inject(t)
		c := Case{Name: f.Name, Format: f, Epilogue: bfloat, Sync: true}
		if err := c.Check(k, kerneltest.GEMM{M: 45, N: 72, K: 512}); err == nil {
			t.Errorf("%s: not found", m.what)
		} else {
			t.Logf("%s: %v", m.what, err)
		}
	}
}
