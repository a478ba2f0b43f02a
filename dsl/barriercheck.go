// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ptxdsl/ptxdsl/ir"
)

// A meeting records a role's first barrier for all threads of the block or the cluster.
type meeting struct {
	Role
	what string
	pos  ir.Pos
}

// meet records a barrier for all threads.
func (k *Kernel) meet(what string) {
	if k.role == nil || slices.ContainsFunc(k.meetings, func(m meeting) bool { return m.what == what && m.first == k.role.first }) {
		return
	}
	k.meetings = append(k.meetings, meeting{Role: k.role.Role, what: what, pos: k.m.calls.here()})
}

// checkBarriers reports roles that wait at a barrier for all threads, although other warps never
// reach one.
func (k *Kernel) checkBarriers() {
	warps := k.BlockThreads() / 32
	for _, what := range []string{"Sync", "SyncCluster"} {
		come := make([]bool, warps)
		var first *meeting
		for i := range k.meetings {
			m := &k.meetings[i]
			if m.what != what {
				continue
			}
			if first == nil {
				first = m
			}
			for w := max(m.first, 0); w < min(m.first+m.n, warps); w++ {
				come[w] = true
			}
		}
		if first == nil || !slices.Contains(come, false) {
			continue
		}
		all, instead := "block", "use NamedBarrier for the threads of a role"
		if what == "SyncCluster" {
			all, instead = "cluster", "use Barrier for some of the threads; Roles ends with a cluster barrier for all"
		}
		k.m.faultAt(first.pos, &ruleRole, "deadlock: %s in role %s waits for all threads of the %s, but %s not execute one; %s",
			what, first.name, all, absent(come), instead)
	}
	k.meetings = nil
}

// absent names the warps that do not arrive.
func absent(come []bool) string {
	var list []string
	for w := 0; w < len(come); w++ {
		if come[w] {
			continue
		}
		last := w
		for last+1 < len(come) && !come[last+1] {
			last++
		}
		if last == w {
			list = append(list, fmt.Sprintf("warp %d", w))
		} else {
			list = append(list, fmt.Sprintf("warps %d to %d", w, last))
		}
		w = last
	}
	do := " do"
	if len(list) == 1 && strings.HasPrefix(list[0], "warp ") {
		do = " does"
	}
	return strings.Join(list, " and ") + do
}

// met records that warps wait or arrive at a named barrier.
func (k *Kernel) met(b NamedBarrier, waits bool) {
	if id := b.id & 15; waits {
		k.awaited |= 1 << id
	} else if k.arrivals[id] == ir.NoPos {
		k.arrivals[id] = k.m.calls.here()
	}
}

// checkArrivals reports named barriers with arrivals but no wait.
func (k *Kernel) checkArrivals() {
	for id, pos := range k.arrivals {
		if pos != ir.NoPos && k.awaited>>id&1 == 0 {
			k.m.faultAt(pos, &ruleProtocol, "warps arrive at named barrier %d, but none waits there; use Sync in the warps that wait", id)
		}
	}
}

// byHand records the barrier number of an instruction written as text, and reports a number that a
// NamedBarrier uses.
func (k *Kernel) byHand(op string, operands []any) {
	head, _, _ := strings.Cut(op, ".")
	if head != "bar" && head != "barrier" || strings.HasPrefix(op, "barrier.cluster.") || strings.HasPrefix(op, "bar.warp.") {
		return
	}
	at := 0
	if strings.Contains(op, ".red.") {
		at = 1 // the result comes first
	}
	if at >= len(operands) {
		return
	}
	o, ok := known(operands[at])
	if !ok || o < 1 || o > 15 || slices.Contains(k.numbered, o) {
		return
	}
	if o <= int64(k.named) {
		k.fault(&ruleProtocol, "%s uses named barrier %d, which NamedBarrier has reserved; use numbered barriers before the first NamedBarrier", op, o)
		return
	}
	k.numbered = append(k.numbered, o)
}

// known returns the constant value of a Go number or of a Reg.
func known(x any) (int64, bool) {
	switch x := x.(type) {
	case int:
		return int64(x), true
	case int32:
		return int64(x), true
	case int64:
		return x, true
	case uint32:
		return int64(x), true
	case Reg[U32]:
		return x.bits, x.IsConstant()
	case Reg[S32]:
		return x.bits, x.IsConstant()
	}
	return 0, false
}

// barrierRow reserves n named barriers with consecutive numbers.
func (k *Kernel) barrierRow(n, threads int) []NamedBarrier {
	for i := 1; i <= n; i++ {
		if at := k.named + i; slices.Contains(k.numbered, int64(at)) {
			k.named, i = at, 0
		}
	}
	list := make([]NamedBarrier, max(n, 1))
	for i := range list {
		list[i] = k.NamedBarrier(threads)
	}
	return list
}

// nextBarrier returns the lowest unused barrier number.
func (k *Kernel) nextBarrier() int {
	k.named++
	for slices.Contains(k.numbered, int64(k.named)) {
		k.named++
	}
	return k.named
}
