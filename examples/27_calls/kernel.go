// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package calls

import "github.com/ptxdsl/ptxdsl/dsl"

// cropThreads is the number of threads per block of the kernel crop.
const cropThreads = 256

// Build adds to m a kernel that copies the first cols elements of each row of width elements.
func Build(m *dsl.Module) {
	k := m.Kernel("crop", dsl.Threads(cropThreads))
	to, from := dsl.Global[dsl.B16](k, "to"), dsl.Global[dsl.B16](k, "from")
	cols, width, count := dsl.Param[dsl.U32](k, "cols"), dsl.Param[dsl.U32](k, "width"),
		dsl.Param[dsl.U32](k, "count")
	for i := range k.GridStride(count) {
		to.Store(i, from.At64(dsl.MulWide[dsl.U64](i.Div(cols), width)).Load(i.Rem(cols), dsl.NC))
	}
}
