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

// Warp-wide operations on values that are equal in all warps give equal results in all warps.
// Recognizing this lets roles that compute the same value agree.

// shuffle evaluates shfl.sync with a fixed source lane, whose result is uniform in the warp.
func (w *walk) shuffle(s *state, st *step) bool {
	in := st.in
	if len(in.Args) < 4 || in.Args[0].Kind != ir.Register && in.Args[0].Kind != ir.Pair {
		return false
	}
	v, lane := w.operand(s, &in.Args[1], 32), w.operand(s, &in.Args[2], 32)
	clamp := w.operand(s, &in.Args[3], 32)
	common := w.all(s, in) && w.pool.Alike(v) && w.pool.Alike(lane) && clamp.Const()
	if !in.HasMod(isa.ModIdx) && !common {
		return false
	}
	to := &in.Args[0]
	if w.mixes(s, &in.Args[1]) {
		w.opaque(s, st)
		if to.Kind == ir.Register && in.HasMod(isa.ModIdx) && lane.Const() {
			w.set(s, st, to,
				w.pool.Atom(32, value.OpLane,
					strconv.Itoa(int(in.Pos))+"#"+strconv.Itoa(s.times.at(in)), in, value.Warp,
					lane))
		}
		return true
	}
	if to.Kind == ir.Pair {
		inside := w.unknown(s, in, 1)
		if common {
			inside = w.pool.Atom(1, value.OpExchange, mode(in)+" inside", nil, value.Constant, v,
				lane, clamp)
		}
		w.set(s, st, &to.Args()[1], inside)
		to = &to.Args()[0]
	}
	if !in.HasMod(isa.ModIdx) {
		w.set(s, st, to,
			w.pool.Atom(32, value.OpExchange, mode(in), nil, value.Constant, v, lane, clamp))
		return true
	}
	if v.Level() <= value.Warp {
		w.set(s, st, to, v)
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
	w.set(s, st, to, r)
	return true
}

// vote evaluates vote.sync and redux.sync if the result is the same in all warps. It returns false
// otherwise.
func (w *walk) vote(s *state, st *step) bool {
	in := st.in
	if len(in.Args) != 3 || in.Args[0].Kind != ir.Register || !w.all(s, in) {
		return false
	}
	r := in.Args[0].Reg
	v := w.operand(s, &in.Args[1], bitsOf(r))
	if v.Const() || !w.pool.Alike(v) || w.mixes(s, &in.Args[1]) {
		return false
	}
	w.set(s, st, &in.Args[0], w.pool.Atom(bitsOf(r), value.OpVote, in.Op, nil, value.Block, v))
	return true
}

// all reports whether, as far as is known, all lanes of a warp execute an exchange together and are
// named in its mask. Lanes of other classes must have reconverged with them.
func (w *walk) all(s *state, in *ir.Instr) bool {
	mask := w.operand(s, &in.Args[len(in.Args)-1], 32)
	return mask.Is(-1) && in.Guard.Reg == nil && len(s.open) == 0
}

// put sets the value of a register.
func (s *state) put(n int, v *value.Value) {
	s.regs.set(n, v)
	if s.mixed.at(n) {
		s.mixed.set(n, false)
	}
}

// mix handles the reconvergence of diverged lanes at the end of a block. If only some of the lanes
// wrote a register, its value is known only in their class.
func (w *walk) mix(s *state, block int) {
	list, seen := w.parted[block]
	if !seen {
		const far = 200
		if between, ok := graph.Between(w.flow.Succs, w.flow.Succs[block], w.post.Parent[block],
			far); ok {
			for _, b := range between {
				list = append(list, w.wrote[b]...)
			}
			slices.Sort(list)
			list = slices.Compact(list)
		}
		w.parted[block] = list
	}
	for _, n := range list {
		s.mixed.set(n, true)
	}
}

// mixes reports whether other lanes of the warp may have a different value in a register.
func (w *walk) mixes(s *state, o *ir.Operand) bool {
	if o.Kind != ir.Register {
		return false
	}
	n := w.at(o.Reg)
	return n >= 0 && s.mixed.at(n)
}

// mode returns the mode of a shuffle, such as idx or bfly.
func mode(in *ir.Instr) string {
	for _, m := range []isa.Mod{isa.ModUp, isa.ModDown, isa.ModBfly} {
		if in.HasMod(m) {
			return m.String()[1:]
		}
	}
	return isa.ModIdx.String()[1:]
}

// executing evaluates activemask. If some lanes took another branch, the result is not a mask of
// all lanes.
func (w *walk) executing(s *state, st *step) bool {
	in := st.in
	w.opaque(s, st)
	to := &in.Args[0]
	if to.Kind != ir.Register || w.at(to.Reg) < 0 || in.Guard.Reg != nil || !w.partial(s) {
		return true
	}
	all := w.pool.Compare(value.OpEq, true, w.reg(s, to.Reg), w.pool.Const(32, -1))
	s.facts.assume(all, false, s.threads)
	if a, _ := all.Condition(); a != nil {
		w.whole[a] = true
	}
	return true
}

// partial reports whether some lanes of each warp have certainly diverged and not reconverged.
func (w *walk) partial(s *state) bool {
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
