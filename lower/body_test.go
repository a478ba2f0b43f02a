// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package lower_test

import (
	"runtime"
	"testing"

	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/lower"
)

// TestManyBlocks checks that memory grows linearly with the number of blocks without labels, as
// guarded exits produce them.
func TestManyBlocks(t *testing.T) {
	memory := func(blocks int) uint64 {
		f := &ir.Func{Name: "k", Kernel: true, HasParams: true, Defined: true}
		for range blocks {
			f.Blocks = append(f.Blocks, &ir.Block{Instrs: []*ir.Instr{{Op: "ret"}}})
		}
		m := &ir.Module{Name: "m", Version: 700, Decls: []ir.Decl{f}}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		lower.Text(m)
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	if few, many := memory(1000), memory(8000); many > 16*few {
		t.Errorf("%d bytes for 1000 blocks and %d for 8000", few, many)
	}
}
