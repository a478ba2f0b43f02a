// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package warprace reports shared memory that one warp stores and another warp reads, with no
// barrier between the store and the read.
package warprace

import (
	"slices"

	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/passes/analysis/thread"
	"github.com/ptxdsl/ptxdsl/passes/verify/annotated"
)

// Analyzer returns the analyzer for races between warps.
func Analyzer() *annotated.Analyzer {
	return &annotated.Analyzer{
		Name: "warprace",
		Doc: `Warprace compares the addresses of all threads at pairs of a store and a load of shared memory
that have no barrier between them, outside of roles and in the first iteration of loops. The
analyzer of rules B8 and B9 follows paths, and does not need the author's conditions.`,
		Rules:    []*diag.Rule{&annotated.Protocol},
		Replaces: []string{"B8", "B9"},
		Run:      run,
	}
}

func run(p *annotated.Pass) {
	list := p.Notes.Shared
	if p.Notes.Labels ||
		!slices.ContainsFunc(list, func(a ir.SharedAccess) bool { return a.Writes }) {
		return
	}
	met := barriersBefore(p.Func, list)
	e := p.Eval()
	e.Refill()
	for i := range list {
		for j := i + 1; j < len(list) && met[j] == met[i] && !e.Exhausted(); j++ {
			a, b := &list[i], &list[j]
			if a.Writes == b.Writes || a.Var != nil && b.Var != nil && a.Var != b.Var ||
				p.Reported(b.Pos) {
				continue
			}
			pair{p, e, a, b}.check()
		}
	}
}

// barriersBefore returns, for each access, the number of instructions before it that may be
// barriers. A barrier that is itself an access counts only for the accesses after it.
func barriersBefore(f *ir.Func, list []ir.SharedAccess) []int {
	of := make(map[*ir.Instr][]int, len(list))
	for i := range list {
		of[list[i].In] = append(of[list[i].In], i)
	}
	met, barriers := make([]int, len(list)), 0
	for _, b := range f.Blocks {
		for _, in := range b.Instrs {
			for _, i := range of[in] {
				met[i] = barriers
			}
			if maySynchronize(in) {
				barriers++
			}
		}
	}
	return met
}

// maySynchronize reports whether an instruction may synchronize threads or exchange values between
// them.
func maySynchronize(in *ir.Instr) bool {
	kind := in.Kind()
	switch kind.Head() {
	case isa.HeadSt, isa.HeadLd:
		return in.HasMod(isa.ModVolatile, isa.ModRelaxed, isa.ModAcquire, isa.ModRelease,
			isa.ModMMIO)
	case isa.HeadBarrier, isa.HeadMbarrier, isa.HeadFence, isa.HeadAtom, isa.HeadRed, isa.HeadCall,
		isa.HeadBrx, isa.HeadNanosleep:
		return true
	}
	switch kind {
	case isa.KindCpAsyncBulk, isa.KindCpAsyncBulkCommitGroup, isa.KindCpAsyncBulkWaitGroup,
		isa.KindCpAsyncBulkPrefetch,
		isa.KindCpReduceAsyncBulk, isa.KindCpAsyncBulkTensor, isa.KindCpReduceAsyncBulkTensor,
		isa.KindCpAsyncBulkPrefetchTensor:
		return true
	}
	return false
}

// A pair is a store and a load, or a load and a store, in program order.
type pair struct {
	*annotated.Pass
	eval *thread.Eval
	a, b *ir.SharedAccess
}

// bothExecute reports whether the current thread may execute both accesses in one launch. It
// compares the conditions of the two accesses. A store whose condition depends on data counts as
// executed.
func (p pair) bothExecute() bool {
	e := p.eval
	for _, side := range [...][2]*ir.SharedAccess{{p.a, p.b}, {p.b, p.a}} {
		for _, c := range side[0].Conds {
			v := e.Holds(c)
			switch {
			case v.Kind == thread.Constant, c.Loop && e.Uniform(c.Reg),
				(v.Kind == thread.Possible || e.Uniform(c.Reg)) &&
					slices.Contains(side[1].Conds, c):
			case side[0].Writes && v.Kind == thread.Unknown && !c.Left && !c.Loop &&
				e.DependsOnLoads(c.Reg, 16):
			default:
				return false
			}
		}
	}
	return true
}

// address returns the address that the current thread accesses. ok is false if the thread does
// not make the access or the address is unknown.
func (p pair) address(a *ir.SharedAccess) (at int64, ok bool) {
	if p.eval.IsFalse(a.Conds) {
		return 0, false
	}
	if a.Var != nil {
		if a.Var.Dims == nil || a.Var.Dims[0] == ir.Unsized {
			return 0, false
		}
		return p.eval.Address(a.Var, a.Offset)
	}
	return p.eval.AddressIn(a.Reg, a.Offset)
}

// check compares the addresses that all threads store to with those that they load from.
func (p pair) check() {
	store, load := p.a, p.b
	if p.b.Writes {
		store, load = p.b, p.a
	}
	own := make([]int64, p.Notes.Threads())
	written, ok := p.storedBytes(store, own)
	if !ok || len(written) == 0 {
		return
	}
	for thread := range own {
		p.eval.Begin(thread)
		at, ok := p.address(load)
		if !ok || !p.bothExecute() {
			continue
		}
		for n := int64(0); n < load.Bytes; n++ {
			other, met := written[at+n]
			if !met || other/32 == thread/32 || own[thread] >= 0 && own[thread] <= at+n &&
				at+n < own[thread]+store.Bytes {
				continue
			}
			p.report(store, load, other, thread, at)
			return
		}
	}
}

// storedBytes returns the thread that stores each byte. It stores the address that each thread
// writes in own, or -1. ok is false if some thread stores but may not execute both accesses.
func (p pair) storedBytes(store *ir.SharedAccess, own []int64) (written map[int64]int, ok bool) {
	written = make(map[int64]int)
	for thread := range own {
		own[thread] = -1
		p.eval.Begin(thread)
		if thread == 0 && !p.bothExecute() {
			return nil, false
		}
		at, ok := p.address(store)
		if !ok {
			continue
		}
		if !p.bothExecute() {
			return nil, false
		}
		own[thread] = at
		for n := int64(0); n < store.Bytes; n++ {
			if _, met := written[at+n]; !met {
				written[at+n] = thread
			}
		}
	}
	return written, true
}

// report reports that thread reader reads bytes that thread writer, of another warp, stores.
func (p pair) report(store, load *ir.SharedAccess, writer, reader int, at int64) {
	area, _, found := p.eval.Find(isa.Shared, at)
	switch {
	case !found:
	case store == p.a:
		p.Warn(load.Pos, &annotated.Protocol,
			"data race: thread %d reads what thread %d of another warp stored to %s, without a barrier in between; add Sync after the store",
			reader, writer, area.Name)
	default:
		p.Warn(store.Pos, &annotated.Protocol,
			"data race: thread %d overwrites what thread %d of another warp reads from %s, without a barrier in between; add Sync after the read",
			writer, reader, area.Name)
	}
}
