// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package wholewarp checks that all lanes of a warp execute the matrix instructions of the warp:
// mma, wmma, movmatrix, ldmatrix and stmatrix. It executes the lanes one by one, with unknown
// arguments and data.
package wholewarp

import (
	"slices"

	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/passes/analysis/uniform"
	"github.com/ptxdsl/ptxdsl/passes/analysis/walk"
	"github.com/ptxdsl/ptxdsl/passes/verify"
)

// Analyzer is the analyzer for matrix instructions in divergent code.
var Analyzer = &verify.Analyzer{
	Name: "wholewarp",
	Doc: `Wholewarp reports matrix instructions that some lanes of a warp execute more often than
others. If a branch before the instruction depends on data, the kernel is incomplete.`,
	Tells: diag.Rules{verify.RuleDiverged},
	Flow:  true,
	Run:   run,
}

// maxWarps is the largest number of warps of which all lanes are executed.
const maxWarps = 4

// warpSize is the number of lanes of a warp.
const warpSize = 32

// A checker compares the lanes of the warps of one kernel.
type checker struct {
	*verify.Pass
	walk  *walk.Walk
	watch map[*ir.Instr]bool // the matrix instructions that may be in divergent code
	order []*ir.Instr        // the same, in text order
	paths []path             // complete paths of the lanes of one warp
	lane  int
}

// A path is a complete path of one lane, with how often the lane executes each watched
// instruction.
type path struct {
	*walk.Path
	lane   int
	counts map[*ir.Instr]int
}

func run(p *verify.Pass) {
	c := &checker{Pass: p, watch: make(map[*ir.Instr]bool)}
	c.collect()
	if len(c.order) == 0 {
		return
	}
	c.walk = walk.New(p.Flow, p.BlockSize(), c.visit)
	c.walk.AtEnd(c.end)
	warps := c.warps()
	for _, w := range warps {
		c.paths = nil
		for c.lane = range warpSize {
			if n := c.walk.Block(); n == 0 || w*warpSize+c.lane < n {
				c.walk.Thread(w*warpSize + c.lane)
			}
		}
		c.compare()
		if len(c.order) == 0 {
			return
		}
	}
	c.reportUndecided()
}

// collect finds the matrix instructions that the lanes of a warp may not execute together.
func (c *checker) collect() {
	for _, b := range c.Func.Blocks {
		for _, in := range b.Instrs {
			if isMatrix(in) && c.Uniform().At(in) < uniform.Warp {
				c.watch[in] = true
				c.order = append(c.order, in)
			}
		}
	}
}

// isMatrix reports whether an instruction is a matrix instruction of a warp.
func isMatrix(in *ir.Instr) bool {
	switch in.Kind().Head() {
	case isa.HeadMma, isa.HeadWmma, isa.HeadMovmatrix, isa.HeadLdmatrix, isa.HeadStmatrix:
		return in.Has(isa.EffectConvergent)
	}
	return false
}

// isAccess reports whether an instruction accesses shared memory, so that traces contain it, and
// analyzer convergence reviews the branches before it.
func isAccess(in *ir.Instr) bool {
	return in.Kind() == isa.KindLdmatrix || in.Kind() == isa.KindStmatrix
}

// warps returns the indices of the warps to execute.
func (c *checker) warps() (list []int) {
	for _, t := range walk.Threads(c.Func, c.walk.Block()) {
		list = append(list, t/warpSize)
	}
	list = slices.Compact(list)
	if c.walk.Block() == 0 {
		return []int{0}
	}
	return list[:min(len(list), maxWarps)]
}

// visit counts the executions of the watched instructions.
func (c *checker) visit(p *walk.Path, in *ir.Instr) bool {
	if c.watch[in] {
		p.Seen = append(p.Seen, walk.Event{In: in})
	}
	return true
}

// end records a complete path.
func (c *checker) end(p *walk.Path) {
	x := path{Path: p, lane: c.lane, counts: make(map[*ir.Instr]int)}
	for _, e := range p.Seen {
		x.counts[e.In]++
	}
	c.paths = append(c.paths, x)
}

// compare reports the watched instructions that another lane executes a different number of times
// than the first lane, on paths that do not depend on data and that one launch may take.
func (c *checker) compare() {
	known := slices.DeleteFunc(slices.Clone(c.paths), func(x path) bool { return x.onData() })
	c.order = slices.DeleteFunc(c.order, func(in *ir.Instr) bool {
		for i := range known {
			x := &known[i]
			if x.lane != 0 {
				break
			}
			for j := range known {
				y := &known[j]
				if y.lane > 0 && x.counts[in] != y.counts[in] && x.Compatible(y.Path) {
					c.report(in, x, y)
					return true
				}
			}
		}
		return false
	})
}

// onData reports whether the path depends on data.
func (x *path) onData() bool {
	return slices.ContainsFunc(x.Choices, func(c walk.Choice) bool { return c.From == walk.Data })
}

// report reports an instruction that one of two lanes executes more often than the other.
func (c *checker) report(in *ir.Instr, a, b *path) {
	if a.counts[in] < b.counts[in] {
		a, b = b, a
	}
	f := c.Report(&verify.RuleDiverged, in,
		"%s requires all lanes of the warp, but lane %d does not execute it when lane %d does",
		in.Op, b.lane, a.lane)
	if len(a.Choices)+len(b.Choices) == 0 {
		return
	}
	f.As(diag.Review).Message += ", for some arguments of the kernel"
	for _, x := range slices.Concat(a.Choices, b.Choices) {
		f.Also(x.In, "the arguments decide this branch")
	}
}

// reportUndecided records the instructions that lanes reach only on paths that depend on data.
func (c *checker) reportUndecided() {
	for _, in := range c.order {
		i := slices.IndexFunc(c.paths, func(x path) bool { return x.onData() })
		if i < 0 || isAccess(in) {
			continue
		}
		at, _ := c.Module.At(in.Pos)
		branch := c.paths[i].Choices[0].In
		for _, x := range c.paths[i].Choices {
			if x.From == walk.Data {
				branch = x.In
			}
		}
		from, _ := c.Module.At(branch.Pos)
		c.Missed("whether all lanes execute %s in line %d together: the branch in line %d depends on data (B2)",
			in.Head(), at.Line, from.Line)
	}
}
