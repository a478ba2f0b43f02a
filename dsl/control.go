// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl

import (
	"fmt"
	"iter"

	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
)

// A loop is a kernel loop whose body is being built.
type loop struct {
	top, end, next *ir.Block
	depth          int  // number of scopes that enclose the loop
	hasBreak       bool // a Break or BreakIf leaves the loop
	exitsBefore    int  // number of exits in the kernel before the loop; see noteExit
}

// newBlock returns a basic block with a label, whose name is derived from hint. The caller
// appends the block to the kernel with place.
func (k *Kernel) newBlock(hint string) *ir.Block {
	name := unique(hint, k.names)
	k.names[name] = true
	return &ir.Block{Labels: []ir.Label{{Name: name, Pos: k.m.calls.Here()}}}
}

// branch emits an unconditional branch.
func (k *Kernel) branch(to *ir.Block) {
	if k.cur != nil {
		k.ins("bra", k.naming(ir.Jump, to, 0))
	}
}

// branchIf emits a branch that is taken if p is true, or false if not is set.
func (k *Kernel) branchIf(p Reg[Pred], not bool, to *ir.Block) {
	p = p.register()
	o := p.in(k)
	was := k.guard
	if was.Reg != nil {
		k.fault(&ruleOperand, "branch is inside When, which predicates single instructions; use If")
	}
	if r := o.Reg; r != nil {
		k.guard = ir.Guard{Reg: r, Not: not}
	}
	k.ins("bra", k.naming(ir.Jump, to, 0))
	k.guard = was
}

// inside builds body in a new scope. what describes the scope in messages.
func (k *Kernel) inside(what string, body func()) {
	if !k.checkFunctions(what, body != nil) {
		return
	}
	k.enter(what)
	k.m.calls.Run(body)
	k.leave()
}

// If executes then if p is true. If p is false it executes the function otherwise, if one is
// given.
func (k *Kernel) If(p Reg[Pred], then func(), otherwise ...func()) {
	k = k.sound()
	end := k.newBlock("endif")
	to := end
	if len(otherwise) > 0 {
		to = k.newBlock("else")
	}
	k.branchIf(p, true, to)
	k.emitIf(p, false, func() { k.inside("an If", then) })
	if len(otherwise) > 0 {
		k.branch(end)
		k.place(to)
		k.emitIf(p, true, func() { k.inside("an else", otherwise[0]) })
	}
	if len(otherwise) > 1 {
		k.fault(&ruleOperand, "If takes one function for the else branch, got %d", len(otherwise))
	}
	k.place(end)
}

// When predicates the instructions that body emits with p (@p), instead of branching. The body
// must not emit branches or loops.
func (k *Kernel) When(p Reg[Pred], body func()) {
	k = k.sound()
	p = p.register()
	o := p.in(k)
	if k.guard.Reg != nil {
		k.fault(&ruleOperand,
			"When is nested in When, but an instruction has only one predicate; combine the conditions with And")
	}
	was := k.guard
	k.guard = ir.Guard{Reg: o.Reg}
	k.emitIf(p, false, func() { k.inside("a When", body) })
	k.guard = was
}

// Unless predicates the instructions that body emits with the negation of p (@!p), as When does.
func (k *Kernel) Unless(p Reg[Pred], body func()) {
	k = k.sound()
	p = p.register()
	o := p.in(k)
	if k.guard.Reg != nil {
		k.fault(&ruleOperand,
			"Unless is nested in When, but an instruction has only one predicate; combine the conditions with And")
	}
	was := k.guard
	k.guard = ir.Guard{Reg: o.Reg, Not: true}
	k.emitIf(p, true, func() { k.inside("an Unless", body) })
	k.guard = was
}

// Range returns a loop from lo up to, but not including, hi. It is used in a Go range statement,
// whose body is built once.
//
//	for i := range k.Range(k.U32(0), n) { ... }
func (k *Kernel) Range(lo, hi Reg[U32]) iter.Seq[Reg[U32]] { return RangeOf(lo, hi, k.U32(1)) }

// RangeI returns the loop of Range for Go integers as bounds.
func (k *Kernel) RangeI(lo, hi int) iter.Seq[Reg[U32]] {
	return RangeOf(k.U32(lo), k.U32(hi), k.U32(1))
}

// RangeStep returns a loop from lo up to, but not including, hi in increments of step.
func (k *Kernel) RangeStep(lo, hi, step Reg[U32]) iter.Seq[Reg[U32]] {
	return RangeOf(lo, hi, step)
}

// NoUnroll returns the loop with a pragma that prevents ptxas from unrolling it: for i := range
// k.NoUnroll(k.Range(lo, hi)). Go loops that do not range over a kernel loop are always unrolled.
func (k *Kernel) NoUnroll(loop iter.Seq[Reg[U32]]) iter.Seq[Reg[U32]] {
	k = k.sound()
	return func(yield func(Reg[U32]) bool) {
		if !k.checkFunctions("NoUnroll", loop != nil) {
			return
		}
		k.noUnroll = true
		loop(yield)
	}
}

// GridStride returns a grid-stride loop. Each thread starts at its index in the grid, and adds the
// number of threads in the grid until it reaches n. The loop covers all indices for every launch
// configuration.
func (k *Kernel) GridStride(n Reg[U32]) iter.Seq[Reg[U32]] {
	first := k.CTAID().X.Mad(k.NTID().X, k.TID().X)
	step := k.NCTAID().X.Mul(k.NTID().X)
	return RangeOf(first, n, step)
}

// RangeOf returns a loop from lo up to, but not including, hi in increments of step. It is
// Kernel.RangeStep for any integer type.
func RangeOf[T Scalar](lo, hi, step Reg[T]) iter.Seq[Reg[T]] {
	return func(yield func(Reg[T]) bool) {
		k := kernelOf(lo, hi)
		if k == nil {
			return
		}
		if step.IsConstant() &&
			(step.bits == 0 || step.bits < 0 && TypeOf[T]().Class() == isa.Signed) {
			k.fault(&ruleLoop, "loop step is %d, expected a positive number", step.bits)
		}
		if hi.IsConstant() && hi.bits == 0 && !lo.IsConstant() &&
			TypeOf[T]().Class() == isa.Unsigned {
			k.warn(k.m.calls.Here(),
				"loop never runs: it counts up to 0; the first argument is the start, the second the exclusive end")
		}
		i, hi, step := duplicate(lo), hi.snapshot(), step.snapshot()
		top, l := k.newBlock("loop"), k.newLoop()
		var empty Reg[Pred]
		if !lo.IsConstant() || !hi.IsConstant() || lo.bits >= hi.bits {
			empty = i.GE(hi)
			k.branchIf(empty, false, l.end)
		}
		k.place(top)
		if k.noUnroll {
			k.noUnroll = false
			k.Pragma("nounroll")
		}
		k.enter("a loop")
		index := i
		// after the loop the variable holds the value that ended the loop
		index.scope = k.scope()
		k.emitUnder(ir.Condition{Reg: empty.r, Not: true, Loop: true}, empty.r == nil, true,
			func() {
				k.m.calls.Run(func() {
					if !yield(index) {
						k.fault(&ruleLoop,
							"Go break or return leaves the body of a kernel loop, which is built only once; use k.Break or k.BreakIf")
					}
				})
			})
		k.leave()
		k.closeLoop(l, func() {
			o := i.in(k)
			k.ins(k.spell(doAdd, i.Type(), nil), o, o, step.in(k))
			k.branchIf(i.LT(hi), false, top)
		})
		last := ir.Counter{Reg: i.r}
		if lo.IsConstant() && hi.IsConstant() && step.IsConstant() && step.bits > 0 &&
			hi.bits > lo.bits && !l.hasBreak && l.exitsBefore == k.exitCount {
			last.Last, last.Known = lo.bits+(hi.bits-1-lo.bits)/step.bits*step.bits, true
		}
		if k.notes.Counters == nil {
			k.notes.Counters = make([]ir.Counter, 0, 4)
		}
		k.notes.Counters = append(k.notes.Counters, last)
	}
}

// While repeats body while cond, which is evaluated before each iteration, is true.
func (k *Kernel) While(cond func() Reg[Pred], body func()) {
	k = k.sound()
	if !k.checkFunctions("While", cond != nil, body != nil) {
		return
	}
	top, l := k.newBlock("while"), k.newLoop()
	l.top = top
	k.place(top)
	var p Reg[Pred]
	k.inside("a loop", func() {
		p = cond()
		k.branchIf(p, true, l.end)
		k.emitUnder(ir.Condition{Reg: p.r, Loop: true}, p.r == nil, true, body)
	})
	k.closeLoop(l, func() { k.branch(top) })
	k.noteLoop(l, p.r, p.IsConstant() && p.bits != 0)
}

// Loop repeats body until Break or Return leaves it.
func (k *Kernel) Loop(body func()) {
	k = k.sound()
	top, l := k.newBlock("loop"), k.newLoop()
	l.top = top
	k.place(top)
	k.emitUnder(ir.Condition{}, true, true, func() { k.inside("a loop", body) })
	k.closeLoop(l, func() { k.branch(top) })
	k.noteLoop(l, nil, body != nil)
}

func (k *Kernel) newLoop() *loop {
	if k.guard.Reg != nil {
		k.fault(&ruleOperand, "loop is inside When, which predicates single instructions; use If")
	}
	l := &loop{end: k.newBlock("done"), depth: len(k.open), exitsBefore: k.exitCount}
	k.loops = append(k.loops, l)
	return l
}

// closeLoop ends the innermost loop. The function again emits the branch back to the loop header.
func (k *Kernel) closeLoop(l *loop, again func()) {
	if l.next != nil {
		k.place(l.next)
	}
	if k.cur != nil {
		again()
	}
	k.loops = k.loops[:len(k.loops)-1]
	k.place(l.end)
}

// innermost returns the loop to which Break and Continue apply. Outside loops it reports the call
// what and returns nil.
func (k *Kernel) innermost(what string) *loop {
	if len(k.loops) == 0 {
		k.fault(&ruleLoop, "%s is called outside of a kernel loop", what)
		return nil
	}
	return k.loops[len(k.loops)-1]
}

// Break ends the innermost kernel loop.
func (k *Kernel) Break() {
	k = k.sound()
	if l := k.innermost("Break"); l != nil {
		k.out, l.hasBreak = true, true
		k.branch(l.end)
	}
}

// BreakIf ends the innermost kernel loop if p is true.
func (k *Kernel) BreakIf(p Reg[Pred]) {
	k = k.sound()
	if l := k.innermost("BreakIf"); l != nil {
		l.hasBreak = true
		k.branchIf(p, false, l.end)
		k.addExitCondition(p, false)
	}
}

// Continue starts the next iteration of the innermost kernel loop.
func (k *Kernel) Continue() {
	k = k.sound()
	if l := k.innermost("Continue"); l != nil {
		k.out = true
		k.branch(l.nextBlock(k))
	}
}

// ContinueIf starts the next iteration of the innermost kernel loop if p is true.
func (k *Kernel) ContinueIf(p Reg[Pred]) {
	k = k.sound()
	if l := k.innermost("ContinueIf"); l != nil {
		k.branchIf(p, false, l.nextBlock(k))
		k.addExitCondition(p, false)
	}
}

// nextBlock returns the block that starts the next iteration, which it creates if necessary.
func (l *loop) nextBlock(k *Kernel) *ir.Block {
	if l.next == nil {
		l.next = k.newBlock("next")
	}
	return l.next
}

// Switch executes cases[x], with a jump table. If x is not below the number of cases, it executes
// nothing.
func (k *Kernel) Switch(x Reg[U32], cases ...func()) {
	k = k.sound()
	if len(cases) > 0 {
		end := k.newBlock("endswitch")
		k.choose(x, end, end, cases)
		k.place(end)
	}
}

// SwitchDefault executes cases[x], as Switch does, or otherwise if x is not below the number of
// cases.
func (k *Kernel) SwitchDefault(x Reg[U32], otherwise func(), cases ...func()) {
	k = k.sound()
	end, other := k.newBlock("endswitch"), k.newBlock("default")
	if len(cases) > 0 {
		k.choose(x, other, end, cases)
		k.branch(end)
	}
	k.place(other)
	k.emitUnder(ir.Condition{}, false, false, func() { k.inside("a default", otherwise) })
	k.place(end)
}

// choose emits a jump table to the cases. Each case branches to end, except the last, which falls
// through; an x without a case branches to other.
func (k *Kernel) choose(x Reg[U32], other, end *ir.Block, cases []func()) {
	k.branchIf(x.GEI(int64(len(cases))), false, other)
	name := unique("cases", k.names)
	k.names[name] = true
	list := &ir.Targets{Name: name}
	for i := range cases {
		list.Blocks = append(list.Blocks, k.newBlock(fmt.Sprintf("case%d", i)))
	}
	k.f.Targets = append(k.f.Targets, list)
	k.ins("brx.idx", x.register().in(k), k.naming(ir.List, list, 0))
	for i, body := range cases {
		k.place(list.Blocks[i])
		k.emitUnder(ir.Condition{}, false, false, func() { k.inside("a case", body) })
		if i < len(cases)-1 {
			k.branch(end)
		}
	}
}

// Return ends the thread. In a device function it returns to the caller.
func (k *Kernel) Return() {
	k = k.sound()
	if !k.f.Kernel {
		k.returns = append(k.returns, k.m.calls.Here())
	}
	k.left = true
	k.ins("ret")
}

// ReturnIf ends the thread if p is true.
func (k *Kernel) ReturnIf(p Reg[Pred]) {
	k = k.sound()
	parted := k.isDivergent
	k.When(p, k.Return)
	k.isDivergent = parted
	k.addExitCondition(p, true)
}

// Exit ends the thread, even inside a device function.
func (k *Kernel) Exit() {
	k = k.sound()
	k.left = true
	k.ins("exit")
}

// Trap aborts the kernel with an error.
func (k *Kernel) Trap() {
	k = k.sound()
	k.left = true
	k.ins("trap")
}
