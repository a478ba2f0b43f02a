// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"slices"

	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/runtime/emu"
)

// scatter runs the best launch as PTX allows but hardware rarely does: lanes that diverged do not
// reconverge by themselves, and elect.sync elects the last lane. Only kernels that read the active
// mask or elect a lane can tell the difference. values is the run that looked for uninitialized
// values, or nil.
func (k *kernel) scatter(best, values *run, all []*run) []*run {
	if k.options.Seed != nil || best.fault != nil || best.err != nil || best.events > cheap ||
		!k.uses(isa.KindActivemask, isa.KindElect) || failed(best, all) {
		return nil
	}
	k.inputs = slices.ContainsFunc(all, func(x *run) bool {
		return x.inputs && x.fault == nil && x.err == nil
	})
	k.values = values != nil && values.fault == nil
	k.scattered, k.limit = true, cheapWork
	defer func() { k.inputs, k.values, k.scattered, k.limit = false, false, false, 0 }()
	x := k.launch(best.schedule, best.count, best.filled)
	x.scattered = true
	return []*run{x}
}

// Endings of findings that occur only if lanes are scattered.
const (
	notConverged = "if diverged lanes do not reconverge before activemask"
	otherLeader  = "if elect.sync elects another lane than the first"
)

// scatteredWhen returns the condition under which a finding of a scattered launch occurs.
func (k *kernel) scatteredWhen() string {
	if k.uses(isa.KindActivemask) {
		return notConverged
	}
	return otherLeader
}

// scatteredResult returns the message for results that differ in the scattered launch.
func (k *kernel) scatteredResult() string {
	return "results differ " + k.scatteredWhen()
}

// scatteredFault returns the finding for a fault that occurs only if lanes are scattered.
func (k *kernel) scatteredFault(x *run) (d diag.Diagnostic, ok bool) {
	f := x.fault
	d = diag.Diagnostic{Place: f.Place, Rule: RuleFault, Severity: diag.Error,
		Message: describeFault(f) + ", " + k.scatteredWhen()}
	switch {
	case f.Message == emu.LimitReached, x.outside:
		return d, false
	case f.Has(emu.CauseHang):
		d.Rule = RuleHang
		if f.Waiting != nil {
			d.Place = f.Waiting.Place
			d.Message = string(emu.CauseHang) + ", " + k.scatteredWhen() + ": " + f.Waiting.Reason
		}
	case unwritten(f):
		d.Rule = RuleValue
	}
	if d.Place.Line == 0 {
		d.Place, _ = k.module.At(k.fn.Pos)
	}
	for i, n := range f.Notes {
		if i < 4 {
			d.Related = append(d.Related, diag.Related{Place: d.Place, Message: n})
		}
	}
	return d, true
}
