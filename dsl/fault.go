// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl

import (
	"fmt"

	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/ir"
)

// fault records a finding at the author's line of the current builder call.
func (m *Module) fault(r *diag.Rule, format string, args ...any) {
	m.faultAt(m.calls.Here(), r, format, args...)
}

// faultAt records a finding at a position of the module.
func (m *Module) faultAt(pos ir.Pos, r *diag.Rule, format string, args ...any) {
	if (r == &ruleShape || r == &ruleProtocol) && m.refused.in(args) {
		return
	}
	m.record(pos,
		diag.Diagnostic{Rule: r.ID, Severity: r.Severity, Message: fmt.Sprintf(format, args...)})
}

// record adds a finding at a position of the module, and the fix if one edit of the call removes
// it.
func (m *Module) record(pos ir.Pos, d diag.Diagnostic) {
	sites := m.calls.Sites(pos)
	for i, s := range sites {
		if i == 0 {
			d.Place = s.At
			d.Fix = s.Repair(d)
		} else {
			d.From = append(d.From, s.At)
		}
	}
	m.faults = append(m.faults, d)
}

// Errorf records an error at the line that called the function that calls Errorf. Functions that
// build kernels use it to reject arguments.
func (k *Kernel) Errorf(format string, args ...any) {
	k = k.sound()
	k.m.faultAt(k.m.calls.Here(), &ruleAuthor, format, args...)
}

// runs reports whether all functions that are passed to a call are non-nil. It records a finding
// for the first nil one.
func (k *Kernel) runs(what string, there ...bool) bool {
	for _, ok := range there {
		if !ok {
			k.fault(&ruleOperand, "%s is called with a nil function", what)
			return false
		}
	}
	return true
}

// made reports whether the receiver of a call, whose kernel is k, was created by a builder call. If
// not, it records the finding in the kernel of an argument, if there is one. The string call names
// it, as in "Wait of a semaphore".
func made(k *Kernel, call string, arguments ...*Kernel) bool {
	if k != nil {
		return true
	}
	for _, o := range arguments {
		if o != nil {
			o.fault(&ruleValue, "%s is a zero value, not created by a builder call", call)
			break
		}
	}
	return false
}

func (k *Kernel) fault(r *diag.Rule, format string, args ...any) {
	k.m.faultAt(k.m.calls.Here(), r, format, args...)
}
