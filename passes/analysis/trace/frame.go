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

// A frame holds the state of copying a function body: it maps names in the body to names in the
// copy.
type frame struct {
	inner  bool // the function is a device function, whose registers are renamed
	regs   map[*ir.Reg]*ir.Reg
	params map[*ir.Var]*ir.Var // parameters, mapped to the caller's variables
	blocks map[*ir.Block]*ir.Block
	lists  map[*ir.Targets]*ir.Targets
	slots  map[slot]*ir.Reg // registers that replace parameters passed through parameter space
	// target of a ret before the end of the function; nil until it is needed
	back *ir.Block
}

// A slot is a part of a parameter variable, through which calls pass arguments and results.
type slot struct {
	v    *ir.Var
	at   int64
	bits int
}

// blockAfterCall returns the block that follows the call of the function.
func (c *frame) blockAfterCall(n *inliner) *ir.Block {
	if c.back == nil {
		c.back = slab.One(&n.blocks)
	}
	return c.back
}

// param converts a store or load of a parameter to moves. It returns nil for other instructions.
func (n *inliner) param(in *ir.Instr, c *frame) []*ir.Instr {
	head := in.Kind().Head()
	if head != isa.HeadSt && head != isa.HeadLd || !in.HasMod(isa.ModParam) || len(in.Args) != 2 {
		return nil
	}
	place, value := &in.Args[0], &in.Args[1]
	if head == isa.HeadLd {
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
	s := decode(in)
	var list []*ir.Instr
	for i, o := range parts {
		r := c.slot(n, slot{v, place.Args()[0].Value + int64(i*s.width/8), s.width}, isa.B64)
		to, from := ir.Operand{Kind: ir.Register, Reg: r}, c.operand(n, o)
		if head == isa.HeadLd {
			to, from = from, to
		}
		out := &ir.Instr{Op: "mov.b" + strconv.Itoa(s.width), Guard: in.Guard,
			Args: []ir.Operand{to, from}, Pos: in.Pos}
		if in.Guard.Reg != nil {
			out.Guard.Reg = c.reg(n, in.Guard.Reg)
		}
		list = append(list, out)
	}
	return list
}

// slot returns the register that replaces a part of a parameter variable.
func (c *frame) slot(n *inliner, s slot, t isa.Type) *ir.Reg {
	r := c.slots[s]
	if r == nil {
		r = &ir.Reg{Name: s.v.Name, Type: t}
		c.slots[s] = r
		n.out.Regs = append(n.out.Regs, r)
	}
	return r
}

// reg returns the copy of a register.
func (c *frame) reg(n *inliner, r *ir.Reg) *ir.Reg {
	if !c.inner {
		return r
	}
	own := c.regs[r]
	if own == nil {
		if c.regs == nil {
			c.regs = make(map[*ir.Reg]*ir.Reg)
		}
		one := *r
		own = &one
		c.regs[r] = own
		n.out.Regs = append(n.out.Regs, own)
	}
	return own
}

// operand returns the copy of an operand.
func (c *frame) operand(n *inliner, o ir.Operand) ir.Operand {
	switch ref := o.Ref().(type) {
	case *ir.Reg:
		o.Reg = c.reg(n, ref)
	case *ir.Var:
		if w := c.params[ref]; w != nil {
			o.Refer(w)
		}
	case *ir.Block:
		if b := c.blocks[ref]; b != nil {
			o.Refer(b)
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
			if c.lists == nil {
				c.lists = make(map[*ir.Targets]*ir.Targets)
			}
			c.lists[ref] = own
		}
		o.Refer(own)
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
