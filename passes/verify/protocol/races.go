// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package protocol

import (
	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/passes/analysis/memory"
	"github.com/ptxdsl/ptxdsl/passes/analysis/trace"
	"github.com/ptxdsl/ptxdsl/passes/verify"
)

// reads notes what an operation in the background reads of shared memory.
func (m *machine) reads(a *agent, e *trace.Event, operation int) {
	for _, r := range m.p.Reads(e) {
		m.note(access{e: e, by: a, when: a.at + 1, operation: operation, region: r})
	}
}

// columns notes what a tcgen05 operation does to tensor memory: the first column stands for all.
func (m *machine) columns(a *agent, e *trace.Event, operation int, write bool) {
	if e.Kind == trace.TensorCopy || e.Kind == trace.TensorShift {
		return
	}
	v := verify.Val(e, verify.Address(e.In, 0))
	if v == nil {
		return
	}
	root := m.p.Pool.Rest(v)
	column := m.p.Pool.Add(64, root, m.p.Pool.Const(64, v.K&0xffff))
	r, ok := memory.Of(m.p.Pool, column, 1, e.Threads)
	if !ok {
		return
	}
	m.note(access{e: e, by: a, when: a.at + 1, operation: operation, write: write, region: r, tensor: true})
}

// note holds an access against those before it that it must come after, and keeps it.
func (m *machine) note(x access) {
	list := m.past[x.region.Root]
	for i := range list {
		y := &list[i]
		if !x.write && !y.write || m.ordered(y, &x) {
			continue
		}
		// What threads do to memory among themselves is for barriers alone, and not looked at here.
		if !x.engine() && !y.engine() {
			continue
		}
		if sure, _ := y.region.Meets(&x.region); sure {
			m.race(y, &x)
			return
		}
	}
	kept := list[:0]
	for _, y := range list {
		if y.by == x.by && y.e.In == x.e.In && y.write == x.write && y.region.Low == x.region.Low && (y.operation == 0 || m.ordered(&y, &x)) {
			continue
		}
		kept = append(kept, y)
	}
	m.past[x.region.Root] = append(kept, x)
}

// engine reports whether an access is of the async proxy or of a tensor unit.
func (x *access) engine() bool { return x.operation > 0 || x.tensor }

// ordered reports whether y has ended for certain when x begins.
func (m *machine) ordered(y, x *access) bool {
	k := x.by.clock
	if y.operation > 0 {
		if k.done[y.operation] {
			return true
		}
		// Operations of one kind that one thread issues keep their order among themselves.
		return x.operation > 0 && y.by == x.by && (y.e.Kind == x.e.Kind || y.e.Kind == trace.BulkLoad && x.e.Kind == trace.BulkLoad)
	}
	return y.by == x.by || k.agents[y.by.id] >= y.when
}

// race reports two accesses with nothing between them.
func (m *machine) race(y, x *access) {
	rule := &ruleLap
	what := "shared memory"
	if x.tensor {
		what = "tensor memory"
	}
	did := func(a *access) string {
		if a.write {
			return "writes"
		}
		return "reads"
	}
	m.p.Report(rule, x.e.In, "%s %s %s while %s %s it: nothing makes the one wait for the other", name(x.e), did(x), what, name(y.e), did(y)).
		Also(y.e.In, "the other access; it has not ended for certain when this one begins").On(x.by.t, x.by.at)
}

// name says what an event is.
func name(e *trace.Event) string {
	switch e.Kind {
	case trace.BulkLoad, trace.BulkStore:
		return "a bulk copy"
	case trace.GroupMultiply, trace.TensorMultiply:
		return "a matrix operation"
	case trace.TensorLoad:
		return "tcgen05.ld"
	case trace.TensorStore:
		return "tcgen05.st"
	}
	return e.In.Head()
}

// hang reports agents that wait for ever.
func (m *machine) hang(stuck []*agent) {
	for _, a := range stuck {
		if a.at >= len(a.t.Events) {
			continue
		}
		e := &a.t.Events[a.at]
		if e.Kind != trace.Wait {
			continue
		}
		m.stuckAt(a, e, stuck)
		return
	}
	for _, a := range stuck {
		if a.at < len(a.t.Events) {
			e := &a.t.Events[a.at]
			m.p.Report(&ruleHang, e.In, "warp %d waits here for ever: not all that the barrier waits for come to it", a.warp).As(diag.Error).On(a.t, a.at)
			return
		}
	}
}

// stuckAt says what a wait lacks.
func (m *machine) stuckAt(a *agent, e *trace.Event, stuck []*agent) {
	one := *e
	one.Threads = e.Threads.And(a.threads)
	list, _ := m.p.Objects(&one, verify.Val(e, verify.Address(e.In, 0)))
	parity, _ := verify.Number(e, verify.Address(e.In, 0)+1)
	for _, at := range list {
		o := m.objects[at.Object]
		if o == nil || int64(o.phases&1) != parity {
			continue
		}
		var f *verify.Finding
		switch {
		case o.pending > 0 && o.pending < o.count:
			f = m.p.Report(&ruleCount, e.In, "warp %d waits here for ever: phase %d has %d of its %d arrivals, and no more come", a.warp, o.phases, o.count-o.pending, o.count)
		case o.pending > 0:
			f = m.p.Report(&ruleHang, e.In, "warp %d waits here for ever, for the end of phase %d: nobody arrives any more", a.warp, o.phases)
		case o.tx != 0:
			f = m.p.Report(&ruleBytes, e.In, "warp %d waits here for ever: phase %d still expects bytes, and no copy brings them", a.warp, o.phases)
		default:
			f = m.p.Report(&ruleHang, e.In, "warp %d waits here for ever", a.warp)
		}
		f.Also(o.init.In, "the object is made here, for %d arrivals", o.count)
		if o.last != nil {
			f.Also(o.last.In, "the last arrival")
		}
		for _, b := range stuck {
			if b != a && b.at < len(b.t.Events) && b.t.Events[b.at].In != e.In {
				f.Also(b.t.Events[b.at].In, "warp %d waits here meanwhile", b.warp)
				break
			}
		}
		f.On(a.t, a.at)
		return
	}
}
