// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package uniform is a divergence analysis: it finds over which threads a register has the same
// value, and which threads reach a block together. It considers all paths of a function at once,
// while package trace analyzes each path separately. It is therefore faster and less precise. Its
// results are certain. The level Thread means that nothing is known.
package uniform

import (
	"slices"

	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/passes/analysis/graph"
)

// A Level is the widest group of threads for which a property holds.
type Level uint8

// Each level includes the levels before it.
const (
	Thread Level = iota
	Warp
	Warpgroup
	Block
	Cluster
	Grid
)

func (l Level) String() string {
	return [...]string{"thread", "warp", "warpgroup", "block", "cluster", "grid"}[l]
}

// Levels holds the results for one function.
type Levels struct {
	flow   *ir.Flow
	shape  shape
	value  map[*ir.Reg]Level // level of each register; Grid if absent
	block  []Level
	writes map[*ir.Reg]int       // number of writes; a partial write counts as two
	writer map[*ir.Reg]*ir.Instr // the write of each register that is written once
	// controls holds, for each block, the blocks whose branches decide whether the block is
	// executed.
	controls    [][]int
	loop        []*graph.Loop     // innermost loop of each block
	leaks       map[*ir.Reg]bool  // registers that are written in a loop and read outside the loop
	irreducible bool              // some cycles are not natural loops
	blockOf     map[*ir.Instr]int // block of each instruction
	kernel      map[ir.Ref]bool   // parameters of the kernel
}

// Of analyzes a function. The thread index distinguishes warps only if .reqntid declares
// one-dimensional blocks.
func Of(g *ir.Flow) *Levels {
	l := &Levels{
		flow: g, shape: shapeOf(g.Func), value: make(map[*ir.Reg]Level),
		block: make([]Level, len(g.Succs)), writes: make(map[*ir.Reg]int),
		writer: make(map[*ir.Reg]*ir.Instr), leaks: make(map[*ir.Reg]bool),
		blockOf: make(map[*ir.Instr]int), kernel: make(map[ir.Ref]bool),
	}
	for i := range l.block {
		l.block[i] = Grid
	}
	if g.Func.Kernel {
		for _, v := range g.Func.Params {
			l.kernel[v] = true
		}
	} else {
		for _, v := range g.Func.Params { // callers may pass a different value in each thread
			if v.Reg != nil {
				l.value[v.Reg] = Thread
			}
		}
	}
	l.findControls()
	l.collect()
	for l.lowerLevels() {
	}
	return l
}

// Value returns the group of threads over which a register has the same value. The threads must
// read the register at the same instruction and in the same iteration of the surrounding loops.
func (l *Levels) Value(r *ir.Reg) Level {
	if v, ok := l.value[r]; ok {
		return v
	}
	return Grid
}

// Operand returns the group of threads over which an operand of an instruction has the same
// value.
func (l *Levels) Operand(o *ir.Operand) Level {
	level := Grid
	o.Walk(func(o *ir.Operand) {
		switch ref := o.Ref().(type) {
		case *ir.Reg:
			level = min(level, l.Value(ref))
		case *ir.Var:
			if ref.Space == isa.Local {
				level = Thread
			}
		}
		if o.Kind == ir.Special {
			level = min(level, l.shape.specialLevel(o.Text()))
		}
	})
	return level
}

// Together returns the group of threads that reaches a block together: either all threads of a
// group reach it, or none.
func (l *Levels) Together(block int) Level { return l.block[block] }

// At returns the group of threads that executes an instruction together: it considers the
// instruction's block and its guard.
func (l *Levels) At(in *ir.Instr) Level {
	level := l.block[l.blockOf[in]]
	if r := in.Guard.Reg; r != nil {
		level = min(level, l.Value(r))
	}
	return level
}

// Controls returns the blocks whose branches directly decide whether a block is executed.
func (l *Levels) Controls(block int) []int { return l.controls[block] }

// findControls finds the branches that decide whether a block is executed: one side of the branch
// certainly reaches the block, and the other side may not.
func (l *Levels) findControls() {
	g := l.flow
	post := graph.Postdominators(g.Succs, g.Preds, g.Leaves)
	l.controls = make([][]int, len(g.Succs))
	for from, succs := range g.Succs {
		if len(succs) < 2 && (len(succs) == 0 || !g.Leaves[from]) {
			continue
		}
		for _, b := range succs {
			for b != graph.None && b != post.Parent[from] {
				if n := len(l.controls[b]); n > 0 && l.controls[b][n-1] == from {
					break
				}
				l.controls[b] = append(l.controls[b], from)
				b = post.Parent[b]
			}
		}
	}
	// Nothing is known about blocks that cannot reach an exit.
	var ends []int
	for b, leaves := range g.Leaves {
		if leaves || len(g.Succs[b]) == 0 {
			ends = append(ends, b)
		}
	}
	out := make([]bool, len(g.Succs))
	for _, b := range ir.Postorder(g.Preds, ends...) {
		out[b] = true
	}
	for b := range out {
		if !out[b] {
			l.block[b] = Thread
		}
	}
	var whole bool
	_, l.loop, whole = graph.Loops(g.Succs, g.Preds, graph.Dominators(g.Succs, g.Preds))
	l.irreducible = !whole
}

// collect counts the writes of each register, and finds the registers that are written in a loop
// and read outside the loop.
func (l *Levels) collect() {
	// the innermost loops in which each register is written; instructions that follow each other
	// count once, so that the lists stay short
	loops := make(map[*ir.Reg][]*graph.Loop)
	for b, block := range l.flow.Func.Blocks {
		for _, in := range block.Instrs {
			l.blockOf[in] = b
			in.Registers(func(r *ir.Reg, a isa.Access) {
				switch a {
				case isa.Write:
					l.writes[r]++
					l.writer[r] = in
					list, loop := loops[r], l.loop[b]
					if loop != nil && (len(list) == 0 || list[len(list)-1] != loop) {
						loops[r] = append(list, loop)
					}
				case isa.ReadWrite:
					l.writes[r] += 2
				}
			})
		}
	}
	for b, block := range l.flow.Func.Blocks {
		for _, in := range block.Instrs {
			in.Registers(func(r *ir.Reg, a isa.Access) {
				if a != isa.Write && !l.leaks[r] && slices.ContainsFunc(loops[r],
					func(loop *graph.Loop) bool { return !loop.Has(b) }) {
					l.leaks[r] = true
				}
			})
		}
	}
}

// lowerLevels lowers the levels of values that depend on values with lower levels, and reports
// whether it lowered any.
func (l *Levels) lowerLevels() bool {
	changed := false
	for b := range l.block {
		level := l.block[b]
		for _, c := range l.controls[b] {
			level = min(level, l.block[c], l.branchLevel(c))
		}
		changed = changed || level < l.block[b]
		l.block[b] = level
	}
	for b, block := range l.flow.Func.Blocks {
		for _, in := range block.Instrs {
			if in.Directive() {
				continue
			}
			first := true
			in.Registers(func(r *ir.Reg, a isa.Access) {
				if a == isa.Read {
					return
				}
				level := l.resultLevel(in, first)
				first = false
				if in.Guard.Reg != nil {
					level = min(level, l.Value(in.Guard.Reg))
				}
				// Which write was the last, and in which iteration, depends on the executed path.
				if l.writes[r] > 1 || l.leaks[r] || l.irreducible {
					level = min(level, l.block[b])
				}
				if level < l.Value(r) {
					l.value[r] = level
					changed = true
				}
			})
		}
	}
	return changed
}

// branchLevel returns the largest group of threads that all take the same side of the branch at the
// end of a block.
func (l *Levels) branchLevel(block int) Level {
	in := l.flow.Func.Blocks[block].Last()
	level := Grid
	if in == nil {
		return level
	}
	if r := in.Guard.Reg; r != nil {
		level = l.Value(r)
	}
	if in.Kind() == isa.KindBrxIdx && len(in.Args) > 0 {
		level = min(level, l.Operand(&in.Args[0]))
	}
	return level
}
