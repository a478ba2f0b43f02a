// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package ir

import "github.com/ptxdsl/ptxdsl/diag"

// A Pos identifies the source of a declaration or an instruction; the module's Source resolves it.
// NoPos means unknown.
type Pos int32

// NoPos is the position of an element without a source.
const NoPos Pos = 0

// A Source resolves positions: to a line of PTX, or to the Go calls that built an instruction.
type Source interface {
	// Place returns the innermost place of pos and its callers, innermost first.
	Place(pos Pos) (at diag.Place, from []diag.Place)
}

// At returns the source position of pos and its callers, innermost first.
func (m *Module) At(pos Pos) (at diag.Place, from []diag.Place) {
	if m.Source == nil || pos == NoPos {
		return diag.Place{File: m.Name}, nil
	}
	return m.Source.Place(pos)
}

// Same reports whether two positions belong to the same call of the author. A Go loop that
// repeats a call gives each repetition a separate position.
func (m *Module) Same(a, b Pos) bool {
	if s, ok := m.Source.(interface{ Same(a, b Pos) bool }); ok {
		return s.Same(a, b)
	}
	return a == b
}
