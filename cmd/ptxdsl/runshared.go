// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"regexp"
	"slices"

	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/ptx"
)

// launchShared returns the names of the dynamic shared variables that a kernel may use: arrays of
// unspecified size to which the kernel or a device function refers.
func launchShared(text, kernel string) (names []string) {
	f, _ := ptx.Parse("", text)
	var bodies []string
	var open []ptx.Declarator
	for _, n := range f.Decls {
		switch n := n.(type) {
		case *ptx.Func:
			if n.Body != nil && (n.Kind.Text != ".entry" || n.Name.Text == kernel) {
				bodies = append(bodies, text[n.Body.Pos():n.Body.End()])
			}
		case *ptx.Var:
			extern := slices.ContainsFunc(n.Linkage, func(w ptx.Word) bool {
				return w.Text == ".extern"
			})
			if space, _ := isa.ParseSpace(n.Space.Text); extern && space == isa.Shared {
				open = append(open, n.Names...)
			}
		}
	}
	for _, d := range open {
		named := regexp.MustCompile(`(^|[^\w$%])` + regexp.QuoteMeta(d.Name.Text) +
			`($|[^\w$])`).MatchString
		if slices.ContainsFunc(bodies, named) {
			names = append(names, d.Name.Text)
		}
	}
	return names
}
