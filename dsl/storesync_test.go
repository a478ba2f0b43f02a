// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl_test

import (
	"path/filepath"
	"testing"

	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/passes/verify"
	"github.com/ptxdsl/ptxdsl/passes/verify/suite"
)

// TestStoreSync omits the barrier before a TMA store of a tile, or the barrier after it, before the
// tile is written again. Both are errors at lines of this file.
func TestStoreSync(t *testing.T) {
	for _, c := range []struct {
		name          string
		before, after bool
		want          diag.Severity
	}{
		{"right", true, true, diag.Note},
		{"no barrier before", false, true, diag.Error},
		{"no barrier after", true, false, diag.Error},
	} {
		m := dsl.New("m", "sm_90")
		k := m.Kernel("k", dsl.Threads(128))
		out := k.Tensor("out", isa.F32, []int{4, 32}, dsl.NoSwizzle)
		tile := k.SharedTile("tile", out.Tile())
		tid := k.TID().X
		row, col := tid.ShrI(5), tid.AndI(31)
		dsl.Element[dsl.F32](tile, row, col).StoreFirst(k.F32(1))
		k.FenceAsync()
		if c.before {
			k.Sync()
		}
		k.When(tid.EQI(0), func() {
			out.Store(tile, k.U32(0), k.U32(0))
			k.CommitStores()
			k.WaitStores(0)
		})
		if c.after {
			k.Sync()
		}
		dsl.Element[dsl.F32](tile, row, col).StoreFirst(k.F32(2))
		module, list := m.Build()
		if module != nil {
			list = append(list, suite.Run(module, verify.Options{}).Findings...)
		}
		worst := diag.Note
		for _, d := range list {
			worst = min(worst, d.Severity)
			if d.Severity == diag.Error && filepath.Base(d.Place.File) != "storesync_test.go" {
				t.Errorf("%s: an error at %s: %s", c.name, d.Place, d.Message)
			}
		}
		if worst != c.want {
			t.Errorf("%s: the worst finding is %s, want %s: %v", c.name, worst, c.want, list)
		}
	}
}
