// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package annotatedtest tests analyzers of annotated kernels with PTX files. Comments state the
// annotations that package dsl would record, and the expected findings; see package filetest. A
// note is a composite literal of a type of package ir, and belongs to the next instruction:
//
//	// note Use{What: Access{Space: ".shared", Reg: at, Bytes: 4}, Conds: {{Reg: p}}}
//	ld.shared.u32 x, [at]; // want "D301 out of bounds"
//
// Names in a note are registers, variables, labels, or roles, buffers and tiles of earlier notes.
// The name here is the position of the instruction, and the default of fields with the name Pos.
// The name this is the instruction. The block size is that of .reqntid.
package annotatedtest

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/ptxdsl/ptxdsl"
	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/internal/filetest"
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/passes/verify/annotated"
)

// kinds are the prefixes of the names of kernels. An analyzer reports a wrong kernel. It reports
// no right kernel, and no limit kernel, whose mistake it does not detect.
var kinds = []string{"wrong", "right", "limit"}

// Run runs each analyzer on the file testdata/NAME.ptx with its name. The file must have wrong,
// right and limit kernels.
func Run(t *testing.T, analyzers ...*annotated.Analyzer) {
	t.Helper()
	byName := make(map[string]*annotated.Analyzer)
	for _, a := range analyzers {
		byName[a.Name] = a
	}
	files, err := filepath.Glob("testdata/*.ptx")
	if err != nil || len(files) != len(analyzers) {
		t.Errorf("%d analyzers, but %d files (%v)", len(analyzers), len(files), err)
	}
	filetest.Run(t, "testdata/*.ptx", func(name, text string) diag.List {
		a := byName[strings.TrimSuffix(filepath.Base(name), ".ptx")]
		if a == nil {
			t.Errorf("%s: no analyzer has this name", name)
			return nil
		}
		m, list := Load(name, text)
		if len(list) > 0 {
			return list // findings about forms and notes are not expected
		}
		list = findings(m, a)
		checkKernels(t, m, list)
		return list
	})
}

// findings runs an analyzer on the kernels of m.
func findings(m *ir.Module, a *annotated.Analyzer) (list diag.List) {
	for _, f := range annotated.Run(m, []*annotated.Analyzer{a}) {
		d := f.Diagnostic
		d.Place, _ = m.At(f.Pos)
		list = append(list, d)
	}
	return list
}

// checkKernels checks that m has kernels of all kinds, and that exactly the wrong ones have
// findings.
func checkKernels(t *testing.T, m *ir.Module, list diag.List) {
	t.Helper()
	seen := make(map[string]bool)
	funcs := m.Funcs()
	for i, f := range funcs {
		kind, _, _ := strings.Cut(f.Name, "_")
		seen[kind] = true
		first, _ := m.At(f.Pos)
		n := 0
		for _, d := range list {
			if d.Place.Line < first.Line {
				continue
			}
			if i+1 < len(funcs) {
				if next, _ := m.At(funcs[i+1].Pos); d.Place.Line >= next.Line {
					continue
				}
			}
			n++
		}
		if (n > 0) != (kind == "wrong") {
			t.Errorf("%s: kernel %s has %d findings", m.Name, f.Name, n)
		}
	}
	for _, kind := range kinds {
		if !seen[kind] {
			t.Errorf("%s has no kernel %s_...", m.Name, kind)
		}
	}
}

// Load parses a PTX text and sets the annotations that its notes state. A note that is not
// understood is a finding.
func Load(name, text string) (*ir.Module, diag.List) {
	m, list := ptxdsl.Load(name, text)
	if m == nil || len(list) > 0 {
		return m, list
	}
	for i, line := range strings.Split(text, "\n") {
		_, note, ok := strings.Cut(line, "// note ")
		if !ok {
			continue
		}
		if err := addNote(m, i+1, note); err != nil {
			list = append(list, diag.Diagnostic{Rule: "note", Severity: diag.Error,
				Place: diag.Place{File: name, Line: i + 1}, Message: err.Error()})
		}
	}
	return m, list
}
