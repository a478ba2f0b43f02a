// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package trace_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ptxdsl/ptxdsl"
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/passes/analysis/trace"
)

// follow returns the traces of a kernel with the given body.
func follow(t testing.TB, heads, body string) *trace.Kernel {
	t.Helper()
	text := ".version 8.6\n.target sm_90a\n.address_size 64\n.shared .align 1024 .b8 tile[8192];\n.shared .align 8 .b64 bars[8];\n" +
		".func quiet(.reg .b32 %x) { .reg .b32 %y; add.u32 %y, %x, 1; ret; }\n.func loud() { bar.sync 1; ret; }\n" +
		".func again() { bar.sync 1; call again; ret; }\n" +
		".func arrive(.reg .b32 %x, .param .b32 y) { .reg .b32 %z; ld.param.b32 %z, [y]; add.u32 %z, %z, %x; mbarrier.arrive.shared.b64 _, [%z]; ret; }\n" +
		".func early(.reg .b32 %x) { .reg .pred %p; setp.eq.u32 %p, %x, 3; @%p ret; bar.sync 3; ret; }\n" +
		".func leave(.reg .b32 %x) { .reg .pred %p; setp.eq.u32 %p, %x, 3; @%p bra ON; bar.sync 4; ret; ON: bar.sync 5; exit; }\n" +
		".func turns(.reg .b32 %x) { .reg .b32 %y; .reg .pred %p; TOP: setp.eq.u32 %p, %x, 3; @!%p bra OVER; bar.sync 6; add.u32 %x, %x, 1; bra TOP; OVER: bar.sync 7; ret; }\n" +
		".func nested(.reg .b32 %x) { call early, (%x); call loud; }\n" +
		".func (.param .b32 out) twice(.param .b32 in) { .reg .b32 %z; .reg .pred %p; ld.param.b32 %z, [in]; setp.eq.u32 %p, %z, 0; @%p bra ON; add.u32 %z, %z, %z; ON: bar.sync 2; st.param.b32 [out], %z; ret; }\n" +
		".visible .entry k(.param .u64 p, .param .u32 n)\n" + heads +
		"\n{\n.reg .pred %p<8>;\n.reg .b32 %r<16>;\n.reg .b64 %rd<8>;\n" + body +
		"\nDONE: ret;\n}\n"
	m, list := ptxdsl.Load("k.ptx", text)
	for _, d := range list {
		t.Fatalf("%v: %s %s", d.Place, d.Rule, d.Message)
	}
	var kernel *ir.Func
	for _, f := range m.Funcs() {
		if f.Kernel {
			kernel = f
		}
	}
	return trace.Analyze(m, kernel, trace.Default())
}

// offsets returns the offsets that events of a kind access, in the trace with the most of them.
func offsets(k *trace.Kernel, kind trace.Kind, operand int) string {
	best := ""
	for _, t := range k.Traces {
		var list []string
		for i := range t.Events {
			if e := &t.Events[i]; e.Kind == kind {
				list = append(list, fmt.Sprint(e.Vals[operand].K))
			}
		}
		if s := strings.Join(list, " "); len(s) > len(best) {
			best = s
		}
	}
	return best
}

// TestRings follows the index of a ring with three stages, however it is wrapped.
func TestRings(t *testing.T) {
	for name, wrap := range map[string]string{
		"compare and reset": "add.u32 %r3, %r3, 1;\nsetp.eq.u32 %p2, %r3, 3;\n@%p2 mov.b32 %r3, 0;",
		"selection":         "add.u32 %r3, %r3, 1;\nsetp.ge.u32 %p2, %r3, 3;\nselp.b32 %r3, 0, %r3, %p2;",
		"branch":            "add.u32 %r3, %r3, 1;\nsetp.ne.u32 %p2, %r3, 3;\n@%p2 bra ON;\nmov.b32 %r3, 0;\nON:",
		"remainder":         "add.u32 %r3, %r3, 1;\nrem.u32 %r3, %r3, 3;",
		"multiplication":    "add.u32 %r7, %r4, 1;\nmul.hi.u32 %r8, %r7, -1431655765;\nshr.u32 %r8, %r8, 1;\nmul.lo.u32 %r8, %r8, 3;\nsub.u32 %r3, %r7, %r8;",
		"of signed numbers": "add.u32 %r7, %r4, 1;\nmul.hi.s32 %r8, %r7, 1431655766;\nshr.u32 %r9, %r8, 31;\nadd.u32 %r8, %r8, %r9;\nmul.lo.u32 %r8, %r8, 3;\nsub.u32 %r3, %r7, %r8;",
	} {
		k := follow(t, ".reqntid 32", `
ld.param.u32 %r1, [n];
mov.u32 %r2, bars;
mov.b32 %r3, 0;
mov.b32 %r4, 0;
LOOP:
shl.b32 %r5, %r3, 3;
add.u32 %r6, %r2, %r5;
mbarrier.arrive.shared.b64 _, [%r6];
`+wrap+`
add.u32 %r4, %r4, 1;
setp.lt.u32 %p1, %r4, %r1;
@%p1 bra LOOP;
`)
		if d := cmp.Diff("0 8 16 0 8 16 0", offsets(k, trace.Arrive, 1)); d != "" {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
		if len(k.Missed) > 0 || !k.Loops {
			t.Errorf("%s: missed %v, loops %v", name, k.Missed, k.Loops)
		}
	}
}

// TestMask follows an index that is wrapped by a mask, and a parity that flips in each iteration.
func TestMask(t *testing.T) {
	k := follow(t, ".reqntid 32", `
ld.param.u32 %r1, [n];
mov.u32 %r2, bars;
mov.b32 %r4, 0;
LOOP:
and.b32 %r3, %r4, 3;
shr.u32 %r7, %r4, 2;
and.b32 %r7, %r7, 1;
shl.b32 %r5, %r3, 3;
add.u32 %r6, %r2, %r5;
WAIT:
mbarrier.try_wait.parity.shared.b64 %p2, [%r6], %r7;
@!%p2 bra WAIT;
mbarrier.arrive.shared.b64 _, [%r6+32];
add.u32 %r4, %r4, 1;
setp.lt.u32 %p1, %r4, %r1;
@%p1 bra LOOP;
`)
	if d := cmp.Diff("0 8 16 24 0 8 16 24 0", offsets(k, trace.Wait, 1)); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if d := cmp.Diff("0 0 0 0 1 1 1 1 0", offsets(k, trace.Wait, 2)); d != "" {
		t.Errorf("parities (-want +got):\n%s", d)
	}
}

// TestClasses splits threads at branches on their index, and checks which threads execute each
// event.
func TestClasses(t *testing.T) {
	k := follow(t, ".reqntid 128", `
mov.u32 %r1, %tid.x;
shr.u32 %r2, %r1, 5;
shfl.sync.idx.b32 %r3, %r2, 0, 31, 0xffffffff;
setp.ne.u32 %p1, %r3, 2;
@%p1 bra OTHERS;
elect.sync _|%p2, 0xffffffff;
@%p2 mbarrier.arrive.shared.b64 _, [bars];
bra DONE;
OTHERS:
mbarrier.arrive.shared.b64 _, [bars+8];
`)
	got := make(map[string]int)
	for _, tr := range k.Traces {
		for i := range tr.Events {
			if e := &tr.Events[i]; e.Kind == trace.Arrive {
				got[fmt.Sprintf(
					"at %d from thread %d", e.Vals[1].K, e.Threads.Least())] += e.Threads.Len()
			}
		}
	}
	if d := cmp.Diff(map[string]int{"at 0 from thread 64": 1, "at 8 from thread 0": 96},
		got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// arrivals returns the mbarriers that each path arrives on, by their offsets.
func arrivals(k *trace.Kernel) (ways []string) {
	for _, tr := range k.Traces {
		var list []string
		for i := range tr.Events {
			if e := &tr.Events[i]; e.Kind == trace.Arrive {
				list = append(list, fmt.Sprint(e.Vals[1].K))
			}
		}
		ways = append(ways, strings.Join(list, " "))
	}
	return ways
}

// TestFacts checks that no path contradicts an earlier decision.
func TestFacts(t *testing.T) {
	k := follow(t, ".reqntid 32", `
ld.param.u32 %r1, [n];
setp.lt.u32 %p1, %r1, 4;
@%p1 bra SMALL;
mbarrier.arrive.shared.b64 _, [bars];
SMALL:
setp.gt.u32 %p2, %r1, 9;
@!%p2 bra DONE;
mbarrier.arrive.shared.b64 _, [bars+8];
`)
	got := arrivals(k)
	if len(got) != 3 {
		t.Errorf("%d ways, expected 3: small, middle, large: %q", len(got), got)
	}
	for _, way := range got {
		if way == "8" {
			t.Error("n is below 4 and above 9 on one way")
		}
	}
}

// TestFewest follows a loop whose iteration count is the minimum of the number of stages and an
// unknown value. It must run at least once, and at most once per stage.
func TestFewest(t *testing.T) {
	k := follow(t, ".reqntid 32", `
ld.param.u64 %rd1, [p];
ld.volatile.global.u32 %r1, [%rd1];
mov.u32 %r2, %clock;
add.u32 %r1, %r1, %r2;
setp.lt.s32 %p1, %r1, 1;
@%p1 bra DONE;
min.s32 %r3, %r1, 2;
mov.u32 %r4, bars;
FILL:
mbarrier.arrive.shared.b64 _, [%r4];
add.u32 %r4, %r4, 8;
add.s32 %r3, %r3, -1;
setp.ne.s32 %p2, %r3, 0;
@%p2 bra FILL;
`)
	got := arrivals(k)
	slices.Sort(got)
	if d := cmp.Diff([]string{"", "0", "0 8"}, got); d != "" {
		t.Errorf("ways (-want +got):\n%s", d)
	}
}

// TestExtremes checks that nested min and max, where each is used twice by the next, do not take
// exponential time.
func TestExtremes(t *testing.T) {
	text := "ld.param.u64 %rd1, [p];\nld.volatile.global.u32 %r1, [%rd1];\n"
	for range 60 {
		text += "add.s32 %r2, %r1, 1;\nmin.s32 %r1, %r1, %r2;\n"
	}
	k := follow(t, ".reqntid 32", text+`
setp.lt.s32 %p1, %r1, 5;
@%p1 bra DONE;
mbarrier.arrive.shared.b64 _, [bars];
`)
	if len(k.Traces) != 2 {
		t.Errorf("%d ways, expected 2", len(k.Traces))
	}
}

// TestQuiet skips code without relevant instructions, and stops at code that cannot be analyzed.
func TestQuiet(t *testing.T) {
	k := follow(t, ".reqntid 32", `
ld.param.u32 %r1, [n];
mov.b32 %r2, 0;
LOOP:
add.u32 %r2, %r2, 1;
setp.lt.u32 %p1, %r2, %r1;
@%p1 bra LOOP;
setp.gt.u32 %p2, %r1, 7;
@%p2 bra ON;
add.u32 %r2, %r2, 3;
ON:
call quiet, (%r2);
bar.sync 0;
`)
	if len(k.Traces) != 1 || len(k.Missed) > 0 {
		t.Errorf("%d ways, missed %v", len(k.Traces), k.Missed)
	}
	k = follow(t, ".reqntid 32", "bar.sync 0;\ncall again;\nbar.sync 0;\n")
	if len(k.Traces) != 1 || k.Traces[0].Stopped == "" || len(k.Missed) != 1 {
		t.Errorf("a call of a function with a barrier that calls itself: %d ways, missed %v",
			len(k.Traces), k.Missed)
	}
}

// TestWaits follows a loop that waits once, and the path after a failed try.
func TestWaits(t *testing.T) {
	k := follow(t, ".reqntid 32", `
WAIT:
mbarrier.try_wait.parity.shared.b64 %p2, [bars], 0;
@!%p2 bra WAIT;
bar.sync 0;
`)
	if len(k.Traces) != 1 || len(k.Traces[0].Events) != 3 {
		t.Errorf("%d ways", len(k.Traces))
	}
	k = follow(t, ".reqntid 32", `
mbarrier.try_wait.parity.shared.b64 %p2, [bars], 0;
@!%p2 bra DONE;
bar.sync 0;
`)
	if len(k.Traces) != 2 {
		t.Errorf("a try that is not tried again: %d ways, expected 2", len(k.Traces))
	}
}

// TestEased checks that a branch around a wait gives one path if the wait is repeated where its
// paths join, and two otherwise.
func TestEased(t *testing.T) {
	for _, test := range []struct {
		within, behind string
		ways           int
	}{
		{"cp.async.wait_group 0;", "cp.async.wait_group 0;", 1},
		{"cp.async.wait_group 1;", "add.u32 %r2, %r2, 1;\ncp.async.wait_group 0;", 1},
		{"cp.async.wait_group 1;\nst.shared.u32 [bars], %r2;", "cp.async.wait_group 1;", 1},
		{"cp.async.wait_group 0;", "cp.async.wait_group 1;", 2},
		{"cp.async.wait_group 0;", "ld.shared.u32 %r2, [bars];\ncp.async.wait_group 0;", 2},
		{"cp.async.wait_group 0;", "@%p3 cp.async.wait_group 0;", 2},
		{"cp.async.bulk.wait_group 0;", "cp.async.bulk.wait_group.read 0;", 2},
		{"cp.async.wait_group 0;\nfence.proxy.async;", "cp.async.wait_group 0;", 2},
		{"fence.proxy.async;", "fence.proxy.async;", 2},
	} {
		k := follow(t, ".reqntid 32", `
ld.param.u32 %r1, [n];
mov.u32 %r2, %tid.x;
setp.eq.u32 %p3, %r1, 3;
setp.gt.u32 %p2, %r1, 7;
@%p2 bra ON;
`+test.within+`
ON:
`+test.behind+`
bar.sync 0;
`)
		if len(k.Traces) != test.ways || len(k.Missed) > 0 {
			t.Errorf("%q before %q: %d ways, expected %d; missed %v", test.within, test.behind,
				len(k.Traces), test.ways, k.Missed)
		}
	}
}

// TestLimits checks that following a kernel with very many branches stops at the limits and reports
// it.
func TestLimits(t *testing.T) {
	var b strings.Builder
	b.WriteString("ld.param.u64 %rd1, [p];\n")
	for i := range 10_000 {
		fmt.Fprintf(&b,
			"ld.global.u32 %%r1, [%%rd1+%d];\nsetp.eq.u32 %%p1, %%r1, 0;\n@%%p1 bra L%d;\nbar.sync 0;\nL%d:\n",
			4*i, i, i)
	}
	k := follow(t, ".reqntid 32", b.String())
	if len(k.Func.Blocks) < 20_000 || len(k.Missed) == 0 {
		t.Errorf("%d blocks, missed %v", len(k.Func.Blocks), k.Missed)
	}
}

// TestClocks follows loops that end by the clock. Each read gives a new, later value, and the code
// after the loop is followed once per path.
func TestClocks(t *testing.T) {
	for name, body := range map[string]string{
		"of 64 bits":   "mov.u64 %rd1, %clock64;\nWAIT: mov.u64 %rd2, %clock64;\nsub.u64 %rd3, %rd2, %rd1;\nsetp.lt.u64 %p1, %rd3, 1000;\n@%p1 bra WAIT;\n",
		"of 32 bits":   "mov.u32 %r1, %clock;\nWAIT: mov.u32 %r2, %clock;\nsub.u32 %r3, %r2, %r1;\nsetp.lt.u32 %p1, %r3, 1000;\n@%p1 bra WAIT;\n",
		"of the grid":  "mov.u64 %rd1, %globaltimer;\nadd.u64 %rd1, %rd1, 1000;\nWAIT: mov.u64 %rd2, %globaltimer;\nnanosleep.u32 20;\nsetp.lt.u64 %p1, %rd2, %rd1;\n@%p1 bra WAIT;\n",
		"with a wait":  "mov.u64 %rd1, %clock64;\nWAIT: mbarrier.try_wait.parity.shared.b64 %p2, [bars], 0;\n@%p2 bra ON;\nmov.u64 %rd2, %clock64;\nsub.u64 %rd3, %rd2, %rd1;\nsetp.lt.u64 %p1, %rd3, 1000;\n@%p1 bra WAIT;\ntrap;\nON:\n",
		"and not back": "mov.u64 %rd1, %clock64;\nmov.u64 %rd2, %clock64;\nsetp.lt.s64 %p1, %rd1, %rd2;\nsub.s64 %rd3, %rd2, %rd1;\nsetp.lt.s64 %p2, %rd3, 0;\n@%p2 bra DONE;\n",
	} {
		k := follow(t, ".reqntid 32", body+"bar.sync 3;\n")
		seen := 0
		for _, way := range k.Traces {
			if offsets(&trace.Kernel{Traces: []*trace.Trace{way}}, trace.BarrierSync, 0) == "3" {
				seen++
			}
		}
		if len(k.Traces) == 0 || seen == 0 || len(k.Missed) > 0 {
			t.Errorf("%s: %d of %d ways come to the barrier; missed: %v", name, seen, len(k.Traces),
				k.Missed)
		}
		if strings.HasPrefix(name, "and") && seen < len(k.Traces) {
			t.Errorf("%s: %d of %d ways come to the barrier", name, seen, len(k.Traces))
		}
	}
}
