// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl_test

import (
	"testing"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/isa"
)

func both(a, b f32) f32 { return a.Add(b) }

// wrongThreads are invalid accesses of single threads, and operations of all threads that some
// threads do not execute.
var wrongThreads = []wrongKernel{
	// Misaligned vector accesses.
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { dsl.Global[dsl.F32](k, "x").LoadVec(k.TID().X, 4) }}, // want `D301: misaligned vector access: thread 1 accesses byte 4 of x with 16 bytes, expected a multiple of 16; the index counts elements and must be a multiple of the vector length`
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) {
		x := dsl.Global[dsl.F32](k, "x")
		for i := range k.GridStride(dsl.Param[dsl.U32](k, "n")) {
			x.LoadVec(i, 2) // want `D301: misaligned vector access: thread 1 accesses byte 4 of x with 8 bytes, expected a multiple of 8; the index counts elements and must be a multiple of the vector length`
		}
	}},
	{"sm_90", func(m *dsl.Module, _ *dsl.Kernel) {
		k := m.Kernel("any") // the launch chooses the block size
		x, i := dsl.Global[dsl.BF16](k, "x"), k.CTAID().X.Mad(k.NTID().X, k.TID().X)
		k.ReturnIf(i.GE(dsl.Param[dsl.U32](k, "n")))
		x.StoreVec(i.MulI(4), x.LoadVec(i.MulI(4), 8)) // want `D301: misaligned vector access: thread 1 accesses byte 8 of x with 16 bytes, expected a multiple of 16; the index counts elements and must be a multiple of the vector length`
	}},
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) {
		x := dsl.Shared[dsl.F32](k, "x", 1024)
		x.StoreVec(k.TID().X.AddI(1).ShlI(1), []f32{k.F32(0), k.F32(1), k.F32(2), k.F32(3)}) // want `D301: misaligned vector access: thread 0 accesses byte 8 of x with 16 bytes, expected a multiple of 16; the index counts elements and must be a multiple of the vector length`
	}},
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { dsl.FloatParam(k, "x", isa.F16).Load(k.TID().X) }}, // want `D301: misaligned vector access: thread 2 accesses byte 4 of x with 16 bytes, expected a multiple of 16; the index counts elements and must be a multiple of the vector length`
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) {
		dsl.As[dsl.F64](dsl.Global[dsl.F32](k, "x").At(k.TID().X)).LoadFirst() // want `D301: misaligned vector access: thread 1 accesses byte 4 of x with 8 bytes, expected a multiple of 8; the index counts elements and must be a multiple of the vector length`
	}},
	// Out-of-bounds accesses.
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { dsl.Shared[dsl.F32](k, "s", 128).Store(k.TID().X, k.F32(1)) }}, // want `D301: out of bounds: thread 128 accesses byte 512 of s, which has 512; an index counts elements, and If can exclude threads`
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) {
		s := dsl.Shared[dsl.U32](k, "s", 8)
		s.StoreI(0, k.U32(0))
		s.Reduce("add", k.Lane(), k.U32(1)) // want `D301: out of bounds: thread 8 accesses byte 32 of s, which has 32; an index counts elements, and If can exclude threads`
	}},
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) {
		x, counts := dsl.Global[dsl.U32](k, "x"), dsl.Shared[dsl.U32](k, "counts", 256)
		counts.Reduce("add", x.Load(k.TID().X), k.U32(1)) // want `D301: counts` is uninitialized shared memory: the kernel reads it but never writes it
	}},
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { // Atomic "exch" writes.
		x, locks := dsl.Global[dsl.U32](k, "x"), dsl.Shared[dsl.U32](k, "locks", 8)
		locks.Atomic("exch", x.Load(k.TID().X).AndI(7), k.U32(0))
		locks.Reduce("add", k.TID().X, k.U32(1)) // want `D301: out of bounds: thread 8 accesses byte 32 of locks, which has 32; an index counts elements, and If can exclude threads`
	}},
	// Conditions that are equal for all threads and that a launch may satisfy.
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) {
		n, s, t := dsl.Param[dsl.U32](k, "n"), dsl.Shared[dsl.F32](k, "s", 8, 128), k.TID().X
		for at := range k.RangeStep(k.U32(0), n, k.U32(8)) {
			s.Store(s.Index(t.ShrI(4), t.AndI(15)), k.F32(1)) // want `D301: out of bounds: thread 128 accesses byte 4096 of s, which has 4096; an index counts elements, and If can exclude threads`
			k.If(at.AddI(8).LT(n), func() {
				s.Store(t.MulI(5), k.F32(1)) // want `D301: out of bounds: thread 205 accesses byte 4100 of s, which has 4096; an index counts elements, and If can exclude threads`
			})
		}
		// the launch may exclude the threads
		k.If(t.LT(n), func() { s.Store(t.MulI(5), k.F32(1)) })
	}},
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) {
		x, n := dsl.Global[dsl.F32](k, "x"), dsl.Param[dsl.U32](k, "n")
		for i := range k.GridStride(n.ShrI(2)) {
			x.LoadVec(i, 4) // want `D301: misaligned vector access: thread 1 accesses byte 4 of x with 16 bytes, expected a multiple of 16; the index counts elements and must be a multiple of the vector length`
		}
		k.If(k.TID().X.LT(n.AddI(1)), func() {
			x.LoadVec(k.TID().X, 2) // want `D301: misaligned vector access: thread 1 accesses byte 4 of x with 8 bytes, expected a multiple of 8; the index counts elements and must be a multiple of the vector length`
		})
		k.If(k.TID().X.LT(n.MinI(1)), func() { x.LoadVec(k.TID().X, 2) })
	}},
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { dsl.Local[dsl.F32](k, "s", 8).Store(k.Lane(), k.F32(1)) }}, // want `D301: out of bounds: thread 8 accesses byte 32 of s, which has 32; an index counts elements, and If can exclude threads`
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) {
		dsl.Shared[dsl.F32](k, "s", 256).Store(k.TID().X.SubI(1), k.F32(1)) // want `D301: out of bounds: thread 0 accesses byte -4 of s, which has 1024; an index counts elements, and If can exclude threads`
	}},
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { dsl.Global[dsl.F32](k, "x").Load(k.TID().X.SubI(1)) }},               // want `D301: out of bounds: thread 0 of the first block accesses byte 17179869180 of x: an index is a U32 and cannot be negative; use If or Select, or AtI\(-1\) for the preceding element`
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { dsl.Shared[dsl.F32](k, "s", 10).AtI(8).LoadFirstVec(4) }},            // want `D301: out of bounds: the call accesses 16 bytes at byte 32 of s, which has 40`
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { dsl.Shared[dsl.F32](k, "s", 8).AtI(4).AtI(4).StoreFirst(k.F32(1)) }}, // want `D301: out of bounds: the call accesses 4 bytes at byte 32 of s, which has 32`
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { dsl.As[dsl.F64](dsl.Shared[dsl.F32](k, "s", 8)).LoadI(4) }},          // want `D301: out of bounds: the call accesses 8 bytes at byte 32 of s, which has 32`
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { dsl.Shared[dsl.F32](k, "s", 8, 32).Index(k.U32(0), k.U32(32)) }},     // want `D301: index 32 is out of bounds: dimension 1 has 32 elements`
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) {
		s := dsl.Shared[dsl.F32](k, "s", 8, 32)
		s.Store(s.Index(k.Lane(), k.WarpIndex()), k.F32(1)) // want `D301: out of bounds: thread 8 accesses byte 1024 of s, which has 1024; an index counts elements, and If can exclude threads`
	}},
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) {
		dsl.Element[dsl.F32](k.SharedTile("t", tileOf(isa.F32, 0)), k.TID().X, k.U32(0)).LoadFirst() // want `D301: out of bounds: thread 64 accesses byte 16384 of t, which has 16384; an index counts elements, and If can exclude threads|D401: out of bounds: thread 64 accesses row 64 of 64x64 \.f32, which has 64`
	}},
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) {
		t := dsl.Tile{Type: isa.Bf16, Rows: 64, Cols: 64, Swizzle: dsl.Swizzle128}
		dsl.Element[dsl.BF16](k.SharedTile("t", t), k.U32(0), k.U32(0)).LoadI(8) // want `D301: index 8 is out of bounds: the array has 8 elements`
	}},
	// Writes to memory that is read through NC.
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) {
		x := dsl.Global[dsl.F32](k, "x")
		x.Store(k.TID().X, x.Load(k.TID().X, dsl.NC).AddF(1)) // want `D301: NC load of x, which the kernel writes, may return stale data; leave NC out`
	}},
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) {
		x := dsl.Global[dsl.F32](k,
			"x").At64(dsl.MulWide[dsl.U64](k.CTAID().X, dsl.Param[dsl.U32](k, "n")))
		x.Reduce("add", k.U32(0), x.LoadVec(k.TID().X.ShlI(1), 2, dsl.NC)[1]) // want `D301: NC load of x, which the kernel writes, may return stale data; leave NC out`
	}},
	// Operations that all threads must execute.
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { k.If(k.TID().X.LTI(100), k.Sync) }},         // want `D501: divergent Sync: thread 96 of a warp executes it, but thread 100 does not; move it out of the condition`
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { k.If(k.Lane().EQI(0), k.SyncWarp) }},        // want `D501: divergent SyncWarp: thread 0 of a warp executes it, but thread 1 does not; move it out of the condition`
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { k.If(k.Elect(), k.SyncWarp) }},              // want `D501: divergent SyncWarp: thread 0 of a warp executes it, but thread 1 does not; move it out of the condition`
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { k.When(k.TID().X.AndI(1).EQI(0), k.Sync) }}, // want `D501: divergent Sync: thread 0 of a warp executes it, but thread 1 does not; move it out of the condition`
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) {
		k.If(k.Lane().LTI(16), func() {}, func() { k.Lane().ShuffleXor(1) }) // want `D501: divergent shuffle: thread 16 of a warp executes it, but thread 0 does not; move it out of the condition`
	}},
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { k.If(k.Lane().LTI(16), func() { k.Ballot(k.Lane().EQI(0)) }) }},  // want `D501: divergent Ballot: thread 0 of a warp executes it, but thread 16 does not; move it out of the condition`
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { k.If(k.Lane().LTI(16), func() { k.AnyLane(k.Lane().EQI(0)) }) }}, // want `D501: divergent vote: thread 0 of a warp executes it, but thread 16 does not; move it out of the condition`
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { k.If(k.Lane().LTI(16), func() { k.Lane().MatchAny() }) }},        // want `D501: divergent MatchAny: thread 0 of a warp executes it, but thread 16 does not; move it out of the condition`
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { k.If(k.Lane().LTI(16), func() { k.Lane().Redux("add") }) }},      // want `D501: divergent Redux: thread 0 of a warp executes it, but thread 16 does not; move it out of the condition`
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) {
		for range k.Range(k.U32(0), k.TID().X) {
			k.Sync() // want `D501: divergent Sync: thread 1 of a warp executes it, but thread 0 does not; move it out of the condition`
		}
	}},
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) {
		k.If(k.WarpIndex().LTI(4), func() { dsl.BlockReduce(k.F32(1), "s", both) }) // want `D501: deadlock: divergent BlockReduce: thread 0 executes it, but thread 128, of another warp, does not; all threads of the block must`
	}},
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) {
		k.If(k.WarpIndex().LTI(4), func() { dsl.BlockScan(k.F32(1), "s", both) }) // want `D501: deadlock: divergent BlockScan: thread 0 executes it, but thread 128, of another warp, does not; all threads of the block must`
	}},
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) {
		k.If(k.WarpIndex().EQI(0), func() { dsl.BlockExclusiveScan(k.F32(1), k.F32(0), "s", both) }) // want `D501: deadlock: divergent BlockExclusiveScan: thread 0 executes it, but thread 32, of another warp, does not; all threads of the block must`
	}},
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) {
		t, a := k.SharedTile("t", tileOf(isa.F32, 0)),
			k.Matrix("a", isa.F32).Sized(k.U32(64), k.U32(64))
		k.If(k.TID().X.LTI(64), func() { a.CopyAsync(t, k.U32(0)) }) // want `D501: asynchronous copy is never waited for; call CommitCopies, WaitCopies and Sync before the data is read`
	}},
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) {
		p := k.AsyncPipeline("p", 2, tileOf(isa.F32, 0))
		k.If(k.TID().X.LTI(64), func() {
			p.Run(k.U32(4), func(u32, dsl.AsyncStage) {}, func(u32, dsl.AsyncStage) {}) // want `D501: deadlock: divergent Run: thread 0 executes it, but thread 64, of another warp, does not; all threads of the block must`
		})
	}},
	{"sm_90", func(m *dsl.Module, _ *dsl.Kernel) { m.Kernel("q", dsl.Threads(33)).F32(1).WarpSum() }},      // want `D501: WarpReduce is called in a block of 33 threads, whose last warp has only 1 of 32 lanes: the missing lanes contribute undefined values`
	{"sm_90", func(m *dsl.Module, _ *dsl.Kernel) { m.Kernel("q", dsl.Threads(16)).F32(1).WarpScan(both) }}, // want `D501: WarpScan is called in a block of 16 threads, whose last warp has only 16 of 32 lanes: the missing lanes contribute undefined values`
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { k.Lane().ShuffleFrom(k.U32(32)) }},                      // want `D204: shuffle reads lane 32, expected 0 to 31`
	// Constants that are out of range.
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) {
		k.SharedTile("t", tileOf(isa.F32, 0)).LoadMatrices(k.Lane(), k.U32(16)) // want `D401: 16-byte unit 16 is out of bounds: a row of 64x64 \.f32 has 16 of them`
	}},
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { k.Barrier("b", 1).ArriveExpect(k.U32(1 << 20)) }}, // want `D501: mbarrier phase expects 1048576 bytes, more than the maximum transaction count of 1048575`
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { k.Barrier("b", 1).ArriveAt(k.U32(0)) }},           // want `D501: ArriveAt is called in a kernel without Cluster; for the block's own mbarrier use Arrive`
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) {
		dsl.Global[dsl.F32](k, "x").BulkReduce("and", dsl.Shared[dsl.F32](k, "s", 64), k.U32(32)) // want `D205: BulkReduce "and" is not available for \.f32, expected an integer type; reinterpret the array with dsl\.As\[dsl\.U32\]`
	}},
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) {
		t := k.SharedTile("t", tileOf(isa.F32, 0))
		k.Matrix("a", isa.F32).Sized(k.U32(64), k.U32(64)).CopyAsync(t, k.U32(2)) // want `D401: copy of matrix a is misaligned: it starts at column 2 and rows have 64 columns, expected multiples of 16 bytes`
		k.Matrix("b", isa.F32).Sized(k.U32(64), k.U32(63)).CopyAsync(t, k.Lane()) // want `D401: copy of matrix b is misaligned: it starts at column \(unknown\) and rows have 63 columns, expected multiples of 16 bytes`
	}},
	{"sm_80", func(m *dsl.Module, k *dsl.Kernel) {
		w := dsl.NewWarpTile[dsl.F32](k, dsl.MMAFor(isa.Bf16, isa.F32), 32, 32)
		w.Store(k.Matrix("d", isa.Bf16).Sized(k.U32(64), k.U32(64)), k.U32(0), k.U32(1))                           // want `D401: store to matrix d is misaligned: it starts at column 1 and rows have 64 columns, expected even numbers, since two elements are stored at once`
		k.Matrix("e", isa.F32).Sized(k.U32(64), k.U32(63)).StoreRow(k.U32(0), k.U32(0), []f32{k.F32(0), k.F32(1)}) // want `D401: store to matrix e is misaligned: it starts at column 0 and rows have 63 columns, expected even numbers, since two elements are stored at once`
	}},
	{"sm_90a", func(_ *dsl.Module, k *dsl.Kernel) {
		o := k.Output("o", k.TensorMap("d", isa.Bf16, dsl.Box{Rows: 64, Cols: 64}, dsl.Swizzle128),
			2)
		acc := k.Accumulator(64, 64, isa.F32)
		acc.Clear()
		o.Store(acc, 0, k.U32(2), k.U32(0), k.U32(0)) // want `D401: warpgroup 2 is out of bounds: the output has 2 tiles`
	}},
	{"sm_90a", func(_ *dsl.Module, k *dsl.Kernel) {
		o := k.Output("o", k.TensorMap("d", isa.Bf16, dsl.Box{Rows: 64, Cols: 64}, dsl.Swizzle128),
			2)
		acc := k.Accumulator(64, 64, isa.F32)
		acc.Clear()
		o.Store(acc, 0, k.WarpIndex().ShrI(2), k.U32(0), k.U32(0)) // want `D501: nothing waits for the stores through output d: the block may exit while the TMA still reads the tile; call Wait at the end of the role`
	}},
}

// TestRightThreads builds kernels that are correct, or may be: they have no findings.
func TestRightThreads(t *testing.T) {
	for name, build := range map[string]func(k *dsl.Kernel){
		"guarded vector": func(k *dsl.Kernel) {
			k.If(k.TID().X.AndI(3).EQI(0),
				func() { dsl.Global[dsl.F32](k, "x").LoadVec(k.TID().X, 4) })
		},
		"multiple": func(k *dsl.Kernel) {
			dsl.Global[dsl.F32](k, "x").LoadVec(k.TID().X.MulI(4), 4)
		},
		"launch's promise": func(k *dsl.Kernel) {
			dsl.Global[dsl.F32](k, "x").LoadVec(k.TID().X.Mul(dsl.Param[dsl.U32](k, "four")), 4)
		},
		"data": func(k *dsl.Kernel) {
			x := dsl.Global[dsl.U32](k, "x")
			x.LoadVec(x.Load(k.TID().X), 4)
		},
		"some left": func(k *dsl.Kernel) {
			k.ReturnIf(k.TID().X.GEI(128))
			dsl.Shared[dsl.F32](k, "s", 128).Store(k.TID().X, k.F32(1))
		},
		"some left in an If": func(k *dsl.Kernel) {
			k.If(k.TID().X.GEI(128), k.Return)
			dsl.Shared[dsl.F32](k, "s", 128).Store(k.TID().X, k.F32(1))
		},
		"some broke": func(k *dsl.Kernel) {
			k.Loop(func() {
				k.BreakIf(k.TID().X.GEI(128))
				dsl.Shared[dsl.F32](k, "s", 128).Store(k.TID().X, k.F32(1))
				k.Break()
			})
		},
		"a label": func(k *dsl.Kernel) {
			end := k.NewLabel("end")
			k.BranchIf(k.TID().X.GEI(128), end)
			dsl.Shared[dsl.F32](k, "s", 128).Store(k.TID().X, k.F32(1))
			k.PlaceLabel(end)
		},
		"a neighbor": func(k *dsl.Kernel) {
			dsl.Shared[dsl.F32](k, "s", 256).At(k.TID().X.SubI(1)).AtI(1).StoreFirst(k.F32(1))
		},
		"whole warps": func(k *dsl.Kernel) {
			k.If(k.WarpIndex().LTI(4), func() { k.Lane().ShuffleXor(1); k.SyncWarp() })
		},
		"a block's if": func(k *dsl.Kernel) {
			k.If(k.CTAID().X.EQI(0), func() { dsl.BlockReduce(k.F32(1), "s", both) })
		},
		"first turn": func(k *dsl.Kernel) {
			for i := range k.RangeI(0, 8) {
				k.If(i.GTI(0), func() { dsl.Shared[dsl.F32](k, "s", 8).Store(i.SubI(1), k.F32(1)) })
			}
		},
		"a variable": func(k *dsl.Kernel) {
			v := k.TID().X.Var()
			v.Set(v.AndI(127))
			dsl.Shared[dsl.F32](k, "s", 128).Store(v, k.F32(1))
		},
		"a launch's bound": func(k *dsl.Kernel) {
			k.If(k.TID().X.LT(dsl.Param[dsl.U32](k, "n")),
				func() { dsl.Shared[dsl.F32](k, "s", 128).Store(k.TID().X, k.F32(1)) })
		},
		"nc elsewhere": func(k *dsl.Kernel) {
			dsl.Global[dsl.F32](k, "y").Store(k.TID().X,
				dsl.Global[dsl.F32](k, "x").Load(k.TID().X, dsl.NC))
		},
		"a case": func(k *dsl.Kernel) {
			k.Switch(k.TID().X,
				func() { dsl.Shared[dsl.F32](k, "s", 4).Store(k.TID().X, k.F32(1)) })
		},
	} {
		m := dsl.New("m", "sm_90")
		build(m.Kernel("k", dsl.Threads(256)))
		if _, err := m.Text(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, build := range map[string]func(m *dsl.Module){
		"a small block": func(m *dsl.Module) {
			k := m.Kernel("k") // the launch may have 16 threads
			dsl.Shared[dsl.F32](k, "s", 16).Store(k.TID().X, k.F32(1))
		},
		"the whole warp of some": func(m *dsl.Module) {
			k := m.Kernel("k", dsl.Threads(48))
			k.If(k.WarpIndex().EQI(0), func() { k.F32(1).WarpSum() })
		},
	} {
		m := dsl.New("m", "sm_90")
		build(m)
		if _, err := m.Text(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
