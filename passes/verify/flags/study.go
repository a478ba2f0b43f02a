// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package flags

import (
	"slices"
	"strings"

	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/passes/analysis/graph"
	"github.com/ptxdsl/ptxdsl/passes/analysis/reach"
	"github.com/ptxdsl/ptxdsl/passes/analysis/trace"
	"github.com/ptxdsl/ptxdsl/passes/analysis/uniform"
	"github.com/ptxdsl/ptxdsl/passes/verify"
)

// A study is one kernel.
type study struct {
	p        *verify.Pass
	flow     *ir.Flow
	levels   *uniform.Levels
	writes   *reach.Writes
	loops    []*graph.Loop // innermost of each block
	narrow   []who         // of each block
	place    map[*ir.Block]int
	origins  map[*ir.Reg]base
	accesses map[*ir.Instr]*access
	data     map[base]bool // written and read by all threads
	flags    map[base]bool // written and read with an order
	asked    int           // see written
	every    map[*ir.Reg][]*ir.Instr
	strong   []*access // writes with an order
	in       []state   // at the start of each block
}

// A base is the parameter that memory is reached through; of none, or of several, it is empty.
type base struct {
	v  *ir.Var
	at int64
}

// An access is one of global memory.
type access struct {
	base               base
	reads, writes      bool
	strong             bool // not weak: with an order, or atomic
	releases, acquires bool // for the whole GPU
	resets             bool // writes a number that is zero
	engine             bool // a bulk copy
	who                who
	varies             bool // threads do it at places of their own
}

func newStudy(p *verify.Pass) *study {
	flow := ir.FlowOf(p.Func)
	s := &study{p: p, flow: flow, levels: uniform.Of(flow), writes: reach.Of(flow),
		every: make(map[*ir.Reg][]*ir.Instr), origins: make(map[*ir.Reg]base), accesses: make(map[*ir.Instr]*access), data: make(map[base]bool), flags: make(map[base]bool)}
	s.place = make(map[*ir.Block]int, len(p.Func.Blocks))
	for i, b := range p.Func.Blocks {
		s.place[b] = i
	}
	_, s.loops, _ = graph.Loops(flow.Succs, flow.Preds, graph.Dominators(flow.Succs, flow.Preds))
	return s
}

// collect finds the accesses of global memory, and which of it is handed over and what announces it.
func (s *study) collect() {
	stored, loaded, set, looked := make(map[base]bool), make(map[base]bool), make(map[base]bool), make(map[base]bool)
	engines := false
	for _, block := range s.flow.Func.Blocks {
		for _, in := range block.Instrs {
			a := s.access(in)
			if a == nil || a.base.v == nil {
				continue
			}
			s.accesses[in] = a
			engines = engines || a.engine
			switch {
			case a.strong:
				set[a.base] = set[a.base] || a.writes
				looked[a.base] = looked[a.base] || a.reads && (!a.writes || a.acquires) // a count that is only taken tells nothing
				if a.writes {
					s.strong = append(s.strong, a)
				}
			case a.writes:
				stored[a.base] = stored[a.base] || a.varies
			default:
				loaded[a.base] = true
			}
		}
	}
	for b := range stored {
		if loaded[b] {
			s.data[b] = true
		}
	}
	for b := range set {
		if looked[b] {
			s.flags[b] = true
		}
	}
	if len(s.data) == 0 || len(s.strong) == 0 && !engines {
		return
	}
	s.mark()
	for b, block := range s.flow.Func.Blocks {
		for _, in := range block.Instrs {
			if a := s.accesses[in]; a != nil {
				a.who = s.who(b, in)
			}
		}
	}
}

// access is what an instruction does to global memory, or nil.
func (s *study) access(in *ir.Instr) *access {
	a := &access{}
	at := verify.Address(in, 0)
	switch kind := trace.Of(in.Op); kind {
	case trace.Store:
		a.writes = true
	case trace.Load:
		a.reads = true
	case trace.Atomic:
		a.writes, a.strong, a.reads = true, true, in.Head() == "atom"
	case trace.Copy, trace.BulkLoad:
		at = verify.Address(in, 1)
		a.reads, a.engine = true, kind == trace.BulkLoad
	default:
		return nil
	}
	if at < 0 || in.Mod("local") || in.Mod("param") || in.Mod("const") || strings.Contains(in.Op, ".shared") && (a.writes || !in.Mod("global")) || in.Head() == "ldmatrix" || in.Head() == "stmatrix" {
		return nil
	}
	var reg *ir.Reg
	in.Args[at].Walk(func(o *ir.Operand) {
		if r := o.Reg(); r != nil && reg == nil {
			reg = r
		}
	})
	if reg == nil {
		return nil
	}
	for _, word := range []string{"volatile", "relaxed", "acquire", "release", "acq_rel", "mmio"} {
		a.strong = a.strong || in.Mod(word)
	}
	wide := in.Mod("gpu") || in.Mod("sys")
	a.releases = wide && (in.Mod("release") || in.Mod("acq_rel"))
	a.acquires = wide && (in.Mod("acquire") || in.Mod("acq_rel"))
	last := &in.Args[len(in.Args)-1]
	a.resets = in.Head() == "st" && last.Kind == ir.Int && last.Value == 0
	a.varies = s.levels.Value(reg) < uniform.Warp || a.engine
	a.base = s.origin(reg)
	return a
}

// origin is the parameter that an address in a register begins with.
func (s *study) origin(r *ir.Reg) base {
	if b, seen := s.origins[r]; seen {
		return b
	}
	s.origins[r] = base{} // of itself, in a loop
	var found base
	several := false
	add := func(b base) {
		if b.v != nil && found.v != nil && b != found {
			several = true
		} else if b.v != nil {
			found = b
		}
	}
	for _, in := range s.all(r) {
		switch in.Head() {
		case "ld":
			if v := in.Args[1]; in.Mod("param") && v.Kind == ir.Address {
				v.Walk(func(o *ir.Operand) {
					if o.Var() != nil {
						add(base{o.Var(), o.Value})
					}
				})
			}
		case "mov", "cvta", "add", "sub", "mad", "selp":
			for i := 1; i < len(in.Args); i++ {
				if o := in.Args[i].Reg(); o != nil && o.Type.Bits() == 64 {
					add(s.origin(o))
				}
			}
		}
	}
	if several {
		found = base{}
	}
	s.origins[r] = found
	return found
}

// fence reports whether an instruction orders memory for the whole GPU.
func fence(in *ir.Instr) bool {
	return trace.Of(in.Op) == trace.Fence && (in.Mod("gl") || in.Mod("gpu") || in.Mod("sys"))
}

// together reports whether all threads of the block come to a block of code together.
func (s *study) together(b int) bool { return s.levels.Together(b) >= uniform.Block }

// sources visits what a register that an instruction reads is made from, not far away.
func (s *study) sources(at *ir.Instr, r *ir.Reg, deep int, visit func(in *ir.Instr)) {
	if deep == 0 {
		return
	}
	list := s.written(at, r)
	if len(list) > 4 {
		return
	}
	for _, in := range list {
		visit(in)
		in.Registers(func(o *ir.Reg, a isa.Access) {
			if o != r && a == isa.Read {
				s.sources(in, o, deep-1, visit)
			}
		})
	}
}

// asked is how many registers that are written more than once are looked into at most: each may take long.
const asked = 2000

// all is every write of a register; a list is made once.
func (s *study) all(r *ir.Reg) []*ir.Instr {
	list, seen := s.every[r]
	if !seen {
		list = s.writes.All(r)
		s.every[r] = list
	}
	return list
}

// written is the writes that a register may have where an instruction reads it; all of them, where too much was asked.
func (s *study) written(at *ir.Instr, r *ir.Reg) []*ir.Instr {
	list := s.all(r)
	if len(list) > 1 && s.asked < asked {
		s.asked++
		list, _ = s.writes.At(at, r)
	}
	return list
}

// spins reports whether an instruction is in a loop.
func (s *study) spins(b int) bool { return s.loops[b] != nil }

// has reports whether an operand is a special register of a name.
func has(in *ir.Instr, name string) bool {
	return slices.ContainsFunc(in.Args, func(o ir.Operand) bool { return o.Kind == ir.Special && strings.HasPrefix(o.Text(), name) })
}
