// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package annotatedtest

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"reflect"
	"strconv"
	"strings"

	"github.com/ptxdsl/ptxdsl/ir"
)

// addNote adds the annotation of the note at a line to the function of the next instruction.
func addNote(m *ir.Module, line int, note string) error {
	x, err := parser.ParseExpr(note)
	if err != nil {
		return err
	}
	lit, ok := x.(*ast.CompositeLit)
	if !ok {
		return errors.New("expected a composite literal")
	}
	kind, ok := lit.Type.(*ast.Ident)
	if !ok {
		return errors.New("expected the name of a type")
	}
	f, in := instructionAfter(m, line)
	if in == nil {
		return errors.New("no instruction follows")
	}
	if f.Annotations == nil {
		annotate(f)
	}
	n := &annotation{f: f, m: m, in: in}
	notes := reflect.ValueOf(f.Annotations).Elem()
	if kind.Name == notes.Type().Name() {
		return n.fields(notes, lit)
	}
	if kind.Name == "Reg" {
		return n.register(lit)
	}
	for i := range notes.NumField() {
		list := notes.Field(i)
		if list.Kind() != reflect.Slice || typeName(list.Type().Elem()) != kind.Name {
			continue
		}
		item := reflect.New(list.Type().Elem()).Elem()
		if err := n.set(item, lit); err != nil {
			return err
		}
		list.Set(reflect.Append(list, item))
		return nil
	}
	return fmt.Errorf("%s is no annotation", kind.Name)
}

// instructionAfter returns the first instruction after a line, and its function.
func instructionAfter(m *ir.Module, line int) (*ir.Func, *ir.Instr) {
	for _, f := range m.Funcs() {
		for _, b := range f.Blocks {
			for _, in := range b.Instrs {
				if at, _ := m.At(in.Pos); at.Line > line {
					return f, in
				}
			}
		}
	}
	return nil, nil
}

// annotate sets empty annotations, the block size, and what the builder counts.
func annotate(f *ir.Func) {
	f.Annotations = new(ir.Annotations)
	if a := f.Attr(".reqntid"); a != nil {
		block := [3]int{1, 1, 1}
		for i, word := range strings.SplitN(a.Text, ",", 3) {
			if n, err := strconv.Atoi(strings.TrimSpace(word)); err == nil {
				block[i] = n
			}
		}
		f.Annotations.Block = block
	}
	f.Number()
	for _, b := range f.Blocks {
		for _, in := range b.Instrs {
			for i := range in.Args {
				in.Args[i].Walk(func(o *ir.Operand) {
					if o.Reg != nil {
						o.Reg.Uses++
					}
				})
			}
			if in.Guard.Reg != nil {
				in.Guard.Reg.Uses++
			}
		}
	}
}

// typeName returns the name of a type, or of the type that it points to.
func typeName(t reflect.Type) string {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t.Name()
}

// A annotation is the note at an instruction.
type annotation struct {
	f  *ir.Func
	m  *ir.Module
	in *ir.Instr
}

// register sets what the builder records in a register, as in Reg{Name: "x", Varies: true}.
func (n *annotation) register(lit *ast.CompositeLit) error {
	var facts ir.Reg
	if err := n.fields(reflect.ValueOf(&facts).Elem(), lit); err != nil {
		return err
	}
	for _, r := range n.f.Regs {
		if r.Name == facts.Name {
			r.Varies, r.Set = facts.Varies, facts.Set
			return nil
		}
	}
	return fmt.Errorf("no register %s", facts.Name)
}

// fields sets the fields of a struct. Elements of a list are added to those that are there.
func (n *annotation) fields(to reflect.Value, lit *ast.CompositeLit) error {
	for _, e := range lit.Elts {
		pair, ok := e.(*ast.KeyValueExpr)
		if !ok {
			return errors.New("expected Name: value")
		}
		key, ok := pair.Key.(*ast.Ident)
		if !ok || !to.FieldByName(key.Name).IsValid() {
			return fmt.Errorf("%s has no field %v", to.Type(), pair.Key)
		}
		if err := n.set(to.FieldByName(key.Name), pair.Value); err != nil {
			return fmt.Errorf("%s: %w", key.Name, err)
		}
	}
	return nil
}

// actions are the types of ir.Action.
var actions = map[string]reflect.Type{
	"Access":     reflect.TypeFor[ir.Access](),
	"TileAccess": reflect.TypeFor[ir.TileAccess](),
	"TileStore":  reflect.TypeFor[ir.TileStore](),
	"Collective": reflect.TypeFor[ir.Collective](),
}

// set sets a value from an expression.
func (n *annotation) set(to reflect.Value, x ast.Expr) error {
	lit, ok := x.(*ast.CompositeLit)
	if !ok {
		return n.atom(to, x)
	}
	switch to.Kind() {
	case reflect.Struct:
		if pos := to.FieldByName("Pos"); pos.IsValid() {
			pos.Set(reflect.ValueOf(n.in.Pos))
		}
		return n.fields(to, lit)
	case reflect.Pointer:
		to.Set(reflect.New(to.Type().Elem()))
		return n.set(to.Elem(), lit)
	case reflect.Interface:
		kind, ok := lit.Type.(*ast.Ident)
		if !ok || actions[kind.Name] == nil {
			return errors.New("expected the type of an action")
		}
		item := reflect.New(actions[kind.Name])
		to.Set(item)
		return n.set(item.Elem(), lit)
	case reflect.Slice, reflect.Array:
		return n.elements(to, lit)
	}
	return fmt.Errorf("a literal cannot be a %s", to.Type())
}

// elements sets the elements of an array, or adds elements to a list.
func (n *annotation) elements(to reflect.Value, lit *ast.CompositeLit) error {
	for i, e := range lit.Elts {
		if to.Kind() == reflect.Slice {
			to.Set(reflect.Append(to, reflect.Zero(to.Type().Elem())))
			i = to.Len() - 1
		} else if i >= to.Len() {
			return fmt.Errorf("more than %d elements", to.Len())
		}
		if err := n.set(to.Index(i), e); err != nil {
			return err
		}
	}
	return nil
}
