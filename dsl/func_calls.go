// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl

import (
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
)

// This file has operands of call and brx.idx, for code that is ported from PTX. Code that uses
// Kernel.Call and Kernel.Switch does not need them.

// CallParam declares a variable in .param memory that passes a value of a call: st.param writes it
// before the call and ld.param reads it afterwards.
func CallParam[T Scalar](k *Kernel, name string) Addr {
	k = k.sound()
	if !identifier(name) {
		k.fault(&ruleKernel, "%q is not a valid argument name", name)
		name = "arg"
	}
	return Addr{k: k, space: isa.Param, v: k.paramSlot(name, TypeOf[T]())}
}

// Group returns the operand (a, b), the argument or result list of a call. An address among the
// parts is written as its variable, without brackets.
func Group(parts ...any) Operand { return group(parts) }

type group []any

func (g group) operand(k *Kernel) (ir.Operand, bool) {
	list, ok := k.parts("list", g)
	return k.list(ir.Group, list), ok
}

// BranchTargets declares the labels that brx.idx may branch to (.branchtargets).
func (k *Kernel) BranchTargets(labels ...*Label) Operand {
	k = k.sound()
	list := k.targets("cases")
	for _, l := range labels {
		if k.checkLabel(l) {
			list.Blocks = append(list.Blocks, l.block)
		}
	}
	if len(list.Blocks) == 0 {
		k.fault(&ruleOperand, "list of labels is empty")
	}
	return k.declare(list)
}

// CallTargets declares the functions that an indirect call may call (.calltargets).
func (k *Kernel) CallTargets(functions ...*Func) Operand {
	k = k.sound()
	list := k.targets("callees")
	for _, f := range functions {
		switch {
		case !f.isCreated():
			k.fault(&ruleFunction, "called Func is a zero value, not created by a builder call")
		case f.m != k.m:
			k.reportForeignModule(f.m, "%s belongs to another module", f.Name())
		default:
			k.addCallee(f)
			list.Funcs = append(list.Funcs, f.f)
		}
	}
	if len(list.Funcs) == 0 {
		k.fault(&ruleOperand, "list of functions is empty")
	}
	return k.declare(list)
}

// Prototype declares the signature of an indirect call (.callprototype): result is the type of
// the result, or 0 for no result.
func (k *Kernel) Prototype(result isa.Type, arguments ...isa.Type) Operand {
	k = k.sound()
	list := k.targets("prototype")
	list.Proto = &ir.Func{Name: "_", HasParams: true, Pos: list.Pos}
	if result != 0 {
		list.Proto.HasResults = true
		list.Proto.Results = []*ir.Var{
			{Name: "_", Space: isa.Param, Type: memory(result), Pos: list.Pos}}
	}
	for _, t := range arguments {
		if t.Bits() == 0 {
			k.fault(&ruleOperand, "prototype argument has no type")
			continue
		}
		list.Proto.Params = append(list.Proto.Params,
			&ir.Var{Name: "_", Space: isa.Param, Type: memory(t), Pos: list.Pos})
	}
	return k.declare(list)
}

func (k *Kernel) targets(name string) *ir.Targets {
	name = unique(name, k.names)
	k.names[name] = true
	return &ir.Targets{Name: name, Pos: k.m.calls.Here()}
}

// declare adds a list to the declarations of the kernel, unless it is invalid.
func (k *Kernel) declare(list *ir.Targets) Operand {
	if len(list.Blocks)+len(list.Funcs) > 0 || list.Proto != nil {
		k.f.Targets = append(k.f.Targets, list)
	}
	return targetList{k, list}
}

type targetList struct {
	k    *Kernel
	list *ir.Targets
}

func (l targetList) operand(k *Kernel) (ir.Operand, bool) {
	if l.k != k {
		k.reportForeignKernel("list", l.k)
		return ir.Operand{}, false
	}
	return k.naming(ir.List, l.list, 0), true
}

// function returns f as an operand of an instruction of k.
func (k *Kernel) function(f *Func) (ir.Operand, bool) {
	switch {
	case !f.isCreated():
		k.fault(&ruleFunction, "called Func is a zero value, not created by a builder call")
		return ir.Operand{}, true
	case f.m != k.m:
		k.reportForeignModule(f.m, "%s belongs to another module", f.Name())
		return ir.Operand{}, true
	}
	k.addCallee(f)
	return k.naming(ir.Function, f.f, 0), true
}
