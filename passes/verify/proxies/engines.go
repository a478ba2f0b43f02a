// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package proxies checks generic-proxy accesses to shared memory against accesses through the
// async proxy, by bulk copies and tensor cores. Between the two, the threads that made the
// generic-proxy access must execute a proxy fence and then a barrier.
package proxies

import (
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/passes/analysis/memory"
	"github.com/ptxdsl/ptxdsl/passes/analysis/trace"
	"github.com/ptxdsl/ptxdsl/passes/analysis/value"
	"github.com/ptxdsl/ptxdsl/passes/verify"
)

// An asyncOperation is an operation of the async proxy, with the memory that it reads and writes.
type asyncOperation struct {
	e            *trace.Event
	reads        []memory.Region
	writes       []memory.Region
	tiles        []memory.Region // writes, extended to the apparent tile size
	by           value.Set       // all threads that execute the instruction
	alwaysFenced bool            // on every path, a fence between the last wait and the operation
}

// engineRegions returns the operations of the async proxy in the kernel, without duplicates of
// instruction and address. each holds the operations of each trace in order.
func engineRegions(p *verify.Pass) (list []asyncOperation, each [][]*asyncOperation) {
	type key struct {
		in  *ir.Instr
		at  int64
		two int64
	}
	seen := make(map[key]bool)
	each = make([][]*asyncOperation, len(p.Traces)) // the operations on each trace
	by := make(map[*ir.Instr]value.Set)
	unfenced := make(map[*ir.Instr]bool)
	for n, t := range p.Traces {
		fenced := false
		for i := range t.Events {
			e := &t.Events[i]
			switch {
			case e.Kind == trace.Wait:
				fenced = false
			case e.Kind == trace.ProxyFence && e.Guard == nil &&
				e.In.HasMod(isa.ModAsync, isa.ModAsyncGeneric):
				fenced = true
			}
			g := engineOf(p, e)
			if g == nil {
				continue
			}
			each[n] = append(each[n], g)
			unfenced[e.In] = unfenced[e.In] || !fenced
			by[e.In] = by[e.In].Or(*e.Threads)
			k := key{in: e.In}
			for _, regions := range [][]memory.Region{g.reads, g.writes} {
				for i := range regions {
					k.at, k.two = k.two, regions[i].Low
				}
			}
			if !seen[k] {
				seen[k] = true
				list = append(list, *g)
			}
		}
	}
	for i := range list {
		list[i].by, list[i].alwaysFenced = by[list[i].e.In], !unfenced[list[i].e.In]
	}
	return list, each
}

func engineOf(p *verify.Pass, e *trace.Event) *asyncOperation {
	switch e.Kind {
	case trace.BulkLoad, trace.BulkStore, trace.GroupMultiply, trace.TensorMultiply,
		trace.TensorCopy, trace.Answer:
		g := &asyncOperation{e: e, reads: p.Reads(e), writes: p.Writes(e)}
		for _, r := range g.writes {
			if e.Kind == trace.BulkLoad {
				g.tiles = append(g.tiles, r.Resized(max(r.Bytes, p.Tile(e))))
			}
		}
		return g
	}
	return nil
}
