// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package graph_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ptxdsl/ptxdsl/passes/analysis/graph"
)

// preds reverses edges.
func preds(succs [][]int) [][]int {
	out := make([][]int, len(succs))
	for from, list := range succs {
		for _, to := range list {
			out[to] = append(out[to], from)
		}
	}
	return out
}

// A loop in a loop, with a path around both: 0 -> 1 -> 2 <-> 3, 3 -> 1, 1 -> 4, 0 -> 4.
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
		t.Errorf("paths with two exits must not join (-want +got):\n%s", d)
	}
}

func TestLoops(t *testing.T) {
	list, in, whole := graph.Loops(nest, preds(nest), graph.Dominators(nest, preds(nest)))
	if !whole || len(list) != 2 {
		t.Fatalf("%d loops, whole %v", len(list), whole)
	}
	outer, inner := list[0], list[1]
	if d := cmp.Diff([]int{1, 2, 3}, outer.Blocks); d != "" || outer.Head != 1 || outer.Inner ||
		outer.Parent != nil {
		t.Errorf("outer loop %+v %s", outer, d)
	}
	if d := cmp.Diff([]int{2, 3}, inner.Blocks); d != "" || inner.Head != 2 || !inner.Inner ||
		inner.Parent != outer {
		t.Errorf("inner loop %+v %s", inner, d)
	}
	if in[0] != nil || in[1] != outer || in[2] != inner || in[3] != inner || in[4] != nil {
		t.Errorf("innermost loops of blocks: %v", in)
	}
	// A cycle with two entries is not a natural loop.
	odd := [][]int{{1, 2}, {2}, {1}}
	if list, _, whole := graph.Loops(odd, preds(odd), graph.Dominators(odd, preds(odd))); whole ||
		len(list) != 0 {
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

// TestOdd checks graphs that compilers do not generate: crossing paths, nested cycles with two
// entries, unreachable blocks, and no blocks.
func TestOdd(t *testing.T) {
	const none = graph.None
	for _, test := range []struct {
		name      string
		succs     [][]int
		dom, post []int
		heads     []int
		whole     bool
	}{
		{"no blocks", nil, nil, []int{}, nil, true},
		{"a block that loops to itself", [][]int{{0, 1}, {}}, []int{none, 0}, []int{1, none},
			[]int{0}, true},
		{"nothing leads to 1", [][]int{{2}, {2}, {}}, []int{none, none, 0}, []int{2, 2, none}, nil,
			true},
		{"a loop that nothing leads to", [][]int{{3}, {2}, {1}, {}}, []int{none, none, none, 0},
			[]int{3, none, none, none}, nil, true},
		{"no way out", [][]int{{1}, {0}}, []int{none, 0}, []int{none, none}, []int{0}, true},
		{"crossing paths", [][]int{{1, 2}, {3, 4}, {3, 4}, {5}, {5}, {}},
			[]int{none, 0, 0, 0, 0, 0}, []int{5, 5, 5, 5, 5, none}, nil, true},
		{"two ways into a cycle", [][]int{{1, 2}, {2}, {1, 3}, {}}, []int{none, 0, 0, 2},
			[]int{2, 2, 3, none}, nil, false},
		{"such a cycle in a loop", [][]int{{1}, {2, 3}, {3}, {2, 4}, {1, 5}, {}},
			[]int{none, 0, 1, 1, 3, 4}, []int{1, 3, 3, 4, 5, none}, []int{1}, false},
		{"two loops with one head", [][]int{{1}, {2, 3}, {1}, {1, 4}, {}}, []int{none, 0, 1, 1, 3},
			[]int{1, 3, 1, 4, none}, []int{1}, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := preds(test.succs)
			dom := graph.Dominators(test.succs, p)
			if d := cmp.Diff(test.dom, dom.Parent); d != "" {
				t.Errorf("dominators (-want +got):\n%s", d)
			}
			if d := cmp.Diff(test.post,
				graph.Postdominators(test.succs, p, make([]bool, len(p))).Parent); d != "" {
				t.Errorf("post-dominators (-want +got):\n%s", d)
			}
			list, _, whole := graph.Loops(test.succs, p, dom)
			var heads []int
			for _, l := range list {
				heads = append(heads, l.Head)
			}
			if d := cmp.Diff(test.heads, heads); d != "" || whole != test.whole {
				t.Errorf("whole %v, heads (-want +got):\n%s", whole, d)
			}
		})
	}
}

// TestRandom compares the trees of random graphs with their definition: a dominates b if every path
// to b passes through a.
func TestRandom(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		n := 2 + r.IntN(9)
		succs := make([][]int, n)
		for from := range succs {
			for range r.IntN(4) {
				if to := r.IntN(n); !slices.Contains(succs[from], to) {
					succs[from] = append(succs[from], to)
				}
			}
		}
		dom := graph.Dominators(succs, preds(succs))
		reached := reach(succs, 0, graph.None)
		for a := range n {
			without := reach(succs, 0, a)
			for b := range n {
				want := a == b || reached[a] && reached[b] && !without[b]
				if got := dom.Has(a, b); got != want {
					t.Fatalf("%v: %d above %d is %v", succs, a, b, got)
				}
			}
			if p := dom.Parent[a]; p != graph.None {
				for b := range n {
					if b != a && b != p && dom.Has(b, a) && !dom.Has(b, p) {
						t.Fatalf("%v: %d lies between %d and %d", succs, b, p, a)
					}
				}
			}
		}
	}
}

// reach returns the blocks that paths from one block reach without passing another.
func reach(succs [][]int, from, not int) []bool {
	seen := make([]bool, len(succs))
	work := []int{from}
	for len(work) > 0 {
		b := work[len(work)-1]
		work = work[:len(work)-1]
		if b != not && !seen[b] {
			seen[b] = true
			work = append(work, succs[b]...)
		}
	}
	return seen
}

// TestLarge checks 20,000 blocks in rows, ladders and nests.
func TestLarge(t *testing.T) {
	const n = 20000
	for name, edges := range map[string]func(i int) []int{
		"a row":          func(i int) []int { return []int{i + 1} },
		"a row of loops": func(i int) []int { return []int{i + 1, i} },
		"a ladder":       func(i int) []int { return []int{i + 1, i + 2} },
		"a ladder with steps back": func(i int) []int {
			return []int{i + 1, i + 2, max(0, i-3)}
		},
		"a hundred loops in each other": func(i int) []int {
			return []int{i + 1, i - i%200 + max(0, 199-i%200)}
		},
		"all back to the first": func(i int) []int { return []int{i + 1, 0} },
		"all to the last":       func(i int) []int { return []int{i + 1, n - 1} },
	} {
		t.Run(name, func(t *testing.T) {
			succs := make([][]int, n)
			for i := range n - 1 {
				for _, to := range edges(i) {
					succs[i] = append(succs[i], min(to, n-1))
				}
			}
			start := time.Now()
			p := preds(succs)
			dom := graph.Dominators(succs, p)
			post := graph.Postdominators(succs, p, make([]bool, n))
			graph.Loops(succs, p, dom)
			if took := time.Since(start); took > 20*time.Second {
				t.Errorf("it took %v", took)
			}
			if !dom.Has(0, n-1) || !post.Has(n-1, 0) {
				t.Error("the first is not above the last, or the last not below the first")
			}
		})
	}
}

// Example finds where the paths of a branch join, and the blocks in between.
func Example() {
	// if (0) { 1 } else { 2; do { 3 } while }; 4
	succs := [][]int{{1, 2}, {4}, {3}, {3, 4}, {}}
	preds := preds(succs)
	meet := graph.Postdominators(succs, preds, make([]bool, 5)).Parent[0]
	between, _ := graph.Between(succs, succs[0], meet, 100)
	loops, _, _ := graph.Loops(succs, preds, graph.Dominators(succs, preds))
	fmt.Println("they meet at", meet, "and pass", between)
	fmt.Println("a loop at", loops[0].Head)
	// Output:
	// they meet at 4 and pass [1 2 3]
	// a loop at 3
}
