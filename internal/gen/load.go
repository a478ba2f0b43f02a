// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package gen

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/alecthomas/participle/v2/lexer"

	"github.com/ptxdsl/ptxdsl/isa"
)

// A Spec is the parsed and resolved spec: the contents of the z-files of package isa.
type Spec struct {
	Families     []Family
	Instructions []isa.Instruction
	Kinds        []string // operation kinds, indexed by isa.Kind
	Mods         []string
	Types        []TypeLine
	Specials     []isa.Special
	Directives   []isa.DirectiveInfo
	Pragmas      []isa.PragmaInfo
	Versions     []isa.VersionInfo
	Targets      []isa.TargetInfo
	Ignored      []isa.Mod // modifiers that ptxas ignores on every instruction
}

// A Family is one spec file.
type Family struct{ Name, What, File string }

// A TypeLine is a line of types.isa.
type TypeLine struct {
	Name string // name of the Go constant
	Info isa.TypeInfo
}

// Set returns the spec as an instruction set, for tools that work on spec files directly.
func (s *Spec) Set() *isa.Set {
	return isa.NewSet(s.Instructions, s.Mods, s.Ignored)
}

// Load reads spec files: every .isa file of dir, or the named ones. Files that declare versions,
// targets, types and gates are always read.
func Load(dir string, names ...string) (*Spec, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.isa"))
	if err != nil || len(paths) == 0 {
		return nil, fmt.Errorf("no .isa files in %s", dir)
	}
	slices.Sort(paths)
	r := &resolver{
		spec:  &Spec{},
		gates: map[string]isa.Gate{},
		mods:  map[string]isa.Mod{"": isa.NoMod},
		types: map[string]isa.Type{},
		kinds: map[string]isa.Kind{"": isa.NoKind},
	}
	r.spec.Kinds = []string{""}
	r.spec.Mods = []string{""}
	r.spec.Types = []TypeLine{{}}
	var files []*File
	var errs []error
	for _, path := range paths {
		base := strings.TrimSuffix(filepath.Base(path), ".isa")
		if len(names) > 0 && !slices.Contains(names, base) && !slices.Contains(common, base) {
			continue
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		f, err := specParser.ParseString(filepath.Base(path), "\n"+string(text))
		if err != nil {
			errs = append(errs, shift(err))
			continue
		}
		files = append(files, f)
	}
	if errs != nil {
		return nil, errors.Join(errs...)
	}
	for _, pass := range []func(*Stmt){r.target, r.word, r.gate} {
		for _, f := range files {
			for _, s := range f.Stmts {
				pass(s)
			}
		}
	}
	for _, f := range files {
		r.file(f)
	}
	return r.spec, errors.Join(r.errs...)
}

// common lists the spec files that all others use.
var common = []string{"types", "targets", "gates"}

// at returns a position in a spec file. The parser counts one line more than the file has.
func at(p lexer.Position) string { return fmt.Sprintf("%s:%d:%d", p.Filename, p.Line-1, p.Column) }

// shift corrects the line number of a parse error in the same way.
func shift(err error) error {
	var pe interface {
		Position() lexer.Position
		Message() string
	}
	if errors.As(err, &pe) {
		return fmt.Errorf("%s: %s", at(pe.Position()), pe.Message())
	}
	return err
}
