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
	flow  *ir.Flow
	shape shape
	regs  []register // by the number of the register
	block []Level
	// controls holds, for each block, the blocks whose branches decide whether the block is
	// executed.
	controls    [][]int
	loop        []*graph.Loop     // innermost loop of each block
	irreducible bool              // some cycles are not natural loops
	blockOf     map[*ir.Instr]int // block of each instruction; see At
	kernel      map[ir.Ref]bool   // parameters of the kernel
}

// A register is what is known of a register.
type register struct {
	level  Level
	leaks  bool          // written in a loop and read outside the loop
	writes int           // number of writes; a partial write counts as two
	writer *ir.Instr     // the write, if it is the only one
	loops  []*graph.Loop // the innermost loops that contain writes
}

// register returns the entry of a register of the function, or an entry of which nothing is known.
func (l *Levels) register(r *ir.Reg) *register {
	if n := int(r.Number); n < len(l.regs) && l.flow.Func.Regs[n] == r {
		return &l.regs[n]
	}
	return &register{level: Thread, writes: 2}
}

// Of analyzes a function. The thread index distinguishes warps only if .reqntid declares
// one-dimensional blocks.
func Of(g *ir.Flow) *Levels {
	g.Func.Number()
	l := &Levels{
		flow: g, shape: shapeOf(g.Func), regs: make([]register, len(g.Func.Regs)),
		block: make([]Level, len(g.Succs)), kernel: make(map[ir.Ref]bool),
	}
	for i := range l.regs {
		l.regs[i].level = Grid
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
				l.register(v.Reg).level = Thread
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
func (l *Levels) Value(r *ir.Reg) Level { return l.register(r).level }

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
	if l.blockOf == nil {
		l.blockOf = make(map[*ir.Instr]int)
		for b, block := range l.flow.Func.Blocks {
			for _, x := range block.Instrs {
				l.blockOf[x] = b
			}
		}
	}
	level := l.block[l.blockOf[in]]
	if r := in.Guard.Reg; r != nil {
		level = min(level, l.Value(r))
	}
	return level
}

// Controls returns the blocks whose branches directly decide whether a block is executed.
func (l *Levels) Controls(block int) []int { return l.controls[block] }

// findControls finds the branches that decide whether a block is executed, and the loops.
func (l *Levels) findControls() {
	g := l.flow
	l.controls = graph.Controls(g.Succs, g.Leaves,
		graph.Postdominators(g.Succs, g.Preds, g.Leaves))
	// Nothing is known about blocks that cannot reach an exit.
	for b, exits := range graph.Exiting(g.Succs, g.Preds, g.Leaves) {
		if !exits {
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
	for b, block := range l.flow.Func.Blocks {
		for _, in := range block.Instrs {
			in.Registers(func(r *ir.Reg, a isa.Access) {
				x := l.register(r)
				switch a {
				case isa.Write:
					x.writes++
					x.writer = in
					// writes that follow each other count once, so that the lists stay short
					if n, loop := len(x.loops), l.loop[b]; loop != nil && (n == 0 ||
						x.loops[n-1] != loop) {
						x.loops = append(x.loops, loop)
					}
				case isa.ReadWrite:
					x.writes += 2
				}
			})
		}
	}
	for b, block := range l.flow.Func.Blocks {
		for _, in := range block.Instrs {
			in.Registers(func(r *ir.Reg, a isa.Access) {
				if x := l.register(r); a != isa.Write && !x.leaks {
					x.leaks = slices.ContainsFunc(x.loops,
						func(loop *graph.Loop) bool { return !loop.Has(b) })
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
				x := l.register(r)
				if x.level == Thread {
					first = false
					return // it cannot be lower
				}
				level := l.resultLevel(in, b, first)
				first = false
				if in.Guard.Reg != nil {
					level = min(level, l.Value(in.Guard.Reg))
				}
				// Which write was the last, and in which iteration, depends on the executed path.
				if x.writes > 1 || x.leaks || l.irreducible {
					level = min(level, l.block[b])
				}
				if level < x.level {
					x.level = level
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
