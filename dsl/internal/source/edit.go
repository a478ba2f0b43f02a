// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"go/ast"
	"go/token"
	"strconv"
	"strings"

	"github.com/ptxdsl/ptxdsl/diag"
)

// An Edit returns the fix of a finding: a change to the source text of the call. It returns nil if
// the call does not have the form that the edit expects, for example if an argument that the edit
// replaces is a variable instead of a literal.
type Edit func(Call) *diag.Fix

// Fix returns the fix that an edit makes of the call, or nil if the call is not known.
func (s Call) Fix(edit Edit) *diag.Fix {
	if s.call == nil {
		return nil
	}
	return edit(s)
}

// Rename returns an edit that replaces the name of the called method, if it is from, and keeps the
// arguments.
func Rename(from, to string) Edit {
	return func(s Call) *diag.Fix {
		name := calleeName(s.call)
		if !isNamed(name, from) {
			return nil
		}
		return s.replace("call "+to, name.Pos(), name.End(), to)
	}
}

// RenameCall returns an edit that replaces the name of the called method, if it is from, and its
// arguments by text.
func RenameCall(from, text string) Edit {
	return func(s Call) *diag.Fix {
		name := calleeName(s.call)
		if !isNamed(name, from) {
			return nil
		}
		return s.replace("call "+text, name.Pos(), s.call.End(), text)
	}
}

// Remove returns an edit that removes the call, if its result is not used.
func Remove() Edit {
	return func(s Call) *diag.Fix {
		if !s.in.statements[s.call] {
			return nil
		}
		return s.replace("remove the call", s.call.Pos(), s.call.End(), "")
	}
}

// AssignResult returns an edit that assigns the discarded result of an operation to the variable on
// which it is called.
func AssignResult() Edit {
	return func(s Call) *diag.Fix {
		method, ok := s.call.Fun.(*ast.SelectorExpr)
		if !ok || !s.in.statements[s.call] {
			return nil
		}
		variable, ok := method.X.(*ast.Ident)
		if !ok {
			return nil
		}
		start := s.span(s.call.Pos(), s.call.Pos())
		end := s.span(s.call.End(), s.call.End())
		return &diag.Fix{
			Message: "assign the result to " + variable.Name, Guess: true,
			Edits: []diag.Edit{{Place: start, New: variable.Name + ".Set("},
				{Place: end, New: ")"}},
		}
	}
}

// ReplaceString returns an edit that replaces the only string literal with the value from in the
// arguments.
func ReplaceString(from, to string) Edit {
	return func(s Call) *diag.Fix {
		return s.replaceLiteral(token.STRING, to, func(text string) (string, bool) {
			value, err := strconv.Unquote(text)
			return strconv.Quote(to), err == nil && value == from
		})
	}
}

// ReplaceModifier returns an edit that replaces a modifier of the opcode in the only string literal
// that contains it, such as ".u33" in "add.u33".
func ReplaceModifier(from, to string) Edit {
	return func(s Call) *diag.Fix {
		return s.replaceLiteral(token.STRING, to, func(text string) (string, bool) {
			value, err := strconv.Unquote(text)
			words := strings.SplitAfter(value+".", from+".")
			if err != nil || len(words) != 2 {
				return "", false
			}
			value = strings.TrimSuffix(words[0], from+".") + to + "." + words[1]
			return strconv.Quote(strings.TrimSuffix(value, ".")), true
		})
	}
}

// ReplaceInt returns an edit that replaces the only integer literal with the value from in the
// arguments.
func ReplaceInt(from, to int64) Edit {
	return func(s Call) *diag.Fix {
		text := strconv.FormatInt(to, 10)
		return s.replaceLiteral(token.INT, text, func(literal string) (string, bool) {
			value, err := strconv.ParseInt(literal, 0, 64)
			return text, err == nil && value == from
		})
	}
}

// DropArgument returns an edit that removes the last argument with the given name, such as dsl.NC
// or dsl.MaxRegs(64).
func DropArgument(name string) Edit {
	return func(s Call) *diag.Fix {
		for i := len(s.call.Args) - 1; i > 0; i-- {
			arg := s.call.Args[i]
			callee := arg
			if call, ok := arg.(*ast.CallExpr); ok {
				callee = call.Fun
			}
			if sel, ok := callee.(*ast.SelectorExpr); ok && sel.Sel.Name == name {
				return s.replace("remove "+name, s.call.Args[i-1].End(), arg.End(), "")
			}
		}
		return nil
	}
}

// isNamed reports whether e is the identifier name.
func isNamed(e ast.Expr, name string) bool {
	id, ok := e.(*ast.Ident)
	return ok && id.Name == name
}

// replaceLiteral returns a fix that replaces a literal of the given kind in the arguments. change
// returns the replacement of a literal's source text, or false for a literal to keep. If change
// accepts no literal, or several, replaceLiteral returns nil. Functions in the arguments are not
// searched.
func (s Call) replaceLiteral(kind token.Token, name string,
	change func(text string) (string, bool)) *diag.Fix {
	var fix *diag.Fix
	found := 0
	replace := func(n ast.Node, text string) {
		if text, ok := change(text); ok {
			found++
			fix = s.replace("write "+name, n.Pos(), n.End(), text)
		}
	}
	for _, arg := range s.call.Args {
		ast.Inspect(arg, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncLit:
				return false
			case *ast.UnaryExpr:
				if lit, ok := n.X.(*ast.BasicLit); ok && n.Op == token.SUB && lit.Kind == kind {
					replace(n, "-"+lit.Value)
					return false
				}
			case *ast.BasicLit:
				if n.Kind == kind {
					replace(n, n.Value)
				}
			}
			return true
		})
	}
	if found != 1 {
		return nil
	}
	return fix
}

// replace returns a fix that replaces a range of the source by text.
func (s Call) replace(message string, from, to token.Pos, text string) *diag.Fix {
	return &diag.Fix{Message: message, Edits: []diag.Edit{{Place: s.span(from, to), New: text}},
		Guess: true}
}

// span returns a range of positions in the file as a place.
func (s Call) span(from, to token.Pos) diag.Place {
	start, end := s.in.fset.Position(from), s.in.fset.Position(to)
	return diag.Place{
		File: s.At.File, Line: start.Line, Column: start.Column,
		EndLine: end.Line, EndColumn: end.Column,
	}
}
