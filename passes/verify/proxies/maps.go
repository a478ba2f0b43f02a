// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package proxies

import (
	"slices"

	"github.com/ptxdsl/ptxdsl/passes/analysis/trace"
	"github.com/ptxdsl/ptxdsl/passes/analysis/value"
	"github.com/ptxdsl/ptxdsl/passes/verify"
)

// maps follows tensor maps that are edited in memory: before one is used, it must be fenced, on the
// generic side and on the side of the tensor engine.
func maps(p *verify.Pass, t *trace.Trace) {
	type edited struct {
		e        *trace.Event
		base     *value.Value
		released bool
	}
	var list []*edited
	for i := range t.Events {
		e := &t.Events[i]
		switch e.Kind {
		case trace.MapEdit:
			if e.In.Mod("shared::cta") {
				continue // copied to global memory by tensormap.cp_fenceproxy, which is the fence
			}
			base := verify.Val(e, verify.Address(e.In, 0))
			found := false
			for _, m := range list {
				if m.base == base {
					m.e, m.released, found = e, false, true
				}
			}
			if !found && base != nil {
				list = append(list, &edited{e: e, base: base})
			}
		case trace.MapFence, trace.MapCopy:
			// A release orders all edits before it; an acquire names one map.
			if e.In.Mod("release") {
				for _, m := range list {
					m.released = true
				}
			} else {
				list = slices.DeleteFunc(list, func(m *edited) bool { return m.released && m.base == verify.Val(e, verify.Address(e.In, 0)) })
			}
		case trace.BulkLoad, trace.BulkStore:
			if !verify.Tensor(e.In) {
				continue
			}
			used := verify.Val(e, verify.Address(e.In, 1))
			if e.Kind == trace.BulkStore {
				used = verify.Val(e, verify.Address(e.In, 0))
			}
			for _, m := range list {
				if m.base == used {
					why := "with no fence.proxy.tensormap between"
					if m.released {
						why = "with a release and no acquire of fence.proxy.tensormap between"
					}
					p.Report(&ruleMap, e.In, "a tensor map is used that was edited, %s", why).Also(m.e.In, "edited here").On(t, i)
				}
			}
		}
	}
}
