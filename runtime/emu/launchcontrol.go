// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package emu

import (
	"math/bits"

	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/isa/eval"
)

// The response to a request for a cluster is 16 bytes: the index of the cluster's first block,
// and a flag that specifies whether the request was granted.
const (
	answerBytes = 16
	answerFlag  = 3 // index of the word
)

// cancel takes a cluster that has not started out of the grid, and returns the index of its first
// block. ok is false if all clusters have started.
func (g *grid) cancel() (id [3]uint32, ok bool) {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	n, size := g.clusters(), g.clusterSize()
	if g.fault != nil || g.next >= uint64(n[0])*uint64(n[1])*uint64(n[2]) {
		return id, false
	}
	at, x, y := g.next, uint64(n[0]), uint64(n[1])
	g.next++
	g.ended.Add(int64(g.clusterBlocks()))
	return [3]uint32{uint32(at%x) * size[0], uint32(at/x%y) * size[1], uint32(at/x/y) * size[2]},
		true
}

// declines reports whether a request is refused at random, as hardware may do. The cluster then
// starts normally, unless another request succeeds.
func (c *cluster) declines() bool {
	return c.grid.device.options.Completion == Random && c.random.IntN(8) == 0
}

// tryCancel decodes clusterlaunchcontrol.try_cancel.
func tryCancel(d *decoder) (step, error) {
	op := d.operation()
	to, err := d.address(0)
	if err != nil {
		return nil, err
	}
	bar, err := d.address(1)
	if err != nil {
		return nil, err
	}
	all := op.Has(isa.ModMulticastClusterAll)
	q := demand{space: op.Space, size: answerBytes, align: answerBytes, write: true, quiet: true}
	return func(w *warp, mask uint32) action {
		for m := mask; m != 0; m &= m - 1 {
			l := bits.TrailingZeros32(m)
			c := w.block.cluster
			if c.refused {
				return w.fault(l, nil,
					"clusterlaunchcontrol.try_cancel is issued after an earlier request was refused")
			}
			targets, off, act := w.answerTargets(&to, &bar, &q, op.Space, l, all)
			if act != advance {
				return act
			}
			in := w.command()
			act = w.issueOne(nil, NoGroup, func(int) *Fault {
				var words [answerBytes / 4]uint32
				if !c.declines() {
					if id, ok := c.grid.cancel(); ok {
						words = [4]uint32{id[0], id[1], id[2], 1}
					}
				}
				for _, t := range targets {
					for i, x := range words {
						put(t.region.data[off+uint64(4*i):], 4, uint64(x))
					}
					fill(t.region.init[off:off+answerBytes], 0xff)
					running := c.queue.running
					c.grid.tellRange(running, EventWrite, 0, t.region, off, answerBytes, ProxyAsync)
					c.grid.tellPhase(running, EventSignal, 0, t.phase.owner, t.phase.at)
					if why := t.phase.complete(answerBytes); why != "" {
						return w.faultAt(in, "%s", why)
					}
				}
				return nil
			})
			if act != advance {
				return act
			}
		}
		return advance
	}, nil
}

// answerTargets returns the blocks that receive the response to a lane: the lane's own block, or
// all blocks of the cluster.
func (w *warp) answerTargets(to, bar *addressRef, q *demand, space isa.Space, lane int,
	all bool) ([]bulkTarget, uint64, action) {
	if !w.locate(to, 1<<lane, q) {
		return nil, 0, failed
	}
	own, off := w.where.regionOf(lane), w.where.at[lane]
	var at uint64
	var phase *phaseState
	act := w.mbarriers(bar, space, 1<<lane, func(l int, p *phaseState) string {
		at, phase = w.where.at[l], p
		return ""
	})
	if act != advance || !all {
		return []bulkTarget{{own, phase}}, off, act
	}
	var list []bulkTarget
	for _, b := range w.block.cluster.blocks {
		switch p := b.phases[at]; {
		case b.alive == 0:
			return nil, 0,
				w.fault(lane, nil,
					"clusterlaunchcontrol.try_cancel multicasts to all blocks of the cluster, but block %s has exited",
					point(b.id))
		case p == nil:
			return nil, 0,
				w.fault(lane, nil,
					"mbarrier of block %d of the cluster %s", b.rank, CauseUninitialized)
		default:
			list = append(list, bulkTarget{b.shared, p})
		}
	}
	return list, off, advance
}

// queryCancel decodes clusterlaunchcontrol.query_cancel.
func queryCancel(d *decoder) (step, error) {
	op := d.operation()
	args, out := d.reads(), d.writes()
	width := 128 / len(args)
	// word returns one 32-bit word of the responses of all lanes.
	word := func(w *warp, i int) (v eval.Vector) {
		from := w.value(&args[i*32/width], &w.scratch[0])
		for l, x := range from {
			v[l] = x >> (i * 32 % width) & 0xffffffff
		}
		return v
	}
	if op.Has(isa.ModIsCanceled) {
		return func(w *warp, mask uint32) action {
			truth := uint32(0)
			for l, x := range word(w, answerFlag) {
				truth |= uint32(x&1) << l
			}
			w.block.cluster.refused = w.block.cluster.refused || truth&mask != mask
			w.writeTruth(&out[0], mask, truth)
			return advance
		}, nil
	}
	first := 0
	switch {
	case op.Has(isa.ModGetFirstCTAIDY):
		first = 1
	case op.Has(isa.ModGetFirstCTAIDZ):
		first = 2
	}
	return func(w *warp, mask uint32) action {
		for i := range out {
			v := word(w, first+i)
			w.write(&out[i], mask, &v)
		}
		return advance
	}, nil
}
