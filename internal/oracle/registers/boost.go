// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package registers

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/ptxdsl/ptxdsl/passes/pressure"
)

// A Boost holds the parameters of gradient boosting. Fits with the same parameters and samples
// return the same trees.
type Boost struct {
	Trees  int
	Leaves int     // maximum number of leaves per tree
	Rate   float64 // learning rate: the fraction of the error that each tree corrects
	Least  float64 // minimum total weight of the samples in a leaf
	// Ridge is the regularization: a weight that moves every leaf towards zero, so that leaves
	// with few samples have less effect.
	Ridge float64
	Share float64 // fraction of the features that each tree may use
	Rows  float64 // fraction of the samples to which each tree is fitted
	Own   int     // number of additional trees that only affect targets before sm_80
	Seed  uint64  // seed for the random choice of features and samples
}

// Standard has the parameters of the model in correction.txt. Larger models fit their samples
// better, but hardly improve on kernels of other producers.
var Standard = Boost{Trees: 240, Leaves: 12, Rate: 0.1, Least: 10, Ridge: 2, Share: 0.4, Rows: 0.8}

// bins is the number of histogram bins per feature.
const bins = 64

// A column holds, for one feature, the bin of each sample.
type column struct {
	limits []float64 // largest value of each bin except the last
	bin    []uint8
}

func columnOf(values []float64) column {
	sorted := slices.Clone(values)
	slices.Sort(sorted)
	distinct := slices.Compact(slices.Clone(sorted))
	var c column
	if len(distinct) <= bins {
		for i := range len(distinct) - 1 {
			c.limits = append(c.limits, (distinct[i]+distinct[i+1])/2)
		}
	} else {
		for i := 1; i < bins; i++ {
			v := sorted[len(sorted)*i/bins]
			if len(c.limits) == 0 || c.limits[len(c.limits)-1] < v {
				c.limits = append(c.limits, v)
			}
		}
	}
	c.bin = make([]uint8, len(values))
	for i, v := range values {
		n, _ := slices.BinarySearch(c.limits, v)
		c.bin[i] = uint8(n)
	}
	return c
}

// Fit returns trees whose sum approximates the targets by least squares. The targets are
// logarithms, and few kernels are far off on that scale, so squared errors fit better than
// absolute errors with the same number of leaves.
func (o Boost) Fit(features [][]float64, targets, weights []float64) *pressure.Model {
	random := rand.New(rand.NewPCG(5, 11+o.Seed))
	columns := make([]column, len(features[0]))
	values := make([]float64, len(features))
	for f := range columns {
		for i := range features {
			values[i] = features[i][f]
		}
		columns[f] = columnOf(values)
	}
	g := &grower{Boost: o, columns: columns, weights: weights, residuals: slices.Clone(targets)}
	m := &pressure.Model{}
	for n := range o.Trees + o.Own {
		own := n >= o.Trees
		var rows []int32
		for i := range features {
			if random.Float64() < o.Rows && (!own || features[i][0] < ownLimit) {
				rows = append(rows, int32(i))
			}
		}
		g.features = g.features[:0]
		for f := range columns {
			if len(columns[f].limits) > 0 && random.Float64() < o.Share {
				g.features = append(g.features, f)
			}
		}
		t := g.grow(rows)
		if own {
			t = restrictOld(t)
		}
		for i, x := range features {
			g.residuals[i] -= valueOf(t, x)
		}
		m.Trees = append(m.Trees, t)
	}
	return m
}

// ownLimit is the first target without additional trees. Earlier targets compute addresses and
// allocate registers differently.
const ownLimit = 80

// restrictOld returns the tree restricted to targets before ownLimit; for other targets it
// returns zero.
func restrictOld(t pressure.Tree) pressure.Tree {
	list := pressure.Tree{{Feature: 0, Limit: ownLimit - 0.5, Less: 1, More: len(t) + 1}}
	for _, n := range t {
		if n.Feature >= 0 {
			n.Less++
			n.More++
		}
		list = append(list, n)
	}
	return append(list, pressure.Node{Feature: -1})
}

func valueOf(t pressure.Tree, x []float64) float64 {
	n := 0
	for t[n].Feature >= 0 {
		if x[t[n].Feature] <= t[n].Limit {
			n = t[n].Less
		} else {
			n = t[n].More
		}
	}
	return t[n].Value
}

// A grower builds the trees of a model one after the other.
type grower struct {
	Boost
	columns   []column
	weights   []float64
	residuals []float64 // difference between targets and current predictions
	pulls     []float64 // residuals multiplied by the sample weights
	features  []int     // indices of the features that the current tree may use
}

// A leaf is a leaf of the current tree, with its best split.
type leaf struct {
	rows    []int32
	node    int
	gain    float64
	feature int
	at      int // last bin of the left part
	tallies []tally
}

// A tally is a histogram of the samples in a leaf by the bin of one feature: the sums of pulls
// and of weights.
type tally struct{ pulls, weights [bins]float64 }

func (g *grower) grow(rows []int32) pressure.Tree {
	t := pressure.Tree{{Feature: -1}}
	g.pulls = g.pulls[:0]
	for r, left := range g.residuals {
		g.pulls = append(g.pulls, left*g.weights[r])
	}
	leaves := []leaf{g.best(rows, 0, g.tally(rows))}
	for len(leaves) < g.Leaves {
		i := 0
		for j := range leaves {
			if leaves[j].gain > leaves[i].gain {
				i = j
			}
		}
		l := leaves[i]
		if l.gain <= 1e-9 {
			break
		}
		c := &g.columns[l.feature]
		var less, more []int32
		for _, r := range l.rows {
			if int(c.bin[r]) <= l.at {
				less = append(less, r)
			} else {
				more = append(more, r)
			}
		}
		t[l.node] = pressure.Node{Feature: l.feature, Limit: c.limits[l.at], Less: len(t),
			More: len(t) + 1}
		t = append(t, pressure.Node{Feature: -1}, pressure.Node{Feature: -1})
		// the histogram of the smaller part is computed; that of the larger part is the
		// difference
		short := less
		if len(more) < len(less) {
			short = more
		}
		first, second := g.tally(short), l.tallies
		subtract(second, first)
		if len(more) < len(less) {
			first, second = second, first
		}
		leaves[i] = g.best(less, len(t)-2, first)
		leaves = append(leaves, g.best(more, len(t)-1, second))
	}
	for _, l := range leaves {
		sum, weight := g.sums(l.rows)
		t[l.node].Value = math.Round(g.Rate*sum/(weight+g.Ridge)*pressure.ValueScale) /
			pressure.ValueScale
	}
	return t
}

// tally returns a histogram of the samples for each feature in use.
func (g *grower) tally(rows []int32) []tally {
	list := make([]tally, len(g.features))
	for i, f := range g.features {
		t, bin := &list[i], g.columns[f].bin
		for _, r := range rows {
			t.pulls[bin[r]] += g.pulls[r]
			t.weights[bin[r]] += g.weights[r]
		}
	}
	return list
}

// subtract subtracts the histograms in part from those in from.
func subtract(from, part []tally) {
	for i := range from {
		for b := range bins {
			from[i].pulls[b] -= part[i].pulls[b]
			from[i].weights[b] -= part[i].weights[b]
		}
	}
}

// best returns a leaf with the split that reduces the squared error most.
func (g *grower) best(rows []int32, node int, tallies []tally) leaf {
	l := leaf{rows: rows, node: node, tallies: tallies}
	sum, weight := g.sums(rows)
	if weight < 2*g.Least {
		return l
	}
	whole := sum * sum / (weight + g.Ridge)
	for i, f := range g.features {
		t := &tallies[i]
		s, w := 0.0, 0.0
		for b := range g.columns[f].limits {
			s += t.pulls[b]
			w += t.weights[b]
			if w < g.Least || weight-w < g.Least {
				continue
			}
			if gain := s*s/(w+g.Ridge) + (sum-s)*(sum-s)/(weight-w+g.Ridge) - whole; gain > l.gain {
				l.gain, l.feature, l.at = gain, f, b
			}
		}
	}
	return l
}

// sums returns the sums of the pulls and of the weights of samples.
func (g *grower) sums(rows []int32) (pull, weight float64) {
	for _, r := range rows {
		pull += g.pulls[r]
		weight += g.weights[r]
	}
	return pull, weight
}
