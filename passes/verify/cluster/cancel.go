// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/passes/analysis/trace"
	"github.com/ptxdsl/ptxdsl/passes/verify"
)

// cancels checks requests for the work of other clusters (clusterlaunchcontrol): what is done with
// the answers, and whether blocks may have exited.
func cancels(p *verify.Pass) {
	if !p.Needs(trace.Answer) {
		return
	}
	for _, t := range p.Traces {
		refused := -1
		var where trace.Choice
		for _, c := range t.Choices {
			if a, not := c.Cond.Condition(); a != nil && refused < 0 && trace.Answered(a) && c.Taken == not {
				refused, where = c.At, c
			}
		}
		for i := range t.Events {
			e := &t.Events[i]
			if e.Kind != trace.Answer {
				continue
			}
			if refused >= 0 && i >= refused {
				p.Report(&ruleCancel, e.In, "another clusterlaunchcontrol.try_cancel after one "+
					"that was refused; its result is undefined").Also(where.In,
					"the refusal is observed here").On(t, i)
				break
			}
			if e.In.Mod("multicast::cluster::all") && p.Cluster != 1 {
				early(p, t, e)
			}
		}
	}
}

// early reports a path on which all threads of a block exit without a cluster barrier: such a block
// may have exited when another makes a request for the cluster.
func early(p *verify.Pass, t *trace.Trace, request *trace.Event) {
	for _, o := range p.Traces {
		if o.Stopped != "" || o.Threads != p.Pool.All() || o == t {
			continue
		}
		meets := false
		for i := range o.Events {
			switch o.Events[i].Kind {
			case trace.Answer, trace.ClusterArrive, trace.ClusterWait, trace.Wait:
				meets = true
			}
		}
		if n := len(o.Events); !meets && n > 0 {
			p.Report(&ruleCancel, request.In, "a try_cancel with multicast to all blocks of the "+
				"cluster, but a block may have exited before it").
				As(diag.Review).Also(o.Events[n-1].In, "a block may exit here without meeting "+
				"the others")
			return
		}
	}
}

var ruleCancel = diag.Rule{
	ID: "C5", Layer: "cluster", Severity: diag.Error,
	Title: "clusterlaunchcontrol.try_cancel after a refused one, or to blocks that have exited",
	What: "Reports a clusterlaunchcontrol.try_cancel after an earlier one was observed to be " +
		"refused. Also reports one with .multicast::cluster::all when a block of the cluster may " +
		"already have exited.",
	Why: "The response is undefined. Blocks then work on tiles that belong to others, or wait " +
		"forever.",
	Wrong: `
.reqntid 32
.explicitcluster
elect.sync _|%p1, 0xffffffff;
@%p1 mbarrier.init.shared.b64 [bars], 1;
fence.mbarrier_init.release.cluster;
bar.sync 0;
@%p1 mbarrier.arrive.expect_tx.shared.b64 _, [bars], 16;
@%p1 clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [tile], [bars];
WAIT:
mbarrier.try_wait.parity.shared.b64 %p2, [bars], 0;
@!%p2 bra WAIT;
{ .reg .b128 %answer;
ld.shared.b128 %answer, [tile];
clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p3, %answer;
}
fence.proxy.async.shared::cta;
@%p3 bra DONE;
@%p1 mbarrier.arrive.expect_tx.shared.b64 _, [bars], 16;
@%p1 clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [tile], [bars];
AGAIN:
mbarrier.try_wait.parity.shared.b64 %p2, [bars], 1;
@!%p2 bra AGAIN;
`,
	Right: `
.reqntid 32
.explicitcluster
elect.sync _|%p1, 0xffffffff;
@%p1 mbarrier.init.shared.b64 [bars], 1;
fence.mbarrier_init.release.cluster;
bar.sync 0;
@%p1 mbarrier.arrive.expect_tx.shared.b64 _, [bars], 16;
@%p1 clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [tile], [bars];
WAIT:
mbarrier.try_wait.parity.shared.b64 %p2, [bars], 0;
@!%p2 bra WAIT;
{ .reg .b128 %answer;
ld.shared.b128 %answer, [tile];
clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p3, %answer;
}
fence.proxy.async.shared::cta;
@!%p3 bra DONE;
@%p1 mbarrier.arrive.expect_tx.shared.b64 _, [bars], 16;
@%p1 clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [tile], [bars];
AGAIN:
mbarrier.try_wait.parity.shared.b64 %p2, [bars], 1;
@!%p2 bra AGAIN;
`,
	Fix: "Stop requesting after a refusal, and keep every block of the cluster alive until then.",
	Gaps: "Responses that are kept in memory, and a refusal that one thread observes on behalf " +
		"of others, are not followed.",
	Section: "9.7.13.19 clusterlaunchcontrol",
}
