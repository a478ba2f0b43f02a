// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package emu_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/ptxdsl/ptxdsl/runtime/emu"
)

// TestUndefinedRegisters finds uses of registers that some lanes have not written. A register that
// moves through arithmetic or a shuffle is used only when it is stored.
func TestUndefinedRegisters(t *testing.T) {
	store := "\nst.global.u32 [%d1], %r3;"
	const half = "setp.lt.u32 %p1, %r0, 16;\n@%p1 mov.u32 %r3, 7;"
	for _, x := range []struct {
		name, body string
		reports    bool
	}{
		{"guarded move", half + store, true},
		{"both halves", half + "\n@!%p1 mov.u32 %r3, 8;" + store, false},
		{"guarded store", half + "\n@%p1 st.global.u32 [%d1], %r3;", false},
		{"overwritten", half + "add.u32 %r2, %r3, 1; mov.u32 %r3, 1;" + store, false},
		{"read by its own lanes",
			half + "shfl.sync.bfly.b32 %r3, %r3, 1, 31, -1;\n@%p1 st.global.u32 [%d1], %r3;", false},
		{"read from other lanes",
			half + "shfl.sync.bfly.b32 %r3, %r3, 16, 31, -1;\n@%p1 st.global.u32 [%d1], %r3;", true},
		{"one branch", "setp.lt.u32 %p1, %r0, 16;\n@%p1 bra done;\nmov.u32 %r3, 7;\ndone:" + store, true},
		{"guarded predicate",
			"setp.lt.u32 %p1, %r0, 16;\n@%p1 setp.lt.u32 %p2, %r0, 8; selp.b32 %r3, 1, 2, %p2;" + store,
			true},
	} {
		_, err := try(t, open(t, emu.Options{Workers: 1}), source(x.body), 32)
		got := err != nil && strings.Contains(err.Error(), string(emu.CauseUnset))
		if got != x.reports {
			t.Errorf("%s: reported %v, want %v: %v", x.name, got, x.reports, err)
		}
	}
}

// TestUnwrittenMarks tracks uninitialized shared memory through registers and memory. Values that
// are never used are not errors. Values that reach global memory, an address or a branch are
// reported with the line.
func TestUnwrittenMarks(t *testing.T) {
	const word = ".shared .align 16 .b8 s[1024]; mov.u32 %r9, 0xaabbccdd; ld.shared.u32 %r1, [s];\n"
	const half = ".shared .align 16 .b8 s[1024]; mov.u32 %r9, 0; mov.b16 %h1, 0x1122; st.shared.b16 [s], %h1; bar.sync 0; ld.shared.u32 %r1, [s];\n"
	store := "\nst.global.u32 [%d1], %r3;"
	for _, x := range []struct{ name, body, use string }{
		{"dropped", word +
			"add.u32 %r2, %r1, 1; mul.lo.u32 %r2, %r2, %r9; cvt.rn.f32.u32 %f1, %r2; mov.u32 %r3, 0;" + store, ""},
		{"overwritten", word + "add.u32 %r3, %r1, 1; mov.u32 %r3, 7;" + store, ""},
		{"stored sum", word + "add.u32 %r3, %r1, 1;" + store,
			"value is used at line LAST: st.global.u32"},
		{"stored float",
			word + "mov.b32 %f1, %r1; add.f32 %f1, %f1, %f1; mov.b32 %r3, %f1;" + store,
			"value is used at line LAST"},
		{"masked off", word + "and.b32 %r3, %r1, 0;" + store, ""},
		{"masked half", half + "and.b32 %r3, %r1, 0xffff;" + store, ""},
		{"masked other half", half + "and.b32 %r3, %r1, 0x1ffff;" + store,
			"value is used at line LAST"},
		{"or", word + "or.b32 %r3, %r1, 0xffffffff;" + store, ""},
		{"or of some", half + "or.b32 %r3, %r1, 0x7fff0000;" + store, "value is used at line LAST"},
		{"shifted out", half + "shl.b32 %r3, %r1, 16;" + store, ""},
		{"shifted in", half + "shr.u32 %r3, %r1, 8;" + store, "value is used at line LAST"},
		{"unpacked", half + "mov.b32 {%h2, %h3}, %r1; mov.b32 %r3, {%h2, %h2};" + store, ""},
		{"unpacked other half", half + "mov.b32 {%h2, %h3}, %r1; mov.b32 %r3, {%h2, %h3};" + store,
			"value is used at line LAST"},
		{"packed with a number", half + "mov.b32 {%h2, %h3}, %r1; mov.b32 %r3, {%h2, 5};" + store,
			""},
		{"permuted", half + "prmt.b32 %r3, %r1, %r9, 0x5410;" + store, ""},
		{"permuted other bytes", half + "prmt.b32 %r3, %r1, %r9, 0x5420;" + store,
			"value is used at line LAST"},
		{"narrowed",
			half + "cvt.u32.u16 %r3, %h1; cvt.u16.u32 %h2, %r1; cvt.s32.s16 %r3, %h2;" + store, ""},
		{"field", half + "bfe.u32 %r3, %r1, 4, 12;" + store, ""},
		{"field beyond", half + "bfe.u32 %r3, %r1, 4, 13;" + store, "value is used at line LAST"},
		{"sum of lower bits", half + "add.u32 %r2, %r1, 1; and.b32 %r3, %r2, 0xffff;" + store, ""},
		{"selected away", word + "setp.gt.u32 %p1, %r0, 100; selp.b32 %r3, %r1, 5, %p1;" + store,
			""},
		{"selected", word + "setp.lt.u32 %p1, %r0, 100; selp.b32 %r3, %r1, 5, %p1;" + store,
			"value is used at line LAST"},
		{"decides a choice", word + "setp.lt.u32 %p1, %r1, 100; selp.b32 %r3, 4, 5, %p1;" + store,
			"value is used at line LAST"},
		{"guards arithmetic",
			word + "setp.lt.u32 %p1, %r1, 100; mov.u32 %r3, 1;\n@%p1 mov.u32 %r3, 2;" + store,
			"value is used at line LAST"},
		{"guards dropped arithmetic",
			word + "setp.lt.u32 %p1, %r1, 100; mov.u32 %r3, 1;\n@%p1 mov.u32 %r2, 2;" + store, ""},
		{"decisive or",
			word + "setp.lt.s32 %p1, %r1, 100; setp.lt.s32 %p2, %r0, 1000; or.pred %p3, %p1, %p2;\n@%p3 bra done;",
			""},
		{"decisive and",
			word + "setp.lt.s32 %p1, %r1, 100; setp.gt.s32 %p2, %r0, 1000; and.pred %p3, %p2, %p1;\n@%p3 bra done;",
			""},
		{"undecided or",
			word + "setp.lt.s32 %p1, %r1, 100; setp.gt.s32 %p2, %r0, 1000; or.pred %p3, %p1, %p2;\n@%p3 bra done;",
			"value decides a branch or a guard at line LAST: bra"},
		{"undecided and",
			word + "setp.lt.s32 %p1, %r1, 100; setp.lt.s32 %p2, %r0, 1000; and.pred %p3, %p1, %p2;\n@%p3 bra done;",
			"value decides a branch or a guard at line LAST: bra"},
		{"branch", word + "setp.eq.u32 %p1, %r1, 100;\n@%p1 bra done;",
			"value decides a branch or a guard at line LAST: bra"},
		{"guarded store", word + "setp.ne.u32 %p1, %r1, 100;\n@%p1 st.global.u32 [%d1], %r0;",
			"value decides a branch or a guard at line LAST"},
		{"address", word +
			"and.b32 %r2, %r1, 60; mov.u32 %r4, s; add.u32 %r4, %r4, %r2;\nld.shared.u32 %r5, [%r4];",
			"value is used as an address at line LAST"},
		{"through shared memory",
			word + "st.shared.u32 [s+64], %r1; ld.shared.u32 %r3, [s+64];" + store,
			"value is used at line LAST"},
		{"one half through shared memory",
			half + "st.shared.u32 [s+64], %r1; ld.shared.u16 %h2, [s+64]; cvt.u32.u16 %r3, %h2;" +
				store, ""},
		{"other half through shared memory",
			half + "st.shared.u32 [s+64], %r1; ld.shared.u16 %h2, [s+66]; cvt.u32.u16 %r3, %h2;" +
				store, "value is used at line LAST"},
		{"shuffle to one lane",
			"mov.u32 %r3, 0; .shared .u32 s[64]; setp.eq.u32 %p1, %r0, 5; mov.u32 %r1, 1; @%p1 ld.shared.u32 %r1, [s];" +
				"shfl.sync.idx.b32 %r3, %r1, 6, 31, -1;" + store, ""},
		{"shuffle of the lane",
			"mov.u32 %r3, 0; .shared .u32 s[64]; setp.eq.u32 %p1, %r0, 5; mov.u32 %r1, 1; @%p1 ld.shared.u32 %r1, [s];" +
				"shfl.sync.idx.b32 %r3, %r1, 5, 31, -1;" + store, "value is used at line LAST"},
		{"ballot", word + "setp.lt.u32 %p1, %r1, 100; vote.sync.ballot.b32 %r3, %p1, -1;" + store,
			"value is used at line LAST"},
		{"atomic", word + "\natom.global.add.u32 %r3, [%d1], %r1;",
			"value is used at line LAST: atom"},
	} {
		text := source(x.body)
		if strings.Contains(x.body, "bra done") {
			text = source(x.body + "\ndone:")
		}
		last := 0
		for i, line := range strings.Split(text, "\n") {
			for _, op := range []string{"st.global", "atom.global", "bra done", "[%r4]"} {
				if strings.Contains(line, op) {
					last = i + 1
				}
			}
		}
		_, err := try(t, open(t, emu.Options{Workers: 1}), text, 32)
		switch {
		case x.use == "" && err != nil:
			t.Errorf("%s: %v", x.name, err)
		case x.use != "" && err == nil:
			t.Errorf("%s: no report", x.name)
		case x.use != "" &&
			!strings.Contains(err.Error(), strings.Replace(x.use, "LAST", strconv.Itoa(last), 1)):
			t.Errorf("%s: %v\nwant a note with %q at line %d", x.name, err, x.use, last)
		}
	}
}
