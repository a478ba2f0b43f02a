// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package trace

import (
	"slices"
	"strconv"

	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
)

// Bounds on what calls make of a kernel.
const (
	deepest = 32     // calls in calls
	largest = 60_000 // instructions, with those of functions that are entered
	perCopy = 4      // steps that each of those is worth
)

// An inliner puts device functions in place of their calls, in a copy of a kernel: a function is followed in
// each place with what it is given there.
type inliner struct {
	m      *ir.Module
	out    *ir.Func
	quiet  func(*ir.Func) bool     // which take no part and are left alone
	find   func(*ir.Func) *ir.Func // the definition of a function
	binder *ir.Binder
	stack  []*ir.Func
	calls  []*ir.Instr
	size   int
	// largest is what size may be before no more functions are entered.
	largest int
	// callers are the calls through which an instruction of the copy is reached, innermost last.
	callers map[*ir.Instr][]*ir.Instr
}

// A frame is one function being copied: what its names stand for in the copy.
type frame struct {
	regs   map[*ir.Reg]*ir.Reg // nil for the kernel, whose registers stay
	params map[*ir.Var]*ir.Var // of the function, and what the caller calls them
	blocks map[*ir.Block]*ir.Block
	lists  map[*ir.Targets]*ir.Targets
	slots  map[slot]*ir.Reg // what is passed through the space of parameters
	back   *ir.Block        // where ret goes; nil in the kernel
}

// A slot is a part of a variable through which parameters and results are passed.
type slot struct {
	v    *ir.Var
	at   int64
	bits int
}

// inline is the kernel with the calls of functions of its module replaced by what these do, where they take part.
func (p *program) inline() (*ir.Func, map[*ir.Instr][]*ir.Instr) {
	m, f := p.k.Module, p.k.Func
	n := &inliner{m: m, quiet: func(g *ir.Func) bool { return p.isQuiet(g, 0) }, find: p.definition, binder: ir.NewBinder(m.Version, m.Target), callers: make(map[*ir.Instr][]*ir.Instr),
		largest: p.k.Within(perCopy*largest) / perCopy}
	out := *f
	n.out = &out
	out.Blocks, out.Regs = nil, slices.Clip(f.Regs)
	n.copy(f, &frame{slots: make(map[slot]*ir.Reg)})
	p.k.Spent += perCopy * n.size
	return n.out, n.callers
}

// copy appends the blocks of a function.
func (n *inliner) copy(f *ir.Func, c *frame) {
	c.blocks, c.lists = make(map[*ir.Block]*ir.Block, len(f.Blocks)), make(map[*ir.Targets]*ir.Targets)
	for _, b := range f.Blocks {
		c.blocks[b] = &ir.Block{Labels: b.Labels}
	}
	n.stack = append(n.stack, f)
	for _, b := range f.Blocks {
		now := c.blocks[b]
		n.out.Blocks = append(n.out.Blocks, now)
		for _, in := range b.Instrs {
			if g := n.enters(in); g != nil {
				now = n.call(in, g, c, now)
				continue
			}
			for _, made := range n.instr(in, c) {
				now.Instrs = append(now.Instrs, made)
				n.size++
				if len(n.calls) > 0 {
					n.callers[made] = n.calls
				}
			}
		}
	}
	n.stack = n.stack[:len(n.stack)-1]
}

// enters is the function that a call is replaced by, or nil.
func (n *inliner) enters(in *ir.Instr) *ir.Func {
	if in.Directive() || in.Head() != "call" {
		return nil
	}
	f := callee(in)
	if f == nil {
		return nil
	}
	g := n.find(f)
	if !g.Defined || g.Kernel || len(g.Blocks) == 0 || n.quiet(g) || slices.Contains(n.stack, g) || len(n.stack) >= deepest || n.size > n.largest {
		return nil
	}
	results, params := passed(in)
	if len(results) != len(g.Results) || len(params) != len(g.Params) {
		return nil
	}
	return g
}

// passed is what a call gives for results and for parameters.
func passed(in *ir.Instr) (results, params []ir.Operand) {
	before := true
	for i := range in.Args {
		switch o := &in.Args[i]; {
		case o.Kind == ir.Function:
			before = false
		case o.Kind == ir.Group && before:
			results = o.Args()
		case o.Kind == ir.Group:
			params = o.Args()
		}
	}
	return results, params
}

// call puts g in place of a call, and is the block that goes on behind it.
func (n *inliner) call(in *ir.Instr, g *ir.Func, c *frame, now *ir.Block) *ir.Block {
	next := &ir.Block{Labels: []ir.Label{{Name: "behind " + g.Name}}}
	if in.Guard.Reg != nil {
		skip := n.jump(in, next)
		skip.Guard = ir.Guard{Reg: c.reg(n, in.Guard.Reg), Not: !in.Guard.Not}
		now.Instrs = append(now.Instrs, skip)
		now = &ir.Block{}
		n.out.Blocks = append(n.out.Blocks, now)
	}
	inner := &frame{regs: make(map[*ir.Reg]*ir.Reg), params: make(map[*ir.Var]*ir.Var), slots: c.slots, back: next}
	results, params := passed(in)
	var after []*ir.Instr
	for i, v := range g.Params {
		n.bind(in, v, &params[i], c, inner, func(to, from ir.Operand) { now.Instrs = append(now.Instrs, move(in, v.Type, to, from)) })
	}
	for i, v := range g.Results {
		n.bind(in, v, &results[i], c, inner, func(to, from ir.Operand) { after = append(after, move(in, v.Type, from, to)) })
	}
	was := n.calls
	n.calls = append(slices.Clip(n.calls), in)
	n.copy(g, inner)
	n.calls = was
	next.Instrs = append(next.Instrs, after...)
	n.out.Blocks = append(n.out.Blocks, next)
	return next
}

// bind makes a parameter or result of a function stand for what the call gives. Registers are moved.
func (n *inliner) bind(in *ir.Instr, v *ir.Var, given *ir.Operand, c, inner *frame, moved func(to, from ir.Operand)) {
	if v.Reg == nil {
		if w := given.Var(); w != nil {
			if outer := c.params[w]; outer != nil {
				w = outer
			}
			inner.params[v] = w
		}
		return
	}
	from := c.operand(n, *given)
	if w := given.Var(); w != nil {
		from = ir.Operand{Kind: ir.Register, Ref: c.slot(n, slot{w, given.Value, v.Type.Bits()}, v.Type)}
	}
	moved(ir.Operand{Kind: ir.Register, Ref: inner.reg(n, v.Reg)}, from)
}

// move is a move at the place of a call.
func move(in *ir.Instr, t isa.Type, to, from ir.Operand) *ir.Instr {
	return &ir.Instr{Op: "mov.b" + strconv.Itoa(max(8, t.Bits())), Args: []ir.Operand{to, from}, Pos: in.Pos}
}

// jump is a branch at the place of an instruction.
func (n *inliner) jump(in *ir.Instr, to *ir.Block) *ir.Instr {
	out := &ir.Instr{Op: "bra", Guard: in.Guard, Args: []ir.Operand{{Kind: ir.Jump, Ref: to}}, Pos: in.Pos}
	n.binder.Bind(out)
	return out
}

// instr is one instruction in the copy.
func (n *inliner) instr(in *ir.Instr, c *frame) []*ir.Instr {
	switch {
	case in.Directive():
		return []*ir.Instr{in}
	case in.Head() == "ret" && c.back != nil:
		out := n.jump(in, c.back)
		if in.Guard.Reg != nil {
			out.Guard.Reg = c.reg(n, in.Guard.Reg)
		}
		return []*ir.Instr{out}
	}
	if list := n.param(in, c); list != nil {
		return list
	}
	out := *in
	if in.Guard.Reg != nil {
		out.Guard.Reg = c.reg(n, in.Guard.Reg)
	}
	out.Args = make([]ir.Operand, len(in.Args))
	for i := range in.Args {
		out.Args[i] = c.operand(n, in.Args[i])
	}
	return []*ir.Instr{&out}
}

// param is a store or load of what is passed, as moves; nil where in is something else.
func (n *inliner) param(in *ir.Instr, c *frame) []*ir.Instr {
	head := in.Head()
	if head != "st" && head != "ld" || !in.Mod("param") || len(in.Args) != 2 {
		return nil
	}
	place, value := &in.Args[0], &in.Args[1]
	if head == "ld" {
		place, value = value, place
	}
	if place.Kind != ir.Address || len(place.Args()) != 1 || place.Args()[0].Var() == nil {
		return nil
	}
	v := place.Args()[0].Var()
	if w := c.params[v]; w != nil {
		v = w
	}
	if slices.Contains(n.out.Params, v) {
		return nil
	}
	parts := []ir.Operand{*value}
	if value.Kind == ir.Vector {
		parts = value.Args()
	}
	s := opcode(in.Op)
	var list []*ir.Instr
	for i, o := range parts {
		r := c.slot(n, slot{v, place.Args()[0].Value + int64(i*s.width/8), s.width}, isa.B64)
		to, from := ir.Operand{Kind: ir.Register, Ref: r}, c.operand(n, o)
		if head == "ld" {
			to, from = from, to
		}
		out := &ir.Instr{Op: "mov.b" + strconv.Itoa(s.width), Guard: in.Guard, Args: []ir.Operand{to, from}, Pos: in.Pos}
		if in.Guard.Reg != nil {
			out.Guard.Reg = c.reg(n, in.Guard.Reg)
		}
		list = append(list, out)
	}
	return list
}

// slot is the register for a part of a variable.
func (c *frame) slot(n *inliner, s slot, t isa.Type) *ir.Reg {
	r := c.slots[s]
	if r == nil {
		r = &ir.Reg{Name: s.v.Name, Type: t}
		c.slots[s] = r
		n.out.Regs = append(n.out.Regs, r)
	}
	return r
}

// reg is the copy of a register.
func (c *frame) reg(n *inliner, r *ir.Reg) *ir.Reg {
	if c.regs == nil {
		return r
	}
	own := c.regs[r]
	if own == nil {
		one := *r
		own = &one
		c.regs[r] = own
		n.out.Regs = append(n.out.Regs, own)
	}
	return own
}

// operand is the copy of an operand.
func (c *frame) operand(n *inliner, o ir.Operand) ir.Operand {
	switch ref := o.Ref.(type) {
	case *ir.Reg:
		o.Ref = c.reg(n, ref)
	case *ir.Var:
		if w := c.params[ref]; w != nil {
			o.Ref = w
		}
	case *ir.Block:
		if b := c.blocks[ref]; b != nil {
			o.Ref = b
		}
	case *ir.Targets:
		if len(ref.Blocks) == 0 {
			break
		}
		own := c.lists[ref]
		if own == nil {
			one := *ref
			own = &one
			own.Blocks = make([]*ir.Block, len(ref.Blocks))
			for i, b := range ref.Blocks {
				own.Blocks[i] = c.blocks[b]
			}
			c.lists[ref] = own
		}
		o.Ref = own
	}
	if from := o.Args(); len(from) > 0 {
		args := make([]ir.Operand, len(from))
		for i := range from {
			args[i] = c.operand(n, from[i])
		}
		o.More = &ir.More{Text: o.Text(), Args: args}
	}
	return o
}
