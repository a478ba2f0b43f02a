// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package walk

import (
	"slices"

	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/passes/analysis/graph"
)

// A step is an instruction that a walk executes.
type step struct {
	in     *ir.Instr
	wanted bool // the visitor is called
	seen   bool // a thread reached it
}

// A slice holds the part of a kernel that decides whether threads reach the wanted instructions,
// and with which values in the needed registers.
type slice struct {
	steps [][]step // the instructions of each block
	// next holds the block after each block, or graph.None at the exit. Branches among the steps
	// have other targets. All paths meet there after a branch that is not among the steps.
	next    []int
	reaches []bool // a step is reachable from the block
	needed  []bool // by the number of the register
	wanted  int    // number of wanted instructions
}

// A site is the place of an instruction in a function.
type site struct{ block, index int }

// A slicer computes a slice.
type slicer struct {
	*slice
	walk     *Walk
	controls [][]int
	writes   [][]site // the writes of each register
	marks    [][]mark // of each instruction
	matters  []bool   // the branch at the end of the block is kept
	work     []int    // registers whose writes are not yet kept
}

// A mark specifies why an instruction is among the steps.
type mark uint8

const (
	kept mark = 1 << iota
	wanted
)

// newSlice returns the slice for the visitor.
func (w *Walk) newSlice() *slice {
	g, n := w.flow, len(w.flow.Succs)
	s := &slicer{walk: w, marks: make([][]mark, n), matters: make([]bool, n)}
	s.slice = &slice{steps: make([][]step, n), next: make([]int, n), reaches: make([]bool, n),
		needed: make([]bool, len(g.Func.Regs))}
	list := s.findWanted()
	if s.wanted = len(list); s.wanted == 0 {
		return s.slice
	}
	s.findWrites()
	post := graph.Postdominators(g.Succs, g.Preds, g.Leaves)
	s.controls = graph.Controls(g.Succs, g.Leaves, post)
	s.keepEndless()
	for _, at := range list {
		s.keep(at)
	}
	for len(s.work) > 0 {
		r := s.work[len(s.work)-1]
		s.work = s.work[:len(s.work)-1]
		for _, at := range s.writes[r] {
			s.keep(at)
			s.at(at).Registers(func(r *ir.Reg, a isa.Access) {
				if a != isa.Write {
					s.need(r)
				}
			})
		}
	}
	s.findSteps(post)
	var own []int
	for _, at := range list {
		own = append(own, at.block)
	}
	for _, b := range ir.Postorder(g.Preds, own...) {
		s.reaches[b] = true
	}
	return s.slice
}

// findWanted returns the wanted instructions.
func (s *slicer) findWanted() (list []site) {
	for b, block := range s.walk.flow.Func.Blocks {
		s.marks[b] = make([]mark, len(block.Instrs))
		for i, in := range block.Instrs {
			if !in.Directive() && s.walk.Wants(in, s.need) {
				s.marks[b][i] = wanted
				list = append(list, site{b, i})
			}
		}
	}
	return list
}

// findWrites finds the writes of all registers.
func (s *slicer) findWrites() {
	s.writes = make([][]site, len(s.needed))
	for b, block := range s.walk.flow.Func.Blocks {
		for i, in := range block.Instrs {
			in.Registers(func(r *ir.Reg, a isa.Access) {
				if n := s.walk.number(r); n >= 0 && a != isa.Read {
					s.writes[n] = append(s.writes[n], site{b, i})
				}
			})
		}
	}
}

// at returns an instruction.
func (s *slicer) at(x site) *ir.Instr { return s.walk.flow.Func.Blocks[x.block].Instrs[x.index] }

// need records that the writes of a register are kept.
func (s *slicer) need(r *ir.Reg) {
	if n := s.walk.number(r); n >= 0 && !s.needed[n] {
		s.needed[n] = true
		s.work = append(s.work, n)
	}
}

// keep keeps an instruction, and what decides whether it is executed.
func (s *slicer) keep(x site) {
	m := &s.marks[x.block][x.index]
	if *m&kept != 0 {
		return
	}
	*m |= kept
	in := s.at(x)
	if in.Guard.Reg != nil {
		s.need(in.Guard.Reg)
	}
	s.matters[x.block] = s.matters[x.block] || in.Ends()
	for _, c := range s.controls[x.block] {
		s.keepBranch(c)
	}
}

// keepBranch keeps the branch at the end of a block.
func (s *slicer) keepBranch(block int) {
	if !s.matters[block] {
		b := s.walk.flow.Func.Blocks[block]
		s.keep(site{block, slices.Index(b.Instrs, b.Last())})
	}
}

// keepEndless keeps the branches that lead to blocks that cannot reach an exit: it is not known
// where their paths meet.
func (s *slicer) keepEndless() {
	g := s.walk.flow
	exits := graph.Exiting(g.Succs, g.Preds, g.Leaves)
	for b, succs := range g.Succs {
		if len(succs) > 1 && slices.ContainsFunc(succs, func(to int) bool { return !exits[to] }) {
			s.keepBranch(b)
		}
	}
}

// findSteps lists the steps of each block, and the block after it.
func (s *slicer) findSteps(post *graph.Tree) {
	g := s.walk.flow
	for b, block := range g.Func.Blocks {
		for i, m := range s.marks[b] {
			if m != 0 {
				s.steps[b] = append(s.steps[b], step{in: block.Instrs[i], wanted: m&wanted != 0})
			}
		}
		switch {
		case s.matters[b] && b+1 < len(g.Succs):
			s.next[b] = b + 1 // if the branch is not taken
		case s.matters[b]:
			s.next[b] = graph.None
		case len(g.Succs[b]) == 1 && !g.Leaves[b]:
			s.next[b] = g.Succs[b][0]
		default:
			s.next[b] = post.Parent[b]
		}
	}
}
