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

// A Model corrects what the simulation finds: trees of questions about a kernel, each of which ends in a
// number. The sum of the numbers is the logarithm of a factor.
type Model struct{ Trees []Tree }

// A Tree is questions, the first at its root.
type Tree []Node

// A Node asks whether a feature is at most Limit, and sends to node Less if so, else to node More, further on in the tree. A
// leaf has no feature (-1) and a value.
type Node struct {
	Feature    int
	Limit      float64
	Less, More int
	Value      float64
}

//go:embed model.txt
var calibrated string

// Calibrated is the model that comes with the package.
func Calibrated() *Model { return calibration() }

var calibration = sync.OnceValue(func() *Model {
	m, err := ParseModel(calibrated)
	if err != nil {
		panic("bug: model.txt: " + err.Error())
	}
	return m
})

// Factor is what the base of a kernel with these features is multiplied by.
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

// String is the model as model.txt holds it: a line of the features' names, then a line for each tree, its nodes with the root first. A node is
// a feature's number, <, a limit, and the distances to the two nodes it sends to; or = and a hundred thousand times a value.
func (m *Model) String() string {
	var b strings.Builder
	b.WriteString("# What passes/pressure multiplies its base by. Made by `make registers-fit`; see docs/explanation/register-prediction.md.\n")
	b.WriteString(strings.Join(Names(), " ") + "\n")
	for _, t := range m.Trees {
		for i, n := range t {
			if i > 0 {
				b.WriteByte(' ')
			}
			if n.Feature < 0 {
				fmt.Fprintf(&b, "=%d", int(math.Round(n.Value*ValueScale)))
			} else {
				fmt.Fprintf(&b, "%d<%s,%d,%d", n.Feature, strconv.FormatFloat(n.Limit, 'g', 6, 64), n.Less-i, n.More-i)
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// ValueScale is how many steps of a leaf's value make one, as model.txt holds them.
const ValueScale = 100000

// ParseModel reads what String wrote. The features must be those of this package.
func ParseModel(text string) (*Model, error) {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	if len(lines) < 2 || !slices.Equal(strings.Fields(lines[1]), Names()) {
		return nil, fmt.Errorf("it is for other features")
	}
	m := &Model{}
	for _, line := range lines[2:] {
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
				return nil, fmt.Errorf("%q is no node", w)
			}
			t[i] = Node{Feature: -1, Value: float64(n) / ValueScale}
			continue
		}
		feature, rest, _ := strings.Cut(w, "<")
		parts := strings.Split(rest, ",")
		if len(parts) != 3 {
			return nil, fmt.Errorf("%q is no node", w)
		}
		f, err1 := strconv.Atoi(feature)
		limit, err2 := strconv.ParseFloat(parts[0], 64)
		less, err3 := strconv.Atoi(parts[1])
		more, err4 := strconv.Atoi(parts[2])
		if err1 != nil || err2 != nil || err3 != nil || err4 != nil || f < 0 || f >= len(Names()) || less <= 0 || more <= 0 || i+less >= len(words) || i+more >= len(words) {
			return nil, fmt.Errorf("%q is no node", w)
		}
		t[i] = Node{Feature: f, Limit: limit, Less: i + less, More: i + more}
	}
	if len(t) == 0 {
		return nil, fmt.Errorf("a tree without nodes")
	}
	return t, nil
}
