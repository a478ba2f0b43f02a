// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package isa

import (
	"embed"

	"github.com/ptxdsl/ptxdsl/diag"
)

// pages holds the page of each rule.
//
//go:embed rules/*.md
var pages embed.FS

// Rules returns the rules of the matcher: opcodes and modifiers (F2), operands (F3), versions and
// targets (F4).
func Rules() diag.Rules {
	list := diag.Rules{
		{ID: "F201", Layer: "form"}, // unknown instruction
		{ID: "F202", Layer: "form"}, // unknown modifier
		// modifier that the instruction does not have
		{ID: "F203", Layer: "form"},
		{ID: "F204", Layer: "form"},                         // missing modifier
		{ID: "F205", Layer: "form"},                         // modifiers cannot be combined
		{ID: "F206", Layer: "form"},                         // modifier written twice
		{ID: "F207", Layer: "form"},                         // modifier in the wrong position
		{ID: "F208", Layer: "form", Severity: diag.Warning}, // modifier without effect
		{ID: "F301", Layer: "form"},                         // wrong number of operands
		{ID: "F302", Layer: "form"},                         // wrong kind of operand
		// register type does not match the instruction
		{ID: "F303", Layer: "form"},
		{ID: "F304", Layer: "form"}, // constant out of range
		{ID: "F305", Layer: "form"}, // operands cannot be combined
		{ID: "F306", Layer: "form"}, // wrong vector length
		// address does not match the instruction
		{ID: "F307", Layer: "form"},
		{ID: "F308", Layer: "form"}, // _ as a required destination
		{ID: "F401", Layer: "form"}, // .version too old for the instruction
		// .target does not support the instruction
		{ID: "F402", Layer: "form"},
		// removed from this PTX version or target
		{ID: "F403", Layer: "form"},
	}
	return list.WithPages(pages)
}
