// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package pressure

import "container/heap"

// scheduleDeep schedules the ops of a block forward for few registers. An op that needs no more
// registers than it frees is scheduled at once. Otherwise the op that became ready last is
// scheduled, so that one of several similar values is completed before the next is started.
func scheduleDeep(ops []op, e *edges, s *words, uses []int32, stamp []bool,
	users map[word][]int32) []int32 {
	n := len(ops)
	left := append([]int32(nil), e.preds...)
	since := make([]int64, n) // when the op became ready
	done := make([]bool, n)
	key := func(i int32) int64 {
		net := 0
		for _, u := range ops[i].uses {
			if s.class[u] == general && uses[u] == 1 && !stamp[u] {
				net++
			}
		}
		for _, d := range ops[i].defs {
			if s.class[d] == general {
				net--
			}
		}
		if net >= 0 {
			return 1<<40 + since[i]
		}
		return since[i]
	}
	var open queue
	for i := range n {
		if left[i] == 0 {
			heap.Push(&open, item{key(int32(i)), int32(i)})
		}
	}
	order := make([]int32, 0, n)
	for len(open) > 0 {
		it := heap.Pop(&open).(item)
		if done[it.at] {
			continue
		}
		done[it.at] = true
		order = append(order, it.at)
		for _, u := range ops[it.at].uses {
			if uses[u]--; uses[u] != 1 || s.class[u] != general || stamp[u] {
				continue
			}
			for _, other := range users[u] { // the last reader frees the register
				if !done[other] && left[other] == 0 {
					heap.Push(&open, item{key(other), other})
				}
			}
		}
		for _, x := range e.succs[it.at] {
			if left[x.to]--; left[x.to] == 0 {
				since[x.to] = int64(len(order))
				heap.Push(&open, item{key(x.to), x.to})
			}
		}
	}
	return order
}
