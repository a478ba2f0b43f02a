// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl

import "strings"

// A scope is a stretch of the kernel that may not run: a branch, a loop's body, a role. Values made in it
// are used in it only.
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

// scope is the innermost open scope.
func (k *Kernel) scope() int { return k.open[len(k.open)-1].id }

// reaches reports whether what was made in a scope has been computed here.
func (k *Kernel) reaches(id int) bool {
	for i := len(k.open) - 1; i >= 0; i-- {
		if k.open[i].id <= id {
			return k.open[i].id == id
		}
	}
	return false
}

// outOfScope reports a value, an address or a register of a scope that is over. Roles run in
// different warps, so that a value of another role is not merely undefined on some paths.
func (k *Kernel) outOfScope(what string, id int) {
	from, to := k.scopeRoles[id], k.scopeRoles[k.scope()]
	if from != "" && from != to {
		where := to
		if where == "" {
			where = "all warps"
		}
		k.fault(&ruleScope, "%s of %s is used in %s, but warps do not share registers; pass it through shared memory, or compute it before Roles", what, from, where)
		return
	}
	k.fault(&ruleScope, "%s defined inside %s is used after it; it may be undefined here", what, k.scopeName(id))
}

func (k *Kernel) scopeName(id int) string { return k.scopeNames[id] }
