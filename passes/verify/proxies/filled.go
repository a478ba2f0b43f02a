// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package proxies

import (
	"slices"

	"github.com/ptxdsl/ptxdsl/passes/analysis/memory"
)

// copyDestinations returns the shared memory that bulk copies write, if their sizes are known.
func copyDestinations(engines []asyncOperation) []memory.Region {
	var list []memory.Region
	for i := range engines {
		list = append(list, engines[i].tiles...)
	}
	return list
}

// dropOverwritten removes the writes whose memory the bulk copies loads overwrite. It is called
// after a wait for these copies: no later operation reads the data of these writes.
func dropOverwritten(list []*genericAccess, loads []memory.Region) []*genericAccess {
	return slices.DeleteFunc(list,
		func(a *genericAccess) bool { return a.write && !a.inFlight && a.isOverwritten(loads) })
}

// isOverwritten reports whether some copy overwrites the memory of an access.
func (a *genericAccess) isOverwritten(loads []memory.Region) bool {
	return slices.ContainsFunc(loads, func(r memory.Region) bool {
		sure, _ := r.Meets(&a.region)
		return sure
	})
}
