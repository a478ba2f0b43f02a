// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package passes is what is done to a module between its making and its text, in one declared, ordered
// list. A pass is a plain function with a name; one that edits the module says so in its name, others
// report. Analyses (control flow is in package ir, liveness is here) return results and leave nothing in
// the module. The package knows nothing of text: callers print before and after.
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
	Doc   string // what it does, in a sentence or two
	Edits bool   // may change the module
	Run   func(*Step)
}

// A Step is one pass at work on a module, and what came of it.
type Step struct {
	Pass     *Pass
	Module   *ir.Module
	Changes  int // edits made
	Findings diag.List
	Took     time.Duration
}

// List is every pass, in an order that Ordering allows.
func List() []*Pass {
	return []*Pass{dropUnreachable(), foldConstants(), mergeCommon(), dropDead(), foldAddresses(), mergeRegisters()}
}

// Named finds passes by their names, in the order given. It is an error to name a pass that is none, one
// twice, or one before another that Ordering puts first.
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
			return nil, fmt.Errorf("there is no pass %q%s", name, hint)
		}
		list = append(list, all[i])
	}
	return list, Check(list)
}

// Run runs the passes one after the other. After each it calls done, which may be nil; where that says
// false the rest is left out.
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
