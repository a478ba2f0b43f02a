// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package graph_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ptxdsl/ptxdsl/passes/analysis/graph"
)

// preds turns edges round.
func preds(succs [][]int) [][]int {
	out := make([][]int, len(succs))
	for from, list := range succs {
		for _, to := range list {
			out[to] = append(out[to], from)
		}
	}
	return out
}

// A loop in a loop, with a way around both: 0 -> 1 -> 2 <-> 3, 3 -> 1, 1 -> 4, 0 -> 4.
var nest = [][]int{{1, 4}, {2, 4}, {3}, {2, 1}, {}}

func TestTrees(t *testing.T) {
	const none = graph.None
	dom := graph.Dominators(nest, preds(nest))
	if d := cmp.Diff([]int{none, 0, 1, 2, 0}, dom.Parent); d != "" {
		t.Errorf("dominators (-want +got):\n%s", d)
	}
	post := graph.Postdominators(nest, preds(nest), make([]bool, 5))
	if d := cmp.Diff([]int{4, 4, 3, 1, none}, post.Parent); d != "" {
		t.Errorf("post-dominators (-want +got):\n%s", d)
	}
	for _, test := range []struct {
		a, b int
		want bool
	}{{0, 3, true}, {1, 3, true}, {3, 2, false}, {2, 2, true}, {1, 4, false}} {
		if got := dom.Has(test.a, test.b); got != test.want {
			t.Errorf("%d above %d is %v", test.a, test.b, got)
		}
	}
}

func TestTwoEnds(t *testing.T) {
	succs := [][]int{{1, 2}, {}, {}}
	post := graph.Postdominators(succs, preds(succs), []bool{false, true, true})
	if d := cmp.Diff([]int{graph.None, graph.None, graph.None}, post.Parent); d != "" {
		t.Errorf("ways that leave at two ends meet nowhere (-want +got):\n%s", d)
	}
}

func TestLoops(t *testing.T) {
	list, in, whole := graph.Loops(nest, preds(nest), graph.Dominators(nest, preds(nest)))
	if !whole || len(list) != 2 {
		t.Fatalf("%d loops, whole %v", len(list), whole)
	}
	outer, inner := list[0], list[1]
	if d := cmp.Diff([]int{1, 2, 3}, outer.Blocks); d != "" || outer.Head != 1 || outer.Inner || outer.Parent != nil {
		t.Errorf("outer loop %+v %s", outer, d)
	}
	if d := cmp.Diff([]int{2, 3}, inner.Blocks); d != "" || inner.Head != 2 || !inner.Inner || inner.Parent != outer {
		t.Errorf("inner loop %+v %s", inner, d)
	}
	if in[0] != nil || in[1] != outer || in[2] != inner || in[3] != inner || in[4] != nil {
		t.Errorf("innermost loops of blocks: %v", in)
	}
	// Two ways into a cycle: no natural loop.
	odd := [][]int{{1, 2}, {2}, {1}}
	if list, _, whole := graph.Loops(odd, preds(odd), graph.Dominators(odd, preds(odd))); whole || len(list) != 0 {
		t.Errorf("a cycle with two ways in is %d loops, whole %v", len(list), whole)
	}
}

func TestBetween(t *testing.T) {
	list, ok := graph.Between(nest, []int{1}, 4, 10)
	if d := cmp.Diff([]int{1, 2, 3}, list); d != "" || !ok {
		t.Errorf("%v %s", ok, d)
	}
	if _, ok := graph.Between(nest, []int{1}, 4, 2); ok {
		t.Error("three blocks within a limit of two")
	}
}
