// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package trace_test

import (
	"fmt"
	"strings"
	"testing"
)

// TestNested checks that nested loops that are too long for some constants are followed with
// smaller ones. It also checks that an input that is multiplied and then divided gets no larger
// constant.
func TestNested(t *testing.T) {
	k := follow(t, ".reqntid 64", `
ld.param.u32 %r1, [n];
ld.param.u64 %rd1, [p];
cvt.u32.u64 %r2, %rd1;
add.u32 %r1, %r1, 127;
shr.u32 %r1, %r1, 7;
mul.lo.u32 %r3, %r1, 128;
add.u32 %r3, %r3, 127;
shr.u32 %r3, %r3, 7;
mul.lo.u32 %r4, %r1, %r2;
mov.u32 %r5, 0;
TASKS:
setp.ge.u32 %p1, %r5, %r4;
@%p1 bra DONE;
mov.u32 %r6, 0;
STEPS:
setp.ge.u32 %p2, %r6, %r3;
@%p2 bra NEXT;
mov.u32 %r7, 0;
PARTS:
setp.ge.u32 %p3, %r7, %r2;
@%p3 bra STEP;
`+strings.Repeat("bar.sync 0;\n", 40)+`
add.u32 %r7, %r7, 1;
bra PARTS;
STEP:
add.u32 %r6, %r6, 1;
bra STEPS;
NEXT:
add.u32 %r5, %r5, 1;
bra TASKS;
`)
	if len(k.Missed) > 0 || k.Cases != 2 {
		t.Errorf("numbers in place of %d parameters, missed %v", k.Cases, k.Missed)
	}
	for _, trace := range k.Traces {
		var n int
		if _, err := fmt.Sscanf(trace.Facts.With[strings.Index(trace.Facts.With, "n is "):],
			"n is %d", &n); err != nil || n > 17*128+127 {
			t.Errorf("followed where %s: %v", trace.Facts.With, err)
		}
	}
}
