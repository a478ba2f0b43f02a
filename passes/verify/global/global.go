// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package global detects races in global memory: unordered accesses to the same address by two
// blocks, or by two threads of one block with no barrier between the accesses. The block index
// stays symbolic, so a finding is valid for every grid of more than one block.
package global

import (
	"fmt"

	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/passes/analysis/trace"
	"github.com/ptxdsl/ptxdsl/passes/verify"
)

// Analyzer is the analyzer for races in global memory.
var Analyzer = &verify.Analyzer{
	Name: "global",
	Doc: `Global reports plain accesses by two blocks, or by two threads of one block, to the same
address of global memory if at least one of them is a store. It checks kernels whose threads
communicate in no other way: without atomics, fences, flags, clusters and asynchronous copies.`,
	Rules:    diag.Rules{ruleRace},
	Pages:    pages,
	Requires: []trace.Kind{trace.Store},
	Flow:     true,
	Run:      run,
}

// limits bounds the work of this package. The kernels that the package can check are small.
var limits = trace.Limits{Steps: 20_000, Traces: 32}

func run(p *verify.Pass) {
	if !isSimple(p.Func) {
		return
	}
	limits := limits
	limits.Grid = p.Grid
	k := trace.AnalyzeGlobal(p.Module, p.Func, limits)
	if len(k.Missed) > 0 || !k.Pool.Exact || k.Guessed {
		return
	}
	if k.Most {
		p.BlockSize() // the verdict states that the size in .maxntid is assumed
	}
	var axes []string
	if !p.Alone() {
		axes = axesOf(p.Func)
	}
	seen := make(map[pair]bool)
	for _, t := range k.Traces {
		list := accesses(k, t)
		for i := range list {
			for j := range list[:i+1] {
				x, y := &list[j], &list[i]
				if at := (pair{x.e.In, y.e.In}); (x.write || y.write) && !seen[at] {
					seen[at] = reportRace(p, k, axes, t, x, y)
				}
			}
		}
	}
}

// A pair is two instructions that were already compared.
type pair struct{ first, second *ir.Instr }

// isSimple reports whether the threads of a kernel communicate only by block barriers, and
// whether the kernel stores to global memory.
func isSimple(f *ir.Func) bool {
	stores, n := false, 0
	for _, b := range f.Blocks {
		for _, in := range b.Instrs {
			if in.Directive() {
				continue
			}
			n++
			switch kind := trace.Of(in); kind {
			case trace.Other, trace.Load, trace.BarrierSync, trace.WarpSync, trace.Collective,
				trace.Exit:
			case trace.Store:
				stores = stores || in.HasMod(isa.ModGlobal) || !in.NamesShared()
			default:
				return false
			}
			if (in.Kind() == isa.KindLd || in.Kind().Head() == isa.HeadSt) && !isPlain(in) {
				return false
			}
		}
	}
	return stores && n < limits.Steps/8
}

// isPlain reports whether a load or store is neither volatile nor has a memory-order modifier.
func isPlain(in *ir.Instr) bool {
	return !in.HasMod(isa.ModVolatile, isa.ModRelaxed, isa.ModAcquire, isa.ModRelease, isa.ModMMIO)
}

// axesOf returns the components of the block index that a kernel reads. The grid is assumed to
// have several blocks along these axes.
func axesOf(f *ir.Func) []string {
	var list []string
	for _, name := range []string{"%ctaid.x", "%ctaid.y", "%ctaid.z"} {
		if readsSpecial(f, name) {
			list = append(list, name)
		}
	}
	return list
}

// readsSpecial reports whether some instruction of a kernel reads the special register with the
// given name.
func readsSpecial(f *ir.Func, name string) bool {
	for _, b := range f.Blocks {
		for _, in := range b.Instrs {
			for i := range in.Args {
				if o := &in.Args[i]; o.Kind == ir.Special && o.Text() == name {
					return true
				}
			}
		}
	}
	return false
}

// reportRace reports a race between two accesses of one trace, and returns whether it did. x is
// the earlier access, or equal to y.
func reportRace(p *verify.Pass, k *trace.Kernel, axes []string, t *trace.Trace, x, y *access) bool {
	if x.root != y.root || x.blocks != y.blocks {
		return false
	}
	later := y
	if !y.write {
		later = x
	}
	report := func(what string) bool {
		f := p.Report(&ruleRace, later.e.In, "%s", what)
		if x.e.In != y.e.In {
			other := x
			if later == x {
				other = y
			}
			f.Also(other.e.In, "the other access")
		}
		if k.Most {
			f.As(diag.Review).Message += fmt.Sprintf(", if blocks have %d threads", k.Pool.Threads)
		}
		f.On(t, y.i)
		return true
	}
	for n, name := range [...]string{"%ctaid.x", "%ctaid.y", "%ctaid.z"} {
		if !contains(axes, name) || !x.anyBlock || !y.anyBlock {
			continue
		}
		step := x.blocks[n]
		if !overlapsOtherBlock(x, y, step) && !overlapsOtherBlock(y, x, step) {
			continue
		}
		switch {
		case x.write && y.write && (mayDiffer(x.value, step == 0) || mayDiffer(y.value, step == 0)):
			return report(
				"global-memory race: two blocks of the grid store to the same address, and " +
					"nothing orders them")
		case x.write != y.write:
			return report("global-memory race: a block writes global memory that another block " +
				"reads, and nothing orders them")
		}
	}
	switch {
	case x == y && y.write && y.isShared() && y.value != nil && y.value.Tid() && !y.value.Const():
		return report(
			"global-memory race: threads of one block store different values to the same " +
				"address")
	case x.write != y.write && x.epoch == y.epoch && readsOtherWarp(k, x, y):
		return report(
			"global-memory race: one warp writes global memory that another warp of the " +
				"block reads, without a barrier in between")
	}
	return false
}

func contains(list []string, name string) bool {
	for _, s := range list {
		if s == name {
			return true
		}
	}
	return false
}
