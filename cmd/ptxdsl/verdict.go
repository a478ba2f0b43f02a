// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ptxdsl/ptxdsl/diag"
)

// verdict is the last line on a file: what was found, what was looked for, and what was not. A
// reader must never take silence about a hazard for its absence.
func verdict(v *verified, selected bool) string {
	n := map[diag.Severity]int{}
	var ids []string
	for _, d := range v.findings {
		n[d.Severity]++
		if !slices.Contains(ids, d.Rule) && d.Rule != "" && d.Severity != diag.Note {
			ids = append(ids, d.Rule)
		}
	}
	words := []string{plural(n[diag.Error], "error")}
	if n[diag.Warning] > 0 {
		words = append(words, plural(n[diag.Warning], "warning"))
	}
	words = append(words, fmt.Sprintf("%d review", n[diag.Review]))
	if v.fixed > 0 {
		words = append(words, fmt.Sprintf("%d fixed", v.fixed))
	}
	checked, not := hazards(v)
	checked = "forms" + checked
	if selected {
		checked += ", selected rules only"
	}
	s := fmt.Sprintf("%s: %s; checked: %s; not checked: %s.", v.in.name, strings.Join(words, ", "), checked, not)
	if len(ids) > 0 {
		s += " See: ptxdsl explain " + strings.Join(ids[:min(3, len(ids))], " ")
	}
	return s
}

func plural(n int, word string) string {
	if n != 1 {
		word += "s"
	}
	return fmt.Sprintf("%d %s", n, word)
}
