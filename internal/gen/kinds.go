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

// kindsFile generates the operation kinds and their heads, with their constants.
func (s *Spec) kindsFile() *jen.File {
	f := newFile(false)
	f.Comment("Kinds of operation.")
	f.Const().DefsFunc(func(g *jen.Group) {
		for i, name := range s.Kinds {
			if name != "" {
				g.Id("Kind" + GoName(name)).Id("Kind").Op("=").Lit(i)
			}
		}
	})
	names, heads := headsOf(s.Kinds)
	f.Comment("Heads of kinds.")
	f.Const().DefsFunc(func(g *jen.Group) {
		for i, name := range names {
			if name != "" {
				g.Id("Head" + GoName(name)).Id("Head").Op("=").Lit(i)
			}
		}
	})
	f.Comment("kindNames are the names of kinds; a Kind is an index into it.")
	f.Var().Id("kindNames").Op("=").Add(literal(reflect.ValueOf(s.Kinds)))
	f.Comment("headNames are the names of heads; a Head is an index into it.")
	f.Var().Id("headNames").Op("=").Add(literal(reflect.ValueOf(names)))
	f.Comment("kindHeads are the heads of kinds, by Kind.")
	f.Var().Id("kindHeads").Op("=").Add(literal(reflect.ValueOf(heads)))
	return f
}

// headsOf returns the head of each kind, and the name of each head. Name 0 is empty; the others are
// in the order of their first kinds.
func headsOf(kinds []string) (names []string, heads []isa.Head) {
	names = []string{""}
	for _, name := range kinds {
		head, _, _ := strings.Cut(name, ".")
		i := slices.Index(names, head)
		if i < 0 {
			i = len(names)
			names = append(names, head)
		}
		heads = append(heads, isa.Head(i))
	}
	return names, heads
}

// modsFile generates a constant for each modifier that has a Go name.
func (s *Spec) modsFile() *jen.File {
	f := newFile(false)
	f.Comment("Modifiers.")
	f.Const().DefsFunc(func(g *jen.Group) {
		for i, word := range s.Mods {
			if word == "" {
				continue
			}
			if name := GoName(word); name != "" {
				g.Id("Mod" + name).Id("Mod").Op("=").Lit(i)
			}
		}
	})
	return f
}
