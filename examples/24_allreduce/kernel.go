// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package allreduce is a kernel that adds the vectors of several devices with multimem
// instructions. The switch that connects the devices adds the elements, so each device loads and
// stores only one part of the result.
package allreduce

import (
	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/isa"
)

type u32 = dsl.Reg[dsl.U32]

// Threads is the number of threads per block.
const Threads = 256

// Name returns the name of the kernel for a type.
func Name(t isa.Type) string { return "allreduce_" + t.String()[1:] }

// Build adds to m a kernel that replaces the vector of each device by the sum over all devices,
// for elements of .f32, .f16 or .bf16. Launch the kernel on all devices at the same time, with
// grids of the same size whose blocks can all run at the same time. multi is the multicast
// address of the vectors, arrivals is the multicast address of a counter, and arrived is the
// ordinary address of the counter of the device. The counters are zero before the launch. vectors
// is the length of each device's vector in units of 16 bytes.
func Build(m *dsl.Module, t isa.Type) {
	k := m.Kernel(Name(t), dsl.Threads(Threads))
	kind := ".add.v4.f32"
	if t != isa.F32 {
		kind = ".add.acc::f32.v4" + t.String() + "x2"
	}
	multi, arrivals := dsl.Global[dsl.B32](k, "multi"), dsl.Global[dsl.U32](k, "arrivals")
	arrived, vectors := dsl.Global[dsl.U32](k, "arrived"), dsl.Param[dsl.U32](k, "vectors")
	rank, devices := dsl.Param[dsl.U32](k, "rank"), dsl.Param[dsl.U32](k, "devices")

	blocks := devices.Mul(k.NCTAID().X)
	// meet waits until all blocks of all devices have called meet. count is the number of calls
	// so far, including this one, times the total number of blocks on all devices.
	meet := func(count u32) {
		k.Sync()
		k.If(k.Thread().EQI(0), func() {
			k.Ins("multimem.red.release.sys.global.add.u32", arrivals.Addr(), 1)
			// The counter has two addresses, so accesses to it need this fence.
			k.Ins("fence.proxy.alias")
			k.While(func() dsl.Reg[dsl.Pred] {
				return arrived.LoadFirst(dsl.Acquire, dsl.ScopeSys).LT(count)
			}, func() {})
		})
		k.Sync()
	}
	k.Comment("the vectors of all devices are complete")
	meet(blocks)
	part := func(i u32) u32 {
		return dsl.To[dsl.U32](dsl.MulWide[dsl.U64](vectors, i).Div(dsl.To[dsl.U64](devices)))
	}
	first := k.CTAID().X.MadI(Threads, k.Thread())
	for i := range k.RangeStep(part(rank).Add(first), part(rank.AddI(1)),
		k.NCTAID().X.MulI(Threads)) {
		at := multi.At(i.MulI(4)).Addr()
		sums := dsl.List(dsl.NewReg[dsl.B32](k), dsl.NewReg[dsl.B32](k), dsl.NewReg[dsl.B32](k),
			dsl.NewReg[dsl.B32](k))
		k.Ins("multimem.ld_reduce.relaxed.sys.global"+kind, sums, at)
		k.Ins("multimem.st.relaxed.sys.global"+store(t), at, sums)
	}
	k.Comment("the sums are stored on all devices")
	meet(blocks.ShlI(1))
}

// store returns the modifiers of a store of 16 bytes.
func store(t isa.Type) string {
	if t == isa.F32 {
		return ".v4.f32"
	}
	return ".v4" + t.String() + "x2"
}
