// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package agree

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ptxdsl/ptxdsl/internal/gen"
	"github.com/ptxdsl/ptxdsl/internal/ptxas"
	"github.com/ptxdsl/ptxdsl/isa"
)

// gaps is a table that lacks words, targets and operands that ptxas accepts.
const gaps = `family gaps "correct but incomplete"
ins add "lacks a modifier and a type"
  form add.u32 >d:u32, a:u32, b:u32
ins popc "lacks nothing"
  form popc.b32 >d:u32, a:b32
  form popc.b64 >d:u32, a:b64
ins elect "lacks the sink"
  form elect.sync >d:i32|>p:pred, mask:i32
    since 8.0 on 90
ins sin "lacks a modifier that comes with another"
  form sin.approx{.ftz}.f32 >d:f32, a:f32
ins cvt.pack "another instruction, so that its words are known"
  form cvt.pack.sat.type.s32 >d:u32, a:s32, b:s32
    set .type = .u16 .s16
    since 6.5 on 72
`

func gappySet(t *testing.T) *isa.Set {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"types.isa", "targets.isa"} {
		text, err := os.ReadFile(filepath.Join("../../../isa/spec", name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "gaps.isa"), []byte(gaps), 0o666); err != nil {
		t.Fatal(err)
	}
	spec, err := gen.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	return spec.Set()
}

// TestHarvest checks that a harvest finds what a table lacks: inserted and replaced words, and
// operands of another shape.
func TestHarvest(t *testing.T) {
	tool, err := ptxas.Find()
	if err != nil {
		t.Fatal(err)
	}
	h, err := RunHarvest(context.Background(), gappySet(t), tool, HarvestConfig{
		Words: []string{"s32", "global", "s64", "cc", "approx", "2pi"}, Targets: []string{"sm_90a"},
		Table: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, d := range h.Found {
		got = append(got, d.Text)
	}
	for _, want := range []string{
		"add.s32 %b32_1, %b32_2, %b32_3;",
		"add.cc.u32 %b32_1, %b32_2, %b32_3;",
		"elect.sync _|%p_12, %b32_3;",
		"sin.2pi.approx.f32.ftz %b32_1, %b32_2;",
	} {
		if !slices.ContainsFunc(got, func(text string) bool {
			return strings.HasPrefix(text, want)
		}) {
			t.Errorf("not found: %s", want)
		}
	}
	for _, text := range got {
		if strings.HasPrefix(text, "popc") && !strings.Contains(text, "|_") {
			t.Errorf("found in a complete table: %s", text)
		}
	}
	if h.Probes == 0 || h.Forms != 6 {
		t.Errorf("%d probes of %d forms", h.Probes, h.Forms)
	}
}

// TestWords checks that the words are those of the table and of the list without duplicates, and
// that long families are thinned.
func TestWords(t *testing.T) {
	words := Words(isa.Standard())
	if !slices.IsSorted(words) || len(slices.Compact(slices.Clone(words))) != len(words) {
		t.Error("not sorted, or not distinct")
	}
	for _, want := range []string{"u32", "m16n8k16", "matrix::scaleA", "multicast::cluster::32b"} {
		if !slices.Contains(words, want) {
			t.Errorf("no word %s", want)
		}
	}
	shapes := 0
	for _, w := range words {
		if strings.HasPrefix(w, ".") || strings.HasPrefix(w, "#") {
			t.Errorf("%q is no word", w)
		}
		if strings.HasPrefix(w, "m64n") {
			shapes++
		}
	}
	if shapes == 0 || shapes > 10 {
		t.Errorf("%d shapes of wgmma; a few should stand for all", shapes)
	}
}

// TestKnownWords checks that ptxas distinguishes unknown words from words that an instruction does
// not accept.
func TestKnownWords(t *testing.T) {
	tool, err := ptxas.Find()
	if err != nil {
		t.Fatal(err)
	}
	got, err := knownWords(context.Background(), tool,
		[]string{"global", "globule", "sat", "m16n8k16", "m16n8k15", "loc",
			"no_membermask_overlap"})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"global", "sat", "m16n8k16", "no_membermask_overlap"},
		got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// TestUnknownNames checks that ptxas distinguishes instruction names from others, even without the
// required modifiers and operands.
func TestUnknownNames(t *testing.T) {
	tool, err := ptxas.Find()
	if err != nil {
		t.Fatal(err)
	}
	names := []string{"add", "elect", "elect.sync", "foo", "popc.b32", "tensormap.query",
		"tensormap.query.alloc_class_large",
		"trace", "trace.mark", "trace.mark.cond"}
	got, err := unknownNames(context.Background(), gappySet(t), tool, names)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"tensormap.query.alloc_class_large", "trace.mark"},
		got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

func TestBinaryWords(t *testing.T) {
	words, names := binaryWords([]byte("\x00.1d_buffer\x00\x01trace.mark.cond\x00 7 \x00Zq\x00"))
	if diff := cmp.Diff([]string{"1d_buffer", "cond", "mark", "trace"},
		slices.Sorted(maps.Keys(words))); diff != "" {
		t.Errorf("words: -want +got\n%s", diff)
	}
	if diff := cmp.Diff([]string{"trace", "trace.mark", "trace.mark.cond"},
		slices.Sorted(maps.Keys(names))); diff != "" {
		t.Errorf("names: -want +got\n%s", diff)
	}
}

func TestConcatenations(t *testing.T) {
	got := concatenations(map[string]bool{"a::b": true, "c": true, "a::d::e": true})
	slices.Sort(got)
	want := []string{"a::a", "a::b", "a::c", "a::d", "a::d::a", "a::d::b", "a::d::c", "a::d::d",
		"a::d::e", "a::e"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

func TestVariants(t *testing.T) {
	texts := func(list []operandSample) (out []string) {
		for _, x := range list {
			out = append(out, x.text)
		}
		return out
	}
	r := register(isa.B32, 1)
	for _, test := range []struct {
		of    operandSample
		first bool
		want  string
	}{
		{r, true, "%b32_1|_"},
		{r, true, "{%b32_1}"},
		{r, false, "0f3F800000"},
		{vector([]operandSample{r, register(isa.B32, 2)}), false, "%b32_1"},
		{vector([]operandSample{r, register(isa.B32, 2)}), false,
			"{%b32_1, %b32_2, %b32_1, %b32_2}"},
		{address([]operandSample{r}), false, "[%b32_1, %b32_12]"},
		{address([]operandSample{r, register(isa.B32, 2)}), false, "[%b32_1, {%b32_2}]"},
		{register(isa.Predicate, 1), false, "!%p_1"},
		{integer(3), false, "{3}"},
	} {
		if got := texts(variants(test.of, test.first)); !slices.Contains(got, test.want) {
			t.Errorf("%s: no %s in %v", test.of.text, test.want, got)
		}
	}
	for _, text := range texts(variants(r, false)) {
		if strings.Contains(text, "_|") || strings.HasSuffix(text, "|_") || text == "_" {
			t.Errorf("%s is a syntax error where it is not the first operand", text)
		}
	}
}
