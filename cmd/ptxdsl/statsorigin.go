// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"path"
	"strconv"
	"strings"

	"github.com/ptxdsl/ptxdsl/ir"
)

// origin returns the source line from which an instruction was compiled, such as "kernels.py:20",
// according to the preceding .loc directive, or "".
func (r *statsResult) origin(in *ir.Instr) string {
	for _, f := range r.module.Funcs() {
		at := ""
		for _, b := range f.Blocks {
			for _, other := range b.Instrs {
				if other == in {
					return at
				}
				if other.Op == ".loc" && len(other.Args) > 0 {
					at = r.place(other.Args[0].Text())
				}
			}
		}
	}
	return ""
}

// place returns the file and line to which the operands of a .loc directive refer.
func (r *statsResult) place(text string) string {
	words := strings.Fields(text)
	if len(words) < 2 {
		return ""
	}
	for _, d := range r.module.Decls {
		d, ok := d.(*ir.Directive)
		if !ok || d.Name != ".file" {
			continue
		}
		number, rest, _ := strings.Cut(strings.TrimSpace(d.Text), " ")
		name := strings.TrimSpace(rest)
		if quoted, err := strconv.QuotedPrefix(name); err == nil && number == words[0] {
			name, _ = strconv.Unquote(quoted)
			return path.Base(strings.ReplaceAll(name, `\`, "/")) + ":" + words[1]
		}
	}
	return ""
}
