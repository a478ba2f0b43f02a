// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl

import (
	"iter"
	"slices"

	"github.com/ptxdsl/ptxdsl/dsl/internal/source"
	"github.com/ptxdsl/ptxdsl/ir"
)

// A Pipeline is a ring of stages in shared memory that one role fills and another reads. Each
// stage holds one tile per feed and has two mbarriers: full, on which the copies into the stage
// complete, and empty, on which the consumers arrive. The pipeline keeps track of stage indices
// and phase parities.
type Pipeline struct {
	ring
	feeds         []Feed
	offsets       []int // byte offset of each feed within a stage
	bytes         int   // size of a stage in bytes
	expect        int   // bytes that complete the phase of a stage's full mbarrier
	store         Addr
	isClusterWide bool // whether a feed is multicast to the whole cluster
	written       bool // whether threads fill the pipeline
	reads         *ir.Buffer
	covers        []ir.PipelineTile // one for each feed
}

// A Feed is an input of a Pipeline: the tile that each stage holds, and the tensor map from which
// it is loaded.
//
// In a cluster, blocks that need the same tile can share its load. Each block loads a part of the
// rows and multicasts the part to the other blocks. For a cluster of 2 x 2 blocks that compute a
// 2 x 2 group of output tiles:
//
//	            B tile 0     B tile 1
//	A tile 0   block (0,0)  block (0,1)   MulticastRow: both need A tile 0
//	A tile 1   block (1,0)  block (1,1)   MulticastRow: both need A tile 1
//	                |            |
//	          MulticastCol: the blocks of a column need the same B tile
type Feed struct {
	from  *TensorMap
	share share
}

// Feed returns the tiles of m as an input of a Pipeline.
func (m *TensorMap) Feed() Feed { return Feed{from: m} }

// Multicast returns the feed shared by all blocks of the cluster: each block loads a part of the
// rows for all of them.
func (f Feed) Multicast() Feed { return f.withShare(wholeCluster) }

// Pipeline declares a ring of stages in shared memory. Within a stage, each tile starts at the
// next address with its alignment.
func (k *Kernel) Pipeline(name string, stages int, feeds ...Feed) *Pipeline {
	k = k.sound()
	p := &Pipeline{ring: k.newRing(name, stages)}
	feeds = withFactors(feeds)
	p.pair = k.tmem.pair
	p.full.spec.pair = p.pair
	if len(feeds) == 0 {
		k.fault(&ruleProtocol, "pipeline %s has no inputs; pass the Feed of a tensor map", name)
	}
	p.written = len(feeds) > 0 && feeds[0].from != nil && feeds[0].from.written
	if p.written {
		p.full.spec.count = 0 // threads arrive, so the count depends on the role
	}
	align := 128
	for _, f := range feeds {
		if f.from == nil {
			k.fault(&ruleValue,
				"feed of pipeline %s is a zero value, not created by a builder call", name)
			continue
		}
		if f.from.written != p.written {
			k.fault(&ruleProtocol,
				"pipeline %s mixes computed tiles and copied tiles; use a separate pipeline for each kind",
				name)
			continue
		}
		p.feeds = append(p.feeds, f)
	}
	p.reads, p.covers = k.buffer(name, ir.TensorStage, len(p.feeds)), coverages(name, len(p.feeds))
	for i, f := range p.feeds {
		p.reads.Parts[i].Name = f.from.name
		t := f.from.tile
		a := max(128, t.Align())
		p.bytes = (p.bytes + a - 1) / a * a
		p.offsets = append(p.offsets, p.bytes)
		p.bytes += t.Bytes()
		p.expect += t.CopyBytes()
		align = max(align, a)
		p.splitLoad(f)
	}
	p.bytes = (p.bytes + align - 1) / align * align
	p.store = k.SharedBytes(unique(name+"_stages", k.names), max(16, p.bytes*p.stages), align)
	return p
}

// PerBlock makes each block of a CTA pair fill and read the pipeline separately, which is
// required if threads read it. Otherwise both blocks fill the pipeline for the MMAs of the even
// block. See [Kernel.CTAPair].
func (p *Pipeline) PerBlock() *Pipeline {
	if p != nil && p.k != nil {
		p.pair, p.full.spec.pair = false, false
	}
	return p
}

// Stages returns the number of stages.
func (p *Pipeline) Stages() int {
	if p == nil {
		return 0
	}
	return p.stages
}

// StageBytes returns the size of a stage in shared memory, in bytes.
func (p *Pipeline) StageBytes() int {
	if p == nil {
		return 0
	}
	return p.bytes
}

// A Stage is the stage of a Pipeline that one iteration of Produce or Consume fills or reads.
type Stage struct {
	p           *Pipeline
	index       Reg[U32]
	state       *place
	full        Barrier
	empty       Barrier
	base        Addr      // address of the stage's first tile
	loads       bool      // whether the stage is being filled
	loaded      []bool    // for each feed, whether its tile has been loaded
	uses        []filling // accesses to the computed tiles
	by          reader
	late        *lateRelease // nil outside of ConsumeLate
	addressUsed bool         // threads may read the stage, because they have an address in it
	scope       int          // scope of the loop body that reads the stage
	// whether the warp has converged in that scope since the stage was full
	converged bool
}

// kernel returns the kernel of s, or nil for a zero value.
func (s *Stage) kernel() *Kernel {
	if s == nil || s.p == nil {
		return nil
	}
	return s.p.k
}

// Iteration returns the index of the loop iteration, starting at 0.
func (s *Stage) Iteration() Reg[U32] { return s.orEmpty().index }

// Slot returns the index of the stage in the ring, from 0 to Stages()-1.
func (s *Stage) Slot() Reg[U32] { return s.orEmpty().state.stage }

// Full returns the mbarrier on which the copies into the stage complete.
func (s *Stage) Full() Barrier { return s.orEmpty().full }

// Empty returns the mbarrier on which the consumers of the stage arrive.
func (s *Stage) Empty() Barrier { return s.orEmpty().empty }

// orEmpty returns s. If s is a zero value, it returns an empty stage, whose use is reported.
func (s *Stage) orEmpty() *Stage {
	if s.kernel() == nil {
		return &Stage{state: &place{}}
	}
	return s
}

// Tile returns the tile of a tensor map in the stage.
func (s *Stage) Tile(m *TensorMap) SharedTile {
	p := s.orEmpty().p
	if p == nil {
		return SharedTile{Tile: m.Tile()}
	}
	i := p.feed(m)
	if i < 0 {
		p.k.fault(&ruleProtocol, "pipeline %s has no feed of %s", p.name, m.Name())
		return SharedTile{Tile: m.Tile(), at: p.store}
	}
	t := SharedTile{Tile: m.tile, at: s.base.Plus(int64(p.offsets[i])), stage: s,
		halved: m.halves > 0, from: m}
	if !s.loads {
		p.k.noteReads(p.reads, i, 1)
		t.cover = &p.covers[i]
	}
	return t
}

// stageOf returns the stage for iteration i of a role whose position in the ring is state.
func (p *Pipeline) stageOf(i Reg[U32], state *place) *Stage {
	s := &Stage{p: p, index: i, state: state}
	s.full, s.empty = p.barriers(state)
	s.base = p.store.add(state.stage.MulI(int64(p.bytes)))
	return s
}

func (p *Pipeline) feed(m *TensorMap) int {
	for i, f := range p.feeds {
		if f.from == m {
			return i
		}
	}
	return -1
}

// Produce returns a loop that fills n stages. Each iteration waits until a stage is empty, sets
// the byte count that its mbarrier expects, and runs the body, which starts the loads of the
// tiles. Only the first warp of the role executes the loop, and one of its threads starts the
// copies.
//
//	for s := range ab.Produce(n) {
//		s.Load(a, dsl.TileAt(row, s.Iteration()))
//		s.Load(b, dsl.TileAt(col, s.Iteration()))
//	}
//
// If the pipeline has a ComputedTile, all warps of the role execute the loop.
func (p *Pipeline) Produce(n Reg[U32]) iter.Seq[*Stage] {
	return func(yield func(*Stage) bool) {
		if p == nil || !checkCreated(p.k, "pipeline in Produce", n.k) {
			return
		}
		k := p.k
		if p.written {
			p.produceComputed(n, yield)
			return
		}
		state := p.state(1)
		if k.role != nil {
			k.role.single = true
			p.waitUntilEmpty(k.role, state)
		}
		leader := k.Leader()
		for i := range k.Range(k.U32(0), n) {
			s := p.stageOf(i, state)
			s.loads, s.loaded = true, make([]bool, len(p.feeds))
			s.Empty().Wait(state.parity)
			// one thread continues for the warp, and the other threads must not miss the phase
			k.SyncWarp()
			if p.pair {
				// The even block's mbarrier counts the bytes of both blocks.
				k.When(leader.And(k.isEvenBlock()),
					func() { s.Full().ArriveExpect(k.U32(2 * p.expect)) })
			} else {
				k.When(leader, func() { s.Full().ArriveExpect(k.U32(p.expect)) })
			}
			if !p.buildProduce(s, yield) {
				break
			}
			state.next(&p.ring)
		}
	}
}

// waitUntilEmpty emits a wait at the end of a role that fills a pipeline shared by several
// blocks. The role waits until all stages are empty, because the tensor cores of other blocks
// arrive on the mbarriers of this block, so this block must not exit before.
func (p *Pipeline) waitUntilEmpty(r *role, state *place) {
	if !p.pair && (!p.isClusterWide || p.k.tmem.base == nil) || slices.Contains(r.filled, p) {
		return
	}
	r.filled = append(r.filled, p)
	r.ends = append(r.ends, func() {
		k := p.k
		k.Comment("the block stays until the last tcgen05 commits have arrived")
		for range k.Range(k.U32(0), k.U32(p.stages)) {
			_, empty := p.barriers(state)
			empty.Wait(state.parity)
			state.next(&p.ring)
		}
	})
}

// Load starts the copy of a tile of m into the stage. The position is given in tiles, unlike the
// row and column of [TensorMap.Load], which are given in elements.
func (s *Stage) Load(m *TensorMap, tile TileCoord) {
	to, ok := s.fill(m)
	if !ok {
		return
	}
	r, c := tile.Row.MulI(int64(m.tile.Rows)), tile.Col.MulI(int64(m.tile.Cols))
	if m.halves > 0 {
		r = tile.Row.MulI(int64(m.halves)).ShrI(1)
	}
	s.copy(m, to, r, c)
}

// LoadAt is Load for a position in elements, which need not be a multiple of the tile.
func (s *Stage) LoadAt(m *TensorMap, row, col Reg[U32]) {
	if to, ok := s.fill(m); ok {
		s.copy(m, to, row, col)
	}
}

// copy starts the copy of a tile to the stage, for this block or for several blocks of the cluster.
func (s *Stage) copy(m *TensorMap, to SharedTile, r, c Reg[U32]) {
	p := s.p
	k := p.k
	if how := p.feeds[p.feed(m)].share; k.shareSize(how) > 1 {
		m.loadShared(how, to, r, c, s.Full())
		return
	}
	k.When(k.Leader(), func() { m.Load(to, r, c, s.Full()) })
}

// fill returns the destination of a tile of m in the stage. ok is false if the tile cannot be
// loaded here, which fill reports.
func (s *Stage) fill(m *TensorMap) (to SharedTile, ok bool) {
	k := s.kernel()
	if !checkCreated(k, "stage in Load", m.kernel()) {
		return to, false
	}
	p := s.p
	i := p.feed(m)
	switch {
	case !s.loads:
		k.fault(&ruleProtocol,
			"Load is called in the body of Consume; call it in the body of Produce, which fills the stages")
	case i < 0:
		k.fault(&ruleProtocol, "pipeline %s has no feed of %s", p.name, m.Name())
	case s.loaded[i]:
		k.fault(&ruleProtocol,
			"%s is loaded twice into one stage, but the mbarrier of the stage expects its bytes only once",
			m.name).withFix(source.Remove())
	default:
		s.loaded[i] = true
		return s.Tile(m), true
	}
	return to, false
}

// Consume returns a loop over n stages. Each iteration waits until a stage is full, runs the
// body, and releases the stage when the MMAs that the body started are complete.
func (p *Pipeline) Consume(n Reg[U32]) iter.Seq[*Stage] {
	return func(yield func(*Stage) bool) {
		if p == nil || !checkCreated(p.k, "pipeline in Consume", n.k) {
			return
		}
		k := p.k
		state := p.state(0)
		for i := range k.Range(k.U32(0), n) {
			s := p.waitFull(i, state)
			if !yield(s) {
				k.fault(&ruleLoop,
					"Go break or return leaves the body of Consume, which is built only once")
				break
			}
			s.release()
			state.next(&p.ring)
		}
	}
}

// waitFull emits the wait until the role's current stage is full, and returns the stage.
func (p *Pipeline) waitFull(i Reg[U32], state *place) *Stage {
	s := p.stageOf(i, state)
	s.Full().Wait(state.parity)
	if r := p.k.role; r != nil && (r.single || r.n == 1) {
		// one thread continues for the warp, and the other threads must not miss the phase
		p.k.SyncWarp()
	}
	s.scope = p.k.scope()
	p.k.openStages = append(p.k.openStages, s)
	return s
}

// ConsumeOne consumes the next stage, as one iteration of Consume does. Since there is no loop,
// values that body computes can be used afterwards. The Iteration of the stage is 0.
func (p *Pipeline) ConsumeOne(body func(s *Stage)) {
	if p == nil || p.k == nil || !p.k.checkFunctions("ConsumeOne", body != nil) {
		return
	}
	state := p.state(0)
	s := p.waitFull(p.k.U32(0), state)
	p.k.m.calls.Run(func() { body(s) })
	s.release()
	state.next(&p.ring)
}
