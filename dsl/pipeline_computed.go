// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl

import (
	"slices"

	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
)

// A ComputedTile is an input of a Pipeline that threads of a role write, such as 8-bit weights
// converted to 16 bits for the tensor cores.
//
//	wide := k.ComputedTile("wide",
//		dsl.Tile{Type: isa.Bf16, Rows: 128, Cols: 64, Swizzle: dsl.Swizzle128})
//	ready := k.Pipeline("ready", 2, wide.Feed())
//	...
//	dsl.OnWarpgroup(1, "widen", func() {
//		for s := range ready.Produce(steps) {
//			dsl.Element[dsl.BF16](wide.Tile(s), row, col).StoreFirstVec(eight)
//		}
//	}),
//
// All warps of the producing role must take part. The pipeline emits the proxy fence and the
// mbarrier operations.
type ComputedTile struct{ m *TensorMap }

// ComputedTile declares a pipeline input that threads write.
func (k *Kernel) ComputedTile(name string, t Tile) *ComputedTile {
	k = k.sound()
	if problem := t.check(); problem != "" {
		k.fault(&ruleShape, "%s", problem)
		t = k.standIn(Tile{Type: isa.B32, Rows: 8, Cols: 4})
	}
	return &ComputedTile{
		&TensorMap{k: k, name: name, tile: t, boxCols: t.Cols, boxRows: t.Rows, written: true}}
}

// A filling records whether threads write a computed tile of a stage, as they must.
type filling struct {
	m *TensorMap
	*sharedUsage
	pos ir.Pos // position of the call of Tile
}

// noteFillings annotates computed tiles of the stage that are never written.
func (s *Stage) noteFillings() {
	for _, f := range s.uses {
		if !f.written && f.named == f.known {
			s.p.k.notes.Missing = append(s.p.k.notes.Missing,
				ir.MissingTile{Pos: f.pos, Pipeline: s.p.name, Kind: ir.TensorStage,
					Name: f.m.name})
		}
	}
}

// kernel returns the kernel of w, or nil for a zero value.
func (w *ComputedTile) kernel() *Kernel {
	if w == nil {
		return nil
	}
	return w.m.kernel()
}

// Feed returns the tile as an input of a Pipeline. All inputs of such a pipeline must be computed
// tiles.
func (w *ComputedTile) Feed() Feed {
	if w.kernel() == nil {
		return Feed{}
	}
	return Feed{from: w.m}
}

// Tile returns the tile in a stage. Write it in a stage of Produce, and read it in a stage of
// Consume.
func (w *ComputedTile) Tile(s *Stage) SharedTile {
	switch {
	case !checkCreated(w.kernel(), "stage of the computed tile", s.kernel()):
		return SharedTile{}
	case s.kernel() == nil:
		w.m.k.fault(&ruleValue,
			"stage of computed tile %s is a zero value, not created by a builder call", w.m.name)
		return SharedTile{}
	}
	t := s.Tile(w.m)
	if i := s.p.feed(w.m); s.loads && i >= 0 {
		if !s.loaded[i] {
			s.uses = append(s.uses, filling{w.m, &sharedUsage{}, w.m.k.m.calls.Here()})
		}
		s.loaded[i] = true
		t.at.use = s.uses[slices.IndexFunc(s.uses, func(f filling) bool {
			return f.m == w.m
		})].sharedUsage
	}
	return t
}

// produceComputed implements Produce for pipelines that threads fill.
func (p *Pipeline) produceComputed(n Reg[U32], yield func(*Stage) bool) {
	k := p.k
	if p.pair {
		k.fault(&ruleProtocol, "threads write pipeline %s, which a CTA pair shares; use PerBlock",
			p.name)
	}
	state := p.state(1)
	for i := range k.Range(k.U32(0), n) {
		s := p.stageOf(i, state)
		s.loads, s.loaded = true, make([]bool, len(p.feeds))
		s.Empty().Wait(state.parity)
		if !p.buildProduce(s, yield) {
			break
		}
		s.noteFillings()
		k.FenceAsync()
		k.SyncWarp()
		k.When(k.Leader(), s.Full().Arrive)
		p.countArrivals(p.full, k.roleWarps())
		state.next(&p.ring)
	}
}

// buildProduce builds the body of Produce. It reports whether the body ran to its end, and
// records a finding for a Go break or return.
func (p *Pipeline) buildProduce(s *Stage, yield func(*Stage) bool) bool {
	k := p.k
	if !yield(s) {
		k.fault(&ruleLoop,
			"Go break or return leaves the body of Produce, which is built only once")
		return false
	}
	what := "load"
	if p.written {
		what = "write"
	}
	for j, done := range s.loaded {
		if !done {
			k.fault(&ruleProtocol,
				"body of Produce does not %s %s: the stage would never become full", what,
				p.feeds[j].from.name)
		}
	}
	return true
}

// CopyAsync starts an asynchronous copy by the thread of n adjacent elements, 4, 8 or 16 bytes,
// from global to shared memory (cp.async, sm_80). Use it to gather rows, also into the tiles of
// an AsyncPipeline. If a condition is given and is false, the copy writes zeros and reads
// nothing. The copy belongs to the thread's next CommitCopies, or to the stage of the pipeline.
func (a Array[T]) CopyAsync(to Array[T], n int, where ...Reg[Pred]) {
	a.at.copyAsync(to.at, int64(n)*size(TypeOf[T]()), where)
}

func (a Addr) copyAsync(to Addr, bytes int64, where []Reg[Pred]) {
	k := a.k
	if !checkCreated(k, "array in CopyAsync", to.k) {
		return
	}
	switch {
	case !k.m.Has(80):
		k.fault(&ruleLacks, "%s does not support cp.async, which needs sm_80", k.m.Target())
		return
	case to.k == nil:
		k.fault(&ruleValue,
			"destination of CopyAsync is a zero value, not created by a builder call")
		return
	case a.space != isa.Global || !isShared(to.space):
		k.fault(&ruleMemory, "CopyAsync copies from %s to %s, expected global to shared memory",
			describeSpace(a.space), describeSpace(to.space))
		return
	case bytes != 4 && bytes != 8 && bytes != 16:
		k.fault(&ruleMemory, "CopyAsync copies %d bytes, expected 4, 8 or 16", bytes)
		return
	}
	k.noteFirst(&k.notes.FirstCopy)
	op := "cp.async.ca.shared.global"
	if bytes == 16 {
		op = "cp.async.cg.shared.global"
	}
	args := []any{to, a, int(bytes)}
	if len(where) > 0 {
		all := where[0]
		for _, p := range where[1:] {
			all = all.And(p)
		}
		args = append(args, Select(all, k.U32(int(bytes)), k.U32(0)))
		// If the condition is false nothing is read, so the address may be out of bounds.
		k.emitIf(all, false, func() { k.annotateAccess(a, bytes, false, nil) })
	} else {
		k.annotateAccess(a, bytes, false, nil)
	}
	k.annotateAccess(to, bytes, true, nil)
	k.Ins(op, args...)
}

// isShared reports whether s denotes the shared memory of the block.
func isShared(s isa.Space) bool { return s == isa.Shared || s == isa.SharedCTA }
