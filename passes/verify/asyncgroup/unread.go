// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package asyncgroup

import (
	"cmp"
	"slices"

	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/passes/analysis/trace"
	"github.com/ptxdsl/ptxdsl/passes/analysis/value"
	"github.com/ptxdsl/ptxdsl/passes/verify"
)

// A span is the byte range [low, high).
type span struct{ low, high int64 }

// checkUnread looks for cp.async operations to memory that no thread reads. The cause may be a
// wrong stage index past the end of the buffer, so that stale data is read instead. It may also
// be an unneeded prefetch, so the check only makes the verdict incomplete. Asynchronous
// operations read more memory than their operands show; in a kernel that has any, nothing is
// compared.
func checkUnread(p *verify.Pass) {
	if p.Needs(trace.GroupMultiply, trace.TensorMultiply, trace.TensorCopy, trace.BulkStore,
		trace.RemoteStore) || !p.Needs(trace.Copy) {
		return
	}
	read, filled := make(map[*value.Value][]span), make(map[*value.Value][]span)
	for _, t := range p.Traces {
		for i := range t.Events {
			e := &t.Events[i]
			switch e.Kind {
			case trace.Load, trace.Atomic:
				r, ok := p.Access(e)
				if !ok {
					if !e.In.HasMod(isa.ModGlobal) {
						return // the event may read what was copied
					}
					continue
				}
				read[r.Root] = append(read[r.Root], span{r.Low, r.High})
			case trace.Copy:
				if r, ok := p.Region(e, 0, copySize(e)); ok && r.Shared() && r.Sure {
					filled[r.Root] = append(filled[r.Root], span{r.Low, r.High})
				}
			}
		}
	}
	for root, list := range filled {
		reads := mergeSpans(read[root])
		for _, c := range list {
			i, _ := slices.BinarySearchFunc(reads, c, func(r, c span) int {
				if r.high <= c.low {
					return -1
				}
				return 1
			})
			if i == len(reads) || reads[i].low >= c.high {
				p.Missed("asynchronous copies to memory that is never read (A7)")
				return
			}
		}
	}
}

// mergeSpans sorts spans and joins spans that overlap or touch.
func mergeSpans(list []span) []span {
	slices.SortFunc(list, func(a, b span) int {
		return cmp.Compare(a.low, b.low)
	})
	var out []span
	for _, s := range list {
		if n := len(out); n > 0 && s.low <= out[n-1].high {
			out[n-1].high = max(out[n-1].high, s.high)
			continue
		}
		out = append(out, s)
	}
	return out
}
