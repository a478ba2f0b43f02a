// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
)

// Struct declares a kernel parameter that is a struct passed by value. S is a Go struct of values
// of the kernel, pointers to global memory (Array), Go arrays of both, and nested structs. The
// layout is that of C, with each field aligned to its size.
//
//	type scaling struct {
//		Factor dsl.Reg[dsl.F32]
//		Rows   dsl.Reg[dsl.U32]
//		Shift  [4]dsl.Reg[dsl.F32]
//		Out    dsl.Array[dsl.F32]
//	}
//	s := dsl.Struct[scaling](k, "s")
//	y := x.FMA(s.Factor, s.Shift[2])
//
// A launch passes the bytes of a Go struct with fields of the same sizes, as an array or a slice:
// here a [32]byte.
func Struct[S any](k *Kernel, name string) S {
	k = k.sound()
	var s S
	p := structure{k: k}
	value := reflect.ValueOf(&s).Elem()
	problem := fmt.Sprintf("has type %s", value.Type())
	if value.Kind() == reflect.Struct {
		problem = p.layOut(value, "")
	}
	if problem != "" {
		k.fault(&ruleOperand,
			"parameter %s %s, expected a struct whose fields are exported values and arrays of the kernel",
			name, problem)
		return s
	}
	bytes := (p.bytes + p.align - 1) / p.align * p.align
	if most := k.maxParamBytes(); bytes > most {
		k.fault(&ruleSize,
			"parameter %s has %d bytes, but the parameters of a kernel have at most %d", name,
			bytes, most)
		bytes = most
	}
	p.v = k.param(name, isa.B8, bytes)
	p.v.Align = int(max(4, p.align))
	was, guard := k.toHead()
	for _, f := range p.fields {
		f.field.loadFrom(k, p.v, f.at)
	}
	k.restoreBlock(was, guard)
	return s
}

// maxParamBytes returns the maximum size in bytes of a kernel's parameters, which depends on the
// PTX version and the target.
func (k *Kernel) maxParamBytes() int64 {
	if k.m.hasVersion(isa.MakeVersion(8, 1)) && k.m.Has(70) {
		return 32764
	}
	return 4096
}

// A structure is a struct parameter whose fields are being laid out.
type structure struct {
	k            *Kernel
	v            *ir.Var
	bytes, align int64
	fields       []placedField
}

// A placedField is a field and its byte offset in the struct.
type placedField struct {
	field field
	at    int64
}

// A field is a value that a struct can hold: a *Reg, or an *Array, which is a pointer to global
// memory.
type field interface {
	fieldType() isa.Type
	loadFrom(k *Kernel, v *ir.Var, at int64)
}

// layOut assigns an offset to each value in x. name is the path of x in the struct. If a field
// has no valid type, layOut returns a description of the problem, else "".
func (p *structure) layOut(x reflect.Value, name string) (problem string) {
	if f, ok := x.Addr().Interface().(field); ok {
		n := size(f.fieldType())
		if f.fieldType() == isa.Predicate {
			return "has a predicate field, " + name
		}
		p.bytes = (p.bytes + n - 1) / n * n
		p.fields = append(p.fields, placedField{f, p.bytes})
		p.bytes += n
		p.align = max(p.align, n)
		return ""
	}
	switch x.Kind() {
	case reflect.Array:
		for i := range x.Len() {
			if problem := p.layOut(x.Index(i), fmt.Sprintf("%s[%d]", name, i)); problem != "" {
				return problem
			}
		}
		return ""
	case reflect.Struct:
		// A struct starts and ends at a multiple of the largest alignment of its fields.
		inner := structure{k: p.k}
		for i := range x.NumField() {
			f := x.Type().Field(i)
			full := strings.TrimPrefix(name+"."+f.Name, ".")
			if !f.IsExported() {
				return "has an unexported field, " + full
			}
			if problem := inner.layOut(x.Field(i), full); problem != "" {
				return problem
			}
		}
		if inner.bytes == 0 {
			return "has no values in " + x.Type().String()
		}
		p.align = max(p.align, inner.align)
		p.bytes = (p.bytes + inner.align - 1) / inner.align * inner.align
		for _, f := range inner.fields {
			p.fields = append(p.fields, placedField{f.field, p.bytes + f.at})
		}
		p.bytes += (inner.bytes + inner.align - 1) / inner.align * inner.align
		return ""
	}
	return fmt.Sprintf("has a field of type %s, %s", x.Type(), name)
}

// fieldType returns the type of x in memory.
func (x *Reg[T]) fieldType() isa.Type { return TypeOf[T]() }

// loadFrom loads x from a byte offset in parameter v.
func (x *Reg[T]) loadFrom(k *Kernel, v *ir.Var, at int64) {
	*x = fresh[T](k)
	x.scope = 0
	k.ins(k.op("ld.param", memory(TypeOf[T]())), x.in(k), k.paramAddress(v, at))
}

// fieldType returns the type of a pointer in memory.
func (a *Array[T]) fieldType() isa.Type { return isa.U64 }

// loadFrom loads the pointer a from a byte offset in parameter v.
func (a *Array[T]) loadFrom(k *Kernel, v *ir.Var, at int64) {
	a.at = k.loadPointer(k.paramAddress(v, at))
	a.at.scope = 0
}

// paramAddress returns the operand for a byte offset in parameter v.
func (k *Kernel) paramAddress(v *ir.Var, at int64) ir.Operand {
	return k.bracket(k.naming(ir.Variable, v, at))
}
