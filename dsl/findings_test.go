// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl_test

import (
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/internal/ptxas"
	"github.com/ptxdsl/ptxdsl/isa"
)

// TestFindings builds kernels with one mistake each: there is one finding, at the column of the
// call.
func TestFindings(t *testing.T) {
	for _, test := range []struct {
		name, want, call string
		build            func(k *dsl.Kernel)
	}{
		{"integer in a float instruction", "operand 3 of add.f32 is a .u32 value", "Ins(",
			func(k *dsl.Kernel) {
				x, a, n := dsl.NewReg[dsl.F32](k), dsl.Param[dsl.F32](k, "a"),
					dsl.Param[dsl.U32](k, "n")
				k.Ins("add.f32", x, a, n)
				dsl.Global[dsl.F32](k, "o").StoreI(0, x)
			}},
		{"value of another role",
			"value of role one is used in role two, but warps do not share registers", "Store(",
			func(k *dsl.Kernel) {
				o := dsl.Global[dsl.U32](k, "o")
				var v dsl.Reg[dsl.U32]
				k.Roles(
					dsl.OnWarps(0, 4, "one", func(i dsl.Reg[dsl.U32]) { v = i.AddI(3) }),
					dsl.OnWarps(4, 4, "two", func(i dsl.Reg[dsl.U32]) { o.Store(i, v) }),
				)
			}},
		{"tile that stands in for an invalid one", "tensor map tm: 300x64 .bf16", "TensorMap(",
			func(k *dsl.Kernel) {
				tm := k.TensorMap("tm", isa.Bf16, dsl.Box{Rows: 300, Cols: 64}, dsl.Swizzle128)
				p := k.Pipeline("p", 2, tm.Feed())
				k.Roles(
					dsl.OnWarp(4, "load", func() {
						for s := range p.Produce(k.U32(2)) {
							s.Load(tm, dsl.TileAt(k.U32(0), s.Iteration()))
						}
					}),
					dsl.OnWarpgroup(0, "multiply", func() {
						acc := k.Accumulator(64, 256, isa.F32)
						for s := range p.Consume(k.U32(2)) {
							acc.MMA(s.Tile(tm), s.Tile(tm))
						}
					}),
				)
			}},
		{"access outside of a tile", "accesses row 64 of 64x64", "Element[", func(k *dsl.Kernel) {
			tile := k.SharedTile("x", dsl.Tile{Type: isa.F32, Rows: 64, Cols: 64})
			dsl.Element[dsl.F32](tile, k.TID().X, k.U32(0)).StoreFirst(k.F32(1))
		}},
	} {
		m := dsl.New("m", "sm_90a")
		test.build(m.Kernel("k", dsl.Threads(256)))
		_, list := m.Build()
		if len(list) != 1 || !strings.Contains(list[0].Message, test.want) {
			t.Errorf("%s: got %v\nwant one finding: %s", test.name, list, test.want)
			continue
		}
		if got := sourceAt(t, list[0].Place); !strings.HasPrefix(got, test.call) {
			t.Errorf("%s: the column is that of %q, want %q", test.name, got, test.call)
		}
	}
}

// TestFix applies the suggested fix for an unused result.
func TestFix(t *testing.T) {
	m := dsl.New("m", "sm_90")
	k := m.Kernel("k", dsl.Threads(32))
	count := k.U32(0).Var()
	count.AddI(1)
	dsl.Global[dsl.U32](k, "o").StoreI(0, count)
	_, list := m.Build()
	if len(list) != 1 || list[0].Fix == nil {
		t.Fatalf("got %v, want one finding with a fix", list)
	}
	line := sourceLine(t, list[0].Place)
	edits := list[0].Fix.Edits
	for i := len(edits) - 1; i >= 0; i-- {
		p := edits[i].Place
		line = line[:p.Column-1] + edits[i].New + line[p.EndColumn-1:]
	}
	if got := strings.TrimSpace(line); got != "count.Set(count.AddI(1))" {
		t.Errorf("the fix gives %q", got)
	}
}

func sourceAt(t *testing.T, p diag.Place) string {
	line := sourceLine(t, p)
	return line[min(p.Column-1, len(line)):]
}

func sourceLine(t *testing.T, p diag.Place) string {
	text, err := os.ReadFile(p.File)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(string(text), "\n")[p.Line-1]
}

// TestBias checks that AddBias loads the bias as vectors, one for each pair of columns.
func TestBias(t *testing.T) {
	m := dsl.New("m", "sm_90a")
	k := m.Kernel("warpgroup", dsl.Threads(128))
	acc := k.Accumulator(64, 256, isa.F32)
	acc.Clear()
	acc.AddBias(dsl.Global[dsl.F32](k, "bias"), k.U32(0))
	n := dsl.Param[dsl.U32](k, "n")
	acc.Store(k.Matrix("d", isa.Bf16).Sized(n, n), k.U32(0), k.U32(0))
	k = m.Kernel("warp", dsl.Threads(32))
	w := dsl.NewWarpTile[dsl.F32](k, dsl.MMAFor(isa.Bf16, isa.F32), 32, 64)
	w.AddBias(dsl.Global[dsl.F32](k, "bias"), k.U32(0))
	n = dsl.Param[dsl.U32](k, "n")
	w.Store(k.Matrix("d", isa.Bf16).Sized(n, n), k.U32(0), k.U32(0))
	text, err := m.Text()
	if err != nil {
		t.Fatal(err)
	}
	// There are 256 and 64 columns; a lane has two of each eight.
	if got := strings.Count(text, "ld.global.v2.f32"); got != 32+8 {
		t.Errorf("%d vector loads, want 40:\n%s", got, text)
	}
	if n := strings.Count(text, "ld.global.f32"); n != 0 {
		t.Errorf("%d scalar loads, want none", n)
	}
	if got := strings.Count(text, ".align 8 bias"); got != 2 {
		t.Errorf("%d pointers promise 8 bytes, want 2", got)
	}
	assembles(t, text)
}

func assembles(t *testing.T, text string) {
	tool, err := ptxas.Find()
	if err != nil {
		t.Skip(err)
	}
	_, verdict, err := tool.Assemble(t.Context(), text, ptxas.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if !verdict.OK() {
		t.Errorf("ptxas: %s\n%s", verdict, text)
	}
}

// TestSetupPositions checks that code that the builder emits when the kernel is complete has the
// position of a declaration: the initialization of an mbarrier that of Barrier, and the exit that
// of Kernel.
func TestSetupPositions(t *testing.T) {
	m := dsl.New("setup", "sm_90")
	line := func() int {
		_, _, n, _ := runtime.Caller(1)
		return n
	}
	kernel, k := line(), m.Kernel("f", dsl.Threads(64), dsl.Cluster(2))
	tid, s := k.TID().X, dsl.Shared[dsl.F32](k, "s", 64)
	_, barrier, full := k.Thread(), line(), k.Barrier("full", 64)
	s.InBlock(k.ClusterRank().XorI(1)).Store(tid, k.F32(1))
	full.Arrive()
	full.Wait(k.U32(0))
	found := 0
	for _, d := range m.Findings() {
		for _, r := range d.Related {
			want := barrier
			switch r.Message {
			case "the block exits here":
				want = kernel
			case "on this path, the branch is taken":
			default:
				continue
			}
			if found++; r.Place.Line != want {
				t.Errorf("%s: %q is at line %d, want %d", d.Message, r.Message, r.Place.Line, want)
			}
		}
	}
	if found < 2 {
		t.Errorf("%d related places, want the initialization and the exit:\n%v", found, m.Findings())
	}
}

// TestSkippedRelease checks that the finding of a break in the body of Consume names the arrival
// that the break skips.
func TestSkippedRelease(t *testing.T) {
	m := dsl.New("skipped", "sm_90")
	k := m.Kernel("f", dsl.Threads(160))
	x := k.TensorMap("x", isa.F32, dsl.Box{Rows: 8, Cols: 32}, dsl.Swizzle128)
	n, p := dsl.Param[dsl.U32](k, "n"), k.Pipeline("p", 2, x.Feed())
	k.Roles(
		dsl.OnWarp(4, "load", func() {
			for s := range p.Produce(n) {
				s.LoadAt(x, k.U32(0), s.Iteration().MulI(32))
			}
		}),
		dsl.OnWarpgroup(0, "math", func() {
			for s := range p.Consume(n) {
				dsl.Element[dsl.F32](s.Tile(x), k.U32(0), k.Lane()).LoadFirst()
				k.BreakIf(s.Iteration().EQI(0))
			}
		}),
	)
	for _, d := range m.Findings() {
		for _, r := range d.Related {
			if d.Rule == "M4" && strings.HasPrefix(r.Message, "no analyzed path reaches this arrival") {
				return
			}
		}
	}
	t.Errorf("findings %v, want an M4 that names the arrival", m.Findings())
}
