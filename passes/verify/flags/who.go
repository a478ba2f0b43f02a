// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package flags

import (
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/passes/analysis/graph"
)

// Who is which threads come to an instruction: all that are there, one lane of a warp, or one thread of the block.
type who uint8

const (
	all who = iota
	lane
	single
)

// few is how many blocks of code one thread is taken to do alone at most, and steps how many are looked at in all.
const (
	few   = 256
	steps = 100_000
)

// mark finds the blocks of code that one thread, or one lane of a warp, does alone.
func (s *study) mark() {
	s.narrow = make([]who, len(s.flow.Func.Blocks))
	post := graph.Postdominators(s.flow.Succs, s.flow.Preds, s.flow.Leaves)
	left := steps
	for b, block := range s.flow.Func.Blocks {
		in := block.Last()
		if in == nil || in.Guard.Reg == nil || len(s.flow.Succs[b]) != 2 || left <= 0 {
			continue
		}
		w, holds := s.elects(in, in.Guard.Reg, 6)
		if w == all {
			continue
		}
		next := b + 1
		if holds != in.Guard.Not {
			next = s.target(in)
		}
		if next < 0 || next == post.Parent[b] || next >= len(s.narrow) {
			continue
		}
		list, ok := graph.Between(s.flow.Succs, []int{next}, post.Parent[b], few)
		left -= len(list)
		if !ok {
			continue
		}
		for _, n := range list {
			s.narrow[n] = max(s.narrow[n], w)
		}
	}
}

// target is the block that a branch names, or -1.
func (s *study) target(in *ir.Instr) int {
	for i := range in.Args {
		if to := in.Args[i].Block(); to != nil {
			return s.place[to]
		}
	}
	return -1
}

// who is which threads make an access in a block of code.
func (s *study) who(b int, in *ir.Instr) who {
	w := s.narrow[b]
	if in.Guard.Reg != nil && !in.Ends() {
		if v, holds := s.elects(in, in.Guard.Reg, 6); holds != in.Guard.Not {
			w = max(w, v)
		}
	}
	return w
}

// elects is whom a predicate that an instruction reads picks, and whether where it holds or where it does not.
func (s *study) elects(at *ir.Instr, r *ir.Reg, deep int) (w who, holds bool) {
	list := s.written(at, r)
	if len(list) != 1 || deep == 0 {
		return all, false
	}
	in := list[0]
	operand := func(i int) *ir.Reg {
		if i < len(in.Args) {
			return in.Args[i].Reg()
		}
		return nil
	}
	switch in.Head() {
	case "elect":
		return lane, true
	case "not":
		if a := operand(1); a != nil {
			w, holds = s.elects(in, a, deep-1)
			return w, !holds
		}
	case "and", "or":
		for i := 1; i < len(in.Args); i++ {
			if a := operand(i); a != nil {
				if w, holds = s.elects(in, a, deep-1); w != all && holds == (in.Head() == "and") {
					return w, holds
				}
			}
		}
	case "selp": // a predicate as a number, as inline assembly hands it out
		if p := operand(3); p != nil && in.Args[2].Kind == ir.Int && in.Args[2].Value == 0 {
			return s.elects(in, p, deep-1)
		}
	case "setp":
		return s.compares(in, deep)
	}
	return all, false
}

// compares is elects for a comparison of a number with a constant.
func (s *study) compares(in *ir.Instr, deep int) (who, bool) {
	if len(in.Args) != 3 || in.Args[2].Kind != ir.Int {
		return all, false
	}
	a, k := in.Args[1].Reg(), in.Args[2].Value
	holds := in.Mod("eq") || in.Mod("lt") && k == 1
	if a == nil || !holds && !in.Mod("ne") && !(in.Mod("gt") && k == 0) {
		return all, false
	}
	if k == 0 && (in.Mod("eq") || in.Mod("ne")) {
		if w, sense := s.elects(in, a, deep-1); w != all {
			return w, sense != holds
		}
	}
	return s.picks(in, a), holds
}

// picks is whom a number tells from others where it is compared with a constant: one thread of a block, or one lane of a warp. A number that
// is the same for a warp picks nobody, and what rests on data is not known.
func (s *study) picks(at *ir.Instr, r *ir.Reg) who {
	thread, lanes, rough, data := false, false, false, false
	s.sources(at, r, 5, func(in *ir.Instr) {
		thread = thread || has(in, "%tid")
		lanes = lanes || has(in, "%laneid")
		switch in.Head() {
		case "and", "rem":
			k := in.Args[len(in.Args)-1]
			lanes = lanes || k.Kind == ir.Int && k.Value <= 32
		case "shr", "div", "bfe", "shfl":
			rough = true
		case "ld", "atom":
			data = data || !in.Mod("param")
		}
	})
	switch {
	case data || rough && !lanes:
		return all
	case lanes:
		return lane
	case thread:
		return single
	}
	return all
}
