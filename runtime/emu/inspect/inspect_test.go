// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package inspect_test

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/ptxdsl/ptxdsl/dsl"
	hopper "github.com/ptxdsl/ptxdsl/examples/15_matmul_hopper"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/runtime"
	"github.com/ptxdsl/ptxdsl/runtime/emu"
	"github.com/ptxdsl/ptxdsl/runtime/emu/inspect"
	"github.com/ptxdsl/ptxdsl/runtime/kerneltest"
)

// multiply runs the Hopper GEMM on one tile, 128 x 256 x 128, with observers.
func multiply(t *testing.T, observers ...emu.Observer) {
	t.Helper()
	back, err := emu.New(emu.Options{Target: "sm_90a", Observer: emu.Observers(observers...)})
	if err != nil {
		t.Fatal(err)
	}
	x := kerneltest.New(runtime.On(back))
	k, err := x.Kernel("matmul", func(m *dsl.Module) { hopper.Build(m, hopper.Default) })
	if err != nil {
		t.Fatal(err)
	}
	if err := hopper.Multiply(x, k, hopper.Default,
		kerneltest.GEMM{M: 128, N: 256, K: 128}); err != nil {
		t.Fatal(err)
	}
}

// TestStats compares the counts of a GEMM with those that follow from its shape.
func TestStats(t *testing.T) {
	s := inspect.NewStats()
	multiply(t, s)
	const m, n, k = 128, 256, 128
	if s.Multiplications != m*n*k {
		t.Errorf("%d multiplications, not %d", s.Multiplications, m*n*k)
	}
	// Two stages of A and B are loaded, and D is stored.
	if want := int64(2*(m*k+n*k) + 2*m*n); s.TMA != want {
		t.Errorf("TMA moved %d bytes, not %d", s.TMA, want)
	}
	if got := s.Bytes["global"]; got.Read != 2*(m*k+n*k) || got.Written != 2*m*n {
		t.Errorf("global memory: %+v", got)
	}
	full := s.Barriers["mbarrier barriers[0]"]
	if full == nil || full.Phases != 1 || full.Waits != 8 {
		t.Errorf("the first mbarrier: %+v", full)
	}
	if b := s.Barriers["barrier 0"]; b == nil || b.Phases != 1 || b.Arrivals != 384 {
		t.Errorf("barrier 0: %+v", b)
	}
	var sum inspect.Count
	for _, c := range s.Classes {
		sum.Warps, sum.Threads = sum.Warps+c.Warps, sum.Threads+c.Threads
	}
	if sum.Warps == 0 || sum.Threads > 32*sum.Warps || s.Classes["tensor core"].Warps == 0 {
		t.Errorf("%+v", s.Classes)
	}
	var out bytes.Buffer
	if err := s.Print(&out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"wgmma bf16             8388608", "mbarrier barriers[3]"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
}

// An event is an event of a trace.
type event struct {
	Name, Cat, Ph, ID string
	TS, Dur           int64
	PID, TID          int
	Args              map[string]any
}

// TestTimeline parses the trace of a GEMM. Tracks must have their roles, slices of a warp must not
// overlap, and every asynchronous operation must end after it began.
func TestTimeline(t *testing.T) {
	l := inspect.NewTimeline()
	multiply(t, l)
	var out, again bytes.Buffer
	if err := l.Write(&out); err != nil {
		t.Fatal(err)
	}
	second := inspect.NewTimeline()
	multiply(t, second)
	if err := second.Write(&again); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(out.Bytes(), again.Bytes()) {
		t.Error("two runs have different traces")
	}
	var trace struct{ TraceEvents []event }
	if err := json.Unmarshal(out.Bytes(), &trace); err != nil {
		t.Fatal(err)
	}
	names, ends := make(map[string]bool), make(map[int]int64)
	open := make(map[string]int64)
	var stages []string
	for _, e := range trace.TraceEvents {
		switch e.Ph {
		case "M":
			names[e.Args["name"].(string)] = true
		case "X":
			if e.TS < ends[e.TID] {
				t.Fatalf("%+v begins before %d, where the slice before it ends", e, ends[e.TID])
			}
			ends[e.TID] = e.TS + e.Dur
		case "b":
			open[e.ID] = e.TS
			if s, _ := e.Args["stage"].(string); e.Name == "cp.async.bulk.tensor" && s != "" {
				stages = append(stages, s)
			}
		case "e":
			if begin, ok := open[e.ID]; !ok || e.TS <= begin {
				t.Errorf("operation %s ends at %d, and begins at %d", e.ID, e.TS, begin)
			}
			delete(open, e.ID)
		}
	}
	if !names["warp 0, load"] || !names["warp 4, math"] || !names["matmul, block 0"] {
		t.Errorf("tracks %v", names)
	}
	if len(open) > 0 {
		t.Errorf("%d operations never end", len(open))
	}
	if !slices.Contains(stages, "ab_stage 0") || !slices.Contains(stages, "ab_stage 1") {
		t.Errorf("stages %v", stages)
	}
}

// TestBreak stops in the consumer of a pipeline and prints its barriers and a tile.
func TestBreak(t *testing.T) {
	var out bytes.Buffer
	tile, err := inspect.ParseTile("ab_stages=bf16[1x8]")
	if err != nil {
		t.Fatal(err)
	}
	w := &inspect.Watch{Register: "%ab_stage", Out: &out}
	b := &inspect.Break{Line: "169", Focus: inspect.Focus{Thread: 128}, Out: &out,
		Tiles: []inspect.Tile{tile}, Limit: 1}
	multiply(t, w, b)
	if b.Shown() != 1 || w.Shown() == 0 {
		t.Errorf("%d stops, %d changes", b.Shown(), w.Shown())
	}
	if _, rows, _ := strings.Cut(out.String(), "bf16[1x8]:"); strings.Contains(rows, "?") {
		t.Error("the tile was not written before the wait ended")
	}
	for _, want := range []string{"%ab_stage = 0x00000001",
		"mbarrier barriers[0]: phase 1, 1 of 1 arrivals",
		"ab_stages+0 as bf16[1x8]:",
		"matmul.ptx:169 (", "): mul.lo.u32, block (0,0,0), thread (128,0,0), warp 4"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
}

// TestParseTile parses tiles.
func TestParseTile(t *testing.T) {
	for text, want := range map[string]inspect.Tile{
		"a=f16[2x3]":       {Name: "a", Type: isa.F16, Rows: 2, Columns: 3},
		"tmem+32=f32[1x1]": {Name: "tmem", Offset: 32, Type: isa.F32, Rows: 1, Columns: 1},
		"a":                {}, "a=f16": {}, "a=f16[2]": {}, "a=f17[2x2]": {}, "a=f16[0x2]": {},
		"a+x=f16[2x2]": {},
		"a=pred[2x2]":  {}, "a=f16[9999x9999]": {},
	} {
		got, err := inspect.ParseTile(text)
		if (err == nil) != (want.Name != "") || err == nil && got != want {
			t.Errorf("%s: %+v, %v", text, got, err)
		}
	}
}
