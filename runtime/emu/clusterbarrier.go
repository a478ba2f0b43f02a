// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package emu

// A clusterBarrier is the barrier of a cluster.
type clusterBarrier struct {
	came    map[*warp]uint32 // lanes that have arrived in this phase
	phase   int
	waiting []*fragment
	owners  []*warp
}

// clusterArrive decodes barrier.cluster.arrive.
func clusterArrive(d *decoder) (step, error) {
	aligned := d.aligned()
	op := d.operation()
	return func(w *warp, _ uint32) action {
		if aligned && !w.together() {
			return parked
		}
		b := &w.block.cluster.barrier
		if b.came == nil {
			b.came = make(map[*warp]uint32)
		}
		mask := w.cur.mask
		if b.came[w]&mask != 0 {
			return w.fault(-1, nil,
				"%s without a barrier.cluster.wait in between", CauseClusterArrive)
		}
		b.came[w] |= mask
		w.tell(EventClusterArrive, mask, &op)
		w.arrivals++
		w.block.changes++
		w.cur.pc++
		w.block.cluster.checkBarrier()
		return moved
	}, nil
}

// checkBarrier completes the phase if all threads of the cluster that have not exited have arrived.
func (c *cluster) checkBarrier() {
	b := &c.barrier
	if len(b.came) == 0 {
		return
	}
	for _, k := range c.blocks {
		for _, w := range k.warps[:k.count] {
			if w.live&^b.came[w] != 0 {
				return
			}
		}
	}
	clear(b.came)
	b.phase++
	c.tell(EventClusterMeet, nil, nil)
	for i, f := range b.waiting {
		c.tell(EventClusterLeave, b.owners[i], f)
		f.pc++
		b.owners[i].wake(f)
	}
	b.waiting, b.owners = b.waiting[:0], b.owners[:0]
}

// tell reports to observers that the barrier completed, or that a fragment leaves the barrier.
func (c *cluster) tell(kind EventKind, w *warp, f *fragment) {
	g := c.grid
	if g.observer == nil {
		return
	}
	g.event = Event{Kind: kind, Block: uint32(c.blocks[0].number())}
	if w != nil {
		g.event.Block, g.event.Warp, g.event.Mask = uint32(w.block.number()), uint32(w.index),
			f.mask
	}
	g.observer.Observe(&g.event)
}

// clusterWait decodes barrier.cluster.wait.
func clusterWait(d *decoder) (step, error) {
	aligned := d.aligned()
	return func(w *warp, _ uint32) action {
		if aligned && !w.together() {
			return parked
		}
		b := &w.block.cluster.barrier
		if b.came[w]&w.cur.mask == 0 {
			if w.arrivals == 0 {
				return w.fault(-1, nil,
					"%s", CauseClusterWait)
			}
			w.tell(EventClusterLeave, w.cur.mask, nil)
			return advance // the phase is complete
		}
		b.waiting, b.owners = append(b.waiting, w.cur), append(b.owners, w)
		return w.park(waitsCluster,
			wait{note: func() string { return w.block.cluster.waitsForCluster() }})
	}, nil
}
