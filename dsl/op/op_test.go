// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package op_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/dsl/op"
)

// lines returns the instructions of a kernel as text.
func lines(t *testing.T, m *dsl.Module) []string {
	t.Helper()
	text, err := m.Text()
	if err != nil {
		t.Fatal(err)
	}
	_, body, _ := strings.Cut(text, "{\n")
	var out []string
	for line := range strings.SplitSeq(strings.TrimSuffix(strings.TrimSpace(body), "}"), ";") {
		line = strings.Join(strings.Fields(line), " ")
		if line != "" && line != "ret" && !strings.HasPrefix(line, ".") {
			out = append(out, line+";")
		}
	}
	return out
}

func TestSpelling(t *testing.T) {
	m := dsl.New("spelling", "sm_90a", dsl.SkipHazards())
	k := m.Kernel("k")
	ptx := op.On(k)
	x, y := dsl.NewReg[dsl.F32](k), dsl.NewReg[dsl.U64](k)
	h := dsl.NewReg[dsl.F16](k)
	bar := dsl.Shared[dsl.U64](k, "bar", 1).Addr()

	ptx.Ld().Global().NC().F32().Do(x, dsl.At(y, 4))
	// modifiers in any order, and computed ones
	ptx.Ld().NC().F32().Mod("global").Do(x, dsl.At(y, 4))
	ptx.Ld().Mod(".global", "nc").F32().Do(x, dsl.At(y, 4))
	ptx.Cvt().RN().F16().F32().Do(h, x)
	ptx.Cvt().F32().F16().Do(x, h) // types keep their order
	ptx.MbarrierInit().Do(bar, 1)
	// modifiers that every form has may be omitted
	ptx.MbarrierInit().SharedCTA().B64().Do(bar, 1)
	ptx.WgmmaFence().Aligned().Do()
	ptx.Bar().Sync().Do(0)
	ptx.Bar().Do(1)

	load := ptx.Ld().Global() // an opcode is a value: adding to it does not change it
	nc := load.NC()
	load.F32().Do(x, dsl.At(y, 0))
	nc.F32().Do(x, dsl.At(y, 0))
	load.F32().Do(x, dsl.At(y, 0))

	want := []string{
		"ld.global.nc.f32 %f0, [%rd0+4];",
		"ld.global.nc.f32 %f0, [%rd0+4];",
		"ld.global.nc.f32 %f0, [%rd0+4];",
		"cvt.rn.f16.f32 %h0, %f0;",
		"cvt.f32.f16 %f0, %h0;",
		"mbarrier.init.b64 [bar], 1;",
		"mbarrier.init.shared::cta.b64 [bar], 1;",
		"wgmma.fence.sync.aligned;",
		"bar.sync 0;",
		"bar.sync 1;",
		"ld.global.f32 %f0, [%rd0];",
		"ld.global.nc.f32 %f0, [%rd0];",
		"ld.global.f32 %f0, [%rd0];",
	}
	if diff := cmp.Diff(want, lines(t, m)); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// TestShapes checks MNK with a shape that a kernel computes.
func TestShapes(t *testing.T) {
	m := dsl.New("shapes", "sm_90a", dsl.SkipHazards())
	k := m.Kernel("k")
	ptx := op.On(k)
	a, b := dsl.NewReg[dsl.U64](k), dsl.NewReg[dsl.U64](k)
	var want []string
	next := 0
	for _, n := range []int{8, 24} {
		d := make([]dsl.Operand, n/2)
		words := make([]string, n/2)
		for i := range d {
			d[i] = dsl.NewReg[dsl.F32](k)
			words[i] = fmt.Sprintf("%%f%d", next)
			next++
		}
		ptx.WgmmaMmaAsync().Aligned().MNK(64, n, 16).F32().BF16().BF16().Do(d, a, b, 1, 1, 1, 0, 0)
		want = append(want,
			fmt.Sprintf(
				"wgmma.mma_async.sync.aligned.m64n%dk16.f32.bf16.bf16 {%s}, %%rd0, %%rd1, 1, 1, 1, 0, 0;",
				n, strings.Join(words, ", ")))
	}
	if diff := cmp.Diff(want, lines(t, m)); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// helper appends an invalid instruction, so that the finding names its line and its caller's line.
func helper(k *dsl.Kernel) {
	op.On(k).Ld().Global().Shared().F32().Do(dsl.NewReg[dsl.F32](k),
		dsl.At(dsl.NewReg[dsl.U64](k), 0))
}

func TestFindings(t *testing.T) {
	for _, test := range []struct {
		name  string
		build func(k *dsl.Kernel)
		want  string // substring of the message
	}{
		{"exclusive words", helper, ".global and .shared cannot be used together in ld"},
		{"a word is lacking", func(k *dsl.Kernel) { op.On(k).Clz().Do(1, 2) },
			"clz is missing one of .b32 .b64"},
		{"a word that the table does not know",
			func(k *dsl.Kernel) { op.On(k).Bar().Mod("snyc").Do(0) },
			".snyc is not a PTX modifier"},
		{"a shape that does not exist",
			func(k *dsl.Kernel) { op.On(k).WgmmaMmaAsync().MNK(64, 12, 16).F32().Do(0) },
			".m64n12k16 is not a PTX modifier"},
		{"the target lacks it", func(k *dsl.Kernel) { op.On(k).Tcgen05WaitLd().Do() },
			"requires PTX 8.6 on the family of sm_100f"},
		{"an operand that is none", func(k *dsl.Kernel) { op.On(k).Bar().Do(struct{}{}) },
			"has the Go type struct {}, which is not an operand"},
		{"a nil half",
			func(k *dsl.Kernel) { op.On(k).Elect().Sync().Do(dsl.Pair(nil, dsl.Sink), 1) },
			"operand is nil"},
	} {
		m := dsl.New("findings", "sm_90a", dsl.SkipHazards())
		k := m.Kernel("k")
		test.build(k)
		_, list := m.Build()
		if len(list) == 0 || !strings.Contains(list[0].Message, test.want) {
			t.Errorf("%s: %v, want %q", test.name, list, test.want)
			continue
		}
		if place := list[0].Place; place.File != "op_test.go" {
			t.Errorf("%s: found at %s:%d, want a line of this file", test.name, place.File,
				place.Line)
		}
	}
}

// TestNoKernel checks that instructions without a kernel have no effect.
func TestNoKernel(t *testing.T) {
	var none op.PTX
	none.Bar().Sync().Mod("x").Do(0)
	none.WgmmaMmaAsync().MNK(64, 8, 16).Do(0)
	op.On(nil).Exit().Do()
	(*op.Ld)(nil).Global().Do(1, 2)
}

// TestAuthoring checks the PTX in the table of docs/reference/cuda-to-go/ptx.md.
func TestAuthoring(t *testing.T) {
	m := dsl.New("authoring", "sm_100a", dsl.SkipHazards())
	k := m.Kernel("k")
	ptx := op.On(k)
	f := func() dsl.Reg[dsl.F32] { return dsl.NewReg[dsl.F32](k) }
	r := func() dsl.Operand { return dsl.NewReg[dsl.B32](k) }
	p1, rd1, rs1 := dsl.NewReg[dsl.Pred](k), dsl.NewReg[dsl.U64](k), dsl.NewReg[dsl.B16](k)
	f1, f2 := f(), f()
	bar := dsl.Shared[dsl.U64](k, "bar", 1).Addr()
	tile := k.SharedBytes("tile", 1024, 128)

	ptx.Bar().Sync().Do(0)
	ptx.MbarrierInit().SharedCTA().B64().Do(bar, 1)
	ptx.MbarrierTryWait().Acquire().CTA().SharedCTA().B64().Do(p1, bar, rd1)
	ptx.Ld().Global().NC().V4().F32().Do(dsl.List(f1, f2, f(), f()), dsl.At(rd1, 16))
	ptx.Cvt().RN().SatFinite().E4M3x2().F32().Do(rs1, f1, f2)
	ptx.Mma().M16N8K16().Row().Col().F32().BF16().BF16().F32().Do(dsl.List(f(), f(), f(), f()),
		[]any{r(), r(), r(), r()}, []any{r(), r()}, dsl.List(f1, f1, f1, f1))
	ptx.CpAsyncBulkTensor().D2().SharedCluster().Global().MbarrierCompleteTxBytes().Do(tile,
		dsl.Bracket(dsl.At(rd1, 0), []any{r(), r()}), bar)
	ptx.Elect().Sync().Do(dsl.Pair(dsl.Sink, p1), -1)

	want := []string{
		"bar.sync 0;",
		"mbarrier.init.shared::cta.b64 [bar], 1;",
		"mbarrier.try_wait.acquire.cta.shared::cta.b64 %p0, [bar], %rd0;",
		"ld.global.nc.v4.f32 {%f0, %f1, %f2, %f3}, [%rd0+16];",
		"cvt.rn.satfinite.e4m3x2.f32 %rs0, %f0, %f1;",
		"mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%f4, %f5, %f6, %f7}, {%r0, %r1, %r2, %r3}, {%r4, %r5}, {%f0, %f0, %f0, %f0};",
		"cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%rd0, {%r6, %r7}], [bar];",
		"elect.sync _|%p0, -1;",
	}
	if diff := cmp.Diff(want, lines(t, m)); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}
