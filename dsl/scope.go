// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl

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

func (k *Kernel) scopeName(id int) string { return k.scopeNames[id] }
