// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package trace_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/passes/analysis/trace"
	"github.com/ptxdsl/ptxdsl/passes/analysis/value"
)

// maxOperands returns the constants of an operand of all events of a kind, in the trace with the
// most of them. A value that is not constant is shown as ?.
func maxOperands(k *trace.Kernel, kind trace.Kind, operand int) string {
	best := ""
	for _, t := range k.Traces {
		var list []string
		for i := range t.Events {
			if e := &t.Events[i]; e.Kind == kind {
				word := "?"
				if v := e.Vals[operand]; v != nil && v.Const() {
					word = fmt.Sprint(v.K)
				}
				list = append(list, word)
			}
		}
		if s := strings.Join(list, " "); len(s) > len(best) {
			best = s
		}
	}
	return best
}

// TestPhases follows the parity of a ring with two stages, however it is flipped.
func TestPhases(t *testing.T) {
	for name, turn := range map[string]string{
		"xor under a guard":       "setp.eq.u32 %p2, %r3, 2;\n@%p2 xor.b32 %r7, %r7, 1;\n@%p2 mov.b32 %r3, 0;",
		"xor of a selection":      "setp.eq.u32 %p2, %r3, 2;\nselp.b32 %r8, 1, 0, %p2;\nxor.b32 %r7, %r7, %r8;\nselp.b32 %r3, 0, %r3, %p2;",
		"xor behind a branch":     "setp.ne.u32 %p2, %r3, 2;\n@%p2 bra ON;\nmov.b32 %r3, 0;\nxor.b32 %r7, %r7, 1;\nON:",
		"one less the parity":     "setp.eq.u32 %p2, %r3, 2;\nsub.u32 %r8, 1, %r7;\nselp.b32 %r7, %r8, %r7, %p2;\nselp.b32 %r3, 0, %r3, %p2;",
		"the bit of a count":      "add.u32 %r9, %r4, 1;\nshr.u32 %r7, %r9, 1;\nand.b32 %r7, %r7, 1;\nand.b32 %r3, %r9, 1;",
		"a quotient's remainder":  "add.u32 %r9, %r4, 1;\ndiv.u32 %r7, %r9, 2;\nrem.u32 %r7, %r7, 2;\nrem.u32 %r3, %r9, 2;",
		"not, and the lowest bit": "setp.eq.u32 %p2, %r3, 2;\nnot.b32 %r8, %r7;\nand.b32 %r8, %r8, 1;\nselp.b32 %r7, %r8, %r7, %p2;\n@%p2 mov.b32 %r3, 0;",
	} {
		k := follow(t, ".reqntid 32", `
ld.param.u32 %r1, [n];
mov.u32 %r2, bars;
mov.b32 %r3, 0;
mov.b32 %r4, 0;
mov.b32 %r7, 0;
LOOP:
shl.b32 %r5, %r3, 3;
add.u32 %r6, %r2, %r5;
WAIT:
mbarrier.try_wait.parity.shared.b64 %p3, [%r6], %r7;
@!%p3 bra WAIT;
mbarrier.arrive.expect_tx.shared.b64 _, [%r6+32], 4096;
add.u32 %r3, %r3, 1;
`+turn+`
add.u32 %r4, %r4, 1;
setp.lt.u32 %p1, %r4, %r1;
@%p1 bra LOOP;
`)
		if d := cmp.Diff("0 0 1 1 0", maxOperands(k, trace.Wait, 2)); d != "" {
			t.Errorf("%s: parities (-want +got):\n%s", name, d)
		}
		if d := cmp.Diff("0 8 0 8 0", offsets(k, trace.Wait, 1)); d != "" {
			t.Errorf("%s: places (-want +got):\n%s", name, d)
		}
		if d := cmp.Diff("4096 4096 4096 4096 4096", maxOperands(k, trace.Arrive, 2)); d != "" {
			t.Errorf("%s: bytes (-want +got):\n%s", name, d)
		}
	}
}

// TestCounts computes expected bytes, the threads of a barrier and its number.
func TestCounts(t *testing.T) {
	k := follow(t, ".reqntid 256", `
mov.b32 %r1, 64;
mul.lo.u32 %r2, %r1, 128;
add.u32 %r2, %r2, %r2;
mad.lo.u32 %r3, %r1, 32, %r2;
mbarrier.arrive.expect_tx.shared.b64 _, [bars], %r3;
mov.u32 %r4, %tid.x;
shr.u32 %r5, %r4, 7;
add.u32 %r6, %r5, 1;
mov.u32 %r7, %ntid.x;
shr.u32 %r7, %r7, 1;
bar.sync %r6, %r7;
`)
	if d := cmp.Diff("18432", maxOperands(k, trace.Arrive, 2)); d != "" {
		t.Errorf("bytes (-want +got):\n%s", d)
	}
	if d := cmp.Diff("128", maxOperands(k, trace.BarrierSync, 1)); d != "" {
		t.Errorf("threads (-want +got):\n%s", d)
	}
	var got []int64
	for _, tr := range k.Traces {
		for i := range tr.Events {
			if e := &tr.Events[i]; e.Kind == trace.BarrierSync {
				for _, n := range k.Pool.Pattern(e.Vals[0], e.Threads).At {
					got = append(got, n+e.Vals[0].K)
				}
			}
		}
	}
	if d := cmp.Diff([]int64{1, 2}, got); d != "" {
		t.Errorf("numbers of barriers (-want +got):\n%s", d)
	}
}

// TestSamePredicate issues and waits under the same unknown predicate. No path may do one without
// the other.
func TestSamePredicate(t *testing.T) {
	k := follow(t, ".reqntid 32", `
ld.param.u32 %r1, [n];
setp.gt.u32 %p1, %r1, 4;
@!%p1 bra ON;
mbarrier.arrive.shared.b64 _, [bars];
ON:
bar.sync 0;
setp.le.u32 %p2, %r1, 4;
@%p2 bra DONE;
mbarrier.arrive.shared.b64 _, [bars+8];
`)
	var got []string
	for _, tr := range k.Traces {
		n := 0
		for i := range tr.Events {
			if tr.Events[i].Kind == trace.Arrive {
				n++
			}
		}
		got = append(got, fmt.Sprint(n))
	}
	if d := cmp.Diff("2 0", strings.Join(got, " ")); d != "" && strings.Join(got, " ") != "0 2" {
		t.Errorf("arrivals on each way (-want +got):\n%s", d)
	}
}

// TestPointsTo follows an address through conversions to the variable that it points to.
func TestPointsTo(t *testing.T) {
	k := follow(t, ".reqntid 32", `
mov.u64 %rd1, tile;
cvta.shared.u64 %rd2, %rd1;
add.u64 %rd2, %rd2, 64;
cvta.to.shared.u64 %rd3, %rd2;
cvt.u32.u64 %r1, %rd3;
mov.u32 %r2, %tid.x;
shl.b32 %r3, %r2, 2;
add.u32 %r4, %r1, %r3;
st.shared.b32 [%r4+16], %r2;
`)
	var store *trace.Event
	for _, tr := range k.Traces {
		for i := range tr.Events {
			if e := &tr.Events[i]; e.Kind == trace.Store {
				store = e
			}
		}
	}
	if store == nil {
		t.Fatal("the store is no event")
	}
	v := store.Vals[0]
	var names []string
	for _, term := range v.Terms {
		if x, ok := term.Atom.Ref.(*ir.Var); ok {
			names = append(names, x.Name)
		}
	}
	if d := cmp.Diff([]string{"tile"}, names); d != "" || v.K != 80 {
		t.Errorf("offset %d (-want +got):\n%s", v.K, d)
	}
	if low, high, ok := k.Pool.RangeOver(k.Pool.Sub(v.Width, v, k.Pool.Rest(v)),
		value.First(32)); low != 80 || high != 80+31*4 || !ok {
		t.Errorf("from %d to %d, %v", low, high, ok)
	}
}

// TestInserted computes offsets that bfi combines from bits of two values.
func TestInserted(t *testing.T) {
	k := follow(t, ".reqntid 32", `
mov.u32 %r1, bars;
mov.b32 %r2, 0xffffff07;
mov.u32 %r3, 6;
bfi.b32 %r4, %r3, %r2, 3, 29;
add.u32 %r5, %r1, %r4;
mbarrier.arrive.shared.b64 _, [%r5+1];
bfi.b32 %r4, %r3, 25, 1, 2;
add.u32 %r5, %r1, %r4;
mbarrier.arrive.shared.b64 _, [%r5+3];
bfi.b32 %r4, %r3, 40, 32, 8;
add.u32 %r5, %r1, %r4;
mbarrier.arrive.shared.b64 _, [%r5];
`)
	if d := cmp.Diff("56 32 40", offsets(k, trace.Arrive, 1)); d != "" {
		t.Errorf("places (-want +got):\n%s", d)
	}
}
