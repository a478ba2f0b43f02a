// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package proxies

import (
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/passes/analysis/trace"
	"github.com/ptxdsl/ptxdsl/passes/analysis/value"
	"github.com/ptxdsl/ptxdsl/passes/verify"
)

// arriveForOthers reports whether some lanes of a warp arrive on behalf of other lanes without a
// warp barrier after the accesses of the other lanes. The fences of the other lanes may then
// execute after the arrival.
func arriveForOthers(a *genericAccess, e *trace.Event) bool {
	for w := range value.MaxThreads / 32 {
		if here := e.Threads.Lanes(w); here != 0 && a.e.Threads.Lanes(w)&^here != 0 {
			return true
		}
	}
	return false
}

// checkRequests checks that an acquire fence precedes the next clusterlaunchcontrol request,
// which overwrites the response, if the kernel executes a release fence after it reads the
// response.
func checkRequests(p *verify.Pass, t *trace.Trace) {
	release := findRelease(p)
	if release == nil {
		return
	}
	waited, acquired := false, false
	for i := range t.Events {
		e := &t.Events[i]
		switch e.Kind {
		case trace.Wait:
			waited, acquired = true, false
		case trace.ProxyFence:
			acquired = !e.In.HasMod(isa.ModRelease)
		case trace.Answer:
			if waited && !acquired {
				p.Report(&ruleRead, e.In,
					"missing acquire fence: %s overwrites a response after a wait for its readers, but no acquire fence follows the wait; the readers executed only a release fence",
					isa.Abbreviate(e.In.Op)).
					Also(release, "the fence").On(t, i)
				return
			}
			waited, acquired = false, false
		}
	}
}

// findRelease returns a release proxy fence of the kernel, or nil. It returns nil if the kernel
// has no clusterlaunchcontrol requests.
func findRelease(p *verify.Pass) *ir.Instr {
	if !p.Needs(trace.Answer) {
		return nil
	}
	for _, t := range p.Traces {
		for i := range t.Events {
			if e := &t.Events[i]; e.Kind == trace.ProxyFence && e.In.HasMod(isa.ModRelease) {
				return e.In
			}
		}
	}
	return nil
}
