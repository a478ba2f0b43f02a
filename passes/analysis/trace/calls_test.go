// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package trace_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ptxdsl/ptxdsl/passes/analysis/trace"
)

// events returns the kinds of events in each trace, by the first words of their opcodes.
func events(k *trace.Kernel) []string {
	var all []string
	for _, t := range k.Traces {
		var list []string
		for i := range t.Events {
			if in := t.Events[i].In; in != nil {
				list = append(list, in.Head())
			}
		}
		all = append(all, fmt.Sprint(t.Threads.Len(), " ", strings.Join(list, " ")))
	}
	return all
}

// TestCalls follows device functions with arguments and results in registers and in parameter
// space.
func TestCalls(t *testing.T) {
	for _, test := range []struct{ name, body, want string }{
		{"a barrier", "bar.sync 0;\ncall loud;\nbar.sync 0;", "[32 bar bar bar ret]"},
		{"under a predicate",
			"mov.u32 %r1, %tid.x;\nsetp.eq.u32 %p1, %r1, 5;\n@%p1 call loud;\nbar.sync 0;",
			"[31 bar ret 1 bar bar ret]"},
		{"parameters",
			"mov.u32 %r1, bars;\n{ .param .b32 q;\nst.param.b32 [q], 16;\ncall arrive, (%r1, q);\n}",
			"[32 mbarrier ret]"},
		{"a result",
			"mov.u32 %r1, bars;\n{ .param .b32 q;\n.param .b32 a;\nst.param.b32 [q], 8;\ncall (a), twice, (q);\nld.param.b32 %r2, [a];\n}\nadd.u32 %r1, %r1, %r2;\nmbarrier.arrive.shared.b64 _, [%r1];",
			"[32 bar mbarrier ret]"},
	} {
		k := follow(t, ".reqntid 32", test.body)
		if got := fmt.Sprint(events(k)); got != test.want || len(k.Missed) > 0 {
			t.Errorf("%s: %s, want %s; missed %v", test.name, got, test.want, k.Missed)
		}
		if at := offsets(k, trace.Arrive, 1); strings.Contains(test.want, "mbarrier") &&
			at != "16" {
			t.Errorf("%s: arrives at %q, want 16", test.name, at)
		}
	}
}

// TestReturns checks functions that return in several ways: before their end, at it, without ret,
// by exiting, and by a branch to their first block. A function with a single path adds no block.
func TestReturns(t *testing.T) {
	for _, test := range []struct {
		body, want string // barrier numbers on the only path, and its end
		blocks     int
	}{
		{"call loud;\ncall loud;", "1 1 ret", 2},
		{"mov.u32 %r1, 3;\ncall early, (%r1);\nbar.sync 0;", "0 ret", 4},
		{"mov.u32 %r1, 2;\ncall early, (%r1);\nbar.sync 0;", "3 0 ret", 4},
		{"mov.u32 %r1, 2;\ncall nested, (%r1);\nbar.sync 0;", "3 1 0 ret", 4},
		{"mov.u32 %r1, 3;\ncall nested, (%r1);\nbar.sync 0;", "1 0 ret", 4},
		{"mov.u32 %r1, 3;\ncall leave, (%r1);\nbar.sync 0;", "5 exit", 5},
		{"mov.u32 %r1, 2;\ncall leave, (%r1);\nbar.sync 0;", "4 0 ret", 5},
		{"mov.u32 %r1, 3;\ncall turns, (%r1);\nbar.sync 0;", "6 7 0 ret", 5},
		{"mov.u32 %r1, 3;\nsetp.eq.u32 %p1, %r1, 3;\n@%p1 call loud;\n@!%p1 call loud;", "1 ret",
			6},
	} {
		k := follow(t, ".reqntid 32", test.body)
		if len(k.Traces) != 1 || len(k.Missed) > 0 {
			t.Fatalf("%s: %d ways, missed %v", test.body, len(k.Traces), k.Missed)
		}
		var did []string
		for i := range k.Traces[0].Events {
			switch e := &k.Traces[0].Events[i]; {
			case e.Kind == trace.BarrierSync:
				did = append(did, fmt.Sprint(e.In.Args[0].Value))
			case e.In != nil:
				did = append(did, e.In.Head())
			}
		}
		if got := strings.Join(did, " "); got != test.want || len(k.Func.Blocks) != test.blocks {
			t.Errorf("%s: %s in %d blocks, want %s in %d", test.body, got, len(k.Func.Blocks),
				test.want, test.blocks)
		}
	}
}

// TestCases substitutes values for a parameter when branches also depend on its remainder.
func TestCases(t *testing.T) {
	const body = `
ld.param.u32 %r1, [n];
and.b32 %r2, %r1, 3;
sub.u32 %r3, %r1, %r2;
setp.eq.u32 %p1, %r3, 0;
@%p1 bra REST;
FOUR:
mbarrier.arrive.shared.b64 _, [bars], 4;
sub.u32 %r3, %r3, 4;
setp.ne.u32 %p2, %r3, 0;
@%p2 bra FOUR;
REST:
setp.eq.u32 %p3, %r2, 0;
@%p3 bra SUM;
ONE:
mbarrier.arrive.shared.b64 _, [bars], 1;
sub.u32 %r2, %r2, 1;
setp.ne.u32 %p4, %r2, 0;
@%p4 bra ONE;
SUM:
setp.lt.u32 %p5, %r1, 9;
@%p5 bra DONE;
bar.sync 0;
`
	k := follow(t, ".reqntid 32", body)
	if k.Cases != 1 || len(k.Missed) > 0 {
		t.Fatalf("numbers for %d parameters, missed %v", k.Cases, k.Missed)
	}
	for _, tr := range k.Traces {
		n, bars := int64(0), 0
		for i := range tr.Events {
			switch e := &tr.Events[i]; e.Kind {
			case trace.Arrive:
				n += e.Vals[2].K
			case trace.BarrierSync:
				bars++
			}
		}
		if want := fmt.Sprintf("n is %d", n); tr.Facts.With != want {
			t.Errorf("%d arrivals, where %s", n, tr.Facts.With)
		}
		if (bars == 1) != (n >= 9) {
			t.Errorf("%d arrivals and %d barriers", n, bars)
		}
	}
}

// TestOneOfTwo checks what a compound condition implies for its parts.
func TestOneOfTwo(t *testing.T) {
	k := follow(t, ".reqntid 32", `
ld.param.u32 %r1, [n];
mov.u32 %r2, %tid.x;
setp.ne.u32 %p1, %r2, 0;
setp.ge.s32 %p2, 4, %r1;
or.pred %p3, %p1, %p2;
@%p3 bra ON;
mbarrier.arrive.shared.b64 _, [bars];
ON:
@%p1 bra DONE;
setp.gt.s32 %p4, %r1, 3;
@!%p4 bra DONE;
mbarrier.arrive.shared.b64 _, [bars+8];
`)
	want := []string{"31 ret", "1 ret", "1 mbarrier ret", "1 mbarrier mbarrier ret"}
	got := events(k)
	for _, w := range want {
		found := false
		for _, g := range got {
			found = found || g == w
		}
		if !found {
			t.Errorf("no way %q among %q", w, got)
		}
	}
	if d := cmp.Diff(len(want), len(got)); d != "" {
		t.Errorf("ways (-want +got):\n%s%q", d, got)
	}
}

// TestParted checks that lanes of other classes are known to be absent from a branch that they do
// not take.
func TestParted(t *testing.T) {
	k := follow(t, ".reqntid 64", `
mov.u32 %r1, %tid.x;
and.b32 %r2, %r1, 31;
setp.ne.u32 %p1, %r2, 0;
@%p1 bra ON;
mbarrier.arrive.shared.b64 _, [bars];
ON:
@%p1 bra DONE;
bar.sync 1;
`)
	for _, tr := range k.Traces {
		for i := range tr.Events {
			if e := &tr.Events[i]; e.Kind == trace.BarrierSync &&
				(len(e.Parted) != 1 || !e.Parted[0].Splits || e.Parted[0].Away.Len() != 62) {
				t.Errorf("a barrier behind a branch that 62 of 64 threads do not take: parted at %d branches", len(e.Parted))
			}
		}
	}
}

// TestShapes checks the assumed block shape: the one of .reqntid, or the maximum of .maxntid if one
// axis is used.
func TestShapes(t *testing.T) {
	for _, test := range []struct {
		heads, body string
		want        string
	}{
		{".reqntid 96", "mov.u32 %r1, %tid.x;", "96 1 1 true false"},
		{".maxntid 96", "mov.u32 %r1, %tid.x;", "96 1 1 true true"},
		{".maxntid 256", "mov.u32 %r1, %tid.y;", "32 8 1 false false"},
		{".maxntid 16, 8", "mov.u32 %r1, %tid.y;", "16 8 1 true true"},
		{"", "mov.u32 %r1, %tid.z;", "32 8 4 false false"},
		{"", "mov.u32 %r1, %tid.x;", "1024 1 1 false false"},
	} {
		k := follow(t, test.heads, test.body)
		if got := fmt.Sprint(k.Pool.Shape[0], k.Pool.Shape[1], k.Pool.Shape[2], k.Pool.Exact,
			k.Most); got != test.want {
			t.Errorf("%s, %s: %s, want %s", test.heads, test.body, got, test.want)
		}
	}
}
