// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package registers_test

import (
	"context"
	"math"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ptxdsl/ptxdsl/internal/oracle/registers"
	"github.com/ptxdsl/ptxdsl/internal/oracle/roundtrip"
	"github.com/ptxdsl/ptxdsl/internal/ptxas"
	"github.com/ptxdsl/ptxdsl/passes/pressure"
)

// TestExamples compares the predictions for the kernels in this repository with ptxas.
func TestExamples(t *testing.T) {
	tool, err := ptxas.Find()
	if err != nil {
		t.Fatal(err)
	}
	list, err := roundtrip.Sources("../../../examples")
	if err != nil {
		t.Fatal(err)
	}
	if testing.Short() {
		list = list[:min(8, len(list))]
	}
	c := &registers.Counter{Tool: tool}
	samples, left, err := c.Collect(context.Background(), list)
	if err != nil || left > 0 {
		t.Fatal(left, err)
	}
	r := registers.RowOf("examples", registers.Predict(pressure.Calibrated(), samples))
	t.Logf("%+v", r)
	median, ninetieth := 0.085, 0.325
	if testing.Short() {
		median, ninetieth = 0.15, 0.35 // bounds for this small number of files
	}
	if r.Kernels < len(list) || r.Median > median || r.Ninetieth > ninetieth {
		t.Errorf("of %d files: %+v", len(list), r)
	}
}

// TestSlice compares the predictions for the corpus modules with ptxas. It computes all features
// anew, so it detects changes of the simulation, which TestUnseen does not.
func TestSlice(t *testing.T) {
	if testing.Short() {
		t.Skip("it assembles many modules")
	}
	tool, err := ptxas.Find()
	if err != nil {
		t.Fatal(err)
	}
	list, err := roundtrip.Sources("../corpus/testdata/corpus.tar.gz")
	if err != nil {
		t.Fatal(err)
	}
	var some []roundtrip.Source
	for i := 0; i < len(list); i += 4 {
		some = append(some, list[i])
	}
	c := &registers.Counter{Tool: tool}
	samples, left, err := c.Collect(context.Background(), some)
	if err != nil {
		t.Fatal(err)
	}
	r := registers.RowOf("slice", registers.Predict(pressure.Calibrated(), samples))
	t.Logf("%+v, %d files left out", r, left)
	if left > 0 || r.Kernels < 280 || r.Median > 0.13 || r.Ninetieth > 0.34 || r.Average > 0.16 ||
		r.Exact < 0.2 {
		t.Errorf("%+v, %d files left out", r, left)
	}
}

// TestUnseen compares predictions for kernels that the model was not fitted to. The features are
// stored, so it tests only the model.
func TestUnseen(t *testing.T) {
	list, err := registers.Read("testdata/unseen.gz")
	if err != nil {
		t.Fatal(err)
	}
	r := registers.RowOf("unseen", registers.Predict(pressure.Calibrated(), list))
	t.Logf("%+v", r)
	if r.Kernels < 1200 || r.Median > 0.08 || r.Ninetieth > 0.245 {
		t.Errorf("%+v", r)
	}
}

// TestBoost fits a function that trees can represent. The result must be close on unseen samples,
// and identical in a second run.
func TestBoost(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	n := len(pressure.Names())
	make := func(count int) (features [][]float64, targets, weights []float64) {
		for range count {
			x := make([]float64, n)
			for j := range x {
				x[j] = float64(random.IntN(100))
			}
			y := 0.3
			if x[2] > 40 {
				y = x[5] / 100
			}
			features, targets, weights = append(features, x), append(targets, y), append(weights, 1)
		}
		return features, targets, weights
	}
	features, targets, weights := make(1000)
	boost := registers.Standard
	// the function has more steps than register counts have
	boost.Trees, boost.Leaves, boost.Own = 500, 40, 60
	boost.Least, boost.Ridge = 0.1, 1
	m := boost.Fit(features, targets, weights)
	if d := cmp.Diff(m.String(), boost.Fit(features, targets, weights).String()); d != "" {
		t.Error("not the same the second time")
	}
	features, targets, _ = make(200)
	sum := 0.0
	for i, x := range features {
		sum += math.Abs(math.Log(m.Factor(x)) - targets[i])
	}
	if mean := sum / 200; mean > 0.1 {
		t.Errorf("%.3f off in the mean", mean)
	}
}

// TestOwn fits a function that differs only before sm_80: the additional trees must learn it, and
// leave other targets unchanged.
func TestOwn(t *testing.T) {
	var features [][]float64
	var targets, weights []float64
	for i := range 400 {
		x := make([]float64, len(pressure.Names()))
		x[0], x[2] = 90, float64(i)
		y := 0.0
		if i%2 == 0 {
			x[0], y = 75, 0.5
		}
		features, targets, weights = append(features, x), append(targets, y), append(weights, 1)
	}
	boost := registers.Boost{Trees: 1, Leaves: 2, Rate: 0.1, Least: 1, Share: 1, Rows: 1}
	common := boost.Fit(features, targets, weights)
	boost.Own = 60
	all := boost.Fit(features, targets, weights)
	if len(common.Trees) != 1 || len(all.Trees) != 61 {
		t.Fatal(len(common.Trees), len(all.Trees))
	}
	if got := math.Log(all.Factor(features[0])); math.Abs(got-0.5) > 0.01 {
		t.Errorf("sm_75: %.3f", got)
	}
	if got, want := all.Factor(features[1]), common.Factor(features[1]); got != want {
		t.Errorf("sm_90: %.3f, want %.3f", got, want)
	}
	if _, err := pressure.ParseModel(all.String()); err != nil {
		t.Error(err)
	}
}

// TestDistinct removes a kernel that several programs contain, but not another kernel with the same
// name.
func TestDistinct(t *testing.T) {
	list := []registers.Sample{
		{Source: "a", Kernel: "k", Target: "sm_90", Count: 10, Features: []float64{1, 2}},
		{Source: "b", Kernel: "k", Target: "sm_90", Count: 10, Features: []float64{1, 2}},
		{Source: "b", Kernel: "k", Target: "sm_90", Count: 10, Features: []float64{1, 3}},
		{Source: "b", Kernel: "k", Target: "sm_80", Count: 10, Features: []float64{1, 2}},
	}
	if got := registers.Distinct(list); len(got) != 3 || got[0].Source != "a" {
		t.Errorf("%+v", got)
	}
}

// TestErrors computes the range that contains 90 % of the samples. A program family counts with the
// square root of its size.
func TestErrors(t *testing.T) {
	var list []registers.Sample
	for i := range 100 {
		list = append(list, registers.Sample{Source: "a+x", Count: 51 + i, Predicted: 100})
	}
	got := registers.Errors(list)
	want := pressure.Error{UpTo: 128, Low: 0.55, High: 1.45}
	if d := cmp.Diff(want, got[3]); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	for range 400 {
		list = append(list, registers.Sample{Source: "b+x", Count: 100, Predicted: 100})
	}
	if got := registers.Errors(list)[3]; got.Low > 0.98 || got.High < 1.02 {
		t.Errorf("one family decides alone: %+v", got)
	}
	if got := registers.Errors(nil)[0]; got.Low != 1 || got.High != 1 {
		t.Errorf("without samples: %+v", got)
	}
}

// TestHeldOut checks that the model for a producer has not seen the kernels of that producer.
func TestHeldOut(t *testing.T) {
	var list []registers.Sample
	for i := range 300 {
		x := make([]float64, len(pressure.Names()))
		x[0], x[2], x[6], x[18] = 90, float64(i%10), 50, 100
		s := registers.Sample{Source: "a+x", Count: 100, Features: x}
		if i%2 == 0 {
			s.Source, x[2], s.Count = "b+x", x[2]+50, 200
		}
		list = append(list, s)
	}
	boost := registers.Standard
	boost.Share, boost.Rows = 1, 1
	fitted := registers.Predict(boost.Model(list), list)
	for i, s := range boost.CrossValidate(list) {
		if fitted[i].Predicted == s.Predicted {
			t.Fatalf("sample %d of %s: %d by a model that has seen it and by one that has not", i,
				s.Source, s.Predicted)
		}
	}
}

// TestThin keeps at most the given number of samples per program, including the first one.
func TestThin(t *testing.T) {
	var list []registers.Sample
	for i := range 30 {
		list = append(list, registers.Sample{Source: "a", Count: i})
	}
	list = append(list, registers.Sample{Source: "b", Count: 99})
	got := registers.Thin(list, 7)
	if len(got) != 8 || got[0].Count != 0 || got[7].Source != "b" {
		t.Errorf("%+v", got)
	}
}

// TestKeep writes samples and reads them back.
func TestKeep(t *testing.T) {
	x := make([]float64, len(pressure.Names()))
	x[3] = 17
	want := []registers.Sample{
		{Source: "a", File: "a.sm_90.ptx", Kernel: "k", Target: "sm_90", Count: 20, Features: x}}
	path := filepath.Join(t.TempDir(), "samples.gz")
	if err := registers.Write(path, want); err != nil {
		t.Fatal(err)
	}
	got, err := registers.Read(path)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// TestRow computes the median and the 90th percentile.
func TestRow(t *testing.T) {
	var list []registers.Sample
	for i := range 10 {
		list = append(list, registers.Sample{Source: "a", Count: 100, Predicted: 100 + i})
	}
	r := registers.RowOf("x", list)
	if r.Median != 0.04 || r.Ninetieth != 0.08 || r.Exact != 0.1 || r.Kernels != 10 ||
		r.Programs != 1 {
		t.Errorf("%+v", r)
	}
}

// TestFamilies checks that the table has a row for each collection, and one for this repository.
func TestFamilies(t *testing.T) {
	list := []registers.Sample{
		{Source: "b+x+y", Count: 10, Predicted: 11}, {Source: "arith", Count: 10, Predicted: 10},
		{Source: "b+x+z", Count: 10, Predicted: 12},
	}
	want := `| collection | kernels | programs | median | 90 of 100 | mean | exact |
|---|--:|--:|--:|--:|--:|--:|
| b | 2 | 2 | 10.0 % | 20.0 % | 15.0 % | 0 % |
| here | 1 | 1 | 0.0 % | 0.0 % | 0.0 % | 100 % |
| all | 3 | 3 | 10.0 % | 20.0 % | 10.0 % | 33 % |
`
	if d := cmp.Diff(want, registers.Families(list)); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// TestProgram checks which program a file belongs to.
func TestProgram(t *testing.T) {
	for file, want := range map[string]string{
		".corpus/arith.sm_90.plain.ptx":               "arith",
		".corpus/triton_product_fp16_w8_s4.sm_90.ptx": "triton_product",
		"examples/02_saxpy/testdata/saxpy.sm_90.ptx":  "02_saxpy",
		"a+b+c-cuda+main.sm_80.ptx":                   "a+b+c-cuda",
		"a+x+copy.sm_80.plain.ptx":                    "a+x+copy",
	} {
		if got := registers.Program(file); got != want {
			t.Errorf("%s: %s, want %s", file, got, want)
		}
	}
}
