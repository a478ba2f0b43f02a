// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package pressure

import (
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
)

// The register counts that setmaxnreg accepts: multiples of 8 from 24 to 256. It sets the register
// count of the threads of a warpgroup.
const (
	budgetStep       = 8
	leastBudget      = 24
	maxBudget        = 256
	warpgroupThreads = 128
)

// Budgets describes the setmaxnreg instructions of a kernel. Some warps release registers and
// other warps acquire them, all from the registers that the thread block has at launch.
type Budgets struct {
	Roles  []Budget
	Groups int // warpgroups of a block, or 0 if directives do not give the block size
}

// A Budget is one setmaxnreg.
type Budget struct {
	Instr *ir.Instr
	Count int  // registers per thread after this instruction
	Takes bool // true for setmaxnreg.inc, which acquires registers, or false for .dec
	Words int  // peak of live registers after it, up to the next setmaxnreg
	Valid bool // Count is a multiple of 8 from 24 to 256
}

// usesSetmaxnreg reports whether a kernel uses setmaxnreg. The directives of such a kernel then
// determine its register count.
func (b Budgets) usesSetmaxnreg() bool { return len(b.Roles) > 0 }

// Pool returns the number of registers of a thread block whose threads start with count each.
func (b Budgets) Pool(count int) int { return b.Groups * warpgroupThreads * count }

// A Share is an assignment of warpgroups to budgets.
type Share struct {
	Groups []int // number of warpgroups for each of Roles
	Words  int   // registers in total
}

// Shares returns the ways to distribute warpgroups over roles, at least one warpgroup each, that
// fit into the pool if each thread starts with count registers.
func (b Budgets) Shares(count int) []Share {
	if b.Groups < len(b.Roles) || len(b.Roles) == 0 || b.Groups > 16 {
		return nil
	}
	var list []Share
	groups := make([]int, len(b.Roles))
	var try func(role, left, words int)
	try = func(role, left, words int) {
		last := role == len(groups)-1
		for n := 1; n <= left-(len(groups)-1-role); n++ {
			if last && n != left {
				continue
			}
			groups[role] = n
			sum := words + n*warpgroupThreads*b.Roles[role].Count
			if !last {
				try(role+1, left-n, sum)
			} else if sum <= b.Pool(count) {
				list = append(list, Share{append([]int(nil), groups...), sum})
			}
		}
	}
	try(0, b.Groups, 0)
	return list
}

// maxRoles is the maximum number of setmaxnreg instructions that are examined in a kernel. A block
// has at most 16 warpgroups, and each changes its budget a few times.
const maxRoles = 256

// budgets finds the setmaxnreg instructions of a kernel and the peak of live registers after each.
func budgets(f *ir.Func, threads int, x *measure) Budgets {
	b := Budgets{Groups: threads / warpgroupThreads}
	g := x.graph
	for i := range g.ops {
		for j := range g.ops[i] {
			in := g.ops[i][j].in
			if in.Kind().Head() != isa.HeadSetmaxnreg || len(in.Args) == 0 ||
				in.Args[0].Kind != ir.Int {
				continue
			}
			if len(b.Roles) == maxRoles {
				return b
			}
			n := int(min(max(in.Args[0].Value, -1), 1<<16))
			b.Roles = append(b.Roles, Budget{
				Instr: in, Count: n, Takes: in.Kind() == isa.KindSetmaxnregInc,
				Words: g.from(x.out, i, j),
				Valid: n%budgetStep == 0 && n >= leastBudget && n <= maxBudget,
			})
		}
	}
	return b
}

// from returns the peak of live registers between op `at` of a block and the next setmaxnreg on
// each path.
func (g *graph) from(out [][]word, block, at int) int {
	t := &tally{s: g.words, live: make([]int32, len(g.words.alias))}
	most := 0
	// part scans a block from op `from`, and reports whether control reaches the end of the block
	// without another setmaxnreg.
	part := func(b, from int) bool {
		ops := g.ops[b]
		to := len(ops)
		for i := from; i < to; i++ {
			if ops[i].in.Kind().Head() == isa.HeadSetmaxnreg {
				to = i
			}
		}
		t.start(out[b])
		for i := len(ops) - 1; i >= from; i-- {
			if n := t.back(&ops[i]); i < to {
				most = max(most, n)
			}
		}
		return to == len(ops)
	}
	seen := make([]bool, len(g.ops))
	var work []int
	if part(block, at+1) {
		work = append(work, g.flow.Succs[block]...)
	}
	for len(work) > 0 {
		b := work[len(work)-1]
		work = work[:len(work)-1]
		if seen[b] {
			continue
		}
		seen[b] = true
		if part(b, 0) {
			work = append(work, g.flow.Succs[b]...)
		}
	}
	return most
}
