// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package pressure

import (
	_ "embed"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// A Model corrects the register count of the simulation. Each decision tree maps the features of a
// kernel to a number; the sum of these numbers is the logarithm of a factor.
type Model struct {
	Trees  []Tree
	Errors []Error // in ascending order of UpTo; the last one has no limit
}

// An Error describes the prediction error on kernels of producers (compilers) that the model was
// not fitted to.
type Error struct {
	UpTo      int     // largest predicted count it applies to, or 0 for no limit
	Low, High float64 // 90 % of true counts were between these multiples of the prediction
}

// A Tree is a list of nodes with the root first.
type Tree []Node

// A Node continues at node Less if a feature is at most Limit, else at node More, both further
// on in the tree. A leaf has feature -1 and a value.
type Node struct {
	Feature    int
	Limit      float64
	Less, More int
	Value      float64
}

//go:embed correction.txt
var calibrated string

// Calibrated returns the model whose parameters are part of the package.
func Calibrated() *Model { return calibration() }

var calibration = sync.OnceValue(func() *Model {
	m, err := ParseModel(calibrated)
	if err != nil {
		panic("bug: correction.txt: " + err.Error())
	}
	return m
})

// Factor returns the correction factor for the base count of a kernel with these features.
func (m *Model) Factor(features []float64) float64 {
	sum := 0.0
	for _, t := range m.Trees {
		n := 0
		for t[n].Feature >= 0 {
			if features[t[n].Feature] <= t[n].Limit {
				n = t[n].Less
			} else {
				n = t[n].More
			}
		}
		sum += t[n].Value
	}
	return math.Exp(sum)
}

// Between returns the range that contains 90 % of true counts if the prediction is n.
func (m *Model) Between(n int) (low, high int) {
	for _, e := range m.Errors {
		if e.UpTo == 0 || n <= e.UpTo {
			return min(n, int(math.Ceil(float64(n)*e.Low))), max(n, int(float64(n)*e.High))
		}
	}
	return n, n
}

// String returns the format of correction.txt: a line with the feature names, a line for each
// Error, and a line for each tree with its nodes, root first. An inner node is a feature index,
// "<", a limit, and the distances to its two children. A leaf is "=" and its value times
// ValueScale.
func (m *Model) String() string {
	var b strings.Builder
	b.WriteString(
		"# Correction factors for the register count that passes/pressure simulates. Written by `make registers-fit`.\n")
	b.WriteString(strings.Join(Names(), " ") + "\n")
	for _, e := range m.Errors {
		fmt.Fprintf(&b, "error %d %.3f %.3f\n", e.UpTo, e.Low, e.High)
	}
	for _, t := range m.Trees {
		for i, n := range t {
			if i > 0 {
				b.WriteByte(' ')
			}
			if n.Feature < 0 {
				fmt.Fprintf(&b, "=%d", int(math.Round(n.Value*ValueScale)))
			} else {
				fmt.Fprintf(&b, "%d<%s,%d,%d", n.Feature, strconv.FormatFloat(n.Limit, 'g', 6, 64),
					n.Less-i, n.More-i)
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// ValueScale is the factor by which correction.txt multiplies leaf values to store them as
// integers.
const ValueScale = 100000

// ParseModel parses the format of Model.String. The features must be those of this package.
func ParseModel(text string) (*Model, error) {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	if len(lines) < 2 || !slices.Equal(strings.Fields(lines[1]), Names()) {
		return nil, fmt.Errorf("the model was fitted to other features")
	}
	m := &Model{}
	for _, line := range lines[2:] {
		if strings.HasPrefix(line, "error ") {
			var e Error
			if _, err := fmt.Sscanf(line, "error %d %g %g", &e.UpTo, &e.Low, &e.High); err != nil {
				return nil, fmt.Errorf("%q: %w", line, err)
			}
			m.Errors = append(m.Errors, e)
			continue
		}
		t, err := parseTree(line)
		if err != nil {
			return nil, err
		}
		m.Trees = append(m.Trees, t)
	}
	return m, nil
}

func parseTree(line string) (Tree, error) {
	words := strings.Fields(line)
	t := make(Tree, len(words))
	for i, w := range words {
		if v, ok := strings.CutPrefix(w, "="); ok {
			n, err := strconv.Atoi(v)
			if err != nil {
				return nil, fmt.Errorf("%q is not a tree node", w)
			}
			t[i] = Node{Feature: -1, Value: float64(n) / ValueScale}
			continue
		}
		feature, rest, _ := strings.Cut(w, "<")
		parts := strings.Split(rest, ",")
		if len(parts) != 3 {
			return nil, fmt.Errorf("%q is not a tree node", w)
		}
		f, err1 := strconv.Atoi(feature)
		limit, err2 := strconv.ParseFloat(parts[0], 64)
		less, err3 := strconv.Atoi(parts[1])
		more, err4 := strconv.Atoi(parts[2])
		if err1 != nil || err2 != nil || err3 != nil || err4 != nil || f < 0 || f >= len(Names()) ||
			less <= 0 || more <= 0 || i+less >= len(words) || i+more >= len(words) {
			return nil, fmt.Errorf("%q is not a tree node", w)
		}
		t[i] = Node{Feature: f, Limit: limit, Less: i + less, More: i + more}
	}
	if len(t) == 0 {
		return nil, fmt.Errorf("a tree without nodes")
	}
	return t, nil
}
