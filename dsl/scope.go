// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl

import "strings"

// A scope is a region of the kernel that may not execute: a branch, a loop body, a role. A value
// that is computed in a scope can only be used in that scope.
type scope struct {
	id   int
	what string
}

// enter opens a scope. what describes it in messages, such as "a loop".
func (k *Kernel) enter(what string) {
	k.open = append(k.open, scope{id: len(k.scopeNames), what: what})
	k.scopeNames = append(k.scopeNames, what)
	role := ""
	if strings.HasPrefix(what, "role ") {
		role = what
	} else if len(k.open) > 1 {
		role = k.scopeRoles[k.open[len(k.open)-2].id]
	}
	k.scopeRoles = append(k.scopeRoles, role)
}

// leave closes the innermost scope.
func (k *Kernel) leave() { k.open = k.open[:len(k.open)-1] }

// scope returns the innermost open scope.
func (k *Kernel) scope() int { return k.open[len(k.open)-1].id }

// isInScope reports whether the values of the scope with the given index are defined at this
// point.
func (k *Kernel) isInScope(id int) bool {
	for i := len(k.open) - 1; i >= 0; i-- {
		if k.open[i].id <= id {
			return k.open[i].id == id
		}
	}
	return false
}

// outOfScope reports the use of a value, an address or a register after its scope has ended.
// Roles run in different warps, so a value of another role is never defined; the message
// distinguishes that case.
func (k *Kernel) outOfScope(what string, id int) {
	from, to := k.scopeRoles[id], k.scopeRoles[k.scope()]
	if from != "" && from != to {
		where := to
		if where == "" {
			where = "all warps"
		}
		k.fault(&ruleScope,
			"%s of %s is used in %s, but warps do not share registers; pass the value through shared memory, or compute it before Roles",
			what, from, where)
		return
	}
	k.fault(&ruleScope, "%s defined inside %s is used after it; it may be undefined here", what,
		k.scopeName(id))
}

func (k *Kernel) scopeName(id int) string { return k.scopeNames[id] }
