// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl_test

import (
	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/isa"
)

// wrongWays holds mistakes in options, atomics and functions, and values that are undefined on some
// paths.
var wrongWays = []wrongKernel{
	// Options.
	{"sm_90", func(m *dsl.Module, _ *dsl.Kernel) { m.Kernel("q", dsl.Threads(64), dsl.Warpgroups(1)) }},     // want `D103: block size \(Threads, WarpCount, Warpgroups\) is set twice: \.reqntid 64, 1, 1 is already set`
	{"sm_90", func(m *dsl.Module, _ *dsl.Kernel) { m.Kernel("q", dsl.MaxThreads(64), dsl.MaxThreads(32)) }}, // want `D103: MaxThreads is set twice: \.maxntid 64, 1, 1 is already set`
	{"sm_90", func(m *dsl.Module, _ *dsl.Kernel) { m.Kernel("q", dsl.MaxRegs(64), dsl.MaxRegs(64)) }},       // want `D103: MaxRegs is set twice: \.maxnreg 64 is already set`
	{"sm_90", func(m *dsl.Module, _ *dsl.Kernel) { m.Kernel("q", dsl.Cluster(2), dsl.Cluster(1, 2)) }},      // want `D103: Cluster is set twice: \.reqnctapercluster 2, 1, 1 is already set`
	{"sm_90", func(m *dsl.Module, _ *dsl.Kernel) { m.Kernel("q", dsl.Threads(64), dsl.MaxThreads(64)) }},    // want `D103: MaxThreads\(64\) conflicts with the fixed block size of 64 threads: ptxas accepts \.maxntid or \.reqntid, not both`
	{"sm_90", func(m *dsl.Module, _ *dsl.Kernel) { m.Kernel("q", dsl.MinBlocks(2)) }},                       // want `D103: MinBlocks\(2\) without Threads or MaxThreads is ignored by ptxas`
	{"sm_86", func(m *dsl.Module, _ *dsl.Kernel) { m.Kernel("q", dsl.MinBlocks(2), dsl.Threads(1024)) }},    // want `D103: 2 blocks of 1024 threads do not fit on a multiprocessor: that of sm_86 has 1536 threads, so at most 1 of these blocks`
	{"sm_86", func(m *dsl.Module, _ *dsl.Kernel) { m.Kernel("q", dsl.MinBlocks(24), dsl.Threads(32)) }},     // want `D103: 24 blocks do not fit on a multiprocessor: that of sm_86 holds at most 16`
	{"sm_90", func(m *dsl.Module, _ *dsl.Kernel) { m.Kernel("q", dsl.Threads(1<<31, 1<<32, 2)) }},           // want `D103: block of \[2147483648 4294967296 2\] threads cannot be launched, expected 1 to 1024 threads and at most 64 in z`
	{"sm_90", func(m *dsl.Module, _ *dsl.Kernel) { m.Build(); m.Kernel("late") }},                           // want `D103: late is declared after the module was built; call Build and Text after all declarations`
	{"sm_90", func(m *dsl.Module, k *dsl.Kernel) { m.Build(); k.Sync() }},                                   // want `D103: k is modified after Build or Text: the instruction is lost`
	// Atomics.
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { dsl.Global[dsl.F32](k, "a").Atomic("and", k.U32(0), k.F32(1)) }},  // want `D205: Atomic "and" is not available for \.f32: expected an integer type; reinterpret the array with dsl\.As\[dsl\.U32\]`
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { dsl.Global[dsl.F64](k, "a").Reduce("xor", k.U32(0), k.F64(1)) }},  // want `D205: Reduce "xor" is not available for \.f64: expected an integer type; reinterpret the array with dsl\.As\[dsl\.U64\]`
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { dsl.Global[dsl.F32](k, "a").Reduce("max", k.U32(0), k.F32(1)) }},  // want `D205: Reduce "max" is not available for \.f32: expected an integer of 32 or 64 bits; for floats use a loop with CompareAndSwap, or dsl\.As of U32 or U64 if no element is negative`
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { dsl.Global[dsl.S32](k, "a").Reduce("sub", k.U32(0), k.S32(1)) }},  // want `D205: Reduce "sub" is not available for \.s32: expected one of add, min, max, and, or, xor, inc, dec; to subtract, add the Neg of the value`
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { dsl.Global[dsl.U32](k, "a").Reduce("exch", k.U32(0), k.U32(1)) }}, // want `D205: Reduce "exch" is not available for \.u32: expected one of add, min, max, and, or, xor, inc, dec; use Atomic`
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { dsl.Global[dsl.U64](k, "a").Atomic("inc", k.U32(0), k.U64(1)) }},  // want `D205: Atomic "inc" is not available for \.u64: expected U32, since it counts up to a bound; use "add" to count without one`
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) {
		dsl.Global[dsl.U8](k, "a").CompareAndSwap(k.U32(0), k.U8(0), k.U8(1)) // want `D205: CompareAndSwap "cas" is not available for \.u8: expected 16, 32, 64 or 128 bits`
	}},
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { dsl.Global[dsl.F16](k, "a").Atomic("exch", k.U32(0), k.F16(1)) }}, // want `D205: Atomic "exch" is not available for \.f16: expected 32, 64 or 128 bits`
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) {
		dsl.Global[dsl.TF32](k, "a").Atomic("add", k.U32(0), dsl.NewReg[dsl.TF32](k)) // want `D205: Atomic "add" is not available for \.tf32: expected an integer or floating-point type; reinterpret the array with dsl\.As`
	}},
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { dsl.Local[dsl.U32](k, "a", 4).Atomic("add", k.U32(0), k.U32(1)) }}, // want `D301: Atomic "add" accesses \.local memory, expected global or shared memory`
	// Functions.
	{"sm_90", func(m *dsl.Module, k *dsl.Kernel) {
		f := m.Func("f")
		x := dsl.Arg[dsl.U32](f, "x")
		f.If(x.EQI(0), func() { dsl.ReturnValue(f, x) })
		dsl.ReturnValue(f, dsl.Call[dsl.U32](f.Kernel, f, x.SubI(1))) // want `D303: f is recursive, so its stack size is unbounded; use a loop`
	}},
	{"sm_90", func(m *dsl.Module, k *dsl.Kernel) {
		f, g := m.Func("f"), m.Func("g")
		f.Call(g)
		g.Call(f) // want `D303: g is recursive through f, so its stack size is unbounded; use a loop`
		k.Call(f)
	}},
	{"sm_90", func(m *dsl.Module, k *dsl.Kernel) {
		f := m.Func("f") // want `D303: f returns a result, but one path through it reaches the end without ReturnValue`
		x := dsl.Arg[dsl.U32](f, "x")
		f.If(x.EQI(0), func() { dsl.ReturnValue(f, x) })
	}},
	{"sm_90", func(m *dsl.Module, k *dsl.Kernel) {
		f := m.Func("f")
		x := dsl.Arg[dsl.U32](f, "x")
		f.ReturnIf(x.EQI(0)) // want `D303: f returns no result here, but returns one elsewhere; use ReturnValue`
		dsl.ReturnValue(f, x)
	}},
	// Registers that may not have been written.
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) {
		x := dsl.NewReg[dsl.U32](k)
		dsl.Global[dsl.U32](k, "o").StoreI(0, x) // want `D201: register from NewReg may be read before it is written; use Var to give it an initial value`
		x.Set(k.U32(1))
		dsl.Global[dsl.U32](k, "p").StoreI(0, dsl.NewReg[dsl.U32](k)) // want `D201: register from NewReg is read but never written; use Var to give it an initial value`
	}},
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) {
		x := dsl.NewReg[dsl.U32](k)
		k.If(k.TID().X.EQI(0), func() { x.Set(k.U32(1)) })
		dsl.Global[dsl.U32](k, "o").StoreI(0, x) // want `D201: register from NewReg may be read before it is written; use Var to give it an initial value`
	}},
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) {
		x, p := dsl.NewReg[dsl.U32](k), k.TID().X.EQI(0)
		k.When(p, func() { x.Set(k.U32(1)) })
		k.Unless(p, func() { dsl.Global[dsl.U32](k, "o").StoreI(0, x) }) // want `D201: register from NewReg may be read before it is written; use Var to give it an initial value`
	}},
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) {
		x := dsl.NewReg[dsl.U32](k)
		for range k.Range(k.U32(0), k.NCTAID().X) {
			x.Set(x.AddI(1)) // want `D201: register from NewReg may be read before it is written; use Var to give it an initial value`
		}
	}},
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) {
		x := dsl.NewReg[dsl.U32](k)
		k.Switch(k.TID().X, func() { x.Set(k.U32(1)) }, func() { x.Set(k.U32(2)) })
		dsl.Global[dsl.U32](k, "o").StoreI(0, x) // want `D201: register from NewReg may be read before it is written; use Var to give it an initial value`
	}},
	// Go assignments inside the body of an If, which the kernel does not execute.
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) {
		x := k.U32(0)
		k.If(k.TID().X.EQI(0), func() { x = k.U32(5) })
		dsl.Global[dsl.U32](k, "o").StoreI(0, x) // want `D202: constant defined inside an If is used after it and has its value even if that code does not run; declare a variable with Var before it and assign with Set inside`
	}},
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) {
		x := k.F32(0)
		k.If(k.TID().X.EQI(0), func() { x = k.F32(5) })
		dsl.Global[dsl.F32](k, "o").StoreI(0, x) // want `D202: constant defined inside an If is used after it and has its value even if that code does not run; declare a variable with Var before it and assign with Set inside`
	}},
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) {
		x := k.U32(0)
		for range k.RangeI(0, 10) {
			x = x.AddI(1)
		}
		dsl.Global[dsl.U32](k, "o").StoreI(0, x) // want `D202: constant defined inside a loop is used after it and has its value even if that code does not run; declare a variable with Var before it and assign with Set inside`
	}},
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) {
		var last u32
		for i := range k.RangeI(0, 4) {
			last = i
		}
		dsl.Global[dsl.U32](k, "o").StoreI(0, last) // want `D202: value defined inside a loop is used after it; it may be undefined here`
	}},
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { k.WarpIndex().Set(k.U32(0)) }}, // want `D201: Set is called on WarpIndex, which is computed once per kernel; declare a variable with Var`
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { k.TID().X.ShlI(32) }},          // want `D204: shift amount is 32, expected 0 to 31`
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) {
		x := dsl.Global[dsl.F32](k, "x")
		x.Addr().Value() // want `D301: Value is called on an address in \.global memory, which has 64 bits; use Value64`
	}},
	// Barriers that not all threads reach.
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) {
		k.Roles(
			dsl.OnWarps(0, 4, "a", func(u32) { k.Sync() }), // want `D502: deadlock: Sync in role a waits for all threads of the block, but warps 4 to 7 do not execute one; use NamedBarrier for the threads of a role`
			dsl.OnWarps(4, 4, "b", func(u32) {}),
		)
	}},
	{"sm_90", func(m *dsl.Module, _ *dsl.Kernel) {
		k := m.Kernel("q", dsl.Threads(256), dsl.Cluster(2))
		k.Roles(
			dsl.OnWarps(0, 4, "a", func(u32) { k.SyncCluster() }), // want `D502: deadlock: SyncCluster in role a waits for all threads of the cluster, but warp 7 does not execute one; use Barrier to synchronize some of the threads; Roles ends with a cluster barrier for all threads`
			dsl.OnWarps(4, 3, "b", func(u32) { k.SyncCluster() }),
		)
	}},
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) {
		k.NamedBarrier(128).Sync()
		k.Ins("bar.sync", 1, 256) // want `D501: bar\.sync uses named barrier 1, which NamedBarrier has reserved; use numbered barriers before the first NamedBarrier`
	}},
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) {
		for i := 1; i < 16; i++ {
			k.Ins("barrier.cta.red.popc.u32", dsl.NewReg[dsl.U32](k), i, k.TID().X.EQI(0))
		}
		k.NamedBarrier(128) // want `D501: block uses more than 15 named barriers, besides barrier 0 of Sync; Ins uses 15 of them`
	}},
	// Accumulators and tiles.
	{"sm_90a", func(_ *dsl.Module, k *dsl.Kernel) { k.Accumulator(256, 256, isa.F32) }}, // want `D401: accumulator of 256x256 \.f32 needs 512 registers per thread, but a thread has at most 255; use more warpgroups with smaller accumulators`
	{"sm_80", func(_ *dsl.Module, k *dsl.Kernel) {
		dsl.NewWarpTile[dsl.F32](k, dsl.MMAFor(isa.F16, isa.F32), 128, 128) // want `D401: warp tile of 128x128 \.f32 needs 512 registers per thread, but a thread has at most 255; use more warps with smaller tiles`
	}},
	{"sm_80", func(_ *dsl.Module, k *dsl.Kernel) {
		t := k.SharedTile("t", dsl.Tile{Type: isa.F16, Rows: 64, Cols: 64, Swizzle: dsl.Swizzle128})
		dsl.NewWarpTile[dsl.F32](k, dsl.MMAFor(isa.Bf16, isa.F32), 32, 32).MMA(t, k.U32(0), t, k.U32(0)) // want `D401: operands of MMA, 64x64 \.f16 with a swizzle of 128 bytes and 64x64 \.f16 with a swizzle of 128 bytes, do not match shape m16n8k16, which multiplies A of \.bf16 by B of \.bf16: the element types differ`
	}},
	{"sm_80", func(_ *dsl.Module, k *dsl.Kernel) {
		t := k.SharedTile("t", dsl.Tile{Type: isa.F16, Rows: 64, Cols: 64, Swizzle: dsl.Swizzle128})
		dsl.NewWarpTile[dsl.F32](k, dsl.MMAFor(isa.F16, isa.F32), 64, 32).MMA(t, k.U32(32), t, k.U32(0)) // want `D401: 64 rows from row 32 are out of bounds: 64x64 \.f16 with a swizzle of 128 bytes has 64`
	}},
	{"sm_80", func(_ *dsl.Module, k *dsl.Kernel) {
		t := k.SharedTile("t", dsl.Tile{Type: isa.F16, Rows: 64, Cols: 64, Swizzle: dsl.Swizzle128})
		k.Matrix("a", isa.Bf16).Sized(k.U32(64), k.U32(64)).CopyAsync(t, k.U32(0)) // want `D401: matrix a of \.bf16 is copied into 64x64 \.f16 .*: the element types differ`
	}},
	// Instructions as text.
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { k.Ins("add.u32 %r1, %r2, %r3;") }},                    // want `D205: "add\.u32 %r1, %r2, %r3;" is more than an opcode; Ins takes "add\.u32" and the operands as Go values`
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { k.Ins("@%p1 bar.sync", 0) }},                          // want `D205: "@%p1 bar\.sync" has a guard; Ins takes the opcode only, use k\.When\(p, func\(\) \{ \.\.\. \}\)`
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { k.Ins("bra", "LOOP") }},                               // want `D205: operand 1 of bra is a Go string; "LOOP" is not a special register \(such as %tid\.x\), pass a label from NewLabel`
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { k.Ins("st.shared.u32", "smem", k.U32(1)) }},           // want `D205: operand 1 of st\.shared\.u32 is a Go string; "smem" is not a special register \(such as %tid\.x\), pass a variable or register as a Go value`
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { k.Ins("add.u32", dsl.NewReg[dsl.U32](k), "%r1", 1) }}, // want `D205: %r1 is not a special register; other registers are Go values from Var or NewReg`
}
