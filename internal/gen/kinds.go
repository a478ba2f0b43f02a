// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package gen

import (
	"reflect"

	"github.com/dave/jennifer/jen"
)

// kindsFile generates the operation kinds and their constants.
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
	f.Comment("kindNames are the names of kinds; a Kind is an index into it.")
	f.Var().Id("kindNames").Op("=").Add(literal(reflect.ValueOf(s.Kinds)))
	return f
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
