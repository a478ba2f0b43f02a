// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"slices"

	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/passes/analysis/trace"
	"github.com/ptxdsl/ptxdsl/passes/verify"
)

// An outcomes holds the results of the simulated scenes, and the errors that each scene was the
// first to show. From these, settle determines whether an error occurs only for particular
// values.
type outcomes struct {
	p     *verify.Pass
	list  []outcome
	races []valueRace
}

type outcome struct {
	scene  []*trace.Trace
	failed bool
	plain  bool // plain accesses were compared
	errors []*verify.Finding
}

// A valueRace is a race at addresses that depend on substituted values.
type valueRace struct {
	f             *verify.Finding
	first, second *ir.Instr
	set           int
}

// add records the result of a scene: the findings after the first n, and whether the scene
// failed.
func (o *outcomes) add(scene []*trace.Trace, plain bool, n int, stuck bool) {
	errors := o.p.ErrorsSince(n)
	o.list = append(o.list, outcome{scene, stuck || len(errors) > 0, plain, errors})
}

// addRace records f, a race that was found in one scene at addresses that depend on values
// substituted for inputs of the kernel. The race is a review until settle decides its severity.
func (o *outcomes) addRace(f *verify.Finding, x, y *access) {
	f.As(diag.Review)
	o.races = append(o.races, valueRace{f, x.e.In, y.e.In, x.by.t.Facts.ConstantSet()})
}

// settle determines the severities. A race becomes an error if it occurs for all tried values for
// which both accesses execute. An error becomes a review if only short scenes show it.
func (o *outcomes) settle() {
	for _, r := range o.races {
		if o.isInEveryScene(r) {
			r.f.ForAllValues()
		}
	}
	for i := range o.list {
		if c := &o.list[i]; len(c.errors) > 0 && isShort(c.scene) {
			for _, f := range c.errors {
				if o.passesLongerScene(f.Instr(), c) {
					f.OnlyWith(c.scene[0])
				}
			}
		}
	}
}

// isInEveryScene reports whether a race occurs in every scene in which both accesses execute.
func (o *outcomes) isInEveryScene(r valueRace) bool {
	for i := range o.list {
		c := &o.list[i]
		if !c.plain || countInScene(c.scene, r.first) == 0 || countInScene(c.scene, r.second) == 0 {
			continue
		}
		set := c.scene[0].Facts.ConstantSet()
		if !slices.ContainsFunc(o.races, func(s valueRace) bool {
			return s.first == r.first && s.set == set
		}) {
			return false
		}
	}
	return true
}

// passesLongerScene reports whether every failed scene is short, and some longer scene without
// the failure executes an instruction at least as often as the failed one.
func (o *outcomes) passesLongerScene(in *ir.Instr, failed *outcome) bool {
	n, found := countInScene(failed.scene, in), false
	for i := range o.list {
		switch c := &o.list[i]; {
		case c.failed && !isShort(c.scene):
			return false
		case !c.failed && !isShort(c.scene) && countInScene(c.scene, in) >= n:
			found = true
		}
	}
	return found
}

// countInScene returns how often the traces of a scene execute an instruction.
func countInScene(scene []*trace.Trace, in *ir.Instr) int {
	n := 0
	for _, t := range scene {
		for i := range t.Events {
			if t.Events[i].In == in {
				n++
			}
		}
	}
	return n
}

// isShort reports whether a scene depends on small values: a loop of unknown length runs at most
// once, or a parameter is at most one.
func isShort(scene []*trace.Trace) bool {
	return slices.ContainsFunc(scene, func(t *trace.Trace) bool { return t.Facts.Few() != "" })
}

// withValues adds the substituted values of the scene to a review if the scene has no work.
func (m *machine) withValues(f *verify.Finding) {
	if f.Severity != diag.Review || m.p.Guessed {
		return
	}
	for _, a := range m.agents {
		if a.t.Facts.Empty() {
			f.OnlyWith(a.t)
			return
		}
	}
}
