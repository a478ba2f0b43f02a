// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl_test

import (
	"strings"
	"testing"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/isa"
)

// wrongStays are writes to read-only values, types that memory cannot hold, and invalid parts of
// tiles.
var wrongStays = []wrongKernel{
	// Read-only values.
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { k.TID().X.AddI(1).Set(k.U32(5)) }},          // want `D201: Set is called on a value that is not a variable; declare one with Var`
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { dsl.Param[dsl.U32](k, "n").Set(k.U32(5)) }}, // want `D201: Set is called on a value that is not a variable; declare one with Var`
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) {
		for i := range k.RangeI(0, 8) {
			i.Set(k.U32(5)) // want `D201: Set is called on a value that is not a variable; declare one with Var`
		}
	}},
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { dsl.Global[dsl.F32](k, "x").LoadI(0).Set(k.F32(5)) }}, // want `D201: Set is called on a value that is not a variable; declare one with Var`
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) {
		dsl.Result[dsl.U32](k, "lop3.b32", 1, 2, 3, 0xea).Set(k.U32(1)) // want `D201: Set is called on a value that is not a variable; declare one with Var`
	}},
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { k.Ins("add.u32", k.TID().X, k.TID().X, 1) }}, // want `D201: add\.u32 writes to a value that is not a variable; create the destination with NewReg or Var, or use Result`
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) {
		n := dsl.Param[dsl.U32](k, "n")
		k.Ins("mov.b64", dsl.List(n, dsl.NewReg[dsl.U32](k)), k.U64(1)) // want `D201: mov\.b64 writes to a value that is not a variable; create the destination with NewReg or Var, or use Result`
	}},
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { k.Ins("add.u32", k.WarpIndex(), k.TID().X, 1) }}, // want `D201: add\.u32 writes to a value that is not a variable; create the destination with NewReg or Var, or use Result`
	// Types that memory cannot hold.
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { dsl.Shared[dsl.Pred](k, "y", 4) }},                         // want `D301: y holds predicates, which cannot be stored in memory; store a U8 or U32 \(Select, To\) and convert back with NEI\(0\)`
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { dsl.Local[dsl.Pred](k, "y", 4) }},                          // want `D301: y holds predicates, which cannot be stored in memory; store a U8 or U32 \(Select, To\) and convert back with NEI\(0\)`
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { dsl.DynamicShared[dsl.Pred](k, "y") }},                     // want `D301: y holds predicates, which cannot be stored in memory; store a U8 or U32 \(Select, To\) and convert back with NEI\(0\)`
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { dsl.Global[dsl.Pred](k, "y") }},                            // want `D301: y holds predicates, which cannot be stored in memory; store a U8 or U32 \(Select, To\) and convert back with NEI\(0\)`
	{"sm_90", func(m *dsl.Module, _ *dsl.Kernel) { dsl.ConstantVariable[dsl.Pred](m, "y", 1, 0) }},            // want `D301: y holds predicates, which cannot be stored in memory; store a U8 or U32 \(Select, To\) and convert back with NEI\(0\)`
	{"sm_90", func(m *dsl.Module, _ *dsl.Kernel) { dsl.GlobalVariable[dsl.Pred](m, "y", 4) }},                 // want `D301: y holds predicates, which cannot be stored in memory; store a U8 or U32 \(Select, To\) and convert back with NEI\(0\)`
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { k.SharedTile("t", tileOf(isa.Predicate, 0)) }},             // want `D401: tile has the size 64x64, expected at least one row and one column, and an element type other than \.pred`
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { dsl.To[dsl.B32](k.F32(1).Var()) }},                         // want `D205: cannot convert the untyped bits of \.f32 to \.b32; reinterpret them with Bits, or convert the integer with To\[dsl\.U32\] first`
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { dsl.To[dsl.F16](dsl.NewReg[dsl.B16](k)) }},                 // want `D205: cannot convert the untyped bits of \.b16 to \.f16; reinterpret them with Bits, or convert the integer with To\[dsl\.U16\] first`
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { dsl.Special[dsl.U32](k, "%clock") }},                       // want `D205: %clock changes while the kernel runs, but Special reads it once; use Clock`
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { dsl.Special[dsl.U64](k, "%globaltimer") }},                 // want `D205: %globaltimer changes while the kernel runs, but Special reads it once; use GlobalTimer`
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { dsl.Special[dsl.U32](k, "%pm0") }},                         // want `D205: %pm0 changes while the kernel runs, but Special reads it once; use Result\[dsl\.U32\]\(k, "mov\.u32", "%pm0"\)`
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { k.SharedTile("t", tileOf(isa.Bf16, -2)) }},                 // want `D401: 64x64 \.bf16: the padding is -2 bytes per row, expected a multiple of the element size`
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { k.SharedTile("t", tileOf(isa.Bf16, 3)) }},                  // want `D401: 64x64 \.bf16: the padding is 3 bytes per row, expected a multiple of the element size`
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { k.SharedTiles("t", tileOf(isa.F32, 0), 2).At(k.U32(2)) }},  // want `D401: tile index 2 is out of bounds: there are 2 tiles`
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { k.SharedTile("t", tileOf(isa.F32, 0)).Part(k.U32(4), 4) }}, // want `D401: part 4 is out of bounds: the tile has 4 parts`
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) {
		dsl.Element[dsl.F32](k.SharedTile("t", tileOf(isa.F32, 0)), k.U32(64), k.Lane()).LoadFirst() // want `D401: out of bounds: an element of 64x64 \.f32 is accessed at row 64 and column \(unknown\)`
	}},
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) {
		dsl.Element[dsl.F32](k.SharedTile("t", tileOf(isa.F32, 0)), k.U32(0), k.U32(64)).LoadFirst() // want `D401: out of bounds: an element of 64x64 \.f32 is accessed at row 0 and column 64`
	}},
}

func tileOf(t isa.Type, pad int) dsl.Tile { return dsl.Tile{Type: t, Rows: 64, Cols: 64, Pad: pad} }

// TestKept checks that a value does not change when a variable that it was computed from is set.
func TestKept(t *testing.T) {
	for name, same := range map[string]func(k *dsl.Kernel, v u32) u32{
		"To":      func(_ *dsl.Kernel, v u32) u32 { return dsl.Bits[dsl.U32](dsl.To[dsl.S32](v)) },
		"To same": func(_ *dsl.Kernel, v u32) u32 { return dsl.To[dsl.U32](v) },
		"Bits":    func(_ *dsl.Kernel, v u32) u32 { return dsl.To[dsl.U32](dsl.Bits[dsl.B32](v)) },
		"AddI":    func(_ *dsl.Kernel, v u32) u32 { return v.AddI(0) },
		"Add":     func(k *dsl.Kernel, v u32) u32 { return k.U32(0).Add(v) },
		"MulI":    func(_ *dsl.Kernel, v u32) u32 { return v.MulI(1) },
		"DivI":    func(_ *dsl.Kernel, v u32) u32 { return v.DivI(1) },
		"ShlI":    func(_ *dsl.Kernel, v u32) u32 { return v.ShlI(0) },
		"ShrI":    func(_ *dsl.Kernel, v u32) u32 { return v.ShrI(0) },
		"XorI":    func(_ *dsl.Kernel, v u32) u32 { return v.XorI(0) },
		"MadI":    func(k *dsl.Kernel, v u32) u32 { return v.MadI(1, k.U32(0)) },
		"Pointer": func(_ *dsl.Kernel, v u32) u32 {
			return dsl.Pointer[dsl.U32](v, isa.Shared).Addr().Value()
		},
	} {
		m := dsl.New("m", "sm_90")
		k := m.Kernel("k")
		v := k.TID().X.AddI(7).Var().Named("variable")
		w := same(k, v).Named("kept")
		v.Set(k.U32(3))
		dsl.Global[dsl.U32](k, "o").StoreI(0, w)
		text, err := m.Text()
		switch {
		case err != nil:
			t.Errorf("%s: %v", name, err)
		case !strings.Contains(text, "[%o], %kept;") || strings.Contains(text, "%kept, 3;"):
			t.Errorf("%s: what is stored changes with the variable:\n%s", name, text)
		}
	}
}

// TestSumsKept checks that a value computed from accumulators does not change when they do.
func TestSumsKept(t *testing.T) {
	for name, same := range map[string]func(w *dsl.WarpTile[dsl.F32]) (x f32){
		"To": func(w *dsl.WarpTile[dsl.F32]) (x f32) {
			w.Each(func(_, _ u32, y, _ f32) { x = dsl.To[dsl.F32](y) })
			return
		},
		"Bits": func(w *dsl.WarpTile[dsl.F32]) (x f32) {
			w.Each(func(_, _ u32, y, _ f32) { x = dsl.Bits[dsl.F32](dsl.Bits[dsl.U32](y)) })
			return
		},
		"RowReduce": func(w *dsl.WarpTile[dsl.F32]) f32 {
			return w.RowReduce(func(a, _ f32) f32 { return a })[0]
		},
	} {
		m := dsl.New("m", "sm_90")
		k := m.Kernel("k", dsl.Threads(32))
		w := sumsOf(k, 16)
		w.Each(func(_, _ u32, x, y f32) { x.Named("sum"); y.Named("sum") })
		kept := same(w).Named("kept")
		w.Map(func(_ dsl.Cell, x f32) f32 { return x.AddF(1) })
		dsl.Global[dsl.F32](k, "o").StoreI(0, kept)
		text, err := m.Text()
		switch n := strings.Count(text, "%kept"); {
		case err != nil:
			t.Errorf("%s: %v", name, err)
		case n != 3 || !strings.Contains(text, "[%o], %kept;"): // declared, written and stored
			t.Errorf("%s: what is stored changes with the sums:\n%s", name, text)
		}
	}
}

// TestTilesApart checks that several tiles are aligned for the TMA.
func TestTilesApart(t *testing.T) {
	m := dsl.New("m", "sm_90")
	k := m.Kernel("k", dsl.Threads(32))
	x := k.Tensor("x", isa.F32, []int{1, 10, 40}, dsl.NoSwizzle) // 1600 bytes each
	dsl.Element[dsl.F32](k.SharedTiles("t", x.Tile(), 2).At(k.Lane().AndI(1)), k.U32(0),
		k.U32(0)).StoreFirst(k.F32(1))
	text, err := m.Text()
	if err != nil || !strings.Contains(text, "t[3328]") || !strings.Contains(text, ", 1664;") {
		t.Errorf("tiles of 1600 bytes are not 1664 apart: %v\n%s", err, text)
	}
}
