// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/internal/ptxas"
	"github.com/ptxdsl/ptxdsl/isa"
)

// A feature is a correct kernel, with text that its PTX must contain.
type feature struct {
	name, target string
	build        func(m *dsl.Module)
	says         string
}

// features are kernels that use modules, clusters and tensor cores.
var features = []feature{
	{"tables", "sm_80", func(m *dsl.Module) {
		roots := dsl.ConstantVariable[dsl.F32](m, "roots", 1, 1.5, -2)
		halves := dsl.ConstantVariable[dsl.F16](m, "halves", 1, 2)
		seen := dsl.GlobalVariable[dsl.U32](m, "seen", 4)
		k := m.Kernel("k", dsl.Threads(32))
		out := dsl.Global[dsl.F32](k, "out")
		i := k.TID().X.RemI(3)
		x := roots.In(k).Load(i).Add(roots.In(k).LoadI(1)).Add(
			dsl.To[dsl.F32](halves.In(k).LoadI(1)))
		out.Store(k.TID().X, x)
		seen.In(k).Reduce("add", i, k.U32(1))
	}, ".visible .const .align 16 .f32 roots[3] = {0f3F800000, 0f3FC00000, 0fC0000000};"},
	{"struct", "sm_80", func(m *dsl.Module) {
		type pair struct {
			Low  dsl.Reg[dsl.U8]
			High dsl.Reg[dsl.U64]
		}
		type arguments struct {
			Scale dsl.Reg[dsl.F32]
			Bias  [3]dsl.Reg[dsl.F16]
			Pair  pair
			Last  dsl.Reg[dsl.U8]
		}
		k := m.Kernel("k", dsl.Threads(32))
		out := dsl.Global[dsl.F32](k, "out")
		s := dsl.Struct[arguments](k, "s")
		x := s.Scale.Add(dsl.To[dsl.F32](s.Bias[2])).Add(dsl.To[dsl.F32](s.Pair.High)).Add(
			dsl.To[dsl.F32](s.Last))
		out.Store(k.TID().X, x)
	}, "[s+24]"},
	{"cluster", "sm_90", func(m *dsl.Module) {
		k := m.Kernel("k", dsl.Threads(128), dsl.Cluster(4))
		x, out := dsl.Global[dsl.F32](k, "x"), dsl.Global[dsl.F32](k, "out")
		k.LaunchDependents()
		k.WaitDependencies()
		add := func(a, b f32) f32 { return a.Add(b) }
		i := k.CTAID().X.MadI(128, k.TID().X)
		sum := dsl.ClusterReduce(dsl.BlockReduce(x.Load(i), "parts", add), "mine", add)
		out.Store(i, sum)
	}, "ld.shared::cluster.f32"},
	{"reduce", "sm_90", func(m *dsl.Module) {
		k := m.Kernel("k", dsl.Threads(32))
		d := k.TensorMap("d", isa.F32, dsl.Box{Rows: 16, Cols: 32}, dsl.Swizzle128)
		w := dsl.NewWarpTile[dsl.F32](k, dsl.MMAFor(isa.F16, isa.F32), 16, 32)
		t := k.SharedTile("t", d.Tile())
		w.StoreShared(t, k.U32(0))
		k.FenceAsync()
		k.Sync()
		k.When(k.TID().X.EQI(0), func() {
			d.Reduce("add", t, k.U32(0), k.U32(0))
			k.CommitStores()
			k.WaitStores(0)
		})
	}, "cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.bulk_group"},
	{"rolled", "sm_80", func(m *dsl.Module) {
		k := m.Kernel("k", dsl.Threads(32))
		out := dsl.Global[dsl.U32](k, "out")
		for i := range k.NoUnroll(k.RangeI(0, 16)) {
			out.Store(i, i)
		}
	}, `.pragma "nounroll";`},
	{"opened", "sm_90a", func(m *dsl.Module) {
		k := m.Kernel("k", dsl.Threads(128))
		out := dsl.Global[dsl.U64](k, "out")
		t := k.SharedTile("t",
			dsl.Tile{Type: isa.Bf16, Rows: 64, Cols: 64, Swizzle: dsl.Swizzle128})
		k.Sync()
		f := t.LoadMatrices(k.Lane().AndI(15), k.Lane().ShrI(4))
		out.Store(k.TID().X,
			t.Descriptor().Add(dsl.To[dsl.U64](dsl.Bits[dsl.U32](f[3]))).Add(
				dsl.To[dsl.U64](k.ActiveLanes().MatchAny())))
		if a, b, c := dsl.MMAFor(isa.Bf16, isa.F32).Registers(); a != 4 || b != 2 || c != 4 {
			k.Errorf("%d, %d and %d registers", a, b, c)
		}
	}, "ldmatrix.sync.aligned.m8n8.x4.shared.b16"},
	{"packed", "sm_100a", func(m *dsl.Module) {
		k := m.Kernel("k", dsl.Threads(32))
		x, out := dsl.Global[dsl.F32](k, "x"), dsl.Global[dsl.U32](k, "out")
		v := x.LoadVec(k.TID().X.ShlI(2), 4)
		four := dsl.Pack[dsl.E2M1x2](v[0], v[1])
		six := dsl.Pack[dsl.E3M2x2](v[0], v[1])
		scale := dsl.Pack[dsl.UE8M0x2](v[2], v[3])
		chance := dsl.PackStochastic[dsl.E2M1x4](v[0], v[1], v[2], v[3], k.TID().X)
		back := dsl.Bits[dsl.U32](dsl.To[dsl.F16x2](four)).Add(
			dsl.Bits[dsl.U32](dsl.To[dsl.F16x2](six)))
		up := dsl.Bits[dsl.U32](dsl.To[dsl.BF16x2](scale))
		out.Store(k.TID().X, back.Add(up).Add(dsl.To[dsl.U32](dsl.Bits[dsl.U16](chance))))
	}, "cvt.rp.satfinite.ue8m0x2.f32"},
	{"taken for others", "sm_80", func(m *dsl.Module) {
		k := m.Kernel("k", dsl.Threads(32))
		x, h, out := dsl.Global[dsl.F32](k, "x"), dsl.Global[dsl.F16](k, "h"),
			dsl.Global[dsl.U32](k, "out")
		i := k.TID().X
		up := dsl.Bits[dsl.U32](x.Load(i)).AddI(1)
		again := dsl.Bits[dsl.U32](dsl.Bits[dsl.B32](x.Load(i))).Add(up.TrailingZeros())
		half := dsl.Bits[dsl.U16](h.Load(i)).AddI(1)
		f := x.Load(i)
		in := f.GTF(-1).And(f.LTF(1.5)).And(f.LEF(1)).And(f.GEF(-0.5)).And(f.EQF(0).Not())
		k.ReturnIf(in.Not())
		out.Store(i,
			again.Add(dsl.To[dsl.U32](half)).Add(dsl.Bits[dsl.U32](dsl.Bits[dsl.F32](up).MulF(2))))
	}, "brev.b32"},
	{"dealt", "sm_100", func(m *dsl.Module) { dealt(m.Kernel("k", dsl.Threads(192))) },
		"clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128"},
	{"dealt to clusters", "sm_100a",
		func(m *dsl.Module) { dealt(m.Kernel("k", dsl.Threads(192), dsl.Cluster(2))) },
		".multicast::cluster::all"},
}

// dealt builds a kernel with two roles that compute tiles, and one that requests them.
func dealt(k *dsl.Kernel) {
	out := dsl.Global[dsl.U32](k, "out")
	tiles := k.DynamicSchedule(k.U32(4), k.U32(4), 2)
	k.Roles(
		dsl.OnWarpgroup(0, "store", func() {
			for at := range tiles.Each() {
				out.Store(at.Row.MadI(4, at.Col), k.TID().X)
			}
		}),
		dsl.OnWarp(4, "deal", tiles.RunScheduler),
		dsl.OnWarp(5, "count", func() {
			for at := range tiles.Each() {
				out.Reduce("add", at.Col, k.U32(1))
			}
		}),
	)
}

// TestFeatures builds each kernel with hazard checks, and assembles it with ptxas.
func TestFeatures(t *testing.T) {
	tool, err := ptxas.Find()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range slices.Concat(features, copies, valueFeatures, productFeatures, gridFeatures,
		blackwellFeatures, tensorFeatures) {
		m := dsl.New("m", f.target)
		f.build(m)
		_, list := m.Build()
		for _, d := range list {
			// notes name what is not checked, such as the byte counts of tensor copies
			if d.Severity == diag.Note {
				continue
			}
			t.Errorf("%s: %s: %s %s: %s", f.name, d.Place, d.Severity, d.Rule, d.Message)
		}
		text, err := m.Text()
		if err != nil {
			continue
		}
		if !strings.Contains(text, f.says) {
			t.Errorf("%s: the PTX does not contain %q:\n%s", f.name, f.says, text)
		}
		if _, verdict, err := tool.Assemble(t.Context(), text, ptxas.Options{}); err != nil ||
			!verdict.OK() {
			t.Errorf("%s: ptxas: %v %s\n%s", f.name, err, verdict, text)
		}
	}
}

// TestTileAlignment checks that tiles for the TMA are aligned to 128 bytes, also after a smaller
// variable.
func TestTileAlignment(t *testing.T) {
	m := dsl.New("tiles", "sm_90")
	k := m.Kernel("tiles", dsl.Threads(32))
	dsl.Shared[dsl.F32](k, "word", 1)
	k.SharedTile("plain", dsl.Tile{Type: isa.F32, Rows: 8, Cols: 8})
	k.SharedTile("swizzled", dsl.Tile{Type: isa.F32, Rows: 8, Cols: 8, Swizzle: dsl.Swizzle32})
	k.SharedTile("padded", dsl.Tile{Type: isa.F32, Rows: 8, Cols: 8, Pad: 16})
	text, err := m.Text()
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{".shared .align 128 .b8 plain[256];",
		".shared .align 256 .b8 swizzled[256];", ".shared .align 16 .b8  padded[384];"} {
		if !strings.Contains(text, line) {
			t.Errorf("there is no line %s in\n%s", line, text)
		}
	}
}
