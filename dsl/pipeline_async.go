// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl

import (
	"github.com/ptxdsl/ptxdsl/dsl/internal/source"
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
)

// An AsyncPipeline is a ring of stages in shared memory that all threads of the block fill with
// cp.async (sm_80). Stages are filled several iterations before the threads compute on them.
type AsyncPipeline struct {
	k       *Kernel
	name    string
	stages  int
	tiles   []Tile
	offsets []int
	bytes   int
	store   Addr
	copied  []bool // for each tile, whether this call of load has copied it; nil outside load
	reads   *ir.Buffer
	covers  []ir.PipelineTile // one for each tile
}

// AsyncPipeline declares a ring of stages, each of which holds the given tiles.
func (k *Kernel) AsyncPipeline(name string, stages int, tiles ...Tile) *AsyncPipeline {
	k = k.sound()
	p := &AsyncPipeline{k: k, name: name, stages: stages, tiles: tiles}
	if !k.m.Has(80) {
		k.fault(&ruleLacks, "%s does not support cp.async, which needs sm_80", k.m.Target())
	}
	if stages < 2 || stages > 16 {
		k.fault(&ruleProtocol, "pipeline %s has %d stages, expected 2 to 16", name, stages).
			withFix(nearest(stages, 2, 16, 1))
		p.stages = 2
	}
	align := 16
	for i, t := range tiles {
		if problem := t.check(); problem != "" || t.RowBytes()%16 != 0 {
			if problem == "" {
				problem = t.String() + ": rows must be a multiple of 16 bytes"
			}
			k.fault(&ruleShape, "tile %d of pipeline %s: %s", i, name, problem)
			p.tiles[i] = k.standIn(Tile{Type: isa.B32, Rows: 8, Cols: 4})
			t = p.tiles[i]
		}
		a := max(16, t.Align())
		p.bytes = (p.bytes + a - 1) / a * a
		p.offsets = append(p.offsets, p.bytes)
		p.bytes += t.Bytes()
		align = max(align, a)
	}
	p.bytes = (p.bytes + align - 1) / align * align
	p.reads, p.covers = k.buffer(name, ir.CopiedStage, len(p.tiles)), coverages(name, len(p.tiles))
	for i, t := range p.tiles {
		p.reads.Parts[i].Name = t.String()
	}
	p.store = k.SharedBytes(unique(name+"_stages", k.names), max(16, p.bytes*p.stages), align)
	return p
}

// An AsyncStage is a stage of an AsyncPipeline that is being filled or read.
type AsyncStage struct {
	p    *AsyncPipeline
	base Addr
}

// Tile returns the n-th tile of the stage, in the order of the declaration.
func (s AsyncStage) Tile(n int) SharedTile {
	if s.p == nil {
		return SharedTile{}
	}
	if n < 0 || n >= len(s.p.tiles) {
		s.p.k.fault(&ruleProtocol, "tile index %d is out of bounds: pipeline %s has %d", n,
			s.p.name, len(s.p.tiles))
		if n = 0; len(s.p.tiles) == 0 {
			return SharedTile{}
		}
	}
	t := SharedTile{Tile: s.p.tiles[n], at: s.base.Plus(int64(s.p.offsets[n]))}
	if s.p.copied != nil {
		s.p.copied[n] = true
	} else {
		s.p.k.noteReads(s.p.reads, n, 1)
		t.cover = &s.p.covers[n]
	}
	return t
}

// at returns the stage at index n of the ring.
func (p *AsyncPipeline) at(n Reg[U32]) AsyncStage {
	return AsyncStage{p: p, base: p.store.add(n.MulI(int64(p.bytes)))}
}

// Run executes the given number of steps. For each step, load fills a stage, and several steps
// later use computes on the stage. All threads of the block must take part. When Run ends no copy
// is in flight, and all threads may write shared memory.
func (p *AsyncPipeline) Run(steps Reg[U32], load, use func(step Reg[U32], s AsyncStage)) {
	if p == nil || !checkCreated(p.k, "pipeline in Run", steps.k) {
		return
	}
	k := p.k
	if !k.checkFunctions("Run", load != nil, use != nil) {
		return
	}
	k.annotateCollective("Run", true)
	r := p.begin(steps, p.checkLoads(load))
	for step := range k.Range(k.U32(0), steps) {
		k.Comment("this stage has arrived, and every thread has read the previous one")
		r.waitStage()
		r.loadAhead(step)
		use(step, r.stage())
		r.next()
	}
	p.drain()
}

// Multiply runs the steps of a GEMM main loop, as Run does, but loads fragments one step before
// the MMA that uses them, which takes twice the registers for fragments. The function product
// returns the MMA step for a stage; it is called each time fragments are loaded.
//
//	ab.Multiply(steps, load, func(s dsl.AsyncStage) dsl.MMAStep {
//		return w.MMAStep(s.Tile(0), fromA, s.Tile(1), fromB)
//	})
func (p *AsyncPipeline) Multiply(steps Reg[U32], load func(step Reg[U32], s AsyncStage),
	product func(s AsyncStage) MMAStep) {
	if p == nil || !checkCreated(p.k, "pipeline in Multiply", steps.k) {
		return
	}
	k := p.k
	if !k.checkFunctions("Multiply", load != nil, product != nil) {
		return
	}
	r := p.begin(steps, p.checkLoads(load))
	k.Comment("the first fragments")
	r.waitStage()
	now := product(r.stage())
	switch {
	case now.reported:
		return
	case now.k != k:
		k.fault(&ruleValue,
			"MMAStep passed to Multiply is a zero value or belongs to another kernel")
		return
	}
	again := func() MMAStep {
		if p := product(r.stage()); p.sums == now.sums && p.steps == now.steps {
			return p
		}
		k.fault(&ruleProtocol,
			"Multiply is called with different MMA steps; all stages must use one accumulator and one shape")
		return now
	}
	first := now.newLiveFragments()
	now.read(0, fragmentSet{}, first)
	for step := range k.Range(k.U32(0), steps) {
		r.loadAhead(step)
		now = again()
		end := now.begin()
		f := first
		for i := 1; i < now.steps; i++ {
			coming := now.newFragments()
			now.read(i, f, coming)
			now.multiply(f)
			f = coming
		}
		r.next()
		k.Comment("the next stage has arrived, and every thread has read all of this one")
		r.waitStage()
		coming, busy := first, f.sharesRegister(first)
		if busy {
			coming = now.newFragments() // the first fragments of this stage are not multiplied yet
		}
		again().read(0, fragmentSet{}, coming)
		now.multiply(f)
		end()
		if busy {
			first.set(k, coming)
		}
	}
	p.drain()
}

// An asyncRun is a loop over the stages of an AsyncPipeline that is being built.
type asyncRun struct {
	*AsyncPipeline
	steps       Reg[U32]
	load        func(step Reg[U32], s AsyncStage)
	read, write Reg[U32] // indices of the stages to read and to fill next
}

// begin emits the loads of the first steps, which fill all stages but one, and returns the state
// of the loop.
func (p *AsyncPipeline) begin(steps Reg[U32], load func(step Reg[U32], s AsyncStage)) *asyncRun {
	k := p.k
	ahead := p.stages - 1
	k.Comment("the first %d stages of %s", ahead, p.name)
	for i := range ahead {
		k.If(steps.GTI(int64(i)), func() { load(k.U32(i), p.at(k.U32(i))) })
		k.ins("cp.async.commit_group")
	}
	return &asyncRun{p, steps, load, k.U32(0).Var(), k.U32(ahead).Var()}
}

// checkLoads returns a load function that calls load and then records the tiles of the stage that
// load does not copy.
func (p *AsyncPipeline) checkLoads(load func(step Reg[U32], s AsyncStage)) func(Reg[U32],
	AsyncStage) {
	reported := false
	return func(step Reg[U32], s AsyncStage) {
		was := p.k.loading
		p.k.loading, p.copied = p.name, make([]bool, len(p.tiles))
		load(step, s)
		for i, asked := range p.copied {
			if !asked && !reported {
				p.k.notes.Missing = append(p.k.notes.Missing,
					ir.MissingTile{Pos: p.k.m.calls.Here(), Pipeline: p.name, Kind: ir.CopiedStage,
						Index: i, Name: p.tiles[i].String()})
				reported = true
			}
		}
		p.k.loading, p.copied = was, nil
	}
}

// stage returns the stage that is read in this iteration.
func (r *asyncRun) stage() AsyncStage { return r.at(r.read) }

// waitStage waits for the copies into the current stage, which are the oldest in flight, and then
// for all threads. Afterwards all threads have finished reading the previous stage.
func (r *asyncRun) waitStage() {
	r.k.ins("cp.async.wait_group", number(int64(r.stages-2)))
	r.k.Sync()
}

// loadAhead starts the copies of a later step into the stage that was read in the previous
// iteration.
func (r *asyncRun) loadAhead(step Reg[U32]) {
	k := r.k
	coming := step.AddI(int64(r.stages - 1))
	k.If(coming.LT(r.steps), func() { r.load(coming, r.at(r.write)) })
	k.ins("cp.async.commit_group")
}

// next advances the indices of the stages to read and to fill.
func (r *asyncRun) next() {
	k := r.k
	for _, n := range []Reg[U32]{r.read, r.write} {
		o := n.in(k)
		k.ins("add.u32", o, o, number(1))
		k.When(n.EQI(int64(r.stages)), func() { n.Set(k.U32(0)) })
	}
}

// drain waits for all copies in flight, and then for all threads of the block.
func (p *AsyncPipeline) drain() {
	p.k.ins("cp.async.wait_group", number(0))
	p.k.Sync()
}

// CopyAsync starts an asynchronous copy of a tile from a matrix in global memory by all threads
// of the block, 16 bytes at a time. from is the address of the tile's first element, and pitch
// the distance in bytes between rows of the matrix. The whole tile must be inside the matrix;
// [Matrix.CopyAsync] clips tiles at the edges.
func (k *Kernel) CopyAsync(to SharedTile, from Addr, pitch Reg[U64], mods ...Mod) {
	k = k.sound()
	k.annotateCollective("CopyAsync", true)
	k.copyAsync(to, from, pitch, nil, mods)
}

func (k *Kernel) copyAsync(to SharedTile, from Addr, pitch Reg[U64], c *clip, mods []Mod) {
	threads := k.BlockThreads()
	units := to.RowBytes() / 16
	switch {
	case to.at.k == nil || from.k == nil:
		k.fault(&ruleValue, "tile in CopyAsync is a zero value, not created by a builder call")
		return
	case threads == 0:
		k.fault(&ruleShape, "CopyAsync needs the block size; declare it with Threads")
		return
	case to.RowBytes()%16 != 0:
		k.fault(&ruleShape,
			"CopyAsync copies %s, whose rows have %d bytes, expected a multiple of 16", to.Tile,
			to.RowBytes())
		return
	}
	k.noteFirst(&k.notes.FirstCopy)
	op := "cp.async.cg.shared.global"
	for _, m := range mods {
		op += "." + string(m)
	}
	from.requireAlignment(16)
	u := &unitCopy{k: k, op: op, to: to, from: from, pitch: pitch, clip: c}
	if threads%units == 0 && (to.Rows%(threads/units) == 0 || threads/units%to.Rows == 0) {
		u.rows(threads/units, units)
	} else {
		u.each(threads, units)
	}
}

// A unitCopy copies a tile in units of 16 bytes. Its methods emit the copy.
type unitCopy struct {
	k     *Kernel
	op    string
	to    SharedTile
	from  Addr
	pitch Reg[U64]
	clip  *clip // nil if the whole tile is inside the matrix
}

// place returns the address of the 16-byte unit at a byte offset in a row of the tile.
func (u *unitCopy) place(row, unit Reg[U32]) Addr {
	to := u.to
	r := to.reader(row, u.k.U32(0))
	if to.Slabs() == 1 {
		return r.row.add(r.unit.Xor(unit))
	}
	slab := unit.DivI(int64(to.Swizzle)).MulI(int64(to.SlabBytes()))
	return r.row.add(slab.Add(r.unit.Xor(unit.AndI(int64(to.Swizzle) - 1))))
}

// source returns a function that returns the global memory address of a unit in a row of the
// matrix.
func (u *unitCopy) source(unit Reg[U32]) func(row Reg[U32]) Reg[U64] {
	first := u.from.Value64().Add(To[U64](unit))
	return func(row Reg[U32]) Reg[U64] { return first.Add(To[U64](row).Mul(u.pitch)) }
}

// rows copies the tile so that each thread copies the same unit of several rows. The rows of a
// thread are lines apart.
func (u *unitCopy) rows(lines, units int) {
	k, to, c := u.k, u.to, u.clip
	tid := k.Thread()
	row, unit := tid.DivI(int64(units)), tid.RemI(int64(units)).ShlI(4)
	at := u.place(row, unit)
	even := lines*to.Pitch()%max(1, to.Swizzle.Period()) == 0
	line := u.source(unit)
	there, step := line(row), u.pitch.MulI(int64(lines))
	var left Reg[U32]
	if c != nil {
		left = c.unitBytes(unit)
	}
	for i := 0; i < to.Rows; i += lines {
		here := at.Plus(int64(i * to.Pitch()))
		if !even {
			here = u.place(row.AddI(int64(i)), unit)
		}
		args := []ir.Operand{here.in(k), {}, number(16)}
		if c != nil {
			args = append(args, c.rowBytes(row.AddI(int64(i)), left).in(k))
			if c.m.last {
				there = line(c.row(row.AddI(int64(i))))
			}
		}
		args[1] = k.arg(Addr{k: k, space: isa.Global, reg: there.r, scope: there.scope})
		if lines > to.Rows {
			k.When(row.LTI(int64(to.Rows)), func() { k.ins(u.op, args...) })
		} else {
			k.ins(u.op, args...)
		}
		if i+lines < to.Rows {
			there = there.Add(step)
		}
	}
}

// each copies the tile so that consecutive threads copy consecutive units. It is used if the rows
// cannot be divided evenly among the threads.
func (u *unitCopy) each(threads, units int) {
	k, c := u.k, u.clip
	for from, all := 0, u.to.Rows*units; from < all; from += threads {
		index := k.Thread().AddI(int64(from))
		copyUnit := func() {
			row, unit := index.DivI(int64(units)), index.RemI(int64(units)).ShlI(4)
			args := []ir.Operand{u.place(row, unit).in(k), {}, number(16)}
			line := u.source(unit)
			there := line(row)
			if c != nil {
				args = append(args, c.rowBytes(row, c.unitBytes(unit)).in(k))
				if c.m.last {
					there = line(c.row(row))
				}
			}
			args[1] = k.arg(Addr{k: k, space: isa.Global, reg: there.r, scope: there.scope})
			k.ins(u.op, args...)
		}
		if from+threads > all {
			k.If(index.LTI(int64(all)), copyUnit)
		} else {
			copyUnit()
		}
	}
}

// CommitCopies commits the copies that the thread started with CopyAsync as one group
// (cp.async.commit_group). It is for copies outside an AsyncPipeline.
func (k *Kernel) CommitCopies() {
	k = k.sound()
	if k.loading != "" {
		k.fault(&ruleProtocol,
			"CommitCopies is called in the load function of pipeline %s, which already commits a group for each stage: the pipeline would wait for the wrong groups",
			k.loading).withFix(source.Remove())
	}
	k.ins("cp.async.commit_group")
}

// WaitCopies waits until at most n groups of the thread's copies are in flight
// (cp.async.wait_group). Copies of other threads are visible after a Sync that follows.
func (k *Kernel) WaitCopies(n int) {
	k = k.sound()
	k.waitGroups("WaitCopies", "cp.async.wait_group", n)
}
