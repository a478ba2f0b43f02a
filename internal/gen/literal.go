// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package gen

import (
	"fmt"
	"reflect"

	"github.com/dave/jennifer/jen"

	"github.com/ptxdsl/ptxdsl/isa"
)

// literal returns the Go literal of a value of the model, without zero fields.
func literal(v reflect.Value) *jen.Statement {
	switch v.Kind() {
	case reflect.String:
		return jen.Lit(v.String())
	case reflect.Bool:
		return jen.Lit(v.Bool())
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return jen.Lit(int(v.Int()))
	case reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return number(v)
	case reflect.Pointer:
		return jen.Op("&").Add(typeOf(v.Elem().Type())).Values(fields(v.Elem())...)
	case reflect.Slice:
		if v.IsNil() {
			return jen.Index().Add(typeOf(v.Type().Elem())).Values()
		}
		return typeOf(v.Type()).Values(elements(v)...)
	case reflect.Struct:
		return typeOf(v.Type()).Values(fields(v)...)
	}
	panic("bug: literal of " + v.Kind().String())
}

// elements returns the elements of a list as literals without types. Structs take one line each.
func elements(v reflect.Value) []jen.Code {
	var out []jen.Code
	for i := range v.Len() {
		e := v.Index(i)
		switch {
		case e.Kind() == reflect.Struct:
			out = append(out, jen.Line().Values(fields(e)...))
		case e.Kind() == reflect.Slice && e.IsNil():
			out = append(out, jen.Nil())
		case e.Kind() == reflect.Slice:
			out = append(out, jen.Values(elements(e)...))
		default:
			out = append(out, literal(e))
		}
	}
	if len(out) > 0 && v.Index(0).Kind() == reflect.Struct {
		out = append(out, jen.Line())
	}
	return out
}

func fields(v reflect.Value) []jen.Code {
	var out []jen.Code
	for i := range v.NumField() {
		if f := v.Field(i); !f.IsZero() {
			out = append(out, jen.Id(v.Type().Field(i).Name).Op(":").Add(literal(f)))
		}
	}
	return out
}

func typeOf(t reflect.Type) *jen.Statement {
	if t.Kind() == reflect.Slice && t.Name() == "" {
		return jen.Index().Add(typeOf(t.Elem()))
	}
	return jen.Id(t.Name())
}

// number returns an unsigned integer literal: target sets in hexadecimal, suffixes of targets as
// letters.
func number(v reflect.Value) *jen.Statement {
	switch x := v.Interface().(type) {
	case isa.TargetSet:
		if x == isa.AllTargets {
			return jen.Id("AllTargets")
		}
		return jen.Id(fmt.Sprintf("%#x", uint64(x)))
	case byte:
		return jen.LitRune(rune(x))
	}
	return jen.Lit(int(v.Uint()))
}
