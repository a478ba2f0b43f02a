// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package suppress contains a kernel with a finding that its author suppresses with a reason.
package suppress

import "github.com/ptxdsl/ptxdsl/dsl"

// Build adds a kernel that may start before the preceding kernel in the stream has ended.
func Build(m *dsl.Module) {
	k := m.Kernel("scale", dsl.Threads(256))
	x, weights := dsl.Global[dsl.F32](k, "x"), dsl.Global[dsl.F32](k, "weights")
	i := k.CTAID().X.Mad(k.NTID().X, k.TID().X)

	own := weights.At(i) // computes the address
	k.Comment("ptxdsl:ignore A12 no kernel writes the weights")
	w := own.LoadFirst() // the load is the next instruction
	k.WaitDependencies() // the preceding kernel writes x
	x.Store(i, x.Load(i).Mul(w))
	k.LaunchDependents()
}
