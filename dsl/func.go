// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl

import (
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
)

// A Func is a device function that kernels and later functions call. Its methods append
// instructions to the body, as the methods of a kernel do.
//
//	f := m.Func("silu")
//	x := dsl.Arg[dsl.F32](f, "x")
//	dsl.ReturnValue(f, x.Div(x.Neg().Exp().AddF(1)))
//	...
//	y := dsl.Call[dsl.F32](k, f, x)
type Func struct {
	*Kernel
	result isa.Type
}

// Func starts a device function.
func (m *Module) Func(name string) *Func {
	m = m.sound()
	k := m.function(name)
	k.f.HasParams = true
	return &Func{Kernel: k}
}

// Arg declares the next parameter of a device function.
func Arg[T Scalar](f *Func, name string) Reg[T] {
	return Param[T](f.body(), name)
}

// ReturnValue returns x from a device function. T is the result type; all calls in a function
// must use the same type.
func ReturnValue[T Scalar](f *Func, x Reg[T]) {
	if !f.isCreated() {
		if x.k != nil {
			x.k.fault(&ruleFunction,
				"ReturnValue is called on a Func that is a zero value, not created by a builder call")
		}
		return
	}
	k, t := f.Kernel, TypeOf[T]()
	switch {
	case f.result == 0:
		f.result = t
		v := &ir.Var{Name: unique("result", k.names), Space: isa.Param, Type: memory(t)}
		k.names[v.Name] = true
		k.f.HasResults = true
		k.f.Results = []*ir.Var{v}
	case f.result != t:
		k.fault(&ruleFunction, "%s returns %s here and %s elsewhere", k.Name(), t, f.result)
		return
	}
	k.ins(k.op("st.param", memory(t)), k.address(k.f.Results[0]), x.register().in(k))
	k.ins("ret")
}

// Call calls a device function and returns its result.
func Call[T Scalar](k *Kernel, f *Func, args ...Operand) Reg[T] {
	k = k.sound()
	t := TypeOf[T]()
	d := fresh[T](k)
	if !f.isCreated() {
		k.fault(&ruleFunction, "called Func is a zero value, not created by a builder call")
		return d
	}
	if f.result != t {
		k.fault(&ruleFunction, "result of %s is used as %s, but %s", f.Name(), t, describeResult(f))
		return d
	}
	out := k.paramSlot("result", t)
	if k.call(f, []ir.Operand{k.naming(ir.Variable, out, 0)}, args) {
		k.ins(k.op("ld.param", memory(t)), d.in(k), k.address(out))
	}
	return d
}

// Call calls a device function and discards its result, if any.
func (k *Kernel) Call(f *Func, args ...Operand) {
	k = k.sound()
	if !f.isCreated() {
		k.fault(&ruleFunction, "called Func is a zero value, not created by a builder call")
		return
	}
	var results []ir.Operand
	if f.result != 0 {
		results = []ir.Operand{k.naming(ir.Variable, k.paramSlot("result", f.result), 0)}
	}
	k.call(f, results, args)
}

func describeResult(f *Func) string {
	if f.result == 0 {
		return "the function has no result yet; call ReturnValue in the function before you build the call"
	}
	return "the function returns " + f.result.String()
}

// paramSlot declares a variable in .param memory that passes one argument or result of a call.
func (k *Kernel) paramSlot(name string, t isa.Type) *ir.Var {
	v := &ir.Var{Name: unique(name, k.names), Space: isa.Param, Type: memory(t)}
	k.names[v.Name] = true
	k.f.Vars = append(k.f.Vars, v)
	return v
}

// call passes the arguments and calls f. It reports whether the call is valid.
func (k *Kernel) call(f *Func, results []ir.Operand, args []Operand) bool {
	if f.m != k.m {
		k.reportForeignModule(f.m, "%s belongs to another module", f.Name())
		return false
	}
	k.addCallee(f)
	if f.exitCount > 0 {
		k.noteExit() // the callee may end the thread
	}
	if len(args) != len(f.arguments) {
		k.fault(&ruleFunction, "%s takes %d arguments, got %d", f.Name(), len(f.arguments),
			len(args))
		return false
	}
	passed := make([]ir.Operand, len(args))
	for i, x := range args {
		t := f.arguments[i]
		if p, ok := x.(pointer); ok {
			x = p.generic(k)
		}
		if have, ok := x.(interface{ Type() isa.Type }); ok && have.Type() != t {
			k.fault(&ruleFunction, "argument %d of %s has type %s, expected %s", i+1, f.Name(),
				have.Type(), t)
			return false
		}
		v := k.paramSlot("arg", t)
		k.ins(k.op("st.param", memory(t)), k.address(v), k.arg(x))
		passed[i] = k.naming(ir.Variable, v, 0)
	}
	operands := make([]ir.Operand, 0, 3)
	if len(results) > 0 {
		operands = append(operands, k.list(ir.Group, results))
	}
	operands = append(operands, k.naming(ir.Function, f.f, 0))
	if len(passed) > 0 {
		operands = append(operands, k.list(ir.Group, passed))
	}
	op := "call.uni"
	if len(k.open) > 1 {
		op = "call" // not all threads of the warp need to execute the call
	}
	k.ins(op, operands...)
	return true
}
