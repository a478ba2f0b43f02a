// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package wholewarp checks that all lanes of a warp execute the matrix instructions of the warp:
// mma, wmma, movmatrix, ldmatrix and stmatrix. It executes the lanes one by one, with unknown
// arguments and data.
package wholewarp

import (
	"maps"
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

	reported map[*ir.Instr]bool
	// undecided holds, for an instruction, the choices that decide whether all lanes execute it.
	undecided map[*ir.Instr][]walk.Choice
}

// A path is a complete path of one lane, with how often the lane executes each watched
// instruction.
type path struct {
	*walk.Path
	lane   int
	counts map[*ir.Instr]int
}

func run(p *verify.Pass) {
	c := &checker{Pass: p, watch: make(map[*ir.Instr]bool),
		reported: make(map[*ir.Instr]bool), undecided: make(map[*ir.Instr][]walk.Choice)}
	c.collect()
	if len(c.order) == 0 {
		return
	}
	c.walk = walk.New(p.Flow, p.BlockSize(),
		walk.Visitor{Wants: c.wants, Visit: c.visit, End: c.end})
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

// wants reports whether an instruction is watched.
func (c *checker) wants(in *ir.Instr, _ func(*ir.Reg)) bool { return c.watch[in] }

// visit counts the executions of the watched instructions.
func (c *checker) visit(p *walk.Path, in *ir.Instr) bool {
	p.Seen = append(p.Seen, walk.Event{In: in})
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
// than the first lane, on paths that one launch may take. If a path depends on data, it is not
// decided whether the lanes take both.
func (c *checker) compare() {
	for i := range c.paths {
		x := &c.paths[i]
		if x.lane != 0 {
			break
		}
		for j := range c.paths {
			if y := &c.paths[j]; y.lane != 0 && !maps.Equal(x.counts, y.counts) &&
				x.Compatible(y.Path) {
				c.differ(x, y)
			}
		}
	}
	c.order = slices.DeleteFunc(c.order, func(in *ir.Instr) bool { return c.reported[in] })
}

// differ reports the watched instructions that two lanes execute a different number of times.
func (c *checker) differ(x, y *path) {
	onData := x.onData() || y.onData()
	for _, in := range c.order {
		switch {
		case x.counts[in] == y.counts[in] || c.reported[in]:
		case !onData:
			c.reported[in] = true
			c.report(in, x, y)
		case c.undecided[in] == nil:
			c.undecided[in] = slices.Concat(x.Choices, y.Choices)
		}
	}
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

// reportUndecided records the instructions for which data decides whether all lanes execute them.
func (c *checker) reportUndecided() {
	for _, in := range c.order {
		i := slices.IndexFunc(c.undecided[in],
			func(x walk.Choice) bool { return x.From == walk.Data })
		if isAccess(in) || i < 0 {
			continue
		}
		at, _ := c.Module.At(in.Pos)
		from, _ := c.Module.At(c.undecided[in][i].In.Pos)
		c.Missed("whether all lanes execute %s in line %d together: the branch in line %d depends on data (B2)",
			in.Head(), at.Line, from.Line)
	}
	if list := c.walk.Unreached(); len(list) > 0 {
		at, _ := c.Module.At(list[0].Pos)
		c.Missed("whether all lanes execute %s in line %d together: the kernel has too many paths (B2)",
			list[0].Head(), at.Line)
	}
}
