// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package proxies

import (
	"slices"

	"github.com/ptxdsl/ptxdsl/passes/analysis/memory"
)

// filled returns the shared memory that bulk copies write, if their sizes are known.
func filled(engines []engine) []memory.Region {
	var list []memory.Region
	for i := range engines {
		list = append(list, engines[i].tiles...)
	}
	return list
}

// overwritten drops the plain accesses to memory that bulk copies overwrite, after a wait for these
// copies, because no later operation reads that data.
func overwritten(list []*plain, loads []memory.Region) []*plain {
	return slices.DeleteFunc(list,
		func(a *plain) bool { return a.write && !a.flying && a.isOverwritten(loads) })
}

// isOverwritten reports whether copies overwrite an access.
func (a *plain) isOverwritten(loads []memory.Region) bool {
	return slices.ContainsFunc(loads, func(r memory.Region) bool {
		sure, _ := r.Meets(&a.region)
		return sure
	})
}
