// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package gen

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/ptxdsl/ptxdsl/isa"
)

// shared are the lists with pointers in them that stand in several places of the tables: each is written once, as a variable, and the places
// name it. Every collection of garbage looks through the tables, which are a third as large that way. A nil one has none.
type shared struct {
	times map[string]int    // how often a list stands somewhere, by its type and contents
	names map[string]string // of those that stand in several places
	count map[string]int    // names given, by type
	lists []reflect.Value   // those with names, as they were first needed
}

// shareOf looks for them in a table.
func shareOf(table []isa.Instruction) *shared {
	s := &shared{times: map[string]int{}, names: map[string]string{}, count: map[string]int{}}
	s.note(reflect.ValueOf(table))
	return s
}

// note counts the lists of v. What is in a list that was met before was counted there.
func (s *shared) note(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			s.note(v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			s.note(v.Field(i))
		}
	case reflect.Slice:
		if v.Len() == 0 {
			return
		}
		k := key(v)
		if s.times[k]++; s.times[k] > 1 {
			return
		}
		for i := range v.Len() {
			s.note(v.Index(i))
		}
	}
}

// key tells lists apart.
func key(v reflect.Value) string {
	var b strings.Builder
	b.WriteString(v.Type().String())
	spell(&b, v)
	return b.String()
}

// spell writes all that v holds.
func spell(b *strings.Builder, v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			b.WriteString("nil")
			return
		}
		b.WriteByte('&')
		spell(b, v.Elem())
	case reflect.Struct:
		b.WriteByte('{')
		for i := range v.NumField() {
			spell(b, v.Field(i))
			b.WriteByte(',')
		}
		b.WriteByte('}')
	case reflect.Slice:
		if v.IsNil() {
			b.WriteString("nil")
			return
		}
		b.WriteByte('[')
		for i := range v.Len() {
			spell(b, v.Index(i))
			b.WriteByte(',')
		}
		b.WriteByte(']')
	default:
		fmt.Fprintf(b, "%#v", v.Interface())
	}
}

// name is the variable of a list that stands in several places.
func (s *shared) name(v reflect.Value) (string, bool) {
	if s == nil || v.Len() == 0 || !points(v.Type().Elem()) {
		return "", false
	}
	k := key(v)
	if s.times[k] < 2 {
		return "", false
	}
	if name, ok := s.names[k]; ok {
		return name, true
	}
	of := variable(v.Type())
	name := fmt.Sprintf("%s%d", of, s.count[of])
	s.count[of]++
	s.names[k] = name
	s.lists = append(s.lists, v)
	return name, true
}

// points reports whether values of a type hold pointers: lists of those that do not cost a collection nothing.
func points(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Slice, reflect.String, reflect.Pointer:
		return true
	case reflect.Struct:
		for i := range t.NumField() {
			if points(t.Field(i).Type) {
				return true
			}
		}
	}
	return false
}

// variable begins the names of variables of a type of lists: operands, modLists.
func variable(list reflect.Type) string {
	if elem := list.Elem(); elem.Kind() == reflect.Slice {
		return strings.TrimSuffix(variable(elem), "s") + "Lists"
	}
	return strings.ToLower(list.Elem().Name()) + "s"
}

// file declares the variables.
func (s *shared) file() *jen.File {
	f := newFile(false)
	f.Comment("What stands in several places of the tables.")
	for i := 0; i < len(s.lists); i++ { // writing one may give names to more
		v := s.lists[i]
		f.Var().Id(s.names[key(v)]).Op("=").Add(typeOf(v.Type()).Values(s.elements(v)...))
	}
	return f
}

// literal writes a value of the model as a Go literal, zero fields left out.
func (s *shared) literal(v reflect.Value) *jen.Statement {
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
		return jen.Op("&").Add(typeOf(v.Elem().Type())).Values(s.fields(v.Elem())...)
	case reflect.Slice:
		if v.IsNil() {
			return jen.Index().Add(typeOf(v.Type().Elem())).Values()
		}
		if name, ok := s.name(v); ok {
			return jen.Id(name)
		}
		return typeOf(v.Type()).Values(s.elements(v)...)
	case reflect.Struct:
		return typeOf(v.Type()).Values(s.fields(v)...)
	}
	panic("bug: literal of " + v.Kind().String())
}

// elements are the elements of a list, one line each where they are structs; Go infers their
// types.
func (s *shared) elements(v reflect.Value) []jen.Code {
	var out []jen.Code
	for i := range v.Len() {
		e := v.Index(i)
		switch {
		case e.Kind() == reflect.Struct:
			out = append(out, jen.Line().Values(s.fields(e)...))
		case e.Kind() == reflect.Slice && e.IsNil():
			out = append(out, jen.Nil())
		case e.Kind() == reflect.Slice:
			if name, ok := s.name(e); ok {
				out = append(out, jen.Id(name))
			} else {
				out = append(out, jen.Values(s.elements(e)...))
			}
		default:
			out = append(out, s.literal(e))
		}
	}
	if len(out) > 0 && v.Index(0).Kind() == reflect.Struct {
		out = append(out, jen.Line())
	}
	return out
}

func (s *shared) fields(v reflect.Value) []jen.Code {
	var out []jen.Code
	for i := range v.NumField() {
		if f := v.Field(i); !f.IsZero() {
			out = append(out, jen.Id(v.Type().Field(i).Name).Op(":").Add(s.literal(f)))
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

// number writes an unsigned number: target sets in hexadecimal, suffixes of targets as letters.
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
