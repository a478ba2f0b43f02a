// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package bounds reports accesses out of bounds, misaligned accesses, and positions outside
// tiles. It evaluates the addresses of each thread of the first block.
package bounds

import (
	mathbits "math/bits"

	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/passes/analysis/thread"
	"github.com/ptxdsl/ptxdsl/passes/verify/annotated"
)

// Analyzer returns the analyzer that evaluates the first iteration of loops.
func Analyzer() *annotated.Analyzer {
	return &annotated.Analyzer{
		Name: "bounds",
		Doc: `Bounds reports accesses out of bounds, misaligned accesses, and positions outside of tiles,
for the threads of the first block in the first iteration of every loop. Addresses that depend on
data, and accesses that the launch may exclude, are not checked.`,
		Rules: []*diag.Rule{&annotated.Memory, &annotated.Shape},
		Run:   run,
	}
}

// LastIteration returns the analyzer that evaluates the last iteration of loops with constant
// bounds.
func LastIteration() *annotated.Analyzer {
	return &annotated.Analyzer{
		Name: "bounds-last",
		Doc: `It makes the checks of bounds for the last iteration of loops that have constant bounds and no
other exit. Calls that already have a finding are skipped.`,
		Rules: []*diag.Rule{&annotated.Memory, &annotated.Shape},
		Run:   runLast,
	}
}

// A check checks one builder call.
type check struct {
	*annotated.Pass
	eval *thread.Eval
	use  *ir.Use
}

func run(p *annotated.Pass) {
	if len(p.Notes.Uses) == 0 {
		return
	}
	outside := make(map[string]bool) // source lines that have an index outside a tile
	for i := range p.Notes.Uses {
		c := check{p, p.Eval(), &p.Notes.Uses[i]}
		if p.Reported(c.use.Pos) || c.eval.Exhausted() {
			continue
		}
		switch what := c.use.What.(type) {
		case *ir.TileAccess:
			if c.checkTile(what) {
				outside[c.line()] = true
			}
		case *ir.Access:
			// An invalid access that is caused by such an index is reported only at the index.
			if what.Space != isa.Shared || len(outside) == 0 || !outside[c.line()] {
				c.checkAccess(what)
			}
		}
	}
}

// line returns the file and line of the builder call.
func (c *check) line() string {
	at, _ := c.Module.At(c.use.Pos)
	return at.String()
}

func runLast(p *annotated.Pass) {
	some := false
	for _, c := range p.Notes.Counters {
		some = some || c.Known
	}
	if !some || len(p.Notes.Uses) == 0 {
		return
	}
	e := p.Eval()
	e.SetIteration(thread.Last)
	for i := range p.Notes.Uses {
		c := check{p, e, &p.Notes.Uses[i]}
		switch what := c.use.What.(type) {
		case *ir.TileAccess:
			if !e.Exhausted() && !p.Reported(c.use.Pos) {
				c.checkTile(what)
			}
		case *ir.Access:
			if !e.Exhausted() && !p.Reported(c.use.Pos) {
				c.checkAccess(what)
			}
		}
	}
	e.SetIteration(thread.First)
}

// checkAccess reports an access for the first thread for which it is invalid.
func (c *check) checkAccess(w *ir.Access) {
	e := c.eval
	for thread, end := e.Range(c.use.Role); thread < end; thread++ {
		e.Begin(thread)
		at := e.Value(w.Reg)
		if at.Kind != constant {
			if at.Kind == unknown && e.Iteration() == first {
				c.checkAlignment(w, thread) // the finding applies to all threads
				return
			}
			continue
		}
		here := e.Satisfied(c.use.Conds)
		if here != constant && e.Certain(c.use.Conds) {
			here = constant // at least one launch executes the block
		}
		// If the launch chooses the block size, only the first thread is certain to exist.
		if here != unknown &&
			c.reportInvalid(w, thread, at.N,
				here == constant && (thread == 0 || c.Notes.Threads() > 0)) {
			return
		}
	}
}

const (
	unknown  = thread.Unknown
	constant = thread.Constant
	first    = thread.First
)

// reportInvalid reports an access by one thread at address at if it is out of bounds or
// misaligned, and returns whether it is. certain is set if every launch executes the access.
func (c *check) reportInvalid(w *ir.Access, thread int, at int64, certain bool) bool {
	area, off, ok := c.eval.Find(w.Space, at+w.Offset)
	switch {
	case !ok:
	// the launch may pass bounds that keep the access inside
	case certain && area.Size > 0 && (off < 0 || off+w.Bytes > area.Size):
		c.Report(c.use.Pos, &annotated.Memory,
			"out of bounds: thread %d%s accesses byte %d of %s, which has %d; an index counts elements, and If can exclude threads",
			thread, c.eval.In(), off, area.Name, area.Size)
		return true
	case off%w.Bytes != 0:
		c.Report(c.use.Pos, &annotated.Memory,
			"misaligned vector access: thread %d%s accesses byte %d of %s with %d bytes, expected a multiple of %d; the index counts elements and must be a multiple of the vector length",
			thread, c.eval.In(), off, area.Name, w.Bytes, w.Bytes)
		return true
	case certain && w.Space == isa.Global && off >= 1<<31 && off/w.Bytes >= 1<<31:
		c.Report(c.use.Pos, &annotated.Memory,
			"out of bounds: thread %d of the first block%s accesses byte %d of %s: an index is a U32 and cannot be negative; use If or Select, or AtI(-1) for the preceding element",
			thread, c.eval.In(), off, area.Name)
		return true
	}
	return false
}

// checkAlignment reports an access whose address is unknown, but whose known low bits show that
// it is misaligned.
func (c *check) checkAlignment(w *ir.Access, thread int) {
	if w.Space != isa.Global || w.Bytes > 16 || w.Bytes < 2 || w.Bytes&(w.Bytes-1) != 0 {
		return
	}
	at := c.eval.LowBits(w.Reg, w.Offset)
	if at.Bits < mathbits.TrailingZeros64(uint64(w.Bytes)) || at.N%w.Bytes == 0 ||
		!c.eval.Certain(c.use.Conds) {
		return
	}
	c.Report(c.use.Pos, &annotated.Memory,
		"misaligned vector access: the address in thread %d is %d bytes past a multiple of %d, but the access is %d bytes wide; the index counts elements, so it must be a multiple of the vector length",
		thread, at.N%w.Bytes, w.Bytes, w.Bytes)
}

// checkTile reports the first warp whose access exceeds the tile. Rows and parts are usually the
// same for all lanes; for elements, the first and the last lane are checked.
func (c *check) checkTile(w *ir.TileAccess) (found bool) {
	e := c.eval
	element := w.Unit == ir.Row || w.Unit == ir.Col || w.Unit == ir.Chunk
	for thread, end := e.Range(c.use.Role); thread < end; thread++ {
		if thread%32 != 0 && !(element && thread%32 == 31) {
			continue
		}
		e.Begin(thread)
		at := e.Value(w.Reg)
		if at.Kind == unknown {
			return false
		}
		n := int64(uint32(at.N))
		if at.Kind != constant || n+w.N <= w.Limit || thread > 0 && c.Notes.Threads() == 0 ||
			!e.Certain(c.use.Conds) {
			continue
		}
		switch {
		case element:
			c.Report(c.use.Pos, &annotated.Shape,
				"out of bounds: thread %d%s accesses %s %d of %s, which has %d", thread, e.In(),
				w.Unit, n, w.Tile, w.Limit)
		case w.Unit == ir.Rows:
			c.Report(c.use.Pos, &annotated.Shape,
				"out of bounds: warp %d%s accesses rows %d to %d of %s, which has %d", thread/32,
				e.In(), n, n+w.N-1, w.Tile, w.Limit)
		default:
			c.Report(c.use.Pos, &annotated.Shape,
				"out of bounds: warp %d%s accesses %s %d of %d, of %s", thread/32, e.In(), w.Unit,
				n, w.Limit, w.Tile)
		}
		return true
	}
	return false
}
