// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package pressure

import (
	"container/heap"
	"slices"
)

// queue is a heap of ops with the greatest key first; equal keys are in text order.
type queue []item

type item struct {
	key int64
	at  int32
}

func (q queue) Len() int { return len(q) }
func (q queue) Less(i, j int) bool {
	return q[i].key > q[j].key || q[i].key == q[j].key && q[i].at < q[j].at
}
func (q queue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *queue) Push(x any)   { *q = append(*q, x.(item)) }
func (q *queue) Pop() any     { l := *q; x := l[len(l)-1]; *q = l[:len(l)-1]; return x }

// A timeline issues the ops of a block one after another, one per cycle.
type timeline struct {
	ops      []op
	edges    *edges
	words    *words
	uses     []int32 // uses of each word that are left
	outStamp []bool  // words that are live at the end of the block
	height   []int32 // cycles on the longest path from each op to the end of the block
	left     []int32 // predecessors of each op that were not issued
	ready    []int32 // cycle at which each op is ready
	done     []bool
	waiting  queue // ops whose predecessors were issued, by the cycle at which they are ready
	open     queue // ops that are ready, by their height
	now      int32 // current cycle
	inUse    int   // registers in use
}

// scheduleFast schedules the ops of a block for speed: ops on the critical path come first, and
// ready ops run while others wait. Above the register target, ops that free registers come first,
// or the next op of the order base.
func scheduleFast(ops []op, e *edges, s *words, uses []int32, outStamp []bool, room int, start int,
	base []int32) []int32 {
	n := len(ops)
	t := &timeline{ops: ops, edges: e, words: s, uses: uses, outStamp: outStamp,
		height: make([]int32, n), left: slices.Clone(e.preds), ready: make([]int32, n),
		done: make([]bool, n), inUse: start}
	t.measure()
	for i := range n {
		if t.left[i] == 0 {
			t.offer(int32(i))
		}
	}
	order := make([]int32, 0, n)
	next := 0
	for len(order) < n {
		i, ok := t.pick()
		if !ok {
			break
		}
		if t.inUse >= room && t.frees(i) <= 0 {
			// The register target is exceeded: continue in the lean order.
			for t.done[base[next]] {
				next++
			}
			if other := base[next]; other != i {
				t.offer(i)
				i = other
				t.now = max(t.now, t.ready[other])
			}
		}
		order = append(order, i)
		t.issue(i)
	}
	return order
}

// measure computes the height of each op.
func (t *timeline) measure() {
	for i := len(t.ops) - 1; i >= 0; i-- {
		t.height[i] = int32(t.ops[i].latency)
		for _, s := range t.edges.succs[i] {
			t.height[i] = max(t.height[i], t.height[s.to]+s.wait(&t.ops[i]))
		}
	}
}

// offer adds op i to the ready ops.
func (t *timeline) offer(i int32) { heap.Push(&t.open, item{int64(t.height[i]), i}) }

// pick takes the ready op with the highest priority out of the queue, after a stall if necessary.
// ok is false if all ops have been issued.
func (t *timeline) pick() (i int32, ok bool) {
	for {
		for len(t.waiting) > 0 && -t.waiting[0].key <= int64(t.now) {
			if i := heap.Pop(&t.waiting).(item).at; !t.done[i] {
				t.offer(i)
			}
		}
		switch {
		case len(t.open) > 0:
			if i := heap.Pop(&t.open).(item).at; !t.done[i] {
				return i, true
			}
		case len(t.waiting) > 0:
			t.now = int32(-t.waiting[0].key)
		default:
			return 0, false
		}
	}
}

// frees returns the number of registers that op i frees, minus the number that its results need.
func (t *timeline) frees(i int32) int {
	n := 0
	for _, u := range t.ops[i].uses {
		if t.words.class[u] == general && t.uses[u] == 1 && !t.outStamp[u] {
			n++
		}
	}
	for _, d := range t.ops[i].defs {
		if t.words.class[d] == general {
			n--
		}
	}
	return n
}

// issue executes an op in the current cycle.
func (t *timeline) issue(i int32) {
	t.done[i] = true
	o := &t.ops[i]
	for _, u := range o.uses {
		if t.uses[u]--; t.uses[u] == 0 && t.words.class[u] == general && !t.outStamp[u] {
			t.inUse--
		}
	}
	for _, d := range o.defs {
		if t.words.class[d] == general && (t.uses[d] > 0 || t.outStamp[d]) {
			t.inUse++
		}
	}
	for _, s := range t.edges.succs[i] {
		t.ready[s.to] = max(t.ready[s.to], t.now+s.stall(o))
		if t.left[s.to]--; t.left[s.to] != 0 {
			continue
		}
		if t.ready[s.to] <= t.now {
			t.offer(s.to)
		} else {
			heap.Push(&t.waiting, item{-int64(t.ready[s.to]), s.to})
		}
	}
	t.now++
}

// scheduleLean schedules the ops of a block for few registers. It works backward, and always takes
// the op that frees the most registers.
func scheduleLean(ops []op, e *edges, t *tally, out []word, users map[word][]int32) []int32 {
	n := len(ops)
	preds := make([][]int32, n)
	left := make([]int32, n)
	for i := range n {
		left[i] = int32(len(e.succs[i]))
		for _, s := range e.succs[i] {
			preds[s.to] = append(preds[s.to], int32(i))
		}
	}
	clear(users)
	for i := range ops {
		for _, u := range ops[i].uses {
			users[u] = append(users[u], int32(i))
		}
	}
	t.start(out)
	gain := func(i int32) int64 {
		k := int64(0)
		for _, d := range ops[i].defs {
			if t.s.class[d] == general && t.live[d] == t.mark {
				k++
			}
		}
		for _, u := range ops[i].uses {
			if t.s.class[u] == general && t.live[u] != t.mark {
				k--
			}
		}
		return k<<32 + int64(i)
	}
	var open queue
	done := make([]bool, n)
	for i := range n {
		if left[i] == 0 {
			heap.Push(&open, item{gain(int32(i)), int32(i)})
		}
	}
	order := make([]int32, n)
	at := n
	for len(open) > 0 {
		it := heap.Pop(&open).(item)
		if done[it.at] {
			continue
		}
		if k := gain(it.at); k != it.key {
			heap.Push(&open, item{k, it.at})
			continue
		}
		done[it.at] = true
		at--
		order[at] = it.at
		o := &ops[it.at]
		for _, d := range o.defs {
			t.clearBlock(d)
		}
		for _, u := range o.uses {
			if t.enter(u) {
				for _, other := range users[u] {
					if !done[other] && left[other] == 0 {
						heap.Push(&open, item{gain(other), other})
					}
				}
			}
		}
		for _, p := range preds[it.at] {
			if left[p]--; left[p] == 0 {
				heap.Push(&open, item{gain(p), p})
			}
		}
	}
	return order
}
