// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package proxies

import (
	"slices"

	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/passes/analysis/trace"
	"github.com/ptxdsl/ptxdsl/passes/analysis/value"
	"github.com/ptxdsl/ptxdsl/passes/verify"
)

// An editedMap is a tensor map that was modified in memory and that no fence has made visible to
// the TMA yet.
type editedMap struct {
	e        *trace.Event
	base     *value.Value
	how      string
	released bool
}

// mapBytes is the size of a tensor map in bytes.
const mapBytes = 128

// checkMaps tracks tensor maps that are edited in memory. Before the TMA uses such a map, a fence
// must order the edits in the generic proxy and a fence in the tensormap proxy.
func checkMaps(p *verify.Pass, t *trace.Trace) {
	var list []*editedMap
	edit := func(e *trace.Event, base *value.Value, how string, released bool) {
		if base == nil {
			return
		}
		list = slices.DeleteFunc(list, func(m *editedMap) bool {
			return m.base == base && m.how == how
		})
		list = append(list, &editedMap{e, base, how, released})
	}
	for i := range t.Events {
		e := &t.Events[i]
		switch e.Kind {
		case trace.MapEdit:
			// Maps in shared memory are copied to global memory before use.
			if !e.In.HasMod(isa.ModSharedCTA) {
				edit(e, verify.Val(e, verify.Address(e.In, 0)), "edited", false)
			}
		case trace.MapCopy:
			edit(e, verify.Val(e, verify.Address(e.In, 0)), "copied into place",
				e.In.HasMod(isa.ModRelease))
		case trace.Store:
			if !e.In.HasMod(isa.ModShared, isa.ModLocal) {
				edit(e, verify.Val(e, verify.Address(e.In, 0)), "stored to", false)
			}
		case trace.MapFence:
			// A release orders all edits before it. An acquire names one map.
			if e.In.HasMod(isa.ModRelease) {
				for _, m := range list {
					m.released = true
				}
			} else {
				of := verify.Val(e, verify.Address(e.In, 0))
				list = slices.DeleteFunc(list, func(m *editedMap) bool {
					return m.released && m.contains(p, of)
				})
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
				if !m.contains(p, used) {
					continue
				}
				why := "without fence.proxy.tensormap in between"
				if m.released {
					why = "with a release but no acquire fence.proxy.tensormap in between"
				}
				p.Report(&ruleMap, e.In,
					"missing fence.proxy.tensormap: a tensor map is used after it was %s, %s",
					m.how, why).Also(m.e.In, "%s here", m.how).On(t, i)
				break
			}
		}
	}
}

// contains reports whether an address is inside the map.
func (m *editedMap) contains(p *verify.Pass, at *value.Value) bool {
	if at == nil || m.base == at {
		return m.base == at
	}
	n := m.base.K - at.K
	return p.Pool.Rest(m.base) == p.Pool.Rest(at) && len(p.Pool.Rest(at).Terms) > 0 && n >= 0 &&
		n < mapBytes
}
