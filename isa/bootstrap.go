// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

//go:build isagen

package isa

// The generator is compiled with this file instead of the generated tables, so that it compiles
// even if the tables do not match the model.
var (
	Versions    []VersionInfo
	Targets     []TargetInfo
	Specials    []Special
	Directives  []DirectiveInfo
	Pragmas     []PragmaInfo
	modWords    []string
	kindNames   []string
	headNames   []string
	kindHeads   []Head
	ignoredMods []Mod
	modsSorted  []Mod
	packed      string
)

type lists struct {
	mods  listsOf[Mod]
	forms listsOf[Form]
}

func (*reader) mod(*Mod)         {}
func (*reader) form(*Form)       {}
func (*reader) wording(*Wording) {}
