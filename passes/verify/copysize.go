// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package verify

import (
	"cmp"
	"slices"

	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/passes/analysis/trace"
	"github.com/ptxdsl/ptxdsl/passes/analysis/value"
)

// GapSize returns how many bytes of shared memory a tensor copy appears to occupy: the distance
// to the next address at which a tensor copy starts. ok is false if there is no such address.
func (p *Pass) GapSize(e *trace.Event) (bytes int64, ok bool) {
	if p.kernelState.gapSizes == nil {
		p.kernelState.gapSizes = p.findGapSizes()
	}
	n, ok := p.kernelState.gapSizes[e.In]
	return n, ok
}

// Extent returns the number of bytes that a tensor copy appears to occupy in shared memory. It
// returns the result of Copied or else of GapSize if it is known. Otherwise it returns the size
// of the region that another instruction reads or writes at the same address.
func (p *Pass) Extent(e *trace.Event) (bytes int64, ok bool) {
	if n, ok := p.Copied(e); ok {
		return n, true
	}
	if n, ok := p.GapSize(e); ok {
		return n, true
	}
	if p.kernelState.extents == nil {
		p.kernelState.extents = p.findExtents()
	}
	n, ok := p.kernelState.extents[e.In]
	return n, ok
}

// Tile returns how many bytes a bulk copy into shared memory is assumed to overwrite. If the size
// of the box is unknown, Tile returns the alignment of swizzled boxes.
func (p *Pass) Tile(e *trace.Event) int64 {
	const aligned = 1024
	if n, ok := p.Extent(e); ok && (n > Least || !Tensor(e.In)) {
		return n
	}
	return aligned
}

// An envelope is the range of bytes that one instruction accesses, over all threads and
// iterations.
type envelope struct {
	write     bool
	low, high int64
}

func (p *Pass) findExtents() map[*ir.Instr]int64 {
	type place struct {
		root *value.Value
		in   *ir.Instr
	}
	plain := make(map[place]*envelope)
	byRoot := make(map[*value.Value][]*envelope)
	ends := make(map[*value.Value][]int64) // offsets of mbarriers
	for _, t := range p.Traces {
		for i := range t.Events {
			e := &t.Events[i]
			switch e.Kind {
			case trace.Load, trace.Store:
				r, ok := p.Access(e)
				if !ok || !r.Shared() || !r.Sure {
					continue
				}
				v := plain[place{r.Root, e.In}]
				if v == nil {
					v = &envelope{e.Kind == trace.Store, r.Low, r.High}
					plain[place{r.Root, e.In}] = v
					byRoot[r.Root] = append(byRoot[r.Root], v)
				}
				v.low, v.high = min(v.low, r.Low), max(v.high, r.High)
			case trace.Init:
				list, _ := p.Objects(e, Val(e, Address(e.In, 0)))
				for _, o := range list {
					ends[o.Root] = append(ends[o.Root], o.At)
				}
			}
		}
	}
	extents := make(map[*ir.Instr]int64)
	for _, t := range p.Traces {
		for i := range t.Events {
			e := &t.Events[i]
			if e.Kind != trace.BulkLoad && e.Kind != trace.BulkStore || !Tensor(e.In) {
				continue
			}
			for _, r := range append(p.Reads(e), p.Writes(e)...) {
				high := r.High
				if e.Threads.Len() > 1 {
					extents[e.In] = r.Bytes // one tile for each thread
					continue
				}
				for _, v := range byRoot[r.Root] {
					if v.write == (e.Kind == trace.BulkStore) && v.low <= r.Low && r.Low < v.high {
						high = max(high, v.high)
					}
				}
				for _, at := range ends[r.Root] {
					if at > r.Low {
						high = min(high, at)
					}
				}
				if n, again := extents[e.In]; !again || high-r.Low < n {
					extents[e.In] = high - r.Low
				}
			}
		}
	}
	return extents
}

func (p *Pass) findGapSizes() map[*ir.Instr]int64 {
	type start struct {
		in  *ir.Instr
		low int64
	}
	starts := make(map[*value.Value][]start)
	loose := make(map[*ir.Instr]bool)
	for _, t := range p.Traces {
		for i := range t.Events {
			e := &t.Events[i]
			if e.Kind != trace.BulkLoad && e.Kind != trace.BulkStore || !Tensor(e.In) {
				continue
			}
			for _, r := range append(p.Reads(e), p.Writes(e)...) {
				loose[e.In] = loose[e.In] || !r.Sure
				starts[r.Root] = append(starts[r.Root], start{e.In, r.Low})
			}
		}
	}
	gapSizes := make(map[*ir.Instr]int64)
	for _, list := range starts {
		slices.SortFunc(list, func(a, b start) int { return cmp.Compare(a.low, b.low) })
		next := int64(-1)
		for i := len(list) - 1; i >= 0; i-- {
			s := list[i]
			if i+1 < len(list) && list[i+1].low > s.low {
				next = list[i+1].low
			}
			if next < 0 || loose[s.in] {
				continue
			}
			if was, ok := gapSizes[s.in]; !ok || next-s.low < was {
				gapSizes[s.in] = next - s.low
			}
		}
	}
	return gapSizes
}
