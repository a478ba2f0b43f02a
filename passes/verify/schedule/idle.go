// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"github.com/ptxdsl/ptxdsl/passes/analysis/trace"
	"github.com/ptxdsl/ptxdsl/passes/verify"
)

// idleEvents reports, for each event of a trace, whether the simulation can skip it. Most events
// of an epilogue can be skipped, because they read accumulator registers or access global memory.
// The parameter apart is set if the agent is only a part of its warp, whose lanes synchronize at
// some instructions.
func (s *freeList) idleEvents(p *verify.Pass, t *trace.Trace, apart bool) []bool {
	known := &s.idlers[0]
	if apart {
		known = &s.idlers[1]
	}
	list := (*known)[t]
	if list != nil {
		return list
	}
	if *known == nil {
		*known = make(map[*trace.Trace][]bool)
	}
	list = make([]bool, len(t.Events))
	for i := range t.Events {
		e := &t.Events[i]
		list[i] = (!apart || !isWarpWide(e)) && isIdle(p, e)
	}
	(*known)[t] = list
	return list
}

// isIdle reports whether the simulation can skip an event.
func isIdle(p *verify.Pass, e *trace.Event) bool {
	switch e.Kind {
	case trace.Collective, trace.CopyCommit, trace.CopyWait, trace.InitFence, trace.GroupFence,
		trace.TensorWait, trace.TensorBefore, trace.TensorAfter, trace.Registers,
		trace.Touch:
		return true
	case trace.Load, trace.Store, trace.Atomic:
		at := verify.Val(e, verify.Address(e.In, 0))
		if verify.Rank(at) != nil || e.In.NamesShared() ||
			p.Generic && !isNotShared(e.In, at) {
			return false
		}
		_, shared := p.Access(e)
		return !shared
	}
	return false
}
