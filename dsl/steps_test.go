// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl_test

import (
	"strings"
	"testing"

	"github.com/ptxdsl/ptxdsl/dsl"
)

// TestNeighbors checks that positive and negative offsets give similar PTX, and that a copy under
// a false condition may have an invalid address.
func TestNeighbors(t *testing.T) {
	m := dsl.New("m", "sm_80")
	k := m.Kernel("k", dsl.Threads(32))
	x, n := dsl.Global[dsl.U32](k, "x"), dsl.Param[dsl.U32](k, "n")
	row, halo := dsl.Shared[dsl.U32](k, "row", 34), dsl.Shared[dsl.U32](k, "halo", 34)
	at := k.TID().X
	inner := at.AddI(1)
	x.At(at.AddI(-1)).CopyAsync(halo.At(inner), 1, at.GTI(0), at.LT(n))
	k.CommitCopies()
	row.Store(inner, x.Load(at))
	k.If(at.LTI(2), func() { row.Store(at.MulI(33), n) })
	k.WaitCopies(0)
	k.Sync()
	sum := halo.Load(inner)
	for _, d := range []int64{-1, 0, 1} {
		sum = sum.Add(row.Load(inner.AddI(d)))
	}
	sum = sum.SubI(-7).And(n.AndI(0).Add(n))
	x.Store(at, dsl.Result[dsl.U32](k, "prmt.b32", sum, 0, 0x0123))
	if text, err := m.Text(); err != nil || len(m.Findings()) > 0 ||
		!strings.Contains(text, "sub.u32") || strings.Contains(text, ", -") ||
		!strings.Contains(text, ", 0x123;") {
		t.Errorf("%v\n%v\n%s", err, m.Findings(), text)
	}

	m = dsl.New("m", "sm_80")
	k = m.Kernel("k", dsl.Threads(32))
	x, row = dsl.Global[dsl.U32](k, "x"), dsl.Shared[dsl.U32](k, "row", 32)
	at = k.TID().X
	x.At(at.AddI(-1)).CopyAsync(row.At(at), 1, at.LTI(31)) // the condition makes thread 0 read
	k.CommitCopies()
	k.WaitCopies(0)
	x.Store(at, row.Load(at))
	if list := m.Findings(); len(list) != 1 ||
		!strings.Contains(list.String(),
			"steps_test.go:44:20: error D301: out of bounds: thread 0 of the first block accesses byte") {
		t.Errorf("%v", list)
	}
}
