// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package registers

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/ptxdsl/ptxdsl/passes/pressure"
)

// A Row summarizes the relative prediction errors of some kernels: the median, the 90th
// percentile, the average, and the fraction of exact predictions.
type Row struct {
	Name                       string
	Kernels, Programs          int
	Median, Ninetieth, Average float64
	Exact                      float64
}

// RowOf returns the row for the given samples.
func RowOf(name string, list []Sample) Row {
	r := Row{Name: name, Kernels: len(list)}
	if len(list) == 0 {
		return r
	}
	programs := make(map[string]bool)
	var errors []float64
	for _, s := range list {
		programs[s.Source] = true
		e := math.Abs(float64(s.Predicted-s.Count)) / float64(s.Count)
		errors = append(errors, e)
		r.Average += e / float64(len(list))
		if s.Predicted == s.Count {
			r.Exact += 1 / float64(len(list))
		}
	}
	slices.Sort(errors)
	r.Programs = len(programs)
	r.Median = errors[(len(errors)-1)/2]
	r.Ninetieth = errors[(len(errors)*9+9)/10-1]
	return r
}

// Table returns a Markdown table with a row for all samples and one for each target.
func Table(list []Sample) string {
	return table("target", list, func(s Sample) string { return s.Target }, func(a, b string) int {
		return strings.Compare(order(a), order(b))
	})
}

// Families returns a Markdown table with a row for all samples and one for each collection of
// programs.
func Families(list []Sample) string {
	return table("collection", list, func(s Sample) string { return Family(s.Source) },
		strings.Compare)
}

// Family returns the collection of a program: the part of its name before the first plus, or
// "here" for a program of this repository, whose name has no plus.
func Family(program string) string {
	family, _, ok := strings.Cut(program, "+")
	if !ok {
		return "here"
	}
	return family
}

// table returns a Markdown table with a row for all samples and one for each group, in the given
// order.
func table(what string, list []Sample, group func(Sample) string,
	order func(a, b string) int) string {
	groups := make(map[string][]Sample)
	for _, s := range list {
		groups[group(s)] = append(groups[group(s)], s)
	}
	var b strings.Builder
	fmt.Fprintf(&b,
		"| %s | kernels | programs | median | 90 of 100 | mean | exact |\n|---|--:|--:|--:|--:|--:|--:|\n",
		what)
	write := func(r Row) {
		fmt.Fprintf(&b, "| %s | %d | %d | %.1f %% | %.1f %% | %.1f %% | %.0f %% |\n", r.Name,
			r.Kernels, r.Programs, 100*r.Median, 100*r.Ninetieth, 100*r.Average, 100*r.Exact)
	}
	for _, name := range slices.SortedFunc(maps.Keys(groups), order) {
		write(RowOf(name, groups[name]))
	}
	write(RowOf("all", list))
	return b.String()
}

// order returns a sort key that puts sm_75 before sm_100.
func order(target string) string {
	return fmt.Sprintf("%8s", strings.TrimRight(target, "af")) + target
}

// Distinct removes duplicate samples: kernels with the same name, target, count and features, in
// the same or another program. Public programs often contain copies of kernels.
func Distinct(list []Sample) []Sample {
	seen := make(map[string]bool)
	var out []Sample
	for _, s := range list {
		key := fmt.Sprint(s.Kernel, s.Target, s.Count, s.Features)
		if !seen[key] {
			seen[key] = true
			out = append(out, s)
		}
	}
	return out
}

// Thin returns at most n samples of each program, at equal intervals.
func Thin(list []Sample, n int) []Sample {
	count, seen := make(map[string]int), make(map[string]int)
	for _, s := range list {
		count[s.Source]++
	}
	return slices.DeleteFunc(slices.Clone(list), func(s Sample) bool {
		i, all := seen[s.Source], count[s.Source]
		seen[s.Source]++
		return all > n && (i*n)/all == ((i-1)*n)/all && i > 0
	})
}

// weights returns sample weights such that programs with many kernels, and kernels with many
// variants, do not dominate.
func weights(list []Sample) []float64 {
	kernels, programs := make(map[string]int), make(map[string]int)
	for _, s := range list {
		kernels[s.Source+" "+s.Kernel]++
		programs[s.Source]++
	}
	w := make([]float64, len(list))
	for i, s := range list {
		w[i] = math.Pow(float64(kernels[s.Source+" "+s.Kernel]), -0.05)
		if n := programs[s.Source]; n > 30 {
			w[i] *= math.Pow(30/float64(n), 0.1)
		}
	}
	return w
}

// Model returns a model fitted to samples. Half of the trees are fitted to the error of each of
// the two base estimates. Their weight is one half each, because the base of the model is the
// geometric mean of the two.
func (o Boost) Model(list []Sample) *pressure.Model {
	features := make([][]float64, len(list))
	bases := make([][2]float64, len(list))
	for i, s := range list {
		features[i], bases[i] = s.Features, pressure.Bases(s.Features)
	}
	half := o
	half.Trees /= len(bases[0])
	half.Own /= len(bases[0])
	w := weights(list)
	targets := make([]float64, len(list))
	both := &pressure.Model{}
	for k := range bases[0] {
		for i, s := range list {
			targets[i] = math.Log(float64(s.Count) / bases[i][k])
		}
		half.Seed = o.Seed + uint64(k)
		for _, t := range half.Fit(features, targets, w).Trees {
			for n := range t {
				t[n].Value /= float64(len(bases[0]))
			}
			both.Trees = append(both.Trees, t)
		}
	}
	return both
}

// CrossValidate returns the samples with predictions of models that were fitted to the samples of
// all other producers; see Family.
func (o Boost) CrossValidate(list []Sample) []Sample {
	families := make(map[string]bool)
	for _, s := range list {
		families[Family(s.Source)] = true
	}
	out := slices.Clone(list)
	work := make(chan string)
	var group sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		group.Go(func() {
			for name := range work {
				o.leaveOut(name, list, out)
			}
		})
	}
	for name := range families {
		work <- name
	}
	close(work)
	group.Wait()
	return out
}

// leaveOut predicts the samples of one family with a model fitted to all other families, and
// stores them in out.
func (o Boost) leaveOut(family string, list, out []Sample) {
	var others []Sample
	for _, s := range list {
		if Family(s.Source) != family {
			others = append(others, s)
		}
	}
	m := o.Model(others)
	for i, s := range list {
		if Family(s.Source) == family {
			out[i].Predicted = pressure.Predict(m, s.Features)
		}
	}
}

// errorLimits are the predicted counts that separate the ranges of Errors; 0 means no limit.
var errorLimits = []int{24, 40, 64, 128, 0}

// Errors returns, for ranges of predicted counts, the quantiles of the true counts, from samples
// of CrossValidate.
func Errors(list []Sample) []pressure.Error {
	var out []pressure.Error
	from := 0
	for _, to := range errorLimits {
		ratios := make(map[string][]float64)
		for _, s := range list {
			if s.Predicted > from && (to == 0 || s.Predicted <= to) {
				f := Family(s.Source)
				ratios[f] = append(ratios[f], float64(s.Count)/float64(s.Predicted))
			}
		}
		out = append(out,
			pressure.Error{UpTo: to, Low: quantile(ratios, 0.05), High: quantile(ratios, 0.95)})
		from = to
	}
	return out
}

// quantile returns the weighted quantile of the values in all groups. The weight of a group is
// the square root of its size, so that a large group does not dominate.
func quantile(groups map[string][]float64, share float64) float64 {
	type weighted struct{ value, weight float64 }
	var list []weighted
	all := 0.0
	for _, values := range groups {
		w := 1 / math.Sqrt(float64(len(values)))
		for _, v := range values {
			list = append(list, weighted{v, w})
			all += w
		}
	}
	slices.SortFunc(list, func(a, b weighted) int { return cmp.Compare(a.value, b.value) })
	sum := 0.0
	for _, x := range list {
		if sum += x.weight; sum >= share*all {
			return x.value
		}
	}
	return 1
}
