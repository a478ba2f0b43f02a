// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package walk executes single threads of the first block of a kernel, from the first instruction
// to the exit. Registers are known, unknown, or undefined because no instruction wrote them. At a
// branch on an unknown predicate, the thread follows both outcomes, one after the other. The
// package does not model memory, and threads do not interact; package trace follows
// synchronization.
package walk

import (
	"slices"

	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/passes/analysis/graph"
)

// A Choice is the outcome of a branch, or of a guard, that the walk assumed because its predicate
// is unknown. From is the origin of the predicate.
type Choice struct {
	In    *ir.Instr
	Taken bool // the guard holds
	From  Origin
}

// An Event is an instruction of the path, with the address that it accesses, if any.
type Event struct {
	In    *ir.Instr
	At    Value
	Bytes int64
}

// Limits of a walk.
const (
	maxForks   = 10   // choices on one path
	maxPaths   = 64   // paths of one thread
	maxVisits  = 3    // choices at one branch on one path
	stepsPerIn = 12   // steps per instruction of the kernel, for all threads
	minSteps   = 3000 // but at least this number
	maxSteps   = 300_000
)

// A Walk executes threads of a kernel.
type Walk struct {
	flow   *ir.Flow
	block  [3]int
	at     map[*ir.Block]int
	steps  int  // steps left
	paths  int  // paths left for the thread
	short  bool // a limit was reached
	values table
	slice  *slice
	regs   []Value  // of the current path
	trail  []change // what to restore in regs after the other outcome of a choice
	Visitor
}

// A Visitor specifies the instructions that a walk visits. The walk executes only what decides
// whether threads reach them, and what computes the registers that the visitor needs.
type Visitor struct {
	// Wants reports whether Visit is called before an instruction. It calls need for each register
	// whose value Visit uses.
	Wants func(in *ir.Instr, need func(*ir.Reg)) bool
	// Visit is called before each wanted instruction that a thread certainly executes on the path.
	// It returns whether the path is followed further.
	Visit func(*Path, *ir.Instr) bool
	// End is nil, or is called for each path at the exit of the kernel.
	End func(*Path)
}

// A change is the value of a register before an instruction changed it.
type change struct {
	register int
	before   Value
}

// A Path is the state of one thread between two instructions of a path. Its registers can be read
// only while the walk visits the path.
type Path struct {
	Thread  int
	Choices []Choice
	Seen    []Event // instructions that the visitor recorded on the path
	walk    *Walk
	decided []decision
	ranges  []interval
}

// New returns a walk of a kernel. block is the block size, or zeros if the launch chooses it.
func New(g *ir.Flow, block [3]int, v Visitor) *Walk {
	w := &Walk{flow: g, block: block, at: make(map[*ir.Block]int), Visitor: v}
	n := 0
	for i, b := range g.Func.Blocks {
		w.at[b] = i
		n += len(b.Instrs)
	}
	w.steps = min(max(stepsPerIn*n, minSteps), maxSteps)
	w.values = newTable()
	w.regs = make([]Value, len(g.Func.Regs))
	w.slice = w.newSlice()
	return w
}

// Block returns the number of threads of a block, or 0 if the launch chooses it.
func (w *Walk) Block() int { return w.block[0] * w.block[1] * w.block[2] }

// IsEmpty reports whether the kernel has no instruction that the visitor wants.
func (w *Walk) IsEmpty() bool { return w.slice.wanted == 0 }

// Unreached returns the wanted instructions that no thread reached although it might, because of
// the limits of steps, paths and choices.
func (w *Walk) Unreached() (list []*ir.Instr) {
	for _, steps := range w.slice.steps {
		for _, s := range steps {
			if w.short && s.wanted && !s.seen {
				list = append(list, s.in)
			}
		}
	}
	return list
}

// Thread executes one thread on all paths, within the limits.
func (w *Walk) Thread(thread int) {
	w.paths = maxPaths
	p := &Path{Thread: thread, walk: w}
	for i, r := range w.flow.Func.Regs {
		if w.regs[i] = w.values.fresh(Data); w.slice.needed[i] {
			w.regs[i] = Value{Kind: Undefined, Reg: r}
		}
	}
	for _, v := range w.flow.Func.Params {
		if v.Reg != nil {
			p.set(v.Reg, w.values.fresh(Launch))
		}
	}
	w.trail = w.trail[:0]
	p.run(0, 0)
}

// number returns the index of a register of the function, or -1.
func (w *Walk) number(r *ir.Reg) int {
	if n := int(r.Number); n < len(w.flow.Func.Regs) && w.flow.Func.Regs[n] == r {
		return n
	}
	return -1
}

func (p *Path) set(r *ir.Reg, v Value) {
	w := p.walk
	if n := w.number(r); n >= 0 {
		w.trail = append(w.trail, change{n, w.regs[n]})
		w.regs[n] = v
	}
}

// Reg returns the value of a register.
func (p *Path) Reg(r *ir.Reg) Value {
	if n := p.walk.number(r); n >= 0 {
		return p.resolve(p.walk.regs[n])
	}
	return p.walk.values.fresh(Data)
}

// clone returns a copy of p that continues with another outcome of the last choice.
func (p *Path) clone() *Path {
	c := *p
	c.Choices, c.Seen = slices.Clone(p.Choices), slices.Clone(p.Seen)
	c.decided, c.ranges = slices.Clone(p.decided), slices.Clone(p.ranges)
	return &c
}

// run executes the path from a step of a block.
func (p *Path) run(block, first int) {
	w := p.walk
	for block != graph.None && w.slice.reaches[block] {
		next := w.slice.next[block]
		steps := w.slice.steps[block]
		for i := first; i < len(steps); i++ {
			in := steps[i].in
			if w.steps--; w.steps <= 0 {
				w.short = true
				return
			}
			runs, ok := p.guard(&steps[i], block, i)
			steps[i].seen = steps[i].seen || ok
			if !ok || runs && steps[i].wanted && !w.Visit(p, in) {
				return
			}
			if !runs {
				continue
			}
			if in.Ends() {
				if in.Has(isa.EffectTerminator) {
					p.leave()
					return
				}
				if next = p.target(in); next < 0 {
					w.short = true
					return
				}
				break
			}
			p.execute(in)
		}
		block, first = next, 0
	}
	p.leave()
}

// leave ends the path at the exit of the kernel.
func (p *Path) leave() {
	if p.walk.End != nil {
		p.walk.End(p)
	}
}

// guard returns whether the guard of an instruction holds. If it is unknown and matters, the walk
// first continues with the guard false. ok is false if the path ends here.
func (p *Path) guard(s *step, block, i int) (runs, ok bool) {
	in := s.in
	if in.Guard.Reg == nil {
		return true, true
	}
	v := p.Reg(in.Guard.Reg)
	if in.Guard.Not {
		v = v.negated()
	}
	switch {
	case v.Kind == Known:
		return v.N != 0, true
	case v.Kind != Unknown:
		if s.wanted {
			p.walk.Visit(p, in)
		}
		return false, false // an undefined predicate
	case !in.Ends() && !p.touchesUndefined(in):
		p.blur(in, v)
		return false, true
	}
	return true, p.fork(in, v, block, i)
}

// fork follows the path on which the guard v of instruction i of a block does not hold, and
// assumes for p that it holds. ok is false if a limit is reached.
func (p *Path) fork(in *ir.Instr, v Value, block, i int) (ok bool) {
	again := 0
	for _, c := range p.Choices {
		if c.In == in {
			again++
		}
	}
	if again >= maxVisits {
		return false
	}
	if len(p.Choices) >= maxForks || p.walk.paths <= 0 {
		p.walk.short = true
		return false
	}
	p.walk.paths--
	mark := len(p.walk.trail)
	other := p.clone()
	other.Choices = append(other.Choices, Choice{in, false, v.From})
	if other.assume(v, false) {
		other.run(block, i+1)
	}
	p.walk.restore(mark)
	p.Choices = append(p.Choices, Choice{in, true, v.From})
	return p.assume(v, true)
}

// restore undoes all changes of registers since the trail had the given length.
func (w *Walk) restore(mark int) {
	for i := len(w.trail) - 1; i >= mark; i-- {
		w.regs[w.trail[i].register] = w.trail[i].before
	}
	w.trail = w.trail[:mark]
}

// touchesUndefined reports whether an instruction reads or writes a register that is undefined.
func (p *Path) touchesUndefined(in *ir.Instr) (found bool) {
	in.Registers(func(r *ir.Reg, _ isa.Access) { found = found || p.Reg(r).Kind == Undefined })
	return found
}

// blur makes the registers that an instruction under an unknown guard writes unknown.
func (p *Path) blur(in *ir.Instr, guard Value) {
	in.Registers(func(r *ir.Reg, a isa.Access) {
		if a != isa.Read {
			p.set(r, p.walk.values.fresh(max(guard.From, Data)))
		}
	})
}

// target returns the block to which a branch or an exit leads, or -1 if the path ends there.
func (p *Path) target(in *ir.Instr) int {
	if in.Kind() != isa.KindBra || len(in.Args) == 0 {
		return -1
	}
	if b, ok := p.walk.at[in.Args[0].Block()]; ok {
		return b
	}
	return -1
}
