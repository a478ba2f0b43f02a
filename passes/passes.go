// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package passes transforms a module between its construction and its text, in one declared,
// ordered list. A pass is a plain function with a name. Passes that edit the module say so in
// their name; others only report. Analyses (control flow in package ir, liveness here) return
// results and store nothing in the module. The package does not handle text: callers print
// before and after.
package passes

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/ir"
)

// A Pass is one step over a module.
type Pass struct {
	Name  string
	Doc   string // what it does, in one or two sentences
	Edits bool   // may change the module
	Run   func(*Step)
}

// A Step is one run of a pass on a module, and its result.
type Step struct {
	Pass     *Pass
	Module   *ir.Module
	Changes  int // number of edits
	Findings diag.List
	Took     time.Duration
}

// List returns all passes, in an order that satisfies Ordering.
func List() []*Pass {
	return []*Pass{dropUnreachable(), foldConstants(), mergeCommon(), dropDead(), foldAddresses(),
		mergeRegisters()}
}

// Named finds passes by name, in the given order. Unknown names, duplicates, and an order that
// violates Ordering are errors.
func Named(names ...string) ([]*Pass, error) {
	all := List()
	var list []*Pass
	for _, name := range names {
		i := slices.IndexFunc(all, func(p *Pass) bool { return p.Name == name })
		if i < 0 {
			known := make([]string, len(all))
			for j, p := range all {
				known[j] = p.Name
			}
			hint := "; the passes are " + strings.Join(known, ", ")
			if near := diag.Nearest(name, known); near != "" {
				hint = "; did you mean " + near + "?"
			}
			return nil, fmt.Errorf("unknown pass %q%s", name, hint)
		}
		list = append(list, all[i])
	}
	return list, Check(list)
}

// Run runs the passes in order. After each it calls done, which may be nil; if done returns
// false, the remaining passes are skipped.
func Run(m *ir.Module, list []*Pass, done func(*Step) bool) []Step {
	steps := make([]Step, 0, len(list))
	for _, p := range list {
		s := Step{Pass: p, Module: m}
		start := time.Now()
		p.Run(&s)
		s.Took = time.Since(start)
		steps = append(steps, s)
		if done != nil && !done(&s) {
			break
		}
	}
	return steps
}
