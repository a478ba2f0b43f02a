// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package variables checks individual accesses to variables in global, constant and local memory,
// and whether addresses are used in the state space to which they belong. It executes threads of
// the first block, with unknown arguments and data.
package variables

import (
	"embed"
	"fmt"
	"slices"

	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/passes/analysis/memory"
	"github.com/ptxdsl/ptxdsl/passes/analysis/walk"
	"github.com/ptxdsl/ptxdsl/passes/verify"
)

//go:embed rules/*.md
var pages embed.FS

var (
	ruleBounds = diag.Rule{ID: "G3", Layer: "variables", Severity: diag.Error}
	ruleStale  = diag.Rule{ID: "G4", Layer: "variables", Severity: diag.Error}
	ruleSpace  = diag.Rule{ID: "S4", Layer: "variables", Severity: diag.Error}
)

// Analyzer is the analyzer for accesses to variables.
var Analyzer = &verify.Analyzer{
	Name: "variables",
	Doc: `Variables reports accesses past the end of a variable in global, constant or local memory,
addresses that are used in another state space than their own, and loads through the read-only
cache of what the same thread has stored. It checks only addresses that depend on the thread index
and constants, on paths that depend on neither parameters nor data.`,
	Rules: diag.Rules{ruleBounds, ruleStale, ruleSpace},
	Pages: pages,
	Flow:  true,
	Run:   run,
}

// A checker checks the accesses of one kernel.
type checker struct {
	*verify.Pass
	walk  *walk.Walk
	stale bool // the kernel has loads through the read-only cache
	// derived holds the marks of each register, by its number.
	derived []uint8
	seen    map[*ir.Instr]bool
	missed  map[*ir.Instr]func() // reasons why an access is not decided, unless it is reported
	order   []*ir.Instr          // the accesses in missed
}

func run(p *verify.Pass) {
	c := &checker{Pass: p, seen: make(map[*ir.Instr]bool), missed: make(map[*ir.Instr]func()),
		derived: make([]uint8, len(p.Func.Regs))}
	for _, b := range c.Func.Blocks {
		c.stale = c.stale || slices.ContainsFunc(b.Instrs, isReadOnly)
	}
	walk.Derive(c.Func, c.derived, mark)
	c.walk = walk.New(p.Flow, p.BlockSize(), walk.Visitor{Wants: c.wants, Visit: c.visit})
	if c.walk.IsEmpty() {
		return
	}
	for _, thread := range walk.Threads(p.Func, c.walk.Block()) {
		c.walk.Thread(thread)
	}
	for _, in := range c.order {
		if !c.seen[in] {
			c.missed[in]()
		}
	}
	if list := c.walk.Unreached(); len(list) > 0 {
		c.Missed("the address of %s in line %d: the kernel has too many paths (G3, G4, S4)",
			list[0].Head(), c.line(list[0]))
	}
}

// Marks of registers.
const (
	ofShared  uint8 = 1 << iota // derived from the address of a variable in shared memory
	ofOther                     // derived from the address of another variable
	isGeneric                   // derived from a generic address
)

// mark returns the marks of the results of an instruction that follow from its own operands.
func mark(in *ir.Instr) (marks uint8) {
	if in.Kind() == isa.KindCvta {
		marks = isGeneric
	}
	for i := range in.Args {
		marks |= markOf(&in.Args[i])
	}
	return marks
}

// markOf returns the marks of an operand that is a variable, or 0.
func markOf(o *ir.Operand) uint8 {
	v := o.Var()
	switch {
	case o.Kind != ir.Variable || v == nil || v.Space.Base() == isa.Param:
		return 0
	case v.Space.Base() == isa.Shared:
		return ofShared
	}
	return ofOther
}

// wants reports whether the address of an access may violate a rule.
func (c *checker) wants(in *ir.Instr, need func(*ir.Reg)) bool {
	head, space := in.Kind().Head(), in.Space().Base()
	switch head {
	case isa.HeadLd, isa.HeadSt, isa.HeadAtom, isa.HeadRed:
		if space == isa.Param {
			return false
		}
	default:
		return false
	}
	i := slices.IndexFunc(in.Args, func(o ir.Operand) bool { return o.Kind == ir.Address })
	if i < 0 || len(in.Args[i].Args()) == 0 {
		return false
	}
	base := &in.Args[i].Args()[0]
	marks, r := markOf(base), base.Reg
	if r != nil && int(r.Number) < len(c.derived) {
		marks = c.derived[r.Number]
	}
	found := marks&ofOther != 0 ||
		marks&ofShared != 0 && (space != isa.Shared || marks&isGeneric != 0) ||
		c.stale && (head == isa.HeadSt || isReadOnly(in)) && space != isa.Shared
	if found && r != nil {
		need(r)
	}
	return found
}

// isReadOnly reports whether an instruction loads through the read-only cache.
func isReadOnly(in *ir.Instr) bool { return in.Kind() == isa.KindLd && in.HasMod(isa.ModNC) }

// visit checks an instruction of a path.
func (c *checker) visit(path *walk.Path, in *ir.Instr) bool {
	at, bytes := path.AddressOf(in), memory.Bytes(in)
	if at.Kind == walk.Address {
		c.checkSpace(path, in, at)
		c.checkBounds(path, in, at, bytes)
	}
	if c.stale {
		c.checkStale(path, in, at, bytes)
	}
	return true
}

// checkSpace reports an address that is used in another state space than its own.
func (c *checker) checkSpace(path *walk.Path, in *ir.Instr, at walk.Value) {
	used, own := in.Space().Base(), at.Var.Space.Base()
	switch {
	case own == isa.Param || used == own && !at.Generic:
		return
	case used == isa.Generic && (at.Generic || own == isa.Global):
		return
	case used == isa.Global && own == isa.Global:
		return // generic addresses of global memory are global addresses
	}
	switch {
	case at.Generic:
		c.report(&ruleSpace, path, in,
			"wrong state space: %s uses a generic address of %s, which is in %s memory; convert it with cvta.to",
			in.Op, at.Var.Name, own)
	case used == isa.Generic:
		c.report(&ruleSpace, path, in,
			"wrong state space: %s is generic, but the address of %s is in %s memory; convert it with cvta",
			in.Op, at.Var.Name, own)
	default:
		c.report(&ruleSpace, path, in,
			"wrong state space: %s accesses %s memory, but %s is in %s memory", in.Op, used,
			at.Var.Name, own)
	}
}

// checkBounds reports an access outside a variable.
func (c *checker) checkBounds(path *walk.Path, in *ir.Instr, at walk.Value, bytes int64) {
	v, size := at.Var, at.Var.Size()
	switch v.Space.Base() {
	case isa.Global, isa.Const, isa.Local:
	default:
		return
	}
	if size == 0 || at.N >= 0 && at.N+at.Span+bytes <= size {
		return
	}
	if at.ID != 0 {
		if at.Span > 0 {
			c.miss(in, "whether the index into %s in line %d stays in bounds: it may reach byte %d of %d, and depends on data (G3)",
				v.Name, c.line(in), at.N+at.Span+bytes-1, size)
		}
		return
	}
	if len(path.Choices) > 0 || path.Thread > 0 && c.walk.Block() == 0 {
		on := "the block size"
		if n := len(path.Choices); n > 0 {
			on = fmt.Sprintf("the branch in line %d", c.line(path.Choices[n-1].In))
		}
		c.miss(in, "whether the access to byte %d of %s, which has %d, in line %d is executed: that depends on %s (G3)",
			at.N, v.Name, size, c.line(in), on)
		return
	}
	c.report(&ruleBounds, path, in,
		"out of bounds: %s of %d bytes in thread %d accesses byte %d of %s, which has %d bytes",
		in.Head(), bytes, path.Thread, at.N, v.Name, size)
}

// checkStale records stores, and reports a load through the read-only cache of what the same
// thread has stored on the path.
func (c *checker) checkStale(path *walk.Path, in *ir.Instr, at walk.Value, bytes int64) {
	if in.Kind().Head() == isa.HeadSt && len(path.Seen) < maxStores {
		path.Seen = append(path.Seen, walk.Event{In: in, At: at, Bytes: bytes})
	}
	if !isReadOnly(in) {
		return
	}
	i := slices.IndexFunc(path.Seen, func(s walk.Event) bool {
		return s.At.Kind == at.Kind && s.At.ID == at.ID && s.At.Var == at.Var && s.At.Span == 0 &&
			at.Span == 0 && at.Kind != walk.Undefined && s.At.N < at.N+bytes &&
			at.N < s.At.N+s.Bytes
	})
	if i < 0 {
		return
	}
	f := c.report(&ruleStale, path, in,
		"stale data: %s may not see what this thread stored to the same address; leave out .nc",
		in.Op)
	if f == nil {
		return
	}
	f.Also(path.Seen[i].In, "stored here")
	if len(path.Choices) > 0 {
		f.As(diag.Review)
	}
}

// maxStores is the largest number of stores of a path that are recorded.
const maxStores = 64

// report reports an instruction on a path. It returns nil if the instruction has a finding.
func (c *checker) report(rule *diag.Rule, path *walk.Path, in *ir.Instr, format string,
	args ...any) *verify.Finding {
	if c.seen[in] {
		return nil
	}
	c.seen[in] = true
	f := c.Report(rule, in, format, args...)
	for _, x := range path.Choices {
		word := "false"
		if x.Taken {
			word = "true"
		}
		f.Also(x.In, "if the guard is %s here", word)
	}
	return f
}

// miss records why an access is not decided.
func (c *checker) miss(in *ir.Instr, format string, args ...any) {
	if c.missed[in] == nil {
		c.missed[in] = func() { c.Missed(format, args...) }
		c.order = append(c.order, in)
	}
}

// line returns the line of an instruction.
func (c *checker) line(in *ir.Instr) int {
	at, _ := c.Module.At(in.Pos)
	return at.Line
}
