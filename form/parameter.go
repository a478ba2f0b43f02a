// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package form

import (
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/ptx"
)

// parameterAccess checks an ld.param or st.param that accesses a parameter by name.
func (c *checker) parameterAccess(op *opcode, o *ptx.Operand) {
	sym := c.symbolOf(o)
	if sym == nil || sym.shape.space != isa.Param {
		return
	}
	switch {
	case op.stores && sym.role == input:
		c.fault(&ruleParameterWrite, o, "%s is an input parameter and cannot be written by "+
			"st.param", clip(sym.name)).
			withRelated(sym.at, "the declaration is here")
	case op.loads && sym.role == output:
		c.fault(&ruleParameterRead, o, "%s is a return value and cannot be read by ld.param",
			clip(sym.name)).
			withRelated(sym.at, "the declaration is here")
	case op.space == "param::func" && sym.entry:
		c.fault(&ruleParameterSide, o, "%s is a parameter of an .entry, expected .param::entry",
			clip(sym.name))
	case op.space == "param::entry" && sym.role == noRole:
		c.fault(&ruleParameterSide, o, "%s is a .param variable of a call, expected .param::func",
			clip(sym.name))
	case op.loads && sym.role == noRole && !sym.hasResult && !c.body.labels &&
		c.header.supportsVersion(2, 0) &&
		!c.lostNames().named[sym.name]:
		c.fault(&ruleNoCall, o, "%s is read before any call stores a result in it", clip(sym.name)).
			withRelated(sym.at, "the declaration is here")
	case op.loads && sym.role == noRole && c.header.supportsVersion(2, 0):
		c.body.loads = append(c.body.loads, load{sym, o.Span})
	}
}

// guardedParameter checks that the parameter accesses of a call sequence have no guard.
func (c *checker) guardedParameter(in *ptx.Instr, op *opcode) {
	if in.Guard.Text == "" {
		return
	}
	for i := range in.Args {
		o := &in.Args[i]
		if o.Kind != ptx.Address && o.Kind != ptx.Index {
			continue
		}
		if sym := c.symbolOf(o); sym != nil && sym.shape.space == isa.Param && sym.role == noRole {
			c.fault(&ruleParameterGuard, in, "%s.param of %s is part of a call and cannot have a "+
				"guard", op.head, clip(sym.name)).
				withRelated(sym.at, "the declaration is here")
		}
	}
}

// addressTaken reports .param variables of a call whose address is taken, because such variables
// may be passed in registers. ptxas compiles cvta of such a variable with an offset, and crashes
// on mov.
func (c *checker) addressTaken(in *ptx.Instr, op *opcode) {
	if op.head != "mov" && op.head != "cvta" && op.head != "prefetch" {
		return
	}
	for i := range c.args {
		a := &c.args[i]
		if a.Kind == isa.ArgAddress && len(a.Elems) > 0 {
			a = &a.Elems[0]
		}
		o := &in.Args[i]
		if a.Kind != isa.ArgSym || a.Space.Base() != isa.Param || op.head == "cvta" &&
			o.Kind != ptx.Name {
			continue
		}
		if sym := c.symbolOf(o); sym != nil && sym.role == noRole {
			c.fault(&ruleParameterAddress, o, "address of %s cannot be taken: it is a .param "+
				"variable of a call", clip(sym.name)).
				withRelated(sym.at, "the declaration is here")
		}
	}
}

// finishPointers checks that a module in which a kernel has pointers to .const memory does not
// convert addresses between .const and generic, because these pointers refer to another bank.
func (c *checker) finishPointers() {
	if c.constPointer != nil && c.constConversion != nil {
		c.fault(&ruleConstantPointer, c.constConversion.Op,
			"%s is not allowed in a module with a kernel "+
				"parameter that is a .ptr .const", clip(c.constConversion.Op.Text)).
			withRelated(c.constPointer.Span, "the parameter is here")
	}
}
