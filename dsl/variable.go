// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl

import (
	"math"

	"github.com/ptxdsl/ptxdsl/dsl/internal/constant"
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
)

// constantLimit is the maximum size in bytes of all .const variables of a module.
const constantLimit = 64 << 10

// A Variable is an array that belongs to the module. Kernels of the module access it through In.
// The host accesses it by name, with runtime.Variable.
type Variable[T Scalar] struct {
	m    *Module
	v    *ir.Var
	dims []int
}

// ConstantVariable declares an array with the given values in .const memory (__constant__). Reads
// are fast if all threads of a warp read the same element.
func ConstantVariable[T Scalar](m *Module, name string, values ...float64) Variable[T] {
	m = m.sound()
	v := m.variable(name, isa.Const, TypeOf[T](), len(values))
	list := make([]ir.Operand, len(values))
	for i, x := range values {
		c, ok := constantOf(TypeOf[T](), x)
		if !ok {
			m.fault(&ruleConstant, "%v is not a valid %s", x, TypeOf[T]())
		}
		list[i] = ir.Operand{Kind: c.Kind, Value: c.Bits}
	}
	v.Init = &ir.Operand{Kind: ir.Vector, More: &ir.More{Args: list}}
	var all int64
	for _, d := range m.ir.Decls {
		if other, ok := d.(*ir.Var); ok && other.Space == isa.Const {
			all += other.Size()
		}
	}
	if all > constantLimit {
		m.fault(&ruleSize,
			"constant memory limit exceeded: %s declares %d bytes, the limit is %d",
			m.Name(), all, constantLimit)
	}
	return Variable[T]{m: m, v: v, dims: []int{len(values)}}
}

// GlobalVariable declares an array of n elements in global memory. They are zero when the module
// is loaded, and keep their values between launches.
func GlobalVariable[T Scalar](m *Module, name string, n int) Variable[T] {
	m = m.sound()
	return Variable[T]{m: m, v: m.variable(name, isa.Global, TypeOf[T](), n), dims: []int{n}}
}

// In returns the variable as an array that kernel k can access.
func (x Variable[T]) In(k *Kernel) Array[T] {
	k = k.sound()
	switch {
	case x.m == nil:
		k.fault(&ruleValue, "variable is a zero value, not created by a builder call")
		return Array[T]{}
	case x.m != k.m:
		k.reportForeignModule(x.m, "variable %s of another module is used in %s", x.v.Name,
			k.Name())
		return Array[T]{}
	}
	at := Addr{k: k, space: x.v.Space, v: x.v, align: x.v.Align}
	if x.v.Space == isa.Global {
		// Global addresses have 64 bits.
		p := fresh[U64](k)
		p.scope = 0
		was, guard := k.toHead()
		k.ins("mov.u64", p.in(k), k.naming(ir.Variable, x.v, 0))
		k.restoreBlock(was, guard)
		at.v, at.reg = nil, p.r
	}
	return Array[T]{at: at, dims: x.dims}
}

// variable declares a variable of the module. An invalid name, or one that is in use, is reported
// and replaced.
func (m *Module) variable(name string, space isa.Space, t isa.Type, n int) *ir.Var {
	switch {
	case !identifier(name):
		m.fault(&ruleKernel, "%q is not a valid variable name", name)
		name = m.uniqueName("variable")
	case m.names[name]:
		m.fault(&ruleKernel, "%s is already declared in this module", name)
		name = m.uniqueName(name)
	}
	m.names[name] = true
	if t == isa.Predicate {
		m.fault(&ruleMemory,
			"%s holds predicates, which cannot be stored in memory; store a U8 or U32 (Select, To) and convert back with NEI(0)",
			name)
		t = isa.U8
	}
	if n < 1 || int64(n) > 1<<31 {
		m.fault(&ruleMemory, "%s has %d elements, expected a positive number less than 2^31", name,
			n)
		n = 1
	}
	v := &ir.Var{Name: name, Linkage: ".visible", Space: space, Type: memory(t), Align: 16,
		Dims: []int64{int64(n)}, Pos: m.calls.Here()}
	m.ir.Decls = append(m.ir.Decls, v)
	return v
}

// constantOf returns v as an initial value of type t. ok is false if t cannot represent v.
func constantOf(t isa.Type, v float64) (constant.Value, bool) {
	if isFloat(t) || t == isa.Tf32 {
		return constant.Float(t, v)
	}
	if v != math.Trunc(v) || math.Abs(v) > 1<<53 {
		return constant.Value{Kind: ir.Int}, false
	}
	return constant.Whole(t, int64(v))
}
