// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl

import (
	"fmt"

	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/ir"
)

// fault records a finding at the source line of the current builder call.
func (m *Module) fault(r *diag.Rule, format string, args ...any) {
	m.faultAt(m.calls.Here(), r, format, args...)
}

// faultAt records a finding at a position of the module. A finding about a shape that replaced an
// invalid declaration is dropped; see standIns.
func (m *Module) faultAt(pos ir.Pos, r *diag.Rule, format string, args ...any) {
	if (r == &ruleShape || r == &ruleProtocol) && m.refused.in(args) {
		return
	}
	m.record(pos,
		diag.Diagnostic{Rule: r.ID, Severity: r.Severity, Message: fmt.Sprintf(format, args...)})
}

// record adds a finding at a position of the module. It adds a fix if a single edit of the call
// removes the problem.
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
// build parts of kernels use it to reject their arguments.
func (k *Kernel) Errorf(format string, args ...any) {
	k = k.sound()
	k.m.faultAt(k.m.calls.Here(), &ruleAuthor, format, args...)
}

// checkFunctions reports whether all functions that were passed to the call what are non-nil:
// present has one element for each. It records a finding if one is nil.
func (k *Kernel) checkFunctions(what string, present ...bool) bool {
	for _, ok := range present {
		if !ok {
			k.fault(&ruleOperand, "%s is called with a nil function", what)
			return false
		}
	}
	return true
}

// checkCreated reports whether k, the kernel of the receiver of a call, is non-nil, that is,
// whether the receiver was created by a builder call. If not, it records a finding in the first
// non-nil kernel of the arguments. call describes the call, as in "semaphore in Wait".
func checkCreated(k *Kernel, call string, arguments ...*Kernel) bool {
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
