// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package emu

import (
	"fmt"
	"math/bits"

	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/isa/eval"
)

// asyncKinds adds the decoders of asynchronous stores and reductions, and of instructions that
// access a multimem address.
func asyncKinds(kinds map[isa.Kind]entry) {
	for k, e := range map[isa.Kind]entry{
		isa.KindStAsync:                      {make: storeAsync},
		isa.KindRedAsync:                     {make: reduceAsync},
		isa.KindStBulk:                       {make: storeBulk},
		isa.KindMultimemSt:                   {make: store},
		isa.KindMultimemLdReduce:             {make: loadReduce},
		isa.KindMultimemRed:                  {make: atomically},
		isa.KindMultimemStAsync:              {make: storeAsync},
		isa.KindMultimemRedAsync:             {make: reduceAsync},
		isa.KindMultimemCpAsyncBulk:          {make: bulkCopy},
		isa.KindMultimemCpReduceAsyncBulk:    {make: bulkCopy},
		isa.KindDiscard:                      {make: discard},
		isa.KindApplypriority:                {make: nothing},
		isa.KindApplypriorityAsyncBulk:       {make: checkBulk},
		isa.KindCpAsyncBulkPrefetch:          {make: checkBulk},
		isa.KindApplypriorityAsyncBulkTensor: {make: nothing},
		isa.KindTensormapReplace:             {make: replaceField},
		isa.KindTensormapCpFenceproxy:        {make: copyTensorMap, whole: true},
	} {
		kinds[k] = e
	}
}

// An asyncStore is a decoded st.async or red.async.
type asyncStore struct {
	at, bar  addressRef
	mbarrier bool // completes on an mbarrier
	space    isa.Space
	values   []ref
	width    uint64 // bytes of an element
	combine  eval.Combine
}

// asyncStore decodes the operands of st.async and red.async.
func (d *decoder) asyncStore() (*asyncStore, error) {
	op := d.operation()
	s := &asyncStore{space: op.Space, values: d.registersNamed("b"),
		mbarrier: d.named("mbar") != nil}
	var err error
	if s.at, err = d.addressNamed("a"); err != nil {
		return nil, err
	}
	if s.mbarrier {
		if s.bar, err = d.addressNamed("mbar"); err != nil {
			return nil, err
		}
	}
	t := op.Type()
	s.width = uint64(t.Bits()) / 8
	n := op.Vec
	if s.width == 16 {
		s.width, n = 8, 2*n
	}
	switch parts := uint64(len(s.values)); {
	case n == 1 && parts > 1 && t.Class() == isa.Bits: // they are packed into one value
		s.width, n = s.width/parts, len(s.values)
	case n == 1 && parts > 1: // a vector without a length modifier
		n = len(s.values)
	}
	if len(s.values) != n || s.width == 0 {
		return nil, fmt.Errorf("%s with %d registers is not emulated: the manual does not list it",
			d.in.Op, len(s.values))
	}
	for i := range s.values {
		s.values[i] = d.fit(s.values[i], t)
	}
	return s, nil
}

// storeAsync decodes st.async. The bytes arrive later, and an mbarrier counts them.
func storeAsync(d *decoder) (step, error) {
	s, err := d.asyncStore()
	if err != nil {
		return nil, err
	}
	return s.run, nil
}

// reduceAsync decodes red.async.
func reduceAsync(d *decoder) (step, error) {
	s, err := d.asyncStore()
	if err != nil {
		return nil, err
	}
	op := d.operation()
	if s.combine, err = d.combine(&op); err != nil {
		return nil, err
	}
	return s.run, nil
}

// run issues the stores of the lanes of a mask.
func (s *asyncStore) run(w *warp, mask uint32) action {
	n := s.width * uint64(len(s.values))
	if !w.locate(&s.at, mask,
		&demand{space: s.space, size: n, align: n, write: true, quiet: true}) {
		return failed
	}
	target := w.where
	values := make([]eval.Vector, len(s.values))
	for i := range s.values {
		values[i] = *w.value(&s.values[i], &w.scratch[0])
	}
	var phases [eval.Lanes]*phaseState
	if s.mbarrier {
		act := w.mbarriers(&s.bar, s.space, mask, func(l int, p *phaseState) string {
			phases[l] = p
			return ""
		})
		if act != advance {
			return act
		}
	}
	in := w.command()
	return w.issue(mask, &w.bulkGroups, nil, func(l int) *Fault {
		r, at := target.regionOf(l), target.at[l]
		g := w.block.grid
		g.device.ordering.Lock()
		defer g.device.ordering.Unlock()
		running := w.block.cluster.queue.running
		g.tellRange(running, writeKind(s.combine), l, r, at, n, ProxyGeneric)
		for i := range values {
			off := at + uint64(i)*s.width
			x := values[i][l]
			if s.combine != nil {
				if r.init != nil && g.checks && !allSet(r.init[off:off+s.width]) {
					return w.faultAt(in, "red.async on uninitialized memory: %d bytes", s.width)
				}
				x = s.combine(read(r.data[off:], s.width), x, 0)
			}
			put(r.data[off:], s.width, x)
			if r.init != nil {
				fill(r.init[off:off+s.width], 0xff)
			}
		}
		if p := phases[l]; p != nil {
			g.tellPhase(running, EventSignal, l, p.owner, p.at)
			if why := p.complete(int64(n)); why != "" {
				return w.faultAt(in, "%s", why)
			}
		}
		return nil
	})
}

// storeBulk decodes st.bulk, which sets a range of shared memory to zero.
func storeBulk(d *decoder) (step, error) {
	at, err := d.addressNamed("a")
	if err != nil {
		return nil, err
	}
	op, size := d.operation(), d.valueNamed("size")
	if size == nil {
		return nil, fmt.Errorf("the size operand of %s is missing", d.in.Op)
	}
	return func(w *warp, mask uint32) action {
		sizes := *w.value(size, &w.scratch[0])
		for m := mask; m != 0; m &= m - 1 {
			l := bits.TrailingZeros32(m)
			n := sizes[l]
			if n%8 != 0 || n > 1<<24 {
				return w.fault(l, nil,
					"size of st.bulk is %d bytes, expected a multiple of 8 up to 16777216", n)
			}
			if n == 0 {
				continue
			}
			if !w.locate(&at, 1<<l, &demand{space: op.Space, size: n, align: 8, write: true}) {
				return failed
			}
			r, off := w.where.regionOf(l), w.where.at[l]
			if w.ownerOf(r) == nil {
				return w.fault(l, nil, "address of st.bulk is not in shared memory")
			}
			clear(r.data[off : off+n])
			if r.init != nil {
				fill(r.init[off:off+n], 0xff)
			}
		}
		w.block.changes++
		return advance
	}, nil
}

// discard decodes discard, which makes the contents of memory undefined. The emulator marks the
// bytes as uninitialized.
func discard(d *decoder) (step, error) {
	at, err := d.addressNamed("a")
	if err != nil {
		return nil, err
	}
	q := demand{space: isa.Global, size: 128, align: 128, write: true}
	return func(w *warp, mask uint32) action {
		if !w.locate(&at, mask, &q) {
			return failed
		}
		w.block.changes++
		for m := mask; m != 0; m &= m - 1 {
			l := bits.TrailingZeros32(m)
			r := w.where.regionOf(l)
			if r.init == nil && w.block.grid.checks && !r.fixed {
				r.init = make([]byte, len(r.data))
				fill(r.init, 0xff)
			}
			if r.init != nil {
				clear(r.init[w.where.at[l] : w.where.at[l]+q.size])
			}
		}
		return advance
	}, nil
}
