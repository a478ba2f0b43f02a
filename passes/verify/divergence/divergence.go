// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package divergence reports operations that all threads of a warp, block or cluster must
// execute, but that only some of them execute, and conditions that no thread satisfies.
package divergence

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/passes/analysis/thread"
	"github.com/ptxdsl/ptxdsl/passes/verify/annotated"
)

// Analyzer returns the analyzer for operations that all threads must execute.
func Analyzer() *annotated.Analyzer {
	return &annotated.Analyzer{
		Name: "divergence",
		Doc: `Divergence reports operations that all threads of a warp or block must execute, but only some
of them do, and named barriers at which too many threads arrive. It needs the block size, and
conditions that do not depend on data.`,
		Rules: []*diag.Rule{&annotated.Protocol},
		Run:   run,
	}
}

// Barriers returns the analyzer for barriers that some warps never reach.
func Barriers() *annotated.Analyzer {
	return &annotated.Analyzer{
		Name: "barriers",
		Doc: `Barriers reports roles that wait at a barrier for all threads although other warps never
reach a barrier, and named barriers with arrivals but without a wait.`,
		Rules: []*diag.Rule{&annotated.Role, &annotated.Protocol},
		Run:   runBarriers,
	}
}

// FalseConditions returns the analyzer for conditions that are never true.
func FalseConditions() *annotated.Analyzer {
	return &annotated.Analyzer{
		Name: "false-conditions",
		Doc: `It reports code under a comparison of an index with a constant, such as k.Lane().EQI(32),
that is true for no thread of the block. Roles are not checked.`,
		Rules: []*diag.Rule{&annotated.Protocol},
		Run:   runFalse,
	}
}

func run(p *annotated.Pass) {
	if p.Notes.Threads() == 0 {
		return
	}
	for i := range p.Notes.Uses {
		u := &p.Notes.Uses[i]
		if what, ok := u.What.(*ir.Collective); ok && !p.Reported(u.Pos) && !p.Eval().Exhausted() {
			if come := executingThreads(p, u, what.Values); come != nil {
				reportDivergence(p, u, what, come)
			}
		}
	}
}

// executingThreads returns, for each thread of the role or the block, whether it executes the
// call. It returns nil if the outcome for some thread is unknown. If values is set, threads that
// have exited count as threads that do not execute the call.
func executingThreads(p *annotated.Pass, u *ir.Use, values bool) []bool {
	e := p.Eval()
	begin, end := e.Range(u.Role)
	come := make([]bool, end-begin)
	for i := range come {
		e.Begin(begin + i)
		come[i] = true
		for _, c := range u.Conds {
			if c.Left && !values {
				continue // a barrier does not wait for exited threads
			}
			v := e.Holds(c)
			if v.Kind != thread.Constant {
				return nil
			}
			come[i] = come[i] && v.N != 0
		}
	}
	return come
}

// reportDivergence reports a call for all threads of a warp or block that only some of them
// execute.
func reportDivergence(p *annotated.Pass, u *ir.Use, what *ir.Collective, come []bool) {
	begin, _ := p.Eval().Range(u.Role)
	n := 0
	for first := 0; first < len(come); first += 32 {
		lanes := come[first:min(first+32, len(come))]
		in, out := slices.Index(lanes, true), slices.Index(lanes, false)
		if in >= 0 && out >= 0 {
			p.Report(u.Pos, &annotated.Protocol,
				"divergent %s: thread %d of a warp executes it, but thread %d does not; move it out of the condition",
				what.Name, begin+first+in, begin+first+out)
			return
		}
		if in >= 0 {
			n += len(lanes)
		}
	}
	if what.Most > 0 && n > what.Most {
		p.Report(u.Pos, &annotated.Protocol, "%s: barrier expects %d threads, but %d arrive",
			what.Name, what.Most, n)
		return
	}
	if in, out := slices.Index(come, true), slices.Index(come, false); what.Block &&
		u.Role == nil && in >= 0 && out >= 0 {
		p.Report(u.Pos, &annotated.Protocol,
			"deadlock: divergent %s: thread %d executes it, but thread %d, of another warp, does not; all threads of the block must",
			what.Name, in, out)
	}
}

func runFalse(p *annotated.Pass) {
	if p.Notes.Threads() == 0 {
		return
	}
	seen := make(map[*ir.Reg]bool)
	for i := range p.Notes.Uses {
		u := &p.Notes.Uses[i]
		for _, c := range u.Conds {
			if c.Reg == nil || c.Not || c.Loop || c.Left || seen[c.Reg] {
				continue
			}
			seen[c.Reg] = true
			in := p.Eval().Def(c.Reg)
			if in == nil || in.Kind() != isa.KindSetp || !in.HasMod(isa.ModEQ) ||
				len(in.Args) != 3 || in.Args[2].Kind != ir.Int {
				continue
			}
			if u.Role == nil && isAlwaysFalse(p, c) && !p.Reported(in.Pos) {
				p.Warn(in.Pos, &annotated.Protocol,
					"condition is never true: no thread of the block has the value %d here",
					in.Args[2].Value)
			}
		}
	}
}

// isAlwaysFalse reports whether a condition is false for all threads of the block, but not
// uniform.
func isAlwaysFalse(p *annotated.Pass, c ir.Condition) bool {
	e := p.Eval()
	for t := range p.Notes.Threads() {
		e.Begin(t)
		if v := e.Holds(c); v.Kind != thread.Constant || v.N != 0 || e.Exhausted() {
			return false
		}
	}
	return !e.Uniform(c.Reg)
}

func runBarriers(p *annotated.Pass) {
	for i, m := range p.Notes.Meetings {
		if i == 0 || m.Group != p.Notes.Meetings[i-1].Group {
			checkMeetings(p, m.Group, false)
			checkMeetings(p, m.Group, true)
		}
	}
	for _, a := range p.Notes.Arrivals {
		p.Report(a.Pos, &annotated.Protocol,
			"warps arrive at named barrier %d, but no warp waits there; call Sync in the warps that must wait",
			a.Barrier)
	}
}

// checkMeetings reports roles that wait for all threads of the block or cluster although other
// warps never reach such a barrier. Only barriers of the given group are compared.
func checkMeetings(p *annotated.Pass, group int, cluster bool) {
	come := make([]bool, p.Notes.Threads()/32)
	var first *ir.Meeting
	for i := range p.Notes.Meetings {
		m := &p.Notes.Meetings[i]
		if m.Group != group || m.Cluster != cluster {
			continue
		}
		if first == nil {
			first = m
		}
		for w := max(m.Role.First, 0); w < min(m.Role.First+m.Role.Warps, len(come)); w++ {
			come[w] = true
		}
	}
	if first == nil || !slices.Contains(come, false) {
		return
	}
	what, all, instead := "Sync", "block", "use NamedBarrier for the threads of a role"
	if cluster {
		what, all, instead = "SyncCluster", "cluster",
			"use Barrier to synchronize some of the threads; Roles ends with a cluster barrier for all threads"
	}
	p.Report(first.Pos, &annotated.Role,
		"deadlock: %s in role %s waits for all threads of the %s, but %s not execute one; %s",
		what, first.Role.Name, all, describeAbsentWarps(come), instead)
}

// describeAbsentWarps returns a phrase with the warps that do not arrive, followed by a verb, for
// messages.
func describeAbsentWarps(come []bool) string {
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
