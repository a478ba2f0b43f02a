// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package trace

import (
	"slices"
	"strconv"

	"github.com/ptxdsl/ptxdsl/internal/slab"
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
)

// Limits of inlining.
const (
	maxCallDepth = 32     // maximum nesting depth of calls
	maxInlined   = 60_000 // maximum number of instructions, including inlined functions
	stepsPerCopy = 4      // steps charged per copied instruction
)

// An inliner replaces calls of device functions by their bodies, in a copy of a kernel. Inlining
// lets the analysis evaluate a function separately for each call, with that call's arguments.
// Unchanged instructions are shared with the kernel.
type inliner struct {
	m      *ir.Module
	out    *ir.Func
	quiet  func(*ir.Func) bool     // reports whether a function is irrelevant and is not inlined
	find   func(*ir.Func) *ir.Func // returns the definition of a function
	binder *ir.Binder              // nil until an instruction is bound
	bodies map[*ir.Func]body
	stack  []*ir.Func
	from   *Caller // call whose function is being copied
	size   int
	// maxSize is the size above which no more functions are inlined.
	maxSize int
	// callers maps an instruction of the copy to the chain of calls that leads to it.
	callers map[*ir.Instr]*Caller
	instrs  slab.Of[ir.Instr]
	args    slab.Of[ir.Operand]
	blocks  slab.Of[ir.Block]
}

// A Caller is a call through which an instruction of a device function is reached, linked to the
// outer call.
type Caller struct {
	Call *ir.Instr
	From *Caller // nil if the kernel makes the call
}

// A body holds properties of a function.
type body struct {
	size   int  // number of instructions in its copy, including inlined functions
	looped bool // a branch leads to its first block
}

// inline returns a copy of the kernel in which calls of relevant functions are inlined, and the
// callers of the copied instructions.
func (p *program) inline() (*ir.Func, map[*ir.Instr]*Caller) {
	m, f := p.k.Module, p.k.Func
	n := &inliner{m: m, quiet: func(g *ir.Func) bool { return p.isQuiet(g, 0) }, find: p.definition,
		bodies:  make(map[*ir.Func]body),
		maxSize: p.k.Within(stepsPerCopy*maxInlined) / stepsPerCopy}
	size := n.body(f).size
	if size > n.maxSize {
		n.maxSize /= 2 // not all calls fit; leave steps for the analysis of the copy
	}
	n.callers = make(map[*ir.Instr]*Caller, min(size, n.maxSize))
	out := *f
	n.out = &out
	out.Blocks, out.Regs = nil, slices.Clip(f.Regs)
	n.copy(f, &frame{slots: make(map[slot]*ir.Reg)}, n.block())
	p.k.Spent += stepsPerCopy * n.size
	return n.out, n.callers
}

// body computes the properties of a function.
func (n *inliner) body(f *ir.Func) body {
	b, met := n.bodies[f]
	if met {
		return b
	}
	n.bodies[f] = b // recursive calls are not inlined, so their size is 0
	n.stack = append(n.stack, f)
	for _, from := range f.Blocks {
		b.size += len(from.Instrs)
		for _, in := range from.Instrs {
			if g := n.inlinedCallee(in); g != nil {
				b.size = min(b.size+n.body(g).size, 2*maxInlined)
			}
		}
		b.looped = b.looped || mayBranchTo(from.Last(), f.Blocks[0])
	}
	n.stack = n.stack[:len(n.stack)-1]
	n.bodies[f] = b
	return b
}

// mayBranchTo reports whether an instruction may branch to a block.
func mayBranchTo(in *ir.Instr, to *ir.Block) bool {
	if in == nil || !in.Ends() {
		return false
	}
	for i := range in.Args {
		switch ref := in.Args[i].Ref().(type) {
		case *ir.Block:
			if ref == to {
				return true
			}
		case *ir.Targets:
			if slices.Contains(ref.Blocks, to) {
				return true
			}
		}
	}
	return false
}

// block appends an empty block to the copy.
func (n *inliner) block() *ir.Block {
	b := slab.One(&n.blocks)
	n.out.Blocks = append(n.out.Blocks, b)
	return b
}

// copy appends the body of f to block now, and returns the block that follows the body.
func (n *inliner) copy(f *ir.Func, c *frame, now *ir.Block) *ir.Block {
	if len(f.Blocks) > 1 || n.body(f).looped {
		c.blocks = make(map[*ir.Block]*ir.Block, len(f.Blocks))
		for _, b := range f.Blocks {
			c.blocks[b] = slab.One(&n.blocks)
			c.blocks[b].Labels = b.Labels
		}
	}
	n.stack = append(n.stack, f)
	for i, b := range f.Blocks {
		if i > 0 || n.body(f).looped {
			now = c.blocks[b]
			n.out.Blocks = append(n.out.Blocks, now)
		} else if c.blocks != nil {
			c.blocks[b] = now
		}
		now.Instrs = slices.Grow(now.Instrs, len(b.Instrs))
		for j, in := range b.Instrs {
			if g := n.inlinedCallee(in); g != nil {
				now = n.call(in, g, c, now)
				continue
			}
			if c.inner && i == len(f.Blocks)-1 && j == len(b.Instrs)-1 &&
				in.Kind() == isa.KindRet && in.Guard.Reg == nil {
				break // the code after the call follows without a branch
			}
			at := len(now.Instrs)
			now.Instrs = n.instr(now.Instrs, in, c)
			n.size += len(now.Instrs) - at
			if n.from != nil {
				for _, made := range now.Instrs[at:] {
					n.callers[made] = n.from
				}
			}
		}
	}
	n.stack = n.stack[:len(n.stack)-1]
	return now
}

// inlinedCallee returns the function that a call enters and that must be inlined, or nil.
func (n *inliner) inlinedCallee(in *ir.Instr) *ir.Func {
	if in.Directive() || in.Kind() != isa.KindCall {
		return nil
	}
	f := callee(in)
	if f == nil {
		return nil
	}
	g := n.find(f)
	if !g.Defined || g.Kernel || len(g.Blocks) == 0 || n.quiet(g) || slices.Contains(n.stack, g) ||
		len(n.stack) >= maxCallDepth || n.size > n.maxSize {
		return nil
	}
	results, params := callOperands(in)
	if len(results) != len(g.Results) || len(params) != len(g.Params) {
		return nil
	}
	return g
}

// callOperands returns the result operands and the arguments of a call.
func callOperands(in *ir.Instr) (results, params []ir.Operand) {
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

// call inlines g for a call, and returns the block that follows the call.
func (n *inliner) call(in *ir.Instr, g *ir.Func, c *frame, now *ir.Block) *ir.Block {
	inner := &frame{inner: true, slots: c.slots}
	if in.Guard.Reg != nil {
		skip := n.jump(in, inner.blockAfterCall(n))
		skip.Guard = ir.Guard{Reg: c.reg(n, in.Guard.Reg), Not: !in.Guard.Not}
		now.Instrs = append(now.Instrs, skip)
		now = n.block()
	}
	results, params := callOperands(in)
	var after []*ir.Instr
	for i, v := range g.Params {
		n.bind(in, v, &params[i], c, inner, func(to, from ir.Operand) {
			now.Instrs = append(now.Instrs, move(in, v.Type, to, from))
		})
	}
	for i, v := range g.Results {
		n.bind(in, v, &results[i], c, inner, func(to, from ir.Operand) {
			after = append(after, move(in, v.Type, from, to))
		})
	}
	was := n.from
	n.from = &Caller{in, was}
	now = n.copy(g, inner, now)
	n.from = was
	switch {
	case inner.back != nil:
		now = inner.back
		n.out.Blocks = append(n.out.Blocks, now)
	case now.Ends():
		now = n.block()
	}
	now.Instrs = append(now.Instrs, after...)
	return now
}

// bind connects a parameter or result v of a function with the operand given of the call. For a
// register, it calls moved with the operands of the necessary move.
func (n *inliner) bind(in *ir.Instr, v *ir.Var, given *ir.Operand, c, inner *frame,
	moved func(to, from ir.Operand)) {
	if v.Reg == nil {
		if w := given.Var(); w != nil {
			if outer := c.params[w]; outer != nil {
				w = outer
			}
			if inner.params == nil {
				inner.params = make(map[*ir.Var]*ir.Var)
			}
			inner.params[v] = w
		}
		return
	}
	from := c.operand(n, *given)
	if w := given.Var(); w != nil {
		from = ir.Operand{Kind: ir.Register,
			Reg: c.slot(n, slot{w, given.Value, v.Type.Bits()}, v.Type)}
	}
	moved(ir.Operand{Kind: ir.Register, Reg: inner.reg(n, v.Reg)}, from)
}

// move returns a mov instruction with the position of a call.
func move(in *ir.Instr, t isa.Type, to, from ir.Operand) *ir.Instr {
	return &ir.Instr{Op: "mov.b" + strconv.Itoa(max(8, t.Bits())), Args: []ir.Operand{to, from},
		Pos: in.Pos}
}

// jump returns a branch with the position of an instruction.
func (n *inliner) jump(in *ir.Instr, to *ir.Block) *ir.Instr {
	out := &ir.Instr{Op: "bra", Guard: in.Guard, Args: []ir.Operand{ir.Named(ir.Jump, to, 0)},
		Pos: in.Pos}
	if n.binder == nil {
		n.binder = ir.NewBinder(n.m.Version, n.m.Target)
	}
	n.binder.Bind(out)
	return out
}

// instr appends the copy of one instruction to list.
func (n *inliner) instr(list []*ir.Instr, in *ir.Instr, c *frame) []*ir.Instr {
	switch {
	case in.Directive():
		return append(list, in)
	case in.Kind() == isa.KindRet && c.inner:
		out := n.jump(in, c.blockAfterCall(n))
		if in.Guard.Reg != nil {
			out.Guard.Reg = c.reg(n, in.Guard.Reg)
		}
		return append(list, out)
	}
	if moves := n.param(in, c); moves != nil {
		return append(list, moves...)
	}
	if !c.inner && !in.Ends() {
		return append(list, in)
	}
	out := slab.One(&n.instrs)
	*out = *in
	if in.Guard.Reg != nil {
		out.Guard.Reg = c.reg(n, in.Guard.Reg)
	}
	out.Args = slab.Many(&n.args, len(in.Args))
	for i := range in.Args {
		out.Args[i] = c.operand(n, in.Args[i])
	}
	return append(list, out)
}
