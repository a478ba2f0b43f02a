// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package form

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/ptxdsl/ptxdsl/internal/ptxas"
)

// hugePlaces are modules with # in place of a number. Totals of .const and .shared are left out:
// ptxas checks them only during code generation, and truncates totals of .shared to 32 bits.
var hugePlaces = []string{
	"M .global .b8 y[#];", "M .global .b8 y[2][#];", "M .global .b32 y[#];",
	"M .visible .entry k(.param .b8 a[#]) { ret; }", "M .func f(.param .b8 a[#]) { ret; }",
	"M .func f(.param .b64 a[#]) { ret; }", "M .func (.param .b8 a[#]) f() { ret; }",
	"E .param .b8 y[#];", "E .local .b8 y[#];", "E P: .callprototype _ (.param .b8 a[#]);",
	"M .global .align # .b8 y[4];", "M .func f(.param .align # .b8 a[8]) { ret; }",
	"M .visible .entry k(.param .u64 .ptr .global .align # a) { ret; }",
	"M .const[#] .b8 y[4];", "M .global .b8 y = #;", "M .global .b32 y = #;",
	"M .global .b64 y = #;",
	"M .global .b32 x;\n.global .u64 y = x+#;", "M .global .b32 x;\n.global .u8 y = #(x);",
	"M .entry k() .maxntid # { ret; }", "M .entry k() .maxntid 1,1,# { ret; }",
	"M .entry k() .reqntid # { ret; }",
	"M .entry k() .maxnreg # { ret; }", "M .entry k() .maxntid 32 .minnctapersm # { ret; }",
	"M .entry k() .maxclusterrank # { ret; }", "M .entry k() .language # { ret; }",
	"M .global .attribute(.unified(#, 1)) .b32 x;",
	"M .section .debug_info {\n.b64 #\n}", "M .section .debug_info {\n.b32 #\n}",
	"M .section .debug_info {\n.b8 #\n}",
	"B mov.b32 %r1, #;", "B mov.b64 %rd1, #;", "B add.u32 %r1, %r1, #;", "B shl.b32 %r1, %r1, #;",
	"B ld.global.u32 %r1, [%rd1+#];", "B ld.global.u32 %r1, [%rd1+-#];",
	"B lop3.b32 %r1, %r1, %r1, %r1, #;",
	"B pmevent #;", "B cp.async.ca.shared.global [%rd1], [%rd2], 4, #;", "B cp.async.wait_group #;",
	"B bar.sync #;", "B bar.sync 1, #;", "B bar.arrive 1, #;", "B barrier.sync #;",
	"B bar.red.popc.u32 %r1, #, %p1;",
	"B alloca.u64 %rd1, 16, #;",
	"B setmaxnreg.inc.sync.aligned.u32 #;", "B setp.eq.u32 %p1, %r1, #;", "B mov.u16 %rs1, #;",
}

// TestHugeNumbers compares the verdicts on numbers near powers of two with those of ptxas, at every
// place where a number can occur.
func TestHugeNumbers(t *testing.T) {
	tool := judge(t)
	numbers := []string{"18446744073709551616"} // wraps to zero
	for _, bits := range []int{16, 31, 32, 33, 62, 63} {
		for by := range uint64(3) {
			numbers = append(numbers, fmt.Sprint(1<<bits+by-1))
		}
	}
	var names, texts []string
	for _, place := range hugePlaces {
		for i, number := range numbers {
			if !testing.Short() || i%5 == 0 {
				names = append(names, place+" with "+number)
				texts = append(texts,
					wholeModule(place[0], strings.Replace(place[2:], "#", number, 1)))
			}
		}
	}
	verdicts, err := tool.JudgeModules(context.Background(), texts,
		ptxas.Options{Relocatable: true})
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range verdicts {
		if found := findings("huge.ptx", texts[i]); v.OK() != (found.Errors() == 0) {
			t.Errorf("%s: ptxas: %s, we: %v", names[i], v, found)
		}
	}
}

// TestHugeRanges does the same for the number of registers in a range, with numbers for which ptxas
// neither takes minutes nor runs out of memory.
func TestHugeRanges(t *testing.T) {
	var texts []string
	for _, n := range []string{
		"0", "1", "4294967296", "4294967297", "8589934597", "9223372036854775807",
		"9223372036854775808", "9223372036854775809", "9223372036854775813", "13835058055282163712",
		"18446744069414584320", "18446744069414584321", "18446744073709551616",
	} {
		for _, rest := range []string{"", "mov.b32 %x1, 3;"} {
			texts = append(texts, wholeModule('B', ".reg .b32 %x<"+n+">;\n"+rest))
		}
	}
	verdicts, err := judge(t).JudgeModules(context.Background(), texts,
		ptxas.Options{Relocatable: true})
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range verdicts {
		if found := findings("range.ptx", texts[i]); v.OK() != (found.Errors() == 0) {
			t.Errorf("ptxas: %s, we: %v\n%s", v, found, texts[i])
		}
	}
}
