// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package endless reports loops whose exit condition depends on no value that the loop changes.
package endless

import (
	"slices"

	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/passes/analysis/thread"
	"github.com/ptxdsl/ptxdsl/passes/verify/annotated"
)

// Analyzer returns the analyzer for infinite loops.
func Analyzer() *annotated.Analyzer {
	return &annotated.Analyzer{
		Name: "endless",
		Doc: `Endless reports loops that end only by their condition, where no instruction of the loop changes
what the condition depends on. A condition that loads from memory may change.`,
		Rules: []*diag.Rule{&annotated.Flow},
		Run:   run,
	}
}

// A write is an instruction that writes a register, with its index in the kernel. Indices start
// at one.
type write struct {
	at int
	in *ir.Instr
}

// A kernelCode holds the instruction indices of a kernel.
type kernelCode struct {
	first  map[*ir.Block]int   // index of the first instruction of each block
	writes map[*ir.Reg][]write // writes of each register, in ascending order
}

func run(p *annotated.Pass) {
	if len(p.Notes.Loops) == 0 {
		return
	}
	c := newKernelCode(p.Func)
	for _, l := range p.Notes.Loops {
		if c.isInvariant(l.Cond, c.first[l.Top], c.first[l.End], make(map[*ir.Reg]bool)) {
			p.Report(l.Pos, &annotated.Flow,
				"infinite loop: the body does not change what its condition depends on; assign to a variable with Set")
		}
	}
}

func newKernelCode(f *ir.Func) *kernelCode {
	c := &kernelCode{make(map[*ir.Block]int), make(map[*ir.Reg][]write)}
	n := 0
	for _, b := range f.Blocks {
		c.first[b] = n
		for _, in := range b.Instrs {
			n++
			in.Registers(func(r *ir.Reg, a isa.Access) {
				if a != isa.Read {
					c.writes[r] = append(c.writes[r], write{n, in})
				}
			})
		}
	}
	return c
}

// isInvariant reports whether a register has the same value in all iterations of the loop that
// spans the instructions lo to hi. seen holds the registers that have been visited.
func (c *kernelCode) isInvariant(r *ir.Reg, lo, hi int, seen map[*ir.Reg]bool) bool {
	if seen[r] {
		return true
	}
	seen[r] = true
	list := c.writes[r]
	from, _ := slices.BinarySearchFunc(list, lo+1, func(w write, at int) int { return w.at - at })
	if from == len(list) || list[from].at > hi {
		return true // computed before the loop, and unchanged in the loop
	}
	in := list[from].in
	if len(list) > 1 || r.Varies || in.Guard.Reg != nil || !isPure(in) {
		return false
	}
	same := true
	in.Registers(func(r *ir.Reg, a isa.Access) {
		same = same && (a != isa.Read || c.isInvariant(r, lo, hi, seen))
	})
	return same
}

// isPure reports whether the result of an instruction depends only on its source registers.
func isPure(in *ir.Instr) bool {
	switch in.Kind().Head() {
	case isa.HeadFma, isa.HeadAbs:
	default:
		if !thread.Pure(in.Kind()) {
			return false
		}
	}
	return !slices.ContainsFunc(in.Args, func(o ir.Operand) bool { return o.Kind == ir.Special })
}
