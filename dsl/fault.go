// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl

import (
	"fmt"

	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/dsl/internal/source"
	"github.com/ptxdsl/ptxdsl/ir"
)

// A finding is a recorded finding to which a fix can be added. The zero value is a finding that was
// dropped.
type finding struct {
	m     *Module
	index int         // in m.faults
	call  source.Call // the author's call
}

// withFix adds the fix that edit makes of the author's call, if any. A nil edit adds none.
func (f finding) withFix(edit source.Edit) {
	if f.m != nil && edit != nil {
		f.m.faults[f.index].Fix = f.call.Fix(edit)
	}
}

// fault records a finding at the source line of the current builder call.
func (m *Module) fault(r *diag.Rule, format string, args ...any) finding {
	return m.faultAt(m.calls.Here(), r, format, args...)
}

// faultAt records a finding at a position of the module. A finding about a shape that replaced an
// invalid declaration is dropped; see standIns.
func (m *Module) faultAt(pos ir.Pos, r *diag.Rule, format string, args ...any) finding {
	if (r == &ruleShape || r == &ruleProtocol) && m.refused.in(args) {
		return finding{}
	}
	return m.record(pos,
		diag.Diagnostic{Rule: r.ID, Severity: r.Severity, Message: fmt.Sprintf(format, args...)})
}

// record adds a finding at a position of the module.
func (m *Module) record(pos ir.Pos, d diag.Diagnostic) finding {
	f := finding{m: m, index: len(m.faults)}
	for i, s := range m.calls.Sites(pos) {
		if i == 0 {
			d.Place, f.call = s.At, s
		} else {
			d.From = append(d.From, s.At)
		}
	}
	m.faults = append(m.faults, d)
	return f
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

// fault records a finding at the source line of the current builder call.
func (k *Kernel) fault(r *diag.Rule, format string, args ...any) finding {
	return k.m.faultAt(k.m.calls.Here(), r, format, args...)
}

// nearest returns the edit that replaces the argument n by the nearest number that is accepted: a
// multiple of step from low, which is one, to high.
func nearest(n, low, high, step int) source.Edit {
	to := min(max(n, low), high) / step * step
	return source.ReplaceInt(int64(n), int64(to))
}
