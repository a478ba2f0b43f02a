// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package cubin_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ptxdsl/ptxdsl/internal/ptxas"
	"github.com/ptxdsl/ptxdsl/internal/ptxas/cubin"
)

const module = `.version 8.5
.target sm_90
.address_size 64
.global .b32 cell;
.const .b32 table[2] = {1, 2};
.visible .entry k(.param .u64 p) {
	.reg .b64 %rd<3>;
	.reg .b32 %r<4>;
	.shared .align 4 .b8 inside[64];
	ld.param.u64 %rd1, [p];
	cvta.to.global.u64 %rd2, %rd1;
	ld.const.b32 %r1, [table+4];
	st.shared.b32 [inside], %r1;
	ld.shared.b32 %r2, [inside+8];
	add.s32 %r3, %r1, %r2;
	st.global.b32 [%rd2], %r3;
	st.global.b32 [cell], %r3;
	ret;
}
`

func assemble(t *testing.T, text string) *cubin.Code {
	t.Helper()
	tool, err := ptxas.Find()
	if err != nil {
		t.Fatal(err)
	}
	image, v, err := tool.Assemble(t.Context(), text, ptxas.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if !v.OK() {
		t.Fatalf("refused: %v", v)
	}
	code, err := cubin.Read(image)
	if err != nil {
		t.Fatal(err)
	}
	return code
}

func TestSpacesDoNotCount(t *testing.T) {
	a := assemble(t, module)
	spaced := strings.ReplaceAll(module, ";", " ;\n\n // a comment\n")
	if diff := cubin.Diff(a, assemble(t, spaced)); diff != nil {
		t.Errorf("differences from white space alone:\n%s", strings.Join(diff, "\n"))
	}
	if len(a.Sections) < 3 || len(a.Symbols) < 3 {
		t.Errorf("too little to compare: %d sections, %d symbols", len(a.Sections), len(a.Symbols))
	}
}

func TestChangesCount(t *testing.T) {
	a := assemble(t, module)
	for _, test := range []struct{ name, from, to, want string }{
		{"operation", "add.s32", "sub.s32", "section .text.k "},
		{"constant", "{1, 2}", "{1, 3}", "section .nv.constant3 "},
		{"parameter", ".param .u64 p)", ".param .u64 p, .param .u32 q)", "section .nv.info.k "},
		{"symbol", "cell", "sell", "symbol cell "},
		{"size", ".b32 cell", ".b64 cell", "symbol cell (STT_OBJECT, 8 bytes) is new"},
		{"kernel", "entry k(", "entry kk(", "section .text.k is gone"},
	} {
		t.Run(test.name, func(t *testing.T) {
			diff := cubin.Diff(a, assemble(t, strings.ReplaceAll(module, test.from, test.to)))
			if !strings.Contains(strings.Join(diff, "\n"), test.want) {
				t.Errorf("no difference with %q in %q", test.want, diff)
			}
		})
	}
}

func TestSame(t *testing.T) {
	if diff := cmp.Diff(assemble(t, module), assemble(t, module)); diff != "" {
		t.Error(diff)
	}
}

func TestReadGarbage(t *testing.T) {
	for _, text := range []string{"", "\x7fELF", "no cubin at all"} {
		if _, err := cubin.Read([]byte(text)); err == nil {
			t.Errorf("%q was read", text)
		}
	}
}
