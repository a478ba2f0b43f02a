// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package blockscaled

import (
	"math/rand/v2"
	"regexp"
	"testing"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/internal/emutest"
	"github.com/ptxdsl/ptxdsl/internal/trial"
	"github.com/ptxdsl/ptxdsl/runtime"
)

// TestModel multiplies matrices of every format on the model of an SM, on one multiprocessor and on a pair, some of which end within a tile.
func TestModel(t *testing.T) {
	worst := 0.0
	for _, f := range Formats {
		for _, pair := range []bool{false, true} {
			tiling := f.Default(pair)
			d := &trial.T{Device: runtime.On(emutest.New("sm_100a")), Rand: rand.New(rand.NewPCG(1, 2))}
			k, err := d.Kernel("matmul_"+f.Name, func(m *dsl.Module) { Build(m, f, tiling) })
			if err != nil {
				t.Fatal(err)
			}
			if err := multiply(d, k, f, tiling, trial.Product{M: 200, N: 136, K: 640}); err != nil {
				t.Errorf("%s, pair %v: %v", f.Name, pair, err)
			}
			worst = max(worst, d.Worst)
		}
	}
	t.Logf("the largest error is %.3g of the sum; the tolerance is %.3g", worst, tolerance)
	if tolerance > 4*worst {
		t.Errorf("the tolerance is %.3g, more than 4 times the largest error, %.3g", tolerance, worst)
	}
}

// TestModelSync multiplies matrices of the formats of sm_120 on the model.
func TestModelSync(t *testing.T) {
	d := &trial.T{Device: runtime.On(emutest.New("sm_120a")), Rand: rand.New(rand.NewPCG(1, 2))}
	if err := checkSync(d, trial.Product{M: 200, N: 136, K: 640}); err != nil {
		t.Error(err)
	}
}

// TestModelHalves multiplies with tiles of 64 and 192 columns, every other of which begins in the middle of an atom of scale factors.
func TestModelHalves(t *testing.T) {
	for _, f := range []Format{nvfp4, mxfp8} {
		for _, tiling := range []Tiling{{N: 64, Stages: 2, Group: 8}, {N: 192, Stages: 2, Group: 8}, {N: 192, Stages: 2, Group: 8, Pair: true}} {
			d := &trial.T{Device: runtime.On(emutest.New("sm_100a")), Rand: rand.New(rand.NewPCG(1, 2))}
			k, err := d.Kernel("matmul_"+f.Name, func(m *dsl.Module) { Build(m, f, tiling) })
			if err != nil {
				t.Fatal(err)
			}
			if err := multiply(d, k, f, tiling, trial.Product{M: 128, N: 456, K: 512}); err != nil {
				t.Errorf("%s, %+v: %v", f.Name, tiling, err)
			}
		}
	}
}

// TestModelClusters multiplies in clusters of several shapes, whose blocks load parts of tiles and of scale factors for one another.
func TestModelClusters(t *testing.T) {
	for _, c := range []struct {
		f    Format
		n    int
		rows int
		cols int
		pair bool
	}{
		{nvfp4, 128, 2, 1, false}, {mxfp8, 128, 1, 2, false}, {nvfp4, 128, 4, 1, false}, {nvfp4, 256, 2, 2, false}, {mxfp4.Zeros(), 128, 2, 2, false}, {nvfp4, 192, 2, 2, false},
		{nvfp4, 256, 4, 1, true}, {mxfp8, 256, 2, 2, true}, {nvfp4.Zeros(), 256, 4, 2, true}, {nvfp4, 64, 4, 4, false}, {mxfp8, 128, 4, 4, true},
	} {
		tiling := Tiling{N: c.n, Stages: 2, Group: 8, Pair: c.pair, Rows: c.rows, Cols: c.cols}
		d := &trial.T{Device: runtime.On(emutest.New("sm_100a")), Rand: rand.New(rand.NewPCG(1, 2))}
		k, err := d.Kernel("matmul_"+c.f.Name, func(m *dsl.Module) { Build(m, c.f, tiling) })
		if err != nil {
			t.Fatal(err)
		}
		if err := multiply(d, k, c.f, tiling, trial.Product{M: 400, N: 328, K: 640}); err != nil {
			t.Errorf("%s, %+v: %v", c.f.Name, tiling, err)
		}
	}
}

// TestModelClusterMistakes: a cluster whose blocks load the wrong parts, or for the wrong blocks, or are told too little, does not multiply.
func TestModelClusterMistakes(t *testing.T) {
	tiling := Tiling{N: 256, Stages: 2, Group: 8, Pair: true, Rows: 4, Cols: 2}
	for _, m := range []struct{ what, old, with string }{
		{"whom rows are for", `shl\.b32\s+(%\w+), 17,`, "shl.b32 $1, 33,"},
		{"whom columns are for", `shl\.b32\s+(%\w+), 15,`, "shl.b32 $1, 3,"},
		{"whom halves are for", `shl\.b32\s+(%\w+), 5,`, "shl.b32 $1, 3,"},
		{"which rows are loaded", `(mad\.lo\.u32\s+%\w+, %\w+, )64,`, "${1}32,"},
		{"where they go", `mul\.lo\.u32(\s+%\w+, %\w+), 8192;`, "mul.lo.u32$1, 4096;"},
		{"which factors are loaded", `(mad\.lo\.u32\s+%\w+, %\w+, )128,`, "${1}64,"},
		{"who is told that a stage is free", `or\.b32\s+(%\w+, %\w+), %\w+;`, "or.b32 $1, 0;"},
		{"who is told that sums are done", `shl\.b32\s+(%\w+), 3,`, "shl.b32 $1, 1,"},
		{"whose barrier is told", `0xfeffffff`, "0xffffffff"},
	} {
		d := &trial.T{Device: runtime.On(model(m.old, m.with, t)), Rand: rand.New(rand.NewPCG(1, 2))}
		k, err := d.Kernel("matmul_"+nvfp4.Name, func(m *dsl.Module) { Build(m, nvfp4, tiling) })
		if err == nil {
			err = multiply(d, k, nvfp4, tiling, trial.Product{M: 400, N: 512, K: 512})
		}
		if err == nil {
			t.Errorf("%s: nothing is found", m.what)
		} else {
			t.Logf("%s: %v", m.what, err)
		}
	}
}

// model is a model that runs a kernel with everything that a pattern finds replaced.
func model(old, with string, t *testing.T) *emutest.Device {
	d := emutest.New("sm_100a")
	d.Edit = func(text string) string {
		out := regexp.MustCompile(old).ReplaceAllString(text, with)
		if out == text {
			t.Errorf("there is no %s", old)
		}
		return out
	}
	return d
}

// TestModelEpilogues writes results of several types, with new scale factors and with another matrix, on one multiprocessor and on a pair.
func TestModelEpilogues(t *testing.T) {
	for _, tiling := range []Tiling{{N: 128, Stages: 2, Group: 8}, {N: 64, Stages: 2, Group: 8}, {N: 128, Stages: 2, Group: 8, Pair: true, Cols: 2}} {
		d := &trial.T{Device: runtime.On(emutest.New("sm_100a")), Rand: rand.New(rand.NewPCG(1, 2))}
		if err := checkEpilogues(d, nvfp4, tiling, trial.Product{M: 200, N: 224, K: 512}); err != nil {
			t.Errorf("%+v: %v", tiling, err)
		}
	}
}

// TestModelEpilogueMistakes: an end of the kernel with one number wrong is found.
func TestModelEpilogueMistakes(t *testing.T) {
	for _, m := range []struct {
		end             int
		what, old, with string
	}{
		{0, "where units of a row lie", `and\.b32(\s+%\w+, %\w+), 7;`, "and.b32$1, 3;"},
		{1, "what C is multiplied by", `(mul(?:\.rn)?\.f32\s+%\w+, %\w+), %beta;`, "$1, %alpha;"},
		{1, "the row of C", `mad\.lo\.u32(\s+%\w+, %\w+), 32,`, "mad.lo.u32$1, 16,"},
		{3, "the largest number", `0f3E2AAAAB`, "0f3E800000"},
		{3, "where a row's factors are", `and\.b32(\s+%\w+, %\w+), 0x1f;`, "and.b32$1, 0xf;"},
		{3, "which factor is whose", `mov\.b32(\s+%\w+), \{(%rs\w+), (%rs\w+)\};`, "mov.b32$1, {$3, $2};"},
		{3, "what numbers are divided by", `rcp\.approx\.ftz\.f32(\s+%\w+), %\w+;`, "rcp.approx.ftz.f32$1, 0f40000000;"},
		{4, "the exponent of a factor", `, 254,`, ", 253,"},
		{4, "the absolute value", `abs\.f32`, "neg.f32"},
	} {
		e := Epilogues[m.end]
		d := &trial.T{Device: runtime.On(model(m.old, m.with, t)), Rand: rand.New(rand.NewPCG(1, 2))}
		if err := e.check(d, nvfp4, e.tiling(nvfp4.Default(false)), trial.Product{M: 200, N: 224, K: 256}); err == nil {
			t.Errorf("%s: nothing is found", m.what)
		} else {
			t.Logf("%s: %v", m.what, err)
		}
	}
}
