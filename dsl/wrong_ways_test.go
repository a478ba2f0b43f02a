// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl_test

import (
	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/isa"
)

// wrongWays are mistakes in options, atomics, functions, and in what is known of a value on the ways through a kernel.
var wrongWays = []wrongKernel{
	// Options.
	{"sm_90", func(m *dsl.Module, _ *dsl.Kernel) { m.Kernel("q", dsl.Threads(64), dsl.Warpgroups(1)) }},     // want `D103: the block's threads .* is said twice: \.reqntid 64, 1, 1 is there already`
	{"sm_90", func(m *dsl.Module, _ *dsl.Kernel) { m.Kernel("q", dsl.MaxThreads(64), dsl.MaxThreads(32)) }}, // want `D103: MaxThreads is said twice: \.maxntid 64, 1, 1 is there already`
	{"sm_90", func(m *dsl.Module, _ *dsl.Kernel) { m.Kernel("q", dsl.MaxRegs(64), dsl.MaxRegs(64)) }},       // want `D103: MaxRegs is said twice`
	{"sm_90", func(m *dsl.Module, _ *dsl.Kernel) { m.Kernel("q", dsl.Cluster(2), dsl.Cluster(1, 2)) }},      // want `D103: Cluster is said twice: \.reqnctapercluster 2, 1, 1`
	{"sm_90", func(m *dsl.Module, _ *dsl.Kernel) { m.Kernel("q", dsl.Threads(64), dsl.MaxThreads(64)) }},    // want `D103: MaxThreads\(64\) beside 64 threads that every launch has`
	{"sm_90", func(m *dsl.Module, _ *dsl.Kernel) { m.Kernel("q", dsl.MinBlocks(2)) }},                       // want `D103: MinBlocks\(2\) without Threads or MaxThreads: the assembler ignores it`
	{"sm_86", func(m *dsl.Module, _ *dsl.Kernel) { m.Kernel("q", dsl.MinBlocks(2), dsl.Threads(1024)) }},    // want `D103: 2 blocks of 1024 threads on a multiprocessor; sm_86 runs 1536 threads there, at most 1 of them`
	{"sm_86", func(m *dsl.Module, _ *dsl.Kernel) { m.Kernel("q", dsl.MinBlocks(24), dsl.Threads(32)) }},     // want `D103: 24 blocks on a multiprocessor; sm_86 runs 16`
	{"sm_90", func(m *dsl.Module, _ *dsl.Kernel) { m.Kernel("q", dsl.Threads(1<<31, 1<<32, 2)) }},           // want `D103: a block of \[2147483648 4294967296 2\] threads cannot be launched`
	{"sm_90", func(m *dsl.Module, _ *dsl.Kernel) { m.Build(); m.Kernel("late") }},                           // want `D103: late begins when the module has been built: Build and Text come last`
	{"sm_90", func(m *dsl.Module, k *dsl.Kernel) { m.Build(); k.Sync() }},                                   // want `D103: k has been built: what is added behind Build or Text is lost`
	// Atomics.
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { dsl.Global[dsl.F32](k, "a").Atomic("and", k.U32(0), k.F32(1)) }},  // want `D205: Atomic "and" of a \.f32: bits belong to integers; dsl\.As\[dsl\.U32\] is the same memory as such`
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { dsl.Global[dsl.F64](k, "a").Reduce("xor", k.U32(0), k.F64(1)) }},  // want `D205: Reduce "xor" of a \.f64: bits belong to integers; dsl\.As\[dsl\.U64\]`
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { dsl.Global[dsl.F32](k, "a").Reduce("max", k.U32(0), k.F32(1)) }},  // want `D205: Reduce "max" of a \.f32: integers of 32 and 64 bits are compared; for floats there is a loop`
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { dsl.Global[dsl.S32](k, "a").Reduce("sub", k.U32(0), k.S32(1)) }},  // want `D205: Reduce "sub" of a \.s32: expected one of .*; to subtract, add what Neg makes of the number`
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { dsl.Global[dsl.U32](k, "a").Reduce("exch", k.U32(0), k.U32(1)) }}, // want `D205: Reduce "exch" of a \.u32: .*; Atomic does that`
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { dsl.Global[dsl.U64](k, "a").Atomic("inc", k.U32(0), k.U64(1)) }},  // want `D205: Atomic "inc" of a \.u64: a U32 counts up to a bound`
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) {
		dsl.Global[dsl.U8](k, "a").CompareAndSwap(k.U32(0), k.U8(0), k.U8(1)) // want `D205: CompareAndSwap "cas" of a \.u8: memory compares 16, 32, 64 and 128 bits`
	}},
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { dsl.Global[dsl.F16](k, "a").Atomic("exch", k.U32(0), k.F16(1)) }}, // want `D205: Atomic "exch" of a \.f16: memory swaps 32, 64 and 128 bits`
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) {
		dsl.Global[dsl.TF32](k, "a").Atomic("add", k.U32(0), dsl.NewReg[dsl.TF32](k)) // want `D205: Atomic "add" of a \.tf32: numbers are added`
	}},
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { dsl.Local[dsl.U32](k, "a", 4).Atomic("add", k.U32(0), k.U32(1)) }}, // want `D301: Atomic "add" in \.local memory; atomics are for global and shared memory`
	// Functions.
	{"sm_90", func(m *dsl.Module, k *dsl.Kernel) {
		f := m.Func("f")
		x := dsl.Arg[dsl.U32](f, "x")
		f.If(x.EQI(0), func() { dsl.ReturnValue(f, x) })
		dsl.ReturnValue(f, dsl.Call[dsl.U32](f.Kernel, f, x.SubI(1))) // want `D303: f calls itself: how much stack a thread needs would be unknown; a loop needs none`
	}},
	{"sm_90", func(m *dsl.Module, k *dsl.Kernel) {
		f, g := m.Func("f"), m.Func("g")
		f.Call(g)
		g.Call(f) // want `D303: g calls f, which leads back to it`
		k.Call(f)
	}},
	{"sm_90", func(m *dsl.Module, k *dsl.Kernel) {
		f := m.Func("f") // want `D303: f has a result, and a way to its end on which Give gives none`
		x := dsl.Arg[dsl.U32](f, "x")
		f.If(x.EQI(0), func() { dsl.ReturnValue(f, x) })
	}},
	{"sm_90", func(m *dsl.Module, k *dsl.Kernel) {
		f := m.Func("f")
		x := dsl.Arg[dsl.U32](f, "x")
		f.ReturnIf(x.EQI(0)) // want `D303: f returns without its result here, and with one elsewhere; Give returns with it`
		dsl.ReturnValue(f, x)
	}},
	// Registers that may not have been written.
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) {
		x := dsl.NewReg[dsl.U32](k)
		dsl.Global[dsl.U32](k, "o").StoreI(0, x) // want `D201: this register of NewReg may be read before anything is written to it; Var begins with a value`
		x.Set(k.U32(1))
		dsl.Global[dsl.U32](k, "p").StoreI(0, dsl.NewReg[dsl.U32](k)) // want `D201: this register of NewReg is read, and nothing writes it; Var begins with a value`
	}},
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) {
		x := dsl.NewReg[dsl.U32](k)
		k.If(k.TID().X.EQI(0), func() { x.Set(k.U32(1)) })
		dsl.Global[dsl.U32](k, "o").StoreI(0, x) // want `D201: this register of NewReg may be read`
	}},
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) {
		x, p := dsl.NewReg[dsl.U32](k), k.TID().X.EQI(0)
		k.When(p, func() { x.Set(k.U32(1)) })
		k.Unless(p, func() { dsl.Global[dsl.U32](k, "o").StoreI(0, x) }) // want `D201: this register of NewReg may be read`
	}},
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) {
		x := dsl.NewReg[dsl.U32](k)
		for range k.Range(k.U32(0), k.NCTAID().X) {
			x.Set(x.AddI(1)) // want `D201: this register of NewReg may be read`
		}
	}},
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) {
		x := dsl.NewReg[dsl.U32](k)
		k.Switch(k.TID().X, func() { x.Set(k.U32(1)) }, func() { x.Set(k.U32(2)) })
		dsl.Global[dsl.U32](k, "o").StoreI(0, x) // want `D201: this register of NewReg may be read`
	}},
	// Values of Go that a kernel cannot follow.
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) {
		x := k.U32(0)
		k.If(k.TID().X.EQI(0), func() { x = k.U32(5) })
		dsl.Global[dsl.U32](k, "o").StoreI(0, x) // want `D202: this constant is made inside an If, which is over: it is the same whether that ran or not`
	}},
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) {
		x := k.F32(0)
		k.If(k.TID().X.EQI(0), func() { x = k.F32(5) })
		dsl.Global[dsl.F32](k, "o").StoreI(0, x) // want `D202: this constant is made inside an If, which is over: it is the same whether that ran or not`
	}},
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) {
		x := k.U32(0)
		for range k.RangeI(0, 10) {
			x = x.AddI(1)
		}
		dsl.Global[dsl.U32](k, "o").StoreI(0, x) // want `D202: this constant is made inside a loop, which is over`
	}},
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) {
		var last u32
		for i := range k.RangeI(0, 4) {
			last = i
		}
		dsl.Global[dsl.U32](k, "o").StoreI(0, last) // want `D202: this value is computed inside a loop, which is over`
	}},
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { k.WarpIndex().Set(k.U32(0)) }}, // want `D201: Set of WarpIndex, which is worked out once for all who ask; begin with Var`
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { k.TID().X.ShlI(32) }},          // want `D204: a shift by 32; 0 to 31 is expected`
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) {
		x := dsl.Global[dsl.F32](k, "x")
		x.Addr().Value() // want `D301: the Value of an address in \.global memory, which has 64 bits; Value64`
	}},
	// Meetings.
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) {
		k.Roles(
			dsl.OnWarps(0, 4, "a", func(u32) { k.Sync() }), // want `D502: Sync in role a: it waits for all threads of the block, and warps 4 to 7 do not come to one in a role of theirs; NamedBarrier`
			dsl.OnWarps(4, 4, "b", func(u32) {}),
		)
	}},
	{"sm_90", func(m *dsl.Module, _ *dsl.Kernel) {
		k := m.Kernel("q", dsl.Threads(256), dsl.Cluster(2))
		k.Roles(
			dsl.OnWarps(0, 4, "a", func(u32) { k.SyncCluster() }), // want `D502: SyncCluster in role a: it waits for all threads of the cluster, and warp 7 does not come to one in a role of theirs`
			dsl.OnWarps(4, 3, "b", func(u32) { k.SyncCluster() }),
		)
	}},
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) {
		k.NamedBarrier(128).Sync()
		k.Ins("bar.sync", 1, 256) // want `D501: bar\.sync of barrier 1, which NamedBarrier gave away`
	}},
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) {
		for i := 1; i < 16; i++ {
			k.Ins("barrier.cta.red.popc.u32", dsl.NewReg[dsl.U32](k), i, k.TID().X.EQI(0))
		}
		k.NamedBarrier(128) // want `D501: a block has 15 named barriers besides the one of Sync, of which 15 are numbered by hand; this is the 16th`
	}},
	// Sums and tiles.
	{"sm_90a", func(_ *dsl.Module, k *dsl.Kernel) { k.Accumulator(256, 256, isa.F32) }}, // want `D401: an accumulator of 256x256 \.f32 takes 512 registers of each thread, which has 255`
	{"sm_80", func(_ *dsl.Module, k *dsl.Kernel) {
		dsl.NewWarpTile[dsl.F32](k, dsl.MMAFor(isa.F16, isa.F32), 128, 128) // want `D401: a warp's tile of 128x128 \.f32 takes 512 registers of each thread, which has 255`
	}},
	{"sm_80", func(_ *dsl.Module, k *dsl.Kernel) {
		t := k.SharedTile("t", dsl.Tile{Type: isa.F16, Rows: 64, Cols: 64, Swizzle: dsl.Swizzle128})
		dsl.NewWarpTile[dsl.F32](k, dsl.MMAFor(isa.Bf16, isa.F32), 32, 32).MMA(t, k.U32(0), t, k.U32(0)) // want `D401: MMA of 64x64 \.f16 .* with m16n8k16 of \.bf16 and \.bf16: the element types differ`
	}},
	{"sm_80", func(_ *dsl.Module, k *dsl.Kernel) {
		t := k.SharedTile("t", dsl.Tile{Type: isa.F16, Rows: 64, Cols: 64, Swizzle: dsl.Swizzle128})
		dsl.NewWarpTile[dsl.F32](k, dsl.MMAFor(isa.F16, isa.F32), 64, 32).MMA(t, k.U32(32), t, k.U32(0)) // want `D401: 64 rows from row 32 on, of 64x64 \.f16 .*, which has 64`
	}},
	{"sm_80", func(_ *dsl.Module, k *dsl.Kernel) {
		t := k.SharedTile("t", dsl.Tile{Type: isa.F16, Rows: 64, Cols: 64, Swizzle: dsl.Swizzle128})
		k.Matrix("a", isa.Bf16).Sized(k.U32(64), k.U32(64)).CopyAsync(t, k.U32(0)) // want `D401: matrix a of \.bf16 is copied into 64x64 \.f16 .*: the element types differ`
	}},
	// Instructions written out.
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { k.Ins("add.u32 %r1, %r2, %r3;") }},                    // want `D205: "add\.u32 %r1, %r2, %r3;" is more than an opcode; Ins takes "add\.u32", and the operands as Go values`
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { k.Ins("@%p1 bar.sync", 0) }},                          // want `D205: "@%p1 bar\.sync" has a guard; Ins takes the opcode, and k\.When`
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { k.Ins("bra", "LOOP") }},                               // want `D205: operand 1 of bra is a Go string, which is no operand; .* a label comes from NewLabel`
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { k.Ins("st.shared.u32", "smem", k.U32(1)) }},           // want `D205: operand 1 of st\.shared\.u32 is a Go string, which is no operand; "smem" is none of the special registers \(%tid\.x\), and a variable or a register is a Go value`
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { k.Ins("add.u32", dsl.NewReg[dsl.U32](k), "%r1", 1) }}, // want `D205: %r1 is no special register; other registers are Go values, as Var and NewReg make them`
}
