// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl_test

import "github.com/ptxdsl/ptxdsl/dsl"

// wrongGrids are mistakes with what blocks of a grid share out among them.
var wrongGrids = []wrongKernel{
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) {
		starts := dsl.Global[dsl.U32](k, "starts")
		k.PersistentGroups(starts, k.U32(4), 0, k.U32(1), 8)                // want `D501: tiles of 0 rows in groups of 8; positive numbers are expected`
		k.PersistentGroups(dsl.Array[dsl.U32]{}, k.U32(4), 64, k.U32(1), 8) // want `D201: the rows where groups start are in an array that no builder call made`
		for range k.PersistentGroups(starts, k.U32(4), 64, k.U32(1), 8).Each() { // want `D206: a Go break or return left the body of Each, which is built once`
			break
		}
	}},
	{"sm_90", func(m *dsl.Module, _ *dsl.Kernel) {
		k := m.Kernel("clustered", dsl.Threads(128), dsl.Cluster(2))
		k.PersistentGroups(dsl.Global[dsl.U32](k, "starts"), k.U32(4), 64, k.U32(1), 8) // want `D501: tiles of groups are dealt to blocks, one by one, and not to clusters of 2`
	}},
}
