// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"slices"
	"strconv"
	"strings"

	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/passes/analysis/memory"
	"github.com/ptxdsl/ptxdsl/passes/analysis/trace"
	"github.com/ptxdsl/ptxdsl/passes/analysis/value"
	"github.com/ptxdsl/ptxdsl/passes/verify"
)

// flags holds the loads and atomics whose result decides a branch. Through such flags, threads
// may wait for each other.
type flags struct {
	polled map[*ir.Instr]bool
	words  []memory.Region // words of shared memory that the loads and atomics read
}

// newFlags returns the flags of a kernel.
func newFlags(p *verify.Pass) *flags {
	f := &flags{polled: make(map[*ir.Instr]bool)}
	loads := make(map[string]*ir.Instr) // by the name of their result, which trace.Analyze assigns
	for _, t := range p.Traces {
		for i := range t.Events {
			if e := &t.Events[i]; isStrong(e) && e.Kind != trace.Store {
				loads["shared"+strconv.Itoa(int(e.In.Pos))] = e.In
			}
		}
	}
	if len(loads) == 0 {
		return f
	}
	seen := make(map[*value.Atom]bool)
	var look func(v *value.Value)
	look = func(v *value.Value) {
		for _, t := range v.Terms {
			a := t.Atom
			if seen[a] {
				continue
			}
			seen[a] = true
			if in, ok := a.Ref.(*ir.Instr); ok {
				f.polled[in] = true
			} else if name, _, _ := strings.Cut(a.Name,
				"#"); a.Op == value.OpLoad && loads[name] != nil {
				f.polled[loads[name]] = true
			}
			for _, arg := range a.Args {
				look(arg)
			}
		}
	}
	for _, t := range p.Traces {
		for _, c := range t.Choices {
			look(c.Cond)
		}
	}
	for in := range f.polled {
		if in.Kind() != isa.KindLd && in.Kind() != isa.KindAtom {
			delete(f.polled, in)
		}
	}
	for _, t := range p.Traces {
		for i := range t.Events {
			e := &t.Events[i]
			if !f.polled[e.In] {
				continue
			}
			if r, ok := p.Access(e); ok &&
				!slices.ContainsFunc(f.words, func(w memory.Region) bool {
					return w.Root == r.Root && w.Low == r.Low && w.High == r.High
				}) {
				f.words = append(f.words, r)
			}
		}
	}
	return f
}

// inUse reports whether threads may synchronize through flags.
func (f *flags) inUse() bool { return len(f.polled) > 0 }

// isStrong reports whether an access is volatile, atomic, or has a memory-order modifier.
func isStrong(e *trace.Event) bool {
	switch e.Kind {
	case trace.Load, trace.Store, trace.Atomic:
		return !isWeak(e.In)
	}
	return false
}

// isFlagAccess reports whether an access is to a word in memory that some thread polls.
func (f *flags) isFlagAccess(x *access) bool {
	return f.polled[x.e.In] ||
		isStrong(x.e) && slices.ContainsFunc(f.words, func(w memory.Region) bool {
			sure, maybe := w.Meets(&x.region)
			return w.Root == x.region.Root && (sure || maybe)
		})
}

// A flagAccess is an event at which an agent releases its clock through a word of shared memory,
// or acquires a clock that another agent released there.
type flagAccess struct {
	by     *agent
	at     int // index of the next event
	region memory.Region
	block  int
	knows  []int // for a release, the progress of all agents
}

// recordFlag records that an access releases or acquires a clock.
func (m *machine) recordFlag(a *agent, e *trace.Event, r memory.Region) {
	if !m.flags.inUse() || !isStrong(e) {
		return
	}
	one := flagAccess{by: a, at: a.at + 1, region: r, block: a.block, knows: a.fenceProgress}
	if e.In.HasMod(isa.ModRelease, isa.ModAcqRel) {
		one.knows = slices.Clone(a.clock.agents)
		one.knows[a.id] = a.at
	}
	if e.Kind != trace.Load && one.knows != nil {
		m.released = append(m.released, one)
	}
	if e.Kind == trace.Store || !m.flags.polled[e.In] {
		return
	}
	if e.In.HasMod(isa.ModAcquire, isa.ModAcqRel) {
		m.acquired = append(m.acquired, one)
	} else {
		a.polls = append(a.polls, one)
	}
}

// fence executes a memory fence: earlier loads become acquires, and later stores become releases.
func (m *machine) fence(a *agent) {
	if !m.flags.inUse() {
		return
	}
	a.fenceProgress = slices.Clone(a.clock.agents)
	a.fenceProgress[a.id] = a.at
	for _, one := range a.polls {
		one.at = a.at + 1
		m.acquired = append(m.acquired, one)
	}
	a.polls = nil
}

// A suspect is a race that may be impossible because a flag orders the accesses. This is decided
// at the end of the simulation.
type suspect struct {
	y, x   access
	report func()
}

// settleSuspects reports the suspects whose accesses no flag orders.
func (m *machine) settleSuspects() {
	for i := range m.suspects {
		s := &m.suspects[i]
		if !m.mayBeOrdered(&s.y, &s.x) && !m.mayBeOrdered(&s.x, &s.y) {
			s.report()
		}
	}
	m.suspects = nil
}

// mayBeOrdered reports whether a flag in shared memory may order y before x. This requires a
// release after y at an address at which a later acquire precedes x.
func (m *machine) mayBeOrdered(y, x *access) bool {
	return slices.ContainsFunc(m.released, func(r flagAccess) bool {
		return r.knows[y.by.id] >= y.when &&
			slices.ContainsFunc(m.acquired, func(q flagAccess) bool {
				if q.block != r.block || q.by == x.by && q.at >= x.when ||
					q.by != x.by && x.progress[q.by.id] < q.at {
					return false
				}
				sure, maybe := q.region.Meets(&r.region)
				return q.region.Root == r.region.Root && (sure || maybe)
			})
	})
}
