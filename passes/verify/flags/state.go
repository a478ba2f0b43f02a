// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package flags

import (
	"strings"

	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/passes/analysis/trace"
)

// A pair is an instruction behind which no barrier of the block has come, and one behind which none of the warp has either.
type pair struct{ block, warp *ir.Instr }

// of is the one that matters for some threads.
func (p pair) of(w who) *ir.Instr {
	if w == single && p.block != nil {
		return p.block
	}
	return p.warp
}

func (p *pair) join(o pair) bool {
	x, y := take(&p.block, o.block), take(&p.warp, o.warp)
	return x || y
}

// A state is what may have been done on some way to a place.
type state struct {
	open  pair      // a write of what is handed over
	bare  *ir.Instr // the same with no fence behind it
	seen  pair      // a wait of one thread for a flag
	raw   *ir.Instr // a write with no fence of proxies behind it
	loose *ir.Instr // a wait that acquires nothing, with no fence behind it
}

// take sets what is not set.
func take(to **ir.Instr, from *ir.Instr) bool {
	if *to != nil || from == nil {
		return false
	}
	*to = from
	return true
}

func (s *state) join(o *state) bool {
	a, b, c, d, e := s.open.join(o.open), take(&s.bare, o.bare), s.seen.join(o.seen), take(&s.loose, o.loose), take(&s.raw, o.raw)
	return a || b || c || d || e
}

// forward works out the states at the starts of blocks.
func (s *study) forward() {
	s.in = make([]state, len(s.flow.Func.Blocks))
	order := s.flow.Order()
	queued := make([]bool, len(s.in))
	for _, b := range order {
		queued[b] = true
	}
	for again := true; again; {
		again = false
		for _, b := range order {
			if !queued[b] {
				continue
			}
			queued[b] = false
			now := s.in[b]
			for _, in := range s.flow.Func.Blocks[b].Instrs {
				s.pass(&now, b, in)
			}
			for _, to := range s.flow.Succs[b] {
				if s.in[to].join(&now) {
					queued[to], again = true, true
				}
			}
		}
	}
}

// pass is what an instruction does to a state.
func (s *study) pass(now *state, b int, in *ir.Instr) {
	switch trace.Of(in.Op) {
	case trace.BarrierSync, trace.ClusterWait:
		now.open, now.seen = pair{}, pair{}
		return
	case trace.WarpSync, trace.Collective:
		now.open.warp, now.seen.warp = nil, nil
		if s.p.Pool.Threads <= 32 {
			now.open.block, now.seen.block = nil, nil
		}
		return
	case trace.ProxyFence:
		if (in.Mod("async") || in.Mod("async::generic")) && !in.Mod("acquire") && !strings.Contains(in.Op, "shared") {
			now.raw = nil
		}
		return
	case trace.Wait: // of a barrier object: others may have arrived behind what they did
		now.open, now.seen = pair{}, pair{}
		return
	}
	if fence(in) {
		now.bare, now.loose = nil, nil
		return
	}
	a := s.accesses[in]
	if a == nil {
		return
	}
	switch who := a.who; {
	case !a.strong && a.varies && who == all && s.data[a.base]:
		take(&now.open.warp, in)
		if s.together(b) {
			take(&now.open.block, in)
		}
		if a.writes {
			take(&now.bare, in)
			take(&now.raw, in)
		}
	case a.reads && a.strong && s.flags[a.base]:
		if a.acquires {
			now.loose = nil
		} else if !a.writes && s.spins(b) {
			now.loose = in
		}
		if who != all && !a.writes {
			now.seen.warp = in
			if who == single {
				now.seen.block = in
			}
		}
	}
}
