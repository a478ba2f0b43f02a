// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"go/ast"
	"go/token"
	"regexp"
	"strconv"
	"strings"

	"github.com/ptxdsl/ptxdsl/diag"
)

// A repair is an edit of a call that fixes a finding. Its pattern matches the message of the
// finding.
type repair struct {
	pattern *regexp.Regexp
	method  string // name of the method that was called by mistake; "" for any method
	edit    func(s Call, match []string) *diag.Fix
}

// repairs lists the findings that an edit of a single call fixes.
var repairs = []repair{
	{regexp.MustCompile(`has 64 bits; use Value64$`), "Value", rename("Value64")},
	{regexp.MustCompile(`in a kernel without Cluster; for the block's own mbarrier use Arrive$`),
		"ArriveAt", replaceCall("Arrive()")},
	{regexp.MustCompile(`for arrivals of this block use Wait$`), "WaitCluster", rename("Wait")},
	{regexp.MustCompile(`for the threads of a block use Sync$`), "SyncCluster", rename("Sync")},
	{regexp.MustCompile(`without CTAPair; MulticastCol shares whole tiles$`), "MulticastHalf",
		rename("MulticastCol")},
	{regexp.MustCompile(`^result of \w+ (on a variable that is never assigned )?is unused`), "",
		assignResult},
	{regexp.MustCompile(`is a vector; use a component such as (%[\w.]+)$`), "", replaceLiteral},
	{regexp.MustCompile(`did you mean ([^?]+)\?$`), "", replaceLiteral},
	{regexp.MustCompile(`(\.[\w:]+)(?: is not a PTX modifier)?; did you mean (\.[\w:]+)$`), "",
		replaceModifier},
	{regexp.MustCompile(`^Reduce .*; use Atomic$`), "Reduce", rename("Atomic")},
	{regexp.MustCompile(`the closest form is ([\w.:]+)$`), "Ins", replaceLiteral},
	{regexp.MustCompile(`^NC load of .* leave NC out$`), "", dropArgument("NC")},
	{regexp.MustCompile(`^CommitCopies is called in the load function`), "CommitCopies", remove},
	{regexp.MustCompile(`^label \w+ is placed twice$`), "PlaceLabel", remove},
	{regexp.MustCompile(`is released twice$`), "Release", remove},
	{regexp.MustCompile(`is loaded twice into one stage`), "Load", remove},
	{regexp.MustCompile(`^\d+ is not a valid \.u8$`), "U8", rename("U16")},
	{regexp.MustCompile(`^\d+ is not a valid \.u16$`), "U16", rename("U32")},
}

// Repair returns the fix of a finding at the call, or nil.
func (s Call) Repair(d diag.Diagnostic) *diag.Fix {
	if s.call == nil {
		return nil
	}
	for _, r := range repairs {
		match := r.pattern.FindStringSubmatch(d.Message)
		if match == nil {
			continue
		}
		if id, ok := calleeName(s.call).(*ast.Ident); r.method != "" &&
			(!ok || id.Name != r.method) {
			continue
		}
		if fix := r.edit(s, match); fix != nil {
			return fix
		}
	}
	return nil
}

// span returns a range of positions in the file as a place.
func (s Call) span(from, to token.Pos) diag.Place {
	start, end := s.in.fset.Position(from), s.in.fset.Position(to)
	return diag.Place{
		File: s.At.File, Line: start.Line, Column: start.Column,
		EndLine: end.Line, EndColumn: end.Column,
	}
}

// fix returns a fix that replaces the source range by text.
func (s Call) fix(message string, from, to token.Pos, text string) *diag.Fix {
	return &diag.Fix{Message: message, Edits: []diag.Edit{{Place: s.span(from, to), New: text}},
		Guess: true}
}

// rename returns an edit that replaces the name of the method and keeps the arguments.
func rename(method string) func(Call, []string) *diag.Fix {
	return func(s Call, _ []string) *diag.Fix {
		name := calleeName(s.call)
		return s.fix("call "+method, name.Pos(), name.End(), method)
	}
}

// replaceCall returns an edit that replaces the name of the method and the arguments.
func replaceCall(text string) func(Call, []string) *diag.Fix {
	return func(s Call, _ []string) *diag.Fix {
		return s.fix("call "+text, calleeName(s.call).Pos(), s.call.End(), text)
	}
}

// assignResult returns a fix that assigns the discarded result of an operation to the variable on
// which it is called.
func assignResult(s Call, _ []string) *diag.Fix {
	method, ok := s.call.Fun.(*ast.SelectorExpr)
	if !ok || !s.in.statements[s.call] {
		return nil
	}
	variable, ok := method.X.(*ast.Ident)
	if !ok {
		return nil
	}
	at := s.span(s.call.Pos(), s.call.Pos())
	end := s.span(s.call.End(), s.call.End())
	return &diag.Fix{
		Message: "assign the result to " + variable.Name, Guess: true,
		Edits: []diag.Edit{{Place: at, New: variable.Name + ".Set("}, {Place: end, New: ")"}},
	}
}

// replaceLiteral returns a fix that replaces a string literal among the arguments by the first
// group of the match, if the two are similar.
func replaceLiteral(s Call, match []string) *diag.Fix {
	for _, arg := range s.call.Args {
		lit, ok := arg.(*ast.BasicLit)
		if !ok || lit.Kind != token.STRING {
			continue
		}
		text, err := strconv.Unquote(lit.Value)
		if err != nil || diag.Nearest(text, []string{match[1]}) == "" &&
			!strings.Contains(match[1], text) {
			continue
		}
		return s.fix("write "+match[1], lit.Pos(), lit.End(), strconv.Quote(match[1]))
	}
	return nil
}

// replaceModifier returns a fix that replaces the first group of the match, a modifier, by the
// second group, in the string literal that contains it.
func replaceModifier(s Call, match []string) *diag.Fix {
	for _, arg := range s.call.Args {
		lit, ok := arg.(*ast.BasicLit)
		if !ok || lit.Kind != token.STRING {
			continue
		}
		text, err := strconv.Unquote(lit.Value)
		words := strings.SplitAfter(text+".", match[1]+".")
		if err != nil || len(words) != 2 {
			continue
		}
		text = strings.TrimSuffix(words[0], match[1]+".") + match[2] + "." + words[1]
		return s.fix("write "+match[2], lit.Pos(), lit.End(),
			strconv.Quote(strings.TrimSuffix(text, ".")))
	}
	return nil
}

// dropArgument returns an edit that removes an argument with the given name, such as dsl.NC.
func dropArgument(name string) func(Call, []string) *diag.Fix {
	return func(s Call, _ []string) *diag.Fix {
		for i, arg := range s.call.Args {
			if sel, ok := arg.(*ast.SelectorExpr); ok && sel.Sel.Name == name && i > 0 {
				return s.fix("remove "+name, s.call.Args[i-1].End(), arg.End(), "")
			}
		}
		return nil
	}
}

// remove returns a fix that removes a call whose result is not used.
func remove(s Call, _ []string) *diag.Fix {
	if !s.in.statements[s.call] {
		return nil
	}
	return s.fix("remove the call", s.call.Pos(), s.call.End(), "")
}
