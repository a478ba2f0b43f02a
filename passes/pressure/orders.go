// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package pressure

import "container/heap"

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

// early schedules the ops of a block for speed: ops on the critical path come first, and ready ops
// run while others wait. Above the register target, ops that free registers come first.
func early(ops []op, e *edges, s *words, uses []int32, outStamp []bool, room int, start int, base []int32) []int32 {
	n := len(ops)
	height := make([]int32, n)
	for i := n - 1; i >= 0; i-- {
		height[i] = int32(ops[i].latency)
		for _, s := range e.succs[i] {
			height[i] = max(height[i], height[s.to]+s.wait(&ops[i]))
		}
	}
	left := append([]int32(nil), e.preds...)
	ready := make([]int32, n) // cycle at which each op is ready
	var waiting, open queue
	for i := range n {
		if left[i] == 0 {
			heap.Push(&open, item{int64(height[i]), int32(i)})
		}
	}
	now := int32(0)
	order := make([]int32, 0, n)
	inUse := start
	next := 0
	done := make([]bool, n)
	freed := func(o *op) int {
		f := 0
		for _, u := range o.uses {
			if s.class[u] == general && uses[u] == 1 && !outStamp[u] {
				f++
			}
		}
		for _, d := range o.defs {
			if s.class[d] == general {
				f--
			}
		}
		return f
	}
	for len(order) < n {
		for len(waiting) > 0 && -waiting[0].key <= int64(now) {
			it := heap.Pop(&waiting).(item)
			if done[it.at] {
				continue
			}
			heap.Push(&open, item{int64(height[it.at]), it.at})
		}
		if len(open) == 0 && len(waiting) == 0 {
			break
		}
		if len(open) == 0 {
			now = int32(-waiting[0].key)
			continue
		}
		it := heap.Pop(&open).(item)
		if done[it.at] {
			continue
		}
		if inUse >= room && freed(&ops[it.at]) <= 0 {
			// The register target is exceeded: continue in the lean order.
			for done[base[next]] {
				next++
			}
			if other := base[next]; other != it.at {
				heap.Push(&open, it)
				it.at = other
				now = max(now, ready[other])
			}
		}
		done[it.at] = true
		i := it.at
		order = append(order, i)
		o := &ops[i]
		for _, u := range o.uses {
			if uses[u]--; uses[u] == 0 && s.class[u] == general && !outStamp[u] {
				inUse--
			}
		}
		for _, d := range o.defs {
			if s.class[d] == general && (uses[d] > 0 || outStamp[d]) {
				inUse++
			}
		}
		for _, s := range e.succs[i] {
			t := s.to
			ready[t] = max(ready[t], now+s.stall(o))
			if left[t]--; left[t] == 0 {
				if ready[t] <= now {
					heap.Push(&open, item{int64(height[t]), t})
				} else {
					heap.Push(&waiting, item{-int64(ready[t]), t})
				}
			}
		}
		now++
	}
	return order
}

// lean schedules the ops of a block for few registers: backward, always the op that frees the most.
func lean(ops []op, e *edges, t *tally, out []word, users map[word][]int32) []int32 {
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
			t.leave(d)
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
