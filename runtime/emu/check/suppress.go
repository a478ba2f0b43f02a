// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"strings"

	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/ir"
)

// suppress drops the findings that a comment "ptxdsl:ignore RULE REASON" at their instruction
// covers.
func (k *kernel) suppress(list diag.List) (kept diag.List, dropped int) {
	ignored := make(map[int]string) // reasons by line
	k.instructions(func(in *ir.Instr) {
		for _, text := range append(in.Doc(), in.Note()) {
			_, rest, found := strings.Cut(text, "ptxdsl:ignore")
			rule, reason, _ := strings.Cut(strings.TrimSpace(rest), " ")
			if found && strings.TrimSpace(reason) != "" {
				at, _ := k.module.At(in.Pos)
				ignored[at.Line] += " " + rule
			}
		}
	})
	for _, d := range list {
		if strings.Contains(ignored[d.Place.Line]+" ", " "+d.Rule+" ") {
			dropped++
			continue
		}
		kept = append(kept, d)
	}
	return kept, dropped
}
