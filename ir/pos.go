// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package ir

import "github.com/ptxdsl/ptxdsl/diag"

// A Pos is where something comes from, in the terms of the module's Source. NoPos is nowhere.
type Pos int32

// NoPos marks what comes from nowhere.
const NoPos Pos = 0

// A Source knows what positions stand for: a line of PTX, or the Go calls that built an instruction.
type Source interface {
	// Place is the innermost place of pos, and those it was called from, innermost first.
	Place(pos Pos) (at diag.Place, from []diag.Place)
}

// At is where pos is, and what called it.
func (m *Module) At(pos Pos) (at diag.Place, from []diag.Place) {
	if m.Source == nil || pos == NoPos {
		return diag.Place{File: m.Name}, nil
	}
	return m.Source.Place(pos)
}
