// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package trace_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ptxdsl/ptxdsl/passes/analysis/trace"
	"github.com/ptxdsl/ptxdsl/passes/analysis/value"
)

// TestCluster follows every block of a cluster with two rows. Each block must know its position in
// the cluster, also when it is computed from its index in the grid.
func TestCluster(t *testing.T) {
	k := follow(t, ".reqntid 32\n.explicitcluster\n.reqnctapercluster 4, 2, 1", `
mov.u32 %r1, bars;
mov.u32 %r2, %cluster_ctaid.x;
mov.u32 %r3, %cluster_ctaid.y;
mov.u32 %r4, %ctaid.x;
and.b32 %r4, %r4, 3;
mov.u32 %r5, %ctaid.y;
rem.u32 %r5, %r5, 2;
mov.u32 %r6, %cluster_ctarank;
mov.u32 %r7, %cluster_nctaid.y;
mapa.shared::cluster.u32 %r8, %r1, 0;
mbarrier.expect_tx.relaxed.cta.shared.b64 [bars], %r2;
mbarrier.expect_tx.relaxed.cta.shared.b64 [bars], %r3;
mbarrier.expect_tx.relaxed.cta.shared.b64 [bars], %r4;
mbarrier.expect_tx.relaxed.cta.shared.b64 [bars], %r5;
mbarrier.expect_tx.relaxed.cta.shared.b64 [bars], %r6;
mbarrier.expect_tx.relaxed.cta.shared.b64 [bars], %r7;
barrier.cluster.arrive;
barrier.cluster.wait;
`)
	var got []string
	for _, tr := range k.Traces {
		line := fmt.Sprint(tr.Rank, ":")
		for i := range tr.Events {
			if e := &tr.Events[i]; e.Kind == trace.Expect {
				if v := e.Vals[1]; v.Const() {
					line += fmt.Sprint(" ", v.K)
				} else {
					line += " ?"
				}
			}
		}
		got = append(got, line)
	}
	var want []string
	for rank := range 8 {
		x, y := rank%4, rank/4
		want = append(want, fmt.Sprint(rank, ": ", x, " ", y, " ", x, " ", y, " ", rank, " 2"))
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// TestWhole checks that paths of two blocks of a cluster are not combined if they contradict each
// other, when the bound is a multiple of the cluster size.
func TestWhole(t *testing.T) {
	k := follow(t, ".reqntid 32\n.explicitcluster\n.reqnctapercluster 2, 1, 1", `
mov.u32 %r1, bars;
mov.u32 %r4, %ctaid.x;
mapa.shared::cluster.u32 %r8, %r1, 0;
setp.lt.u32 %p1, %r4, 124;
@%p1 bra MEET;
mbarrier.arrive.shared.b64 _, [bars];
MEET:
barrier.cluster.arrive;
barrier.cluster.wait;
`)
	var got []string
	for _, a := range k.Traces {
		for _, b := range k.Traces {
			if a.Rank == 0 && b.Rank == 1 && a.Facts.Agree(b.Facts) {
				got = append(got, fmt.Sprint(len(a.Events), " ", len(b.Events)))
			}
		}
	}
	slices.Sort(got)
	if d := cmp.Diff([]string{"3 3", "4 4"}, got); d != "" {
		t.Errorf("events of compatible paths (-want +got):\n%s", d)
	}
}

// TestFurther follows blocks other than the first when the first block does not reach all
// instructions.
func TestFurther(t *testing.T) {
	body := `
ld.param.u32 %r1, [n];
and.b32 %r2, %r1, 3;
mov.u32 %r3, %ctaid.x;
mul.lo.u32 %r6, %r3, %r1;
setp.lt.u32 %p1, %r2, %r1;
@%p1 bra ON;
bar.sync 0;
ON:
setp.eq.u32 %p2, %r1, 0;
@%p2 bra FIRST;
bar.sync 1;
FIRST:
setp.eq.u32 %p3, %r6, 0;
@%p3 bra DONE;
bar.sync 2;
`
	k := follow(t, ".reqntid 32", body)
	if k.Cases == 0 {
		t.Fatal("no values were substituted, so the test checks nothing")
	}
	if k.Unreached != nil {
		t.Errorf("%s: no block reaches it", k.Unreached.Op)
	}
}

// levels returns the distinct levels of choices that do not depend only on the thread index, lowest
// first.
func levels(k *trace.Kernel) []value.Level {
	var list []value.Level
	for _, tr := range k.Traces {
		for _, c := range tr.Choices {
			if !c.Cond.Tid() {
				list = append(list, c.Cond.Level())
			}
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// TestAlike checks that a value that each warp computes in the same way for equal lanes is uniform
// in the block, and that one computed from the warp index is not.
func TestAlike(t *testing.T) {
	const sum = `
ld.param.u64 %rd1, [p];
mad.wide.u32 %rd2, %r1, 4, %rd1;
ld.global.u32 %r2, [%rd2];
shfl.sync.up.b32 %r3, %r2, 1, 0, 0xffffffff;
setp.eq.u32 %p1, %r1, 0;
selp.u32 %r3, 0, %r3, %p1;
add.u32 %r2, %r2, %r3;
`
	const branch = "@%p2 bra DONE;\nbar.sync 0;\n"
	for name, test := range map[string]struct {
		from, test string
		want       value.Level
	}{
		"a lane's": {"mov.u32 %r1, %laneid;",
			"shfl.sync.idx.b32 %r4, %r2, 31, 31, 0xffffffff;\nsetp.eq.u32 %p2, %r4, 7;",
			value.Block},
		"a vote": {"mov.u32 %r1, %tid.x;\nand.b32 %r1, %r1, 31;",
			"setp.gt.u32 %p3, %r2, 5;\nvote.sync.ballot.b32 %r4, %p3, 0xffffffff;\nsetp.eq.u32 %p2, %r4, 7;",
			value.Block},
		"a sum": {"mov.u32 %r1, %laneid;",
			"redux.sync.add.u32 %r4, %r2, 0xffffffff;\nsetp.eq.u32 %p2, %r4, 7;", value.Block},
		"of each thread": {"mov.u32 %r1, %tid.x;",
			"shfl.sync.idx.b32 %r4, %r2, 31, 31, 0xffffffff;\nsetp.eq.u32 %p2, %r4, 7;",
			value.Warp},
		"of some lanes": {"mov.u32 %r1, %laneid;", "vote.sync.any.pred %p2, %p1, 0xffff;",
			value.Warp},
		"not of one lane": {"mov.u32 %r1, %laneid;", "setp.eq.u32 %p2, %r2, 7;", value.Lane},
	} {
		k := follow(t, ".reqntid 64", test.from+sum+test.test+"\n"+branch)
		if d := cmp.Diff([]value.Level{test.want}, levels(k)); d != "" {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
	}
}

// TestCrews checks that warpgroups that branch on their index and on block-uniform values are
// followed separately.
func TestCrews(t *testing.T) {
	k := follow(t, ".reqntid 256", `
ld.param.u32 %r1, [n];
mov.u32 %r2, %tid.x;
shr.u32 %r3, %r2, 7;
shfl.sync.idx.b32 %r3, %r3, 0, 31, 0xffffffff;
mad.lo.u32 %r4, %r3, 64, 64;
setp.lt.u32 %p1, %r1, %r4;
@%p1 bra DONE;
add.u32 %r5, %r3, 1;
bar.sync %r5, 128;
setp.lt.u32 %p1, %r1, %r4;
@%p1 bra DONE;
bar.sync %r5, 128;
`)
	var got []string
	for _, tr := range k.Traces {
		n := 0
		for i := range tr.Events {
			if tr.Events[i].Kind == trace.BarrierSync {
				n++
			}
		}
		got = append(got, fmt.Sprint(tr.Threads.Least(), "+", tr.Threads.Len(), ": ", n))
	}
	slices.Sort(got)
	if d := cmp.Diff([]string{"0+128: 0", "0+128: 2", "128+128: 0", "128+128: 2"}, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if d := cmp.Diff([]value.Level{value.Block}, levels(k)); d != "" {
		t.Errorf("levels (-want +got):\n%s", d)
	}
}

// TestMixed checks that a value that one lane wrote while others took another branch is unknown in
// those other lanes.
func TestMixed(t *testing.T) {
	k := follow(t, ".reqntid 32", `
ld.param.u64 %rd1, [p];
mov.u32 %r1, %tid.x;
mov.u32 %r2, 0;
setp.ne.u32 %p1, %r1, 0;
@%p1 bra ON;
cp.async.bulk.wait_group.read 0;
atom.global.add.u32 %r2, [%rd1], 1;
ON:
shfl.sync.idx.b32 %r3, %r2, 0, 31, 0xffffffff;
setp.eq.u32 %p2, %r3, 0;
@%p2 bra DONE;
bar.sync 0;
`)
	ways := make(map[string]bool)
	for _, tr := range k.Traces {
		n := 0
		for i := range tr.Events {
			if tr.Events[i].Kind == trace.BarrierSync {
				n++
			}
		}
		ways[fmt.Sprint(tr.Threads.Least(), ": ", n)] = true
	}
	if d := cmp.Diff(map[string]bool{"0: 0": true, "0: 1": true, "1: 0": true, "1: 1": true},
		ways); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// TestSkipped checks that a value written in a skipped region is uniform in a warp if all its
// inputs are.
func TestSkipped(t *testing.T) {
	for from, want := range map[string]value.Level{"%laneid": value.Block, "%tid.x": value.Warp} {
		k := follow(t, ".reqntid 64", `
ld.param.u64 %rd1, [p];
ld.param.u32 %r1, [n];
mov.u32 %r2, `+from+`;
mov.u32 %r3, 0;
setp.ge.u32 %p1, %r2, %r1;
@%p1 bra ON;
mad.wide.u32 %rd2, %r2, 4, %rd1;
ld.global.u32 %r3, [%rd2];
ON:
shfl.sync.idx.b32 %r4, %r3, 31, 31, 0xffffffff;
setp.eq.u32 %p2, %r4, 7;
@%p2 bra DONE;
bar.sync 0;
`)
		if d := cmp.Diff([]value.Level{want}, levels(k)); d != "" {
			t.Errorf("%s (-want +got):\n%s", from, d)
		}
	}
}
