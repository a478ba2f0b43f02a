// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package proxies

import (
	"slices"

	"github.com/ptxdsl/ptxdsl/passes/analysis/memory"
)

// filled is the shared memory that bulk copies fill, as far as each is known to go.
func filled(engines []engine) []memory.Region {
	var list []memory.Region
	for i := range engines {
		list = append(list, engines[i].tiles...)
	}
	return list
}

// overwritten is what is left of plain accesses behind a wait: of what was written plainly where bulk copies go, nothing is read any more.
func overwritten(list []*plain, loads []memory.Region) []*plain {
	return slices.DeleteFunc(list, func(a *plain) bool { return a.write && !a.flying && a.under(loads) })
}

// under reports whether copies go where an access is.
func (a *plain) under(loads []memory.Region) bool {
	return slices.ContainsFunc(loads, func(r memory.Region) bool {
		sure, _ := r.Meets(&a.region)
		return sure
	})
}
