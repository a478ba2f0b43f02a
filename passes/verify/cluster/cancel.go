// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/passes/analysis/trace"
	"github.com/ptxdsl/ptxdsl/passes/verify"
)

// checkCancel checks requests for the work of other clusters (clusterlaunchcontrol): how their
// responses are used, and whether blocks may exit before a response is delivered.
func checkCancel(p *verify.Pass) {
	if !p.Needs(trace.Answer) {
		return
	}
	for _, t := range p.Traces {
		refused := -1
		var where trace.Choice
		for _, c := range t.Choices {
			if a, not := c.Cond.Condition(); a != nil && refused < 0 && trace.Answered(a) &&
				c.Taken == not {
				refused, where = c.At, c
			}
		}
		for i := range t.Events {
			e := &t.Events[i]
			if e.Kind != trace.Answer {
				continue
			}
			if refused >= 0 && i >= refused {
				p.Report(&ruleCancel, e.In,
					"clusterlaunchcontrol.try_cancel is issued again after a request that was refused; its result is undefined").Also(where.In,
					"the refusal is observed here").On(t, i)
				break
			}
			if e.In.HasMod(isa.ModMulticastClusterAll) && p.Cluster != 1 {
				checkEarlyExit(p, t, e)
			}
		}
	}
}

// checkEarlyExit reports a path on which all threads of a block exit without a cluster barrier.
// Such a block may have exited when another block requests work for the cluster.
func checkEarlyExit(p *verify.Pass, t *trace.Trace, request *trace.Event) {
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
			p.Report(&ruleCancel, request.In,
				"try_cancel multicasts its response to all blocks of the cluster, but a block may have exited before it").
				As(diag.Review).Also(o.Events[n-1].In,
				"a block may exit here without a cluster barrier")
			return
		}
	}
}

var ruleCancel = diag.Rule{ID: "C5", Layer: "cluster", Severity: diag.Error}
