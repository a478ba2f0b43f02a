// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package emu

import (
	"fmt"

	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/passes/analysis/graph"
)

// program returns the decoded form of a function. The result is cached.
func (im *image) program(fn *ir.Func) *program {
	if p := im.programs[fn]; p != nil {
		return p
	}
	p := &program{fn: fn}
	im.programs[fn] = p
	d := &decoder{
		image: im, prog: p, slots: make(map[*ir.Reg]slot), local: make(map[*ir.Var]uint64),
		index: make(map[*ir.Block]int, len(fn.Blocks)), start: make([]int, len(fn.Blocks)),
	}
	d.registersOf(fn)
	p.slots = d.slots
	p.unset = d.unsetOf(fn)
	d.memoryOf(fn)
	meets := meetings(fn)
	for i, b := range fn.Blocks {
		d.index[b] = i
	}
	line := int32(0)
	var label *ir.Label
	for i, b := range fn.Blocks {
		if n := len(b.Labels); n > 0 {
			label = &b.Labels[n-1]
		}
		d.start[i] = len(p.code)
		leader := true
		for j, in := range b.Instrs {
			if in.Directive() {
				if n, ok := im.module.lineOf(in); ok {
					line = n
				}
				continue
			}
			d.in, d.rest = in, b.Instrs[j+1:]
			from := line
			if from == 0 {
				from = im.module.originOf(in)
			}
			p.code = append(p.code, command{guard: -1, at: in, source: from, leader: leader})
			leader = d.emit(meets[i])
			for len(p.labels) < len(p.code) {
				p.labels = append(p.labels, label)
			}
		}
	}
	p.epilogue = len(p.code)
	p.labels = append(p.labels, label)
	p.code = append(p.code, command{guard: -1, leader: true, run: finish, at: nil})
	if fn.Kernel {
		p.code[p.epilogue].run = func(w *warp, mask uint32) action { return w.end(mask) }
	}
	for i := range p.code {
		if i > 0 && i == p.epilogue {
			p.code[i].at = p.code[i-1].at
		}
	}
	for i := range fn.Blocks { // an empty block begins where the next one does
		p.code[d.start[i]].leader = true
	}
	for _, fix := range d.fixes {
		fix()
	}
	return p
}

// emit completes the command that was added last. It reports whether the next command is a place
// where lanes may reconverge.
func (d *decoder) emit(meet int) bool {
	p, in := d.prog, d.in
	at := len(p.code) - 1
	c := &p.code[at]
	whole := in.Form != nil && d.image.module.entries[in.Form.Form.Kind].whole
	if in.Guard.Reg != nil {
		s := d.slots[in.Guard.Reg]
		c.guard, c.not = s.index, in.Guard.Not
		if whole { // a branch around it
			c.not = !c.not
			around := *c
			c.run = func(w *warp, mask uint32) action {
				f := w.cur
				if mask == f.mask {
					f.pc = at + 2
					return moved
				}
				w.split(mask, at+2, at+2)
				f.pc++
				return moved
			}
			around.guard, around.leader = -1, false
			p.code = append(p.code, around)
		}
	}
	d.meet = meet
	run, err := d.decode()
	c = &p.code[len(p.code)-1]
	if err != nil {
		d.image.unsupported(in, err)
		run = func(w *warp, mask uint32) action { return w.fault(-1, nil, "%s", err) }
	}
	c.run = run
	return whole
}

// Values of a meeting point that are not the index of a block.
const (
	noMeeting  = -1 // lanes that diverge do not reconverge
	atEpilogue = -2 // lanes reconverge where the function returns
)

// meetings returns, for each block, the block at which lanes that leave it in different directions
// reconverge. Paths that end the lane are ignored, since nothing waits for lanes that take them.
func meetings(fn *ir.Func) []int {
	flow := ir.FlowOf(fn)
	n := len(flow.Succs)
	ends := make([]bool, n)
	dead := make([]bool, n) // block from which every path ends the lane
	last := -1
	for i := range flow.Succs {
		if in := fn.Blocks[i].Last(); len(flow.Succs[i]) == 0 {
			returns := in == nil || in.Form == nil || in.Form.Form.Kind == isa.KindRet
			if fn.Kernel || returns {
				last = i
			}
			dead[i] = fn.Kernel || !returns
			ends[i] = true
		} else if flow.Leaves[i] && !fn.Kernel {
			ends[i] = true
		}
	}
	if last >= 0 {
		dead[last] = false
	}
	for changed := true; changed; {
		changed = false
		for i := n - 1; i >= 0; i-- {
			if dead[i] || len(flow.Succs[i]) == 0 {
				continue
			}
			all := true
			for _, s := range flow.Succs[i] {
				all = all && dead[s]
			}
			if all {
				dead[i], changed = true, true
			}
		}
	}
	succs, preds := make([][]int, n), make([][]int, n)
	for i, list := range flow.Succs {
		for _, s := range list {
			if !dead[s] || dead[i] {
				succs[i] = append(succs[i], s)
				preds[s] = append(preds[s], i)
			}
		}
	}
	tree := graph.Postdominators(succs, preds, ends)
	list := make([]int, n)
	for i := range list {
		list[i] = noMeeting
		if tree.Parent[i] != graph.None {
			list[i] = tree.Parent[i]
		} else if !fn.Kernel && !dead[i] {
			list[i] = atEpilogue
		}
		if m := list[i]; m >= 0 && fn.Kernel && m == last && alone(fn.Blocks[m]) {
			list[i] = noMeeting // all lanes exit before they could meet
		}
	}
	return list
}

// alone reports whether a block consists only of an instruction that ends its lanes, such as exit.
func alone(b *ir.Block) bool {
	n := 0
	for _, in := range b.Instrs {
		if !in.Directive() {
			n++
		}
	}
	in := b.Last()
	return n == 0 || n == 1 && in.Has(isa.EffectTerminator)
}

// registersOf assigns slots to the registers of a function.
func (d *decoder) registersOf(fn *ir.Func) {
	p := d.prog
	give := func(r *ir.Reg) {
		if _, given := d.slots[r]; given {
			return
		}
		if r.Type == isa.Predicate {
			d.slots[r] = slot{index: int32(p.preds), pred: true, n: 1}
			p.preds++
			return
		}
		n := max(1, int(r.Vec)) * max(1, r.Type.Bits()/64)
		d.slots[r] = slot{index: int32(p.regs), bits: r.Type.Bits(), n: n}
		p.regs += n
	}
	for _, r := range fn.Regs {
		give(r)
	}
	for _, v := range append(append([]*ir.Var(nil), fn.Params...), fn.Results...) {
		if v.Reg != nil {
			give(v.Reg)
		}
	}
}

// memoryOf lays out the parameters and the local variables of a function.
func (d *decoder) memoryOf(fn *ir.Func) {
	p := d.prog
	if fn.Kernel {
		at := uint64(0)
		for _, v := range fn.Params {
			at = up(at, uint64(v.Alignment()))
			d.local[v] = at
			at += uint64(v.Size())
		}
		p.params = []place{{size: int(at)}}
	}
	top := uint64(0)
	allocate := func(v *ir.Var) place {
		if v.Reg != nil {
			s := d.slots[v.Reg]
			q := place{size: v.Type.Bits() / 8}
			for i := range s.n {
				q.regs = append(q.regs,
					ref{kind: kindOfSlot(s), index: s.index + int32(i), bits: s.bits})
			}
			return q
		}
		top = up(top, uint64(v.Alignment()))
		at := top
		d.local[v] = at
		top += uint64(v.Size())
		return place{at: int(at), size: int(v.Size())}
	}
	if !fn.Kernel {
		for _, v := range fn.Params {
			p.params = append(p.params, allocate(v))
		}
		for _, v := range fn.Results {
			p.results = append(p.results, allocate(v))
		}
	}
	for _, v := range fn.Vars {
		if s := v.Space.Base(); s == isa.Local || s == isa.Param {
			allocate(v)
		}
	}
	if top > maxLocalBytes {
		d.image.problem(fn.Pos,
			fmt.Errorf("kernel needs %d bytes of local memory per thread, but a thread has at most %d", top, maxLocalBytes))
		top = 0
	}
	p.local = int(top)
}

func kindOfSlot(s slot) refKind {
	if s.pred {
		return refPredicate
	}
	return refRegister
}

// up returns x, rounded up to a multiple of align, which is a power of two.
func up(x, align uint64) uint64 { return (x + align - 1) &^ (align - 1) }

// paramBytes returns the total size of a kernel's parameters in bytes.
func (p *program) paramBytes() int { return p.params[0].size }
