// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package histogram is a kernel that counts byte values with atomics in shared memory.
package histogram

import "github.com/ptxdsl/ptxdsl/dsl"

const bins = 256

// Build adds to m a kernel that adds the number of occurrences of each byte value v in data[0:n]
// to counts[v]. Each block first counts in shared memory, and then adds its counts to the result.
func Build(m *dsl.Module) {
	k := m.Kernel("histogram", dsl.Threads(bins))
	data, counts := dsl.Global[dsl.U8](k, "data"), dsl.Global[dsl.U32](k, "counts")
	n := dsl.Param[dsl.U32](k, "n")
	local := dsl.Shared[dsl.U32](k, "local", bins)
	tid := k.TID().X
	local.Store(tid, k.U32(0))
	k.Sync()
	for i := range k.GridStride(n) {
		v := dsl.To[dsl.U32](data.Load(i, dsl.NC))
		local.Reduce("add", v, k.U32(1))
	}
	k.Sync()
	counts.Reduce("add", tid, local.Load(tid))
}

// Reference returns the counts, computed on the CPU.
func Reference(data []byte) [bins]uint32 {
	var counts [bins]uint32
	for _, v := range data {
		counts[v]++
	}
	return counts
}
