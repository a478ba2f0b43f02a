// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl_test

import "github.com/ptxdsl/ptxdsl/dsl"

// gridFeatures are kernels that distribute work over the blocks of a grid, and kernels whose PTX
// text is checked for readability.
var gridFeatures = []feature{
	// A comment stays where the author wrote it, although the value that the next instruction reads
	// is loaded at the start of the kernel.
	{"comment", "sm_80", func(m *dsl.Module) {
		k := m.Kernel("k", dsl.Threads(32))
		out := dsl.Global[dsl.U32](k, "out")
		k.Sync()
		k.Comment("each thread its own")
		out.Store(k.TID().X, k.Lane())
	}, "0;\n\t// each thread its own\n\tmul.wide.u32"},
	{"groups", "sm_80", func(m *dsl.Module) {
		k := m.Kernel("k", dsl.Threads(32))
		out, starts := dsl.Global[dsl.U32](k, "out"), dsl.Global[dsl.U32](k, "starts")
		for at := range k.PersistentGroups(starts, dsl.Param[dsl.U32](k, "n"), 64, k.U32(3),
			8).Each() {
			k.ContinueIf(at.TileCol.EQI(1))
			out.Store(at.FirstRow, at.Group.Add(at.TileRow()))
		}
	}, "// each lane loads one of the next 32 groups"},
	{"balanced", "sm_80", func(m *dsl.Module) {
		k := m.Kernel("k", dsl.Threads(32))
		out, rows, cols := dsl.Global[dsl.U32](k, "out"), dsl.Param[dsl.U32](k, "rows"),
			dsl.Param[dsl.U32](k, "cols")
		for _, growing := range []bool{false, true} {
			for at := range k.PersistentBalanced(rows, cols, 8, growing).Each() {
				out.Store(at.Row.Mad(cols, at.Col), k.CTAID().X)
			}
		}
	}, "selp.u32"},
	{"fences", "sm_90", func(m *dsl.Module) {
		k := m.Kernel("k", dsl.Threads(32))
		out, flags := dsl.Global[dsl.U32](k, "out"), dsl.Global[dsl.U32](k, "flags")
		done := k.Semaphore(flags, k.CTAID().X)
		k.If(k.CTAID().Y.EQI(0), func() {
			out.Store(k.CTAID().X, k.Lane())
			k.Fence(dsl.ScopeGPU)
			k.Fence(dsl.ScopeCluster)
			k.Fence(dsl.ScopeSys)
			k.SyncWarp()
			k.If(k.Lane().EQI(0), done.Arrive)
		}, func() {
			k.If(k.Lane().EQI(0), func() {
				done.Wait(k.U32(1))
				done.Reset()
			})
		})
	}, "ld.acquire.gpu.global.u32"},
	{"old fences", "sm_60", func(m *dsl.Module) {
		k := m.Kernel("k", dsl.Threads(32))
		k.Fence(dsl.ScopeCTA)
		k.Fence(dsl.ScopeSys)
		k.Fence(dsl.ScopeGPU)
	}, "membar.gl"},
}
