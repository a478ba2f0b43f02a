// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package annotatedtest

import (
	"errors"
	"fmt"
	"go/ast"
	"go/token"
	"reflect"
	"slices"
	"strconv"

	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
)

// constants are the names of values that are not registers, variables or labels.
var constants = map[string]any{
	"true": true, "false": false,
	"Row": ir.Row, "Col": ir.Col, "Chunk": ir.Chunk, "Rows": ir.Rows, "Part": ir.Part,
	"Whole":       ir.Whole,
	"TensorStage": ir.TensorStage, "CopiedStage": ir.CopiedStage, "TensorColumns": ir.TensorColumns,
}

// atom sets a value from an expression that is not a literal of a struct or a list.
func (n *annotation) atom(to reflect.Value, x ast.Expr) error {
	switch x := x.(type) {
	case *ast.BasicLit:
		return number(to, x, 1)
	case *ast.UnaryExpr:
		if lit, ok := x.X.(*ast.BasicLit); ok && x.Op == token.SUB {
			return number(to, lit, -1)
		}
	case *ast.Ident:
		for _, value := range n.meanings(x.Name) {
			if v := reflect.ValueOf(value); v.Type().AssignableTo(to.Type()) {
				to.Set(v)
				return nil
			}
		}
		if r, ok := n.named(x.Name).(*ir.Reg); ok && to.Type() == reflect.TypeFor[ir.Operand]() {
			to.Set(reflect.ValueOf(ir.Operand{Kind: ir.Register, Reg: r}))
			return nil
		}
		return fmt.Errorf("%s is no %s", x.Name, to.Type())
	}
	return errors.New("expected a name, a number or a string")
}

// number sets a value from a number or a string.
func number(to reflect.Value, x *ast.BasicLit, sign int64) error {
	if x.Kind == token.STRING {
		return text(to, x.Value)
	}
	value, err := strconv.ParseInt(x.Value, 0, 64)
	switch {
	case err != nil:
		return err
	case to.CanInt():
		to.SetInt(sign * value)
	case to.Type() == reflect.TypeFor[ir.Operand]():
		to.Set(reflect.ValueOf(ir.Operand{Kind: ir.Int, Value: sign * value}))
	default:
		return fmt.Errorf("a number cannot be a %s", to.Type())
	}
	return nil
}

// text sets a value from a quoted string: a name, a type or a state space.
func text(to reflect.Value, quoted string) error {
	word, err := strconv.Unquote(quoted)
	if err != nil {
		return err
	}
	switch {
	case to.Type() == reflect.TypeFor[isa.Type]():
		t, ok := isa.ParseType(word)
		if !ok {
			return fmt.Errorf("%s is no type", word)
		}
		to.Set(reflect.ValueOf(t))
	case to.Type() == reflect.TypeFor[isa.Space]():
		s, ok := isa.ParseSpace(word)
		if !ok {
			return fmt.Errorf("%s is no state space", word)
		}
		to.Set(reflect.ValueOf(s))
	case to.Kind() == reflect.String:
		to.SetString(word)
	default:
		return fmt.Errorf("a string cannot be a %s", to.Type())
	}
	return nil
}

// meanings returns what a name may mean. The type that is expected decides.
func (n *annotation) meanings(name string) (list []any) {
	switch name {
	case "here":
		return []any{n.in.Pos}
	case "this":
		return []any{n.in}
	}
	if c, ok := constants[name]; ok {
		return []any{c}
	}
	if named := n.named(name); named != nil {
		list = append(list, named)
	}
	for _, b := range n.f.Blocks {
		for _, l := range b.Labels {
			if l.Name == name {
				list = append(list, b)
			}
		}
	}
	for _, r := range n.f.Annotations.Roles {
		if r.Name == name {
			list = append(list, r)
		}
	}
	for i := range n.f.Annotations.Products {
		for _, s := range n.f.Annotations.Products[i].Sides {
			if s.Of != nil && s.Of.Pipeline == name {
				list = append(list, s.Of)
			}
		}
	}
	return list
}

// named returns the register, parameter or variable with a name, or nil.
func (n *annotation) named(name string) any {
	for _, r := range n.f.Regs {
		if r.Name == name {
			return r
		}
	}
	vars := slices.Concat(n.f.Params, n.f.Vars)
	for _, d := range n.m.Decls {
		if v, ok := d.(*ir.Var); ok {
			vars = append(vars, v)
		}
	}
	for _, v := range vars {
		if v.Name == name {
			return v
		}
	}
	return nil
}
