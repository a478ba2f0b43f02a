// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package suite_test

import (
	"slices"
	"testing"

	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/passes/verify/annotated"
	"github.com/ptxdsl/ptxdsl/passes/verify/suite"
)

// TestAnnotated checks that analyzers of annotations have a name of their own, documentation, and
// rules with pages, and that kernels without annotations have no findings.
func TestAnnotated(t *testing.T) {
	var pages []string
	for _, r := range annotated.Rules() {
		if r.Title == "" || r.What == "" || r.Why == "" || r.Wrong == "" || r.Right == "" ||
			r.Fix == "" {
			t.Errorf("the page of rule %s is not complete: %+v", r.ID, r)
		}
		pages = append(pages, r.ID)
	}
	var reported, names []string
	for _, a := range suite.Annotated() {
		if a.Doc == "" || a.Run == nil || len(a.Rules) == 0 || slices.Contains(names, a.Name) {
			t.Errorf("analyzer %q: %+v", a.Name, a)
		}
		names = append(names, a.Name)
		for _, r := range a.Rules {
			if !slices.Contains(pages, r.ID) {
				t.Errorf("analyzer %s: rule %s has no page", a.Name, r.ID)
			}
			reported = append(reported, r.ID)
		}
	}
	for _, id := range pages {
		if !slices.Contains(reported, id) {
			t.Errorf("no analyzer reports rule %s", id)
		}
	}
	f := &ir.Func{Name: "k", Kernel: true, Defined: true, Blocks: []*ir.Block{{}}}
	m := &ir.Module{Name: "m", Decls: []ir.Decl{f}}
	if list := annotated.Run(m, suite.Annotated()); len(list) > 0 {
		t.Errorf("a kernel without annotations: %v", list)
	}
	f.Annotations = new(ir.Annotations)
	if list := annotated.Run(m, suite.Annotated()); len(list) > 0 {
		t.Errorf("a kernel with empty annotations: %v", list)
	}
}
