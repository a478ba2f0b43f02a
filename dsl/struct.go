// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl

import (
	"reflect"

	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
)

// Struct is a kernel parameter that is a struct passed by value. S is a Go struct of values of the kernel, arrays of them, and structs; they lie as
// C lays the same struct out, each at a multiple of its size.
//
//	type scaling struct {
//		Factor dsl.Reg[dsl.F32]
//		Rows   dsl.Reg[dsl.U32]
//		Shift  [4]dsl.Reg[dsl.F32]
//	}
//	s := dsl.Struct[scaling](k, "s")
//	y := x.FMA(s.Factor, s.Shift[2])
//
// A launch gives the bytes of a Go struct with fields of the same sizes: a [24]byte here, or a slice of so many.
func Struct[S any](k *Kernel, name string) S {
	var s S
	p := structure{k: k}
	value := reflect.ValueOf(&s).Elem()
	if value.Kind() != reflect.Struct || !p.measure(value) || p.bytes == 0 {
		k.fault(&ruleOperand, "a parameter that is a %s; a struct of values of the kernel with exported names is expected", value.Type())
		return s
	}
	bytes := (p.bytes + p.align - 1) / p.align * p.align
	if bytes > 4096 {
		k.fault(&ruleSize, "parameter %s has %d bytes; all parameters of a kernel have 4096 at most", name, bytes)
		bytes = 4096
	}
	p.v = k.param(name, isa.B8, bytes)
	p.v.Align = int(max(4, p.align))
	was, guard := k.toHead()
	for _, f := range p.fields {
		f.field.loadFrom(k, p.v, f.at)
	}
	k.back(was, guard)
	return s
}

// A structure is a struct while its fields get their places.
type structure struct {
	k            *Kernel
	v            *ir.Var
	bytes, align int64
	fields       []placed
}

// placed is a field and where it lies.
type placed struct {
	field field
	at    int64
}

// A field is a value that a struct can hold: a *Reg.
type field interface {
	Type() isa.Type
	loadFrom(k *Kernel, v *ir.Var, at int64)
}

// measure gives every value in x its place, and reports whether there is nothing else.
func (p *structure) measure(x reflect.Value) bool {
	if f, ok := x.Addr().Interface().(field); ok {
		n := size(f.Type())
		if f.Type() == isa.Predicate {
			return false
		}
		p.bytes = (p.bytes + n - 1) / n * n
		p.fields = append(p.fields, placed{f, p.bytes})
		p.bytes += n
		p.align = max(p.align, n)
		return true
	}
	switch x.Kind() {
	case reflect.Array:
		for i := range x.Len() {
			if !p.measure(x.Index(i)) {
				return false
			}
		}
		return true
	case reflect.Struct:
		// A struct begins and ends at a multiple of what its largest value is a multiple of.
		inner := structure{k: p.k}
		for i := range x.NumField() {
			if !x.Type().Field(i).IsExported() || !inner.measure(x.Field(i)) {
				return false
			}
		}
		if inner.bytes == 0 {
			return false
		}
		p.align = max(p.align, inner.align)
		p.bytes = (p.bytes + inner.align - 1) / inner.align * inner.align
		for _, f := range inner.fields {
			p.fields = append(p.fields, placed{f.field, p.bytes + f.at})
		}
		p.bytes += (inner.bytes + inner.align - 1) / inner.align * inner.align
		return true
	}
	return false
}

// loadFrom makes x the value that lies in a parameter.
func (x *Reg[T]) loadFrom(k *Kernel, v *ir.Var, at int64) {
	*x = fresh[T](k)
	x.scope = 0
	k.ins(k.op("ld.param", memory(TypeOf[T]())), k.arg(*x), ir.Operand{Kind: ir.Address, Args: []ir.Operand{{Kind: ir.Variable, Ref: v, Value: at}}})
}
