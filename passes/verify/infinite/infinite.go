// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package infinite reports loops that never end, because no iteration changes the conditions under
// which they end.
package infinite

import (
	"embed"
	"slices"

	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/passes/analysis/graph"
	"github.com/ptxdsl/ptxdsl/passes/analysis/walk"
	"github.com/ptxdsl/ptxdsl/passes/verify"
)

//go:embed rules/*.md
var pages embed.FS

var ruleInfinite = diag.Rule{ID: "R8", Layer: "infinite", Severity: diag.Error}

// Analyzer is the analyzer for infinite loops.
var Analyzer = &verify.Analyzer{
	Name: "infinite",
	Doc: `Infinite reports loops whose conditions depend only on values that no iteration changes, if a
thread of the first block executes a second iteration. A condition that depends on memory, on
other threads or on a clock may change.`,
	Rules: diag.Rules{ruleInfinite},
	Pages: pages,
	Flow:  true,
	Run:   run,
}

// A checker checks the loops of one kernel.
type checker struct {
	*verify.Pass
	order []*ir.Instr // the first instructions of loops whose conditions do not change
	// inside holds the instructions of each of these loops.
	inside   map[*ir.Instr]map[*ir.Instr]bool
	certain  map[*ir.Instr]*walk.Path // a path without choices to the second iteration
	possible map[*ir.Instr][]walk.Choice
}

func run(p *verify.Pass) {
	c := &checker{Pass: p, inside: make(map[*ir.Instr]map[*ir.Instr]bool),
		certain:  make(map[*ir.Instr]*walk.Path),
		possible: make(map[*ir.Instr][]walk.Choice)}
	c.findLoops()
	if len(c.order) == 0 {
		return
	}
	w := walk.New(p.Flow, p.BlockSize(), walk.Visitor{
		Wants: func(*ir.Instr, func(*ir.Reg)) bool { return true }, Visit: c.visit})
	for _, thread := range walk.Threads(p.Func, w.Block()) {
		w.Thread(thread)
	}
	unreached := w.Unreached()
	for _, in := range c.order {
		c.report(in, w.Block())
		if slices.Contains(unreached, in) {
			at, _ := c.Module.At(in.Pos)
			c.Missed("whether the loop in line %d ends: the kernel has too many paths (R8)",
				at.Line)
		}
	}
}

// findLoops finds the loops whose conditions no iteration changes.
func (c *checker) findLoops() {
	f := c.Flow
	list, _, _ := graph.Loops(f.Succs, f.Preds, graph.Dominators(f.Succs, f.Preds))
	for _, l := range list {
		in := first(c.Func.Blocks[l.Head])
		if in == nil || !c.neverEnds(l) {
			continue
		}
		c.order = append(c.order, in)
		c.inside[in] = make(map[*ir.Instr]bool)
		for _, b := range l.Blocks {
			for _, x := range c.Func.Blocks[b].Instrs {
				c.inside[in][x] = true
			}
		}
	}
}

// first returns the first instruction of a block, or nil.
func first(b *ir.Block) *ir.Instr {
	for _, in := range b.Instrs {
		if !in.Directive() {
			return in
		}
	}
	return nil
}

// neverEnds reports whether a loop has exits, and no iteration changes the conditions of any of
// them.
func (c *checker) neverEnds(l *graph.Loop) bool {
	v := &variance{writes: make(map[*ir.Reg][]*ir.Instr), seen: make(map[*ir.Reg]bool)}
	for _, b := range l.Blocks {
		if c.Flow.Leaves[b] {
			return false
		}
		for _, in := range c.Func.Blocks[b].Instrs {
			if in.Kind() == isa.KindCall || in.Kind() == isa.KindTrap {
				return false
			}
			in.Registers(func(r *ir.Reg, a isa.Access) {
				if a != isa.Read {
					v.writes[r] = append(v.writes[r], in)
				}
			})
		}
	}
	exits := 0
	for _, b := range l.Blocks {
		if !slices.ContainsFunc(c.Flow.Succs[b], func(to int) bool { return !l.Has(to) }) {
			continue
		}
		last := c.Func.Blocks[b].Last()
		if last == nil || last.Kind() != isa.KindBra || last.Guard.Reg == nil ||
			v.changes(last.Guard.Reg) {
			return false
		}
		exits++
	}
	return exits > 0
}

// A variance finds registers that may change between the iterations of a loop.
type variance struct {
	writes map[*ir.Reg][]*ir.Instr // the instructions of the loop that write each register
	seen   map[*ir.Reg]bool
}

// changes reports whether a register may change between iterations.
func (v *variance) changes(r *ir.Reg) bool {
	list := v.writes[r]
	if len(list) == 0 {
		return false
	}
	in := list[0]
	if v.seen[r] || len(list) > 1 || in.Guard.Reg != nil || !in.Has(isa.EffectPure) {
		return true // a register that depends on itself is a counter
	}
	v.seen[r] = true
	varies := slices.ContainsFunc(in.Args, func(o ir.Operand) bool { return o.Kind == ir.Special })
	in.Registers(func(x *ir.Reg, a isa.Access) {
		varies = varies || a == isa.Read && v.changes(x) || a == isa.ReadWrite
	})
	v.seen[r] = false
	return varies
}

// visit records paths that reach the first instruction of a loop for the second time without
// leaving the loop.
func (c *checker) visit(p *walk.Path, in *ir.Instr) bool {
	p.Seen = slices.DeleteFunc(p.Seen, func(e walk.Event) bool { return !c.inside[e.In][in] })
	if c.inside[in] == nil {
		return true
	}
	again := slices.ContainsFunc(p.Seen, func(e walk.Event) bool { return e.In == in })
	p.Seen = append(p.Seen, walk.Event{In: in})
	if !again {
		return true
	}
	if len(p.Choices) == 0 && c.certain[in] == nil {
		c.certain[in] = p
	} else if len(p.Choices) > 0 && c.possible[in] == nil {
		c.possible[in] = slices.Clone(p.Choices)
	}
	return false
}

// report reports a loop of which a thread executes a second iteration.
func (c *checker) report(in *ir.Instr, block int) {
	const text = "infinite loop: no iteration changes the condition under which the loop ends"
	if p := c.certain[in]; p != nil {
		f := c.Report(&ruleInfinite, in, "%s; thread %d executes it", text, p.Thread)
		if p.Thread > 0 && block == 0 {
			f.As(diag.Review)
		}
	} else if list := c.possible[in]; list != nil {
		f := c.Report(&ruleInfinite, in, "%s, if a thread executes a second iteration", text).
			As(diag.Review)
		for _, x := range list {
			f.Also(x.In, "decided by arguments or data")
		}
	}
}
