// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package gen

import (
	"reflect"
	"slices"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/ptxdsl/ptxdsl/isa"
)

// unpackFile generates the functions that decode the output of pack, one method for each type of
// the model.
func unpackFile() *jen.File {
	u := &unpacker{}
	u.within(reflect.TypeFor[[]isa.Mod]())
	u.within(reflect.TypeFor[[]isa.Form]())
	f := newFile(false)
	f.Anon("embed")
	f.Comment("packed is the table of instructions.")
	f.Comment("//")
	f.Comment("//go:embed " + packedFile)
	f.Var().Id("packed").String()
	f.Comment("lists are those of each type.")
	f.Type().Id("lists").StructFunc(func(g *jen.Group) {
		for _, t := range u.elements {
			g.Id(reader(t) + "s").Id("listsOf").Types(typeOf(t))
		}
	})
	for i := 0; i < len(u.types); i++ {
		t := u.types[i]
		f.Line().Func().Params(jen.Id("r").Op("*").Id("reader")).Id(reader(t)).Params(
			jen.Id("v").Op("*").Add(typeOf(t))).BlockFunc(func(g *jen.Group) {
			if t.Kind() != reflect.Struct {
				g.Op("*").Id("v").Op("=").Add(reading(t))
				return
			}
			if t == reflect.TypeFor[isa.Form]() {
				g.Id("v").Dot("at").Op("=").Id("r").Dot("at")
				g.Id("r").Dot("formEnd").Call()
			}
			g.Id("has").Op(":=").Id("r").Dot("uint").Call()
			for i := range t.NumField() {
				if !t.Field(i).IsExported() {
					continue
				}
				g.If(jen.Id("has").Op("&").Parens(jen.Lit(1).Op("<<").Lit(i)).Op("!=").Lit(
					0)).BlockFunc(func(g *jen.Group) {
					field, to := t.Field(i), jen.Id("v").Dot(t.Field(i).Name)
					switch field.Type.Kind() {
					case reflect.Struct:
						g.Id("r").Dot(reader(field.Type)).Call(jen.Op("&").Add(to))
					case reflect.Pointer:
						g.Add(to).Op("=").New(typeOf(field.Type.Elem()))
						g.Id("r").Dot(reader(field.Type.Elem())).Call(jen.Id("v").Dot(field.Name))
					default:
						g.Add(to).Op("=").Add(reading(field.Type))
					}
				})
			}
		})
	}
	return f
}

// An unpacker collects the types that need a decoder, and those that occur in lists.
type unpacker struct{ types, elements []reflect.Type }

// need adds type t and the types of its fields to the types that need a decoder.
func (u *unpacker) need(t reflect.Type) {
	if t.Kind() == reflect.Struct && !slices.Contains(u.types, t) {
		u.types = append(u.types, t)
		for i := range t.NumField() {
			if t.Field(i).IsExported() {
				u.within(t.Field(i).Type)
			}
		}
	}
}

// within adds the types that a field of type t needs.
func (u *unpacker) within(t reflect.Type) {
	switch t.Kind() {
	case reflect.Pointer:
		u.need(t.Elem())
	case reflect.Slice:
		if e := t.Elem(); !slices.Contains(u.elements, e) {
			u.elements = append(u.elements, e)
			u.need(e)
			if e.Kind() != reflect.Struct {
				u.types = append(u.types, e)
				u.within(e)
			}
		}
	default:
		u.need(t)
	}
}

// reading returns an expression that decodes a value that is not a struct.
func reading(t reflect.Type) jen.Code {
	r := jen.Id("r")
	switch t.Kind() {
	case reflect.Bool:
		return jen.True()
	case reflect.String:
		return r.Dot("string").Call()
	case reflect.Int64:
		return r.Dot("int").Call()
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32:
		return typeOf(t).Call(r.Dot("int").Call())
	case reflect.Slice:
		e := t.Elem()
		return jen.Id("list").Call(jen.Id("r"), jen.Op("&").Add(r).Dot(reader(e)+"s"),
			jen.Parens(jen.Op("*").Id("reader")).Dot(reader(e)))
	}
	return typeOf(t).Call(r.Dot("uint").Call())
}

// reader returns the name of a type's decoder: form, typeRef, modList, aString.
func reader(t reflect.Type) string {
	switch {
	case t.Kind() == reflect.Slice:
		return reader(t.Elem()) + "List"
	case t.PkgPath() == "": // string and int are predeclared in Go
		return "a" + strings.ToUpper(t.Name()[:1]) + t.Name()[1:]
	}
	return strings.ToLower(t.Name()[:1]) + t.Name()[1:]
}
