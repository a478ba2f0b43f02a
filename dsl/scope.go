// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl

import "strings"

// A scope is a region of the kernel that may not execute: a branch, a loop body, a role. Values
// computed in it can only be used in it.
type scope struct {
	id   int
	what string
}

// enter opens a scope.
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

// reaches reports whether values of a scope are defined here.
func (k *Kernel) reaches(id int) bool {
	for i := len(k.open) - 1; i >= 0; i-- {
		if k.open[i].id <= id {
			return k.open[i].id == id
		}
	}
	return false
}

// outOfScope reports a value, an address or a register of a scope that has ended. Roles run in
// different warps, so a value of another role is never defined, not merely undefined on some paths.
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
