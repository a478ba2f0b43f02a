// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package calls

import (
	"unsafe"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/runtime"
)

// copyThreads is the number of threads per block of the kernels of this package.
const copyThreads = 256

// Build adds to m the kernel that changes the size of matrices of 16-bit elements.
func Build(m *dsl.Module) { buildResize[dsl.B16](m) }

// buildResize adds to m a kernel that copies a matrix with rows of cols elements, of count elements
// in all, from one with a number of rows of width elements. Elements that the source does not have
// are zero.
func buildResize[T dsl.Scalar](m *dsl.Module) {
	k := m.Kernel("resize", dsl.Threads(copyThreads))
	to, from := dsl.Global[T](k, "to"), dsl.Global[T](k, "from")
	cols, rows, width := dsl.Param[dsl.U32](k, "cols"), dsl.Param[dsl.U32](k, "rows"),
		dsl.Param[dsl.U32](k, "width")
	zero := dsl.Const[T](k, 0)
	for i := range k.GridStride(dsl.Param[dsl.U32](k, "count")) {
		row, col := i.Div(cols), i.Rem(cols)
		x := from.At64(dsl.MulWide[dsl.U64](row.Min(rows.SubI(1)), width)).Load(
			col.Min(width.SubI(1)), dsl.NC)
		to.Store(i, dsl.Select(row.LT(rows), dsl.Select(col.LT(width), x, zero), zero))
	}
}

// resize copies a matrix with rows of cols elements from one with a number of rows of width
// elements.
func resize[E runtime.Element](l *Library, to, from *runtime.Buffer[E], cols, width int) error {
	p := plan{name: "resize", key: "resize 32", build: buildResize[dsl.B32],
		config: runtime.Grid((to.Len() + copyThreads - 1) / copyThreads)}
	switch unsafe.Sizeof(*new(E)) {
	case 1:
		p.key, p.build = "resize 8", buildResize[dsl.U8]
	case 2:
		p.key, p.build = "resize 16", Build
	}
	return l.run(p, map[string]any{"to": to, "from": from, "cols": uint32(cols),
		"rows": uint32(from.Len() / width), "width": uint32(width), "count": uint32(to.Len())})
}
