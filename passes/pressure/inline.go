// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package pressure

import (
	"slices"

	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
)

// Limits of the number of instructions that inlining may add to a kernel: a multiple of the
// kernel's share of the module, or a constant if all kernels together stay small. The work for a
// module is therefore proportional to its size.
const (
	inlineShare = 4
	inlineLeast = 2000
	inlineTotal = 100000
)

// An inliner inlines functions into their callers, as ptxas does with small functions. Larger
// functions are compiled by ptxas for their callers without a register convention, so the live
// registers are the same. Calls through pointers, of undefined functions, and recursive calls
// remain calls.
//
// Package trace has an inliner of its own, which inlines only functions that synchronize, whatever
// their size, and records the calls for its findings. This one keeps the limits of ptxas, and gives
// each copied instruction a form, because forms decide how many registers it needs.
type inliner struct {
	defined map[string]*ir.Func
	move    *isa.Candidate // instruction forms for passing arguments and for returns
	jump    *isa.Candidate
	out     *ir.Func
	left    int // instructions that may still be added
	slots   map[slot]*ir.Reg
	open    []*ir.Func
	from    map[*ir.Instr]*ir.Instr // the original of each copied instruction
}

// A slot is a part of a call parameter. Inlining replaces it by a register.
type slot struct {
	of     *ir.Var
	offset int64
	bits   int
}

// A frame maps the names of a function to their replacements in one copy of its body.
type frame struct {
	regs   map[*ir.Reg]*ir.Reg
	blocks map[*ir.Block]*ir.Block
	vars   map[*ir.Var]*ir.Var
	passed map[*ir.Var]bool // parameters of removed calls
	behind *ir.Block        // the block to return to, or nil for the kernel itself
}

// newInliner returns an inliner for kernels of a module.
func newInliner(m *ir.Module, defined map[string]*ir.Func) *inliner {
	bind := ir.NewBinder(m.Version, m.Target)
	r := &ir.Reg{Type: isa.B32}
	move := &ir.Instr{Op: "mov.b32",
		Args: []ir.Operand{{Kind: ir.Register, Reg: r}, {Kind: ir.Register, Reg: r}}}
	jump := &ir.Instr{Op: "bra", Args: []ir.Operand{ir.Named(ir.Jump, &ir.Block{}, 0)}}
	bind.Bind(move)
	bind.Bind(jump)
	return &inliner{defined: defined, move: move.Form, jump: jump.Form,
		from: make(map[*ir.Instr]*ir.Instr)}
}

// inlined returns f with its calls inlined, or f itself if no call can be inlined. At most `room`
// instructions are added.
func (n *inliner) inlined(f *ir.Func, room int) *ir.Func {
	if !slices.ContainsFunc(f.Blocks, func(b *ir.Block) bool {
		return slices.ContainsFunc(b.Instrs, func(in *ir.Instr) bool { return n.callee(in) != nil })
	}) {
		return f
	}
	out := *f
	out.Blocks, out.Regs, out.Vars = nil, slices.Clone(f.Regs), slices.Clone(f.Vars)
	n.out, n.left, n.slots, n.open = &out, room, make(map[slot]*ir.Reg), []*ir.Func{f}
	same := make(map[*ir.Reg]*ir.Reg, len(f.Regs))
	for _, r := range f.Regs {
		same[r] = r
	}
	n.body(f, frame{regs: same})
	return &out
}

// callee returns the function that an instruction calls, if its body is known.
func (n *inliner) callee(in *ir.Instr) *ir.Func {
	if in.Kind() != isa.KindCall || in.Guard.Reg != nil {
		return nil
	}
	for i := range in.Args {
		if f, ok := in.Args[i].Ref().(*ir.Func); ok && in.Args[i].Kind == ir.Function {
			d := n.defined[f.Name]
			if d == nil || d.Kernel {
				return nil
			}
			return d
		}
	}
	return nil
}

// body copies the blocks of a function into the caller.
func (n *inliner) body(f *ir.Func, x frame) {
	x.blocks = make(map[*ir.Block]*ir.Block, len(f.Blocks))
	goes := make(map[*ir.Instr]*ir.Func)
	x.passed = make(map[*ir.Var]bool)
	if x.behind != nil {
		for _, list := range [][]*ir.Var{f.Params, f.Results} {
			for _, v := range list {
				x.passed[v] = true
			}
		}
	}
	for _, b := range f.Blocks {
		x.blocks[b] = &ir.Block{Labels: b.Labels}
		for _, in := range b.Instrs {
			if d := n.fits(in); d != nil {
				goes[in] = d
				for i := range in.Args {
					in.Args[i].Walk(func(o *ir.Operand) {
						if v := o.Var(); v != nil {
							x.passed[v] = true
						}
					})
				}
			}
		}
	}
	for _, b := range f.Blocks {
		now := x.blocks[b]
		n.out.Blocks = append(n.out.Blocks, now)
		for _, in := range b.Instrs {
			switch {
			case goes[in] != nil:
				now = n.call(in, goes[in], now, x)
			case n.pass(in, now, x):
			case in.Kind() == isa.KindRet && x.behind != nil:
				n.put(now, &ir.Instr{Op: "bra", Guard: x.guard(in.Guard), Form: n.jump, Pos: in.Pos,
					Args: []ir.Operand{ir.Named(ir.Jump, x.behind, 0)}}, in)
			default:
				n.put(now, n.instr(in, x), in)
			}
		}
	}
}

// fits returns the function that a call instruction calls, or nil if the call cannot be inlined.
func (n *inliner) fits(in *ir.Instr) *ir.Func {
	f := n.callee(in)
	if f == nil || slices.Contains(n.open, f) || len(n.open) > inlineDepth {
		return nil
	}
	results, params := arguments(in)
	if len(params) != len(f.Params) || len(results) != len(f.Results) {
		return nil
	}
	size := 0
	for _, b := range f.Blocks {
		size += len(b.Instrs)
	}
	if size > n.left {
		return nil
	}
	n.left -= size
	return f
}

// inlineDepth is the maximum nesting depth of inlined calls.
const inlineDepth = 32

// arguments returns the operands of a call that are its results and its parameters.
func arguments(in *ir.Instr) (results, params []ir.Operand) {
	for i := range in.Args {
		switch {
		case in.Args[i].Kind != ir.Group:
		case i == 0 && len(in.Args) > 1 && in.Args[1].Kind != ir.Group:
			results = in.Args[i].Args()
		default:
			params = in.Args[i].Args()
		}
	}
	return results, params
}

// call appends the inlined body to a block, and returns the block that execution continues with
// after it.
func (n *inliner) call(in *ir.Instr, f *ir.Func, now *ir.Block, x frame) *ir.Block {
	results, params := arguments(in)
	inner := frame{regs: make(map[*ir.Reg]*ir.Reg, len(f.Regs)), vars: make(map[*ir.Var]*ir.Var),
		behind: &ir.Block{}}
	for _, r := range f.Regs {
		c := *r
		inner.regs[r] = &c
		n.out.Regs = append(n.out.Regs, &c)
	}
	n.out.Vars = append(n.out.Vars, f.Vars...)
	for i, p := range f.Params {
		n.bindArgument(p, &params[i], now, x, inner, in)
	}
	for i, p := range f.Results {
		if v := results[i].Var(); v != nil {
			inner.vars[p] = x.variable(v)
		}
	}
	n.open = append(n.open, f)
	n.body(f, inner)
	n.open = n.open[:len(n.open)-1]
	n.out.Blocks = append(n.out.Blocks, inner.behind)
	for i, p := range f.Results {
		if results[i].Kind == ir.Register {
			from := inner.regs[p.Reg]
			if from == nil {
				from = n.slot(inner, p, 0, p.Type.Bits())
			}
			n.add(inner.behind, n.operand(&results[i], x), ir.Operand{Kind: ir.Register, Reg: from},
				ir.Guard{}, in)
		}
	}
	return inner.behind
}

// bindArgument binds a parameter of the inlined function to an argument.
func (n *inliner) bindArgument(p *ir.Var, a *ir.Operand, now *ir.Block, x, inner frame,
	in *ir.Instr) {
	switch {
	case a.Var() != nil && p.Reg == nil:
		inner.vars[p] = x.variable(a.Var())
	case p.Reg != nil:
		n.add(now, ir.Operand{Kind: ir.Register, Reg: inner.regs[p.Reg]}, n.operand(a, x),
			ir.Guard{}, in)
	default:
		n.add(now, ir.Operand{Kind: ir.Register, Reg: n.slot(inner, p, 0, p.Type.Bits())},
			n.operand(a, x), ir.Guard{}, in)
	}
}

// pass replaces a load or store of a call parameter by moves between registers. It reports whether
// in was such an instruction.
func (n *inliner) pass(in *ir.Instr, now *ir.Block, x frame) bool {
	head := in.Kind().Head()
	if head != isa.HeadLd && head != isa.HeadSt || !in.HasMod(isa.ModParam) || len(in.Args) != 2 {
		return false
	}
	at, with := &in.Args[1], &in.Args[0]
	if head == isa.HeadSt {
		at, with = with, at
	}
	if at.Kind != ir.Address || len(at.Args()) != 1 {
		return false
	}
	v := at.Args()[0].Var()
	if v == nil || !x.passed[v] {
		return false
	}
	_, t := types(in)
	bits := t.Bits()
	if bits == 0 || bits > 64 {
		return false
	}
	parts := []ir.Operand{*with}
	if with.Kind == ir.Vector {
		parts = with.Args()
	}
	for i := range parts {
		place := ir.Operand{Kind: ir.Register,
			Reg: n.slot(x, v, at.Args()[0].Value+int64(i*bits/8), bits)}
		part := n.operand(&parts[i], x)
		if head == isa.HeadSt {
			n.add(now, place, part, x.guard(in.Guard), in)
		} else {
			n.add(now, part, place, x.guard(in.Guard), in)
		}
	}
	return true
}

// slot returns the register that replaces a part of a parameter.
func (n *inliner) slot(x frame, v *ir.Var, offset int64, bits int) *ir.Reg {
	key := slot{x.variable(v), offset, max(32, bits)}
	r := n.slots[key]
	if r == nil {
		r = &ir.Reg{Name: v.Name, Type: isa.B32, Pos: v.Pos}
		if bits == 64 {
			r.Type = isa.B64
		}
		n.slots[key] = r
		n.out.Regs = append(n.out.Regs, r)
	}
	return r
}

// add appends a move to a block, in place of an instruction.
func (n *inliner) add(b *ir.Block, to, from ir.Operand, g ir.Guard, in *ir.Instr) {
	n.put(b, &ir.Instr{Op: "mov.b32", Guard: g, Form: n.move, Pos: in.Pos,
		Args: []ir.Operand{to, from}}, in)
}

// put appends instruction in to a block, and records that it replaces instruction of.
func (n *inliner) put(b *ir.Block, in, of *ir.Instr) {
	b.Instrs = append(b.Instrs, in)
	n.from[in] = of
}

// instr returns a copy of an instruction with the registers of frame x.
func (n *inliner) instr(in *ir.Instr, x frame) *ir.Instr {
	c := *in
	c.Guard = x.guard(in.Guard)
	c.Args = make([]ir.Operand, len(in.Args))
	for i := range in.Args {
		c.Args[i] = n.operand(&in.Args[i], x)
	}
	return &c
}

func (n *inliner) operand(o *ir.Operand, x frame) ir.Operand {
	c := *o
	switch ref := o.Ref().(type) {
	case *ir.Reg:
		if r := x.regs[ref]; r != nil {
			c.Reg = r
		}
	case *ir.Var:
		c.Refer(x.variable(ref))
	case *ir.Block:
		c.Refer(x.blocks[ref])
	case *ir.Targets:
		t := *ref
		t.Blocks = make([]*ir.Block, len(ref.Blocks))
		for i, b := range ref.Blocks {
			t.Blocks[i] = x.blocks[b]
		}
		c.Refer(&t)
	}
	if from := o.Args(); len(from) > 0 {
		args := make([]ir.Operand, len(from))
		for i := range from {
			args[i] = n.operand(&from[i], x)
		}
		c.More = &ir.More{Text: o.Text(), Args: args}
	}
	return c
}

func (x frame) guard(g ir.Guard) ir.Guard {
	if r := x.regs[g.Reg]; r != nil {
		g.Reg = r
	}
	return g
}

// variable returns the replacement of a variable. A call parameter has one variable per copy.
func (x frame) variable(v *ir.Var) *ir.Var {
	if x.behind == nil || v.Space != isa.Param {
		return v
	}
	if to := x.vars[v]; to != nil {
		return to
	}
	c := *v
	x.vars[v] = &c
	return &c
}
