// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package trace

import (
	"slices"
	"strconv"

	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/passes/analysis/graph"
	"github.com/ptxdsl/ptxdsl/passes/analysis/value"
)

// Warp-wide operations on values that are equal in all warps give equal results in all warps. The
// functions in this file recognize this, so that roles that compute the same value agree.

// shuffle evaluates shfl.sync with a fixed source lane, whose result is uniform in the warp. It
// returns false if the result is unknown.
func (w *walk) shuffle(s *state, st *step) bool {
	in := st.in
	if len(in.Args) < 4 || in.Args[0].Kind != ir.Register && in.Args[0].Kind != ir.Pair {
		return false
	}
	v, lane := w.operand(s, &in.Args[1], 32), w.operand(s, &in.Args[2], 32)
	clamp := w.operand(s, &in.Args[3], 32)
	common := w.isWholeWarp(s, in) && w.pool.Alike(v) && w.pool.Alike(lane) && clamp.Const()
	if !in.HasMod(isa.ModIdx) && !common {
		return false
	}
	to := &in.Args[0]
	if w.isMixed(s, &in.Args[1]) {
		w.opaque(s, st)
		if to.Kind == ir.Register && in.HasMod(isa.ModIdx) && lane.Const() {
			w.setOperand(s, st, to,
				w.pool.Atom(32, value.OpLane,
					strconv.Itoa(int(in.Pos))+"#"+strconv.Itoa(s.times.at(in)), in, value.Warp,
					lane))
		}
		return true
	}
	if to.Kind == ir.Pair {
		inside := w.newUnknown(s, in, 1)
		if common {
			inside = w.pool.Atom(1, value.OpExchange, shuffleMode(in)+" inside", nil,
				value.Constant, v,
				lane, clamp)
		}
		w.setOperand(s, st, &to.Args()[1], inside)
		to = &to.Args()[0]
	}
	if !in.HasMod(isa.ModIdx) {
		w.setOperand(s, st, to,
			w.pool.Atom(32, value.OpExchange, shuffleMode(in), nil, value.Constant, v, lane, clamp))
		return true
	}
	if v.Level() <= value.Warp {
		w.setOperand(s, st, to, v)
		return true
	}
	level := value.Warp
	if !lane.Const() {
		level = max(level, lane.Level())
	}
	if common && lane.Level() <= value.Block && clamp.Is(31) {
		level = value.Block
	}
	r := w.pool.Atom(32, value.OpShfl, "", nil, level, v, lane)
	if a, _ := r.Condition(); v.Tid() && lane.Const() && a != nil {
		if l, h, ok := v.Bounds(); ok {
			a.Bounded, a.Low, a.High = true, l, h
		}
	}
	w.setOperand(s, st, to, r)
	return true
}

// vote evaluates vote.sync and redux.sync. It returns false if the result may differ between
// warps.
func (w *walk) vote(s *state, st *step) bool {
	in := st.in
	if len(in.Args) != 3 || in.Args[0].Kind != ir.Register || !w.isWholeWarp(s, in) {
		return false
	}
	r := in.Args[0].Reg
	v := w.operand(s, &in.Args[1], bitsOf(r))
	if v.Const() || !w.pool.Alike(v) || w.isMixed(s, &in.Args[1]) {
		return false
	}
	w.setOperand(s, st, &in.Args[0],
		w.pool.Atom(bitsOf(r), value.OpVote, in.Op, nil, value.Block, v))
	return true
}

// isWholeWarp reports whether all lanes of a warp, as far as is known, execute an exchange together
// and are in its member mask. Lanes that diverged earlier must have reconverged.
func (w *walk) isWholeWarp(s *state, in *ir.Instr) bool {
	mask := w.operand(s, &in.Args[len(in.Args)-1], 32)
	return mask.Is(-1) && in.Guard.Reg == nil && len(s.open) == 0
}

// put sets the value of register n.
func (s *state) put(n int, v *value.Value) {
	s.regs.set(n, v)
	if s.mixed.at(n) {
		s.mixed.set(n, false)
	}
}

// markMixed handles the reconvergence of diverged lanes at the end of a block. If only some of the
// lanes wrote a register, its value is known only for the threads of the state.
func (w *walk) markMixed(s *state, block int) {
	list, seen := w.joinWrites[block]
	if !seen {
		const far = 200
		if between, ok := graph.Between(w.flow.Succs, w.flow.Succs[block], w.post.Parent[block],
			far); ok {
			for _, b := range between {
				list = append(list, w.writtenBy[b]...)
			}
			slices.Sort(list)
			list = slices.Compact(list)
		}
		w.joinWrites[block] = list
	}
	for _, n := range list {
		s.mixed.set(n, true)
	}
}

// isMixed reports whether other lanes of the warp may have a different value in a register.
func (w *walk) isMixed(s *state, o *ir.Operand) bool {
	if o.Kind != ir.Register {
		return false
	}
	n := w.at(o.Reg)
	return n >= 0 && s.mixed.at(n)
}

// shuffleMode returns the mode of a shuffle, such as idx or bfly.
func shuffleMode(in *ir.Instr) string {
	for _, m := range []isa.Mod{isa.ModUp, isa.ModDown, isa.ModBfly} {
		if in.HasMod(m) {
			return m.String()[1:]
		}
	}
	return isa.ModIdx.String()[1:]
}

// activeMask evaluates activemask. If some lanes took another branch, the result is assumed not to
// be a mask of all lanes.
func (w *walk) activeMask(s *state, st *step) bool {
	in := st.in
	w.opaque(s, st)
	to := &in.Args[0]
	if to.Kind != ir.Register || w.at(to.Reg) < 0 || in.Guard.Reg != nil || !w.isPartial(s) {
		return true
	}
	all := w.pool.Compare(value.OpEq, true, w.reg(s, to.Reg), w.pool.Const(32, -1))
	s.facts.assume(all, false, s.threads)
	if a, _ := all.Condition(); a != nil {
		w.notWhole[a] = true
	}
	return true
}

// isPartial reports whether some lanes of each warp have certainly diverged and not reconverged.
func (w *walk) isPartial(s *state) bool {
	here := w.pool.All()
	for _, c := range s.open {
		if c.Splits {
			here = here.Minus(c.Away)
		}
	}
	for n := range value.MaxThreads / 32 {
		if s.threads.Lanes(n) != 0 && here.Lanes(n) == 1<<32-1 {
			return false
		}
	}
	return true
}
