// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"fmt"
	"math/bits"

	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/runtime/emu"
)

// An opKind is the kind of an operation.
type opKind uint8

const (
	opInit   opKind = iota // an mbarrier is initialized
	opInval                // an mbarrier is invalidated
	opArrive               // arrivals and expected bytes
	opWait                 // a wait for a phase of an mbarrier
	opJoin                 // an arrival at a named barrier, at a cluster barrier, or of lanes
	opLeave                // the end of a wait at a named barrier
	opIssue                // the start of an asynchronous operation that signals mbarriers
	opEffect               // its completion
)

// An op is an operation of a thread, or the completion of an asynchronous operation.
type op struct {
	kind   opKind
	object int32
	// arrivals of all lanes; for opInit, the expected arrivals; for opIssue, the index of the
	// asynchronous operation
	count   int32
	drops   int32
	bytes   int64
	phase   int32 // phase of an mbarrier for a wait, or of a barrier for a join
	instr   *ir.Instr
	effects []op // the effects of an opEffect
	issues  []int32
}

// An object is an mbarrier or a barrier of another kind.
type object struct {
	name    string
	barrier bool
	class   uint8   // 1 for named barriers, 2 for cluster barriers
	lanes   bool    // a single synchronization of lanes of a warp
	want    []int32 // threads that arrive in each phase of a barrier
	phase   int32
	count   int32 // threads that have arrived in the current phase
}

// A laneKey identifies a thread of the launch.
type laneKey struct{ block, warp, lane uint32 }

// A thread holds the operations of a lane.
type thread struct {
	laneKey
	ops    []op
	joined map[int32]int32 // the phase of each barrier that it joined last
	// index of the last join of lanes; a second join without operations between is dropped
	last int
}

// An async is an asynchronous operation of a lane.
type async struct {
	by      laneKey
	ordered bool
	instr   *ir.Instr
	effects []op
	index   int32 // index in the trace, or -1
}

type asyncKey struct {
	serial uint64
	lane   uint32
}

type objectKey struct {
	space uint8 // 0 for mbarriers, 1 for named barriers, 2 for cluster barriers
	block uint32
	at    uint64
}

// A Recorder is an Observer that records the synchronization of the last launch.
type Recorder struct {
	launch  *emu.Launching
	threads []*thread
	warps   int // warps per block
	order   []*thread
	objects []object
	index   map[objectKey]int32
	asyncs  map[asyncKey]*async
	issued  []*async
	current *op // the operation of the last signal
	size    int
	full    bool   // too many operations to record
	flags   Points // accesses through which threads may synchronize
}

// maxOps limits how many operations of threads a Recorder records.
const maxOps = 1 << 21

// Observe handles an event.
func (r *Recorder) Observe(e *emu.Event) {
	if e.Kind == emu.EventBegin {
		warps := (e.Launch.Threads + emu.Lanes - 1) / emu.Lanes
		threads := make([]*thread, e.Launch.Blocks*warps*emu.Lanes)
		*r = Recorder{launch: e.Launch, threads: threads, warps: warps,
			index: map[objectKey]int32{}, asyncs: map[asyncKey]*async{}}
		r.flags.Observe(e)
		return
	}
	if r.launch == nil || r.full {
		return
	}
	r.flags.Observe(e)
	switch e.Kind {
	case emu.EventStart, emu.EventExit, emu.EventEnd:
	case emu.EventCount:
		r.count(e)
	case emu.EventPhase:
		r.objects[r.mbarrier(e, 0)].phase++
	case emu.EventMeet:
		o := &r.objects[r.object(objectKey{1, e.Block, uint64(e.Number)})]
		o.want, o.count, o.phase = append(o.want, o.count), 0, o.phase+1
	case emu.EventClusterMeet:
		o := &r.objects[r.object(objectKey{2, r.cluster(e.Block), 0})]
		o.want, o.count, o.phase = append(o.want, o.count), 0, o.phase+1
	case emu.EventSignal:
		if e.Operation != 0 {
			r.effect(e)
			return
		}
		r.each(e, func(t *thread, l int) {
			r.current = r.add(t, op{kind: opArrive, object: r.mbarrier(e, l), instr: e.Instr})
			r.current.phase = r.objects[r.current.object].phase
			if drops(e.Instr) {
				r.current.drops = 1
			}
		})
	default:
		r.event(e)
	}
}

// event handles an event of lanes.
func (r *Recorder) event(e *emu.Event) {
	if e.Operation != 0 && e.Kind != emu.EventIssue {
		return
	}
	if e.Kind != emu.EventLeave && e.Kind != emu.EventClusterLeave && e.Kind != emu.EventComplete &&
		e.Mask&(e.Mask-1) != 0 {
		r.together(e)
	}
	switch e.Kind {
	case emu.EventInit:
		r.each(e, func(t *thread, l int) {
			i := r.mbarrier(e, l)
			r.objects[i].phase = 0
			x := op{kind: opInit, object: i, instr: e.Instr}
			if len(e.Values) > 0 {
				x.count = int32(e.Values[0][l])
			}
			r.add(t, x)
		})
	case emu.EventInval:
		r.each(e, func(t *thread, l int) {
			r.add(t, op{kind: opInval, object: r.mbarrier(e, l), instr: e.Instr})
		})
	case emu.EventTest:
		r.each(e, func(t *thread, l int) {
			i := r.mbarrier(e, l)
			r.add(t, op{kind: opWait, object: i, phase: r.objects[i].phase, instr: e.Instr})
		})
	case emu.EventArrive:
		r.join(e, r.object(objectKey{1, e.Block, uint64(e.Number)}))
	case emu.EventLeave:
		r.leave(e, r.object(objectKey{1, e.Block, uint64(e.Number)}))
	case emu.EventClusterArrive:
		r.join(e, r.object(objectKey{2, r.cluster(e.Block), 0}))
	case emu.EventClusterLeave:
		r.leave(e, r.object(objectKey{2, r.cluster(e.Block), 0}))
	case emu.EventIssue:
		r.each(e, func(t *thread, l int) {
			a := &async{by: t.laneKey, ordered: e.Group == emu.GroupTensor, instr: e.Instr,
				index: -1}
			r.asyncs[asyncKey{e.Operation, uint32(l)}] = a
			r.add(t, op{kind: opIssue, count: int32(len(r.issued)), instr: e.Instr})
			r.issued = append(r.issued, a)
		})
	}
}

// drops reports whether an arrival reduces the expected count of later phases.
func drops(in *ir.Instr) bool {
	if in == nil || in.Form == nil {
		return false
	}
	k := in.Kind()
	return k == isa.KindMbarrierArriveDrop || k == isa.KindMbarrierArriveDropExpectTx
}

// cluster returns the index of the first block of a cluster, by which the emulator identifies it.
func (r *Recorder) cluster(block uint32) uint32 {
	l := r.launch.Launch
	if l.Cluster[0] == 0 {
		return block
	}
	gx, gy := l.Grid[0], l.Grid[1]
	x, y, z := block%gx, block/gx%gy, block/gx/gy
	x, y, z = x/l.Cluster[0]*l.Cluster[0], y/l.Cluster[1]*l.Cluster[1], z/l.Cluster[2]*l.Cluster[2]
	return x + gx*(y+gy*z)
}

// object returns the index of a synchronization object, which it assigns on first use.
func (r *Recorder) object(k objectKey) int32 {
	i, ok := r.index[k]
	if !ok {
		i = int32(len(r.objects))
		r.index[k] = i
		name := fmt.Sprintf("barrier %d of block %d", k.at, k.block)
		switch k.space {
		case 0:
			name = fmt.Sprintf("mbarrier %s of block %d",
				r.launch.Symbol(emu.Address{Space: isa.Shared, Block: k.block, At: k.at}), k.block)
		case 2:
			name = fmt.Sprintf("cluster barrier of block %d", k.block)
		}
		r.objects = append(r.objects, object{name: name, barrier: k.space != 0, class: k.space})
	}
	return i
}

// mbarrier returns the index of the mbarrier of a lane of an event.
func (r *Recorder) mbarrier(e *emu.Event, l int) int32 {
	a := e.At[l]
	return r.object(objectKey{0, a.Block, a.At})
}

// each calls f for the threads of an event.
func (r *Recorder) each(e *emu.Event, f func(t *thread, lane int)) {
	for m := e.Mask; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		k := (int(e.Block)*r.warps+int(e.Warp))*emu.Lanes + l
		t := r.threads[k]
		if t == nil {
			t = &thread{laneKey: laneKey{e.Block, e.Warp, uint32(l)}, joined: map[int32]int32{},
				last: -1}
			r.threads[k] = t
			r.order = append(r.order, t)
		}
		f(t, l)
	}
}

// add appends an operation of a thread.
func (r *Recorder) add(t *thread, x op) *op {
	if r.size++; r.size > maxOps {
		r.full = true
	}
	t.ops = append(t.ops, x)
	return &t.ops[len(t.ops)-1]
}

// count adds the arrivals and bytes of an EventCount to the operation of the last signal.
func (r *Recorder) count(e *emu.Event) {
	if r.current != nil {
		r.current.count += int32(e.Count)
		r.current.bytes += e.Bytes
	}
}

// effect records that an asynchronous operation signals an mbarrier.
func (r *Recorder) effect(e *emu.Event) {
	l := bits.TrailingZeros32(e.Mask)
	a := r.asyncs[asyncKey{e.Operation, uint32(l)}]
	r.current = nil
	if a == nil {
		return
	}
	i := r.mbarrier(e, l)
	a.effects = append(a.effects,
		op{kind: opEffect, object: i, phase: r.objects[i].phase, instr: a.instr})
	r.current = &a.effects[len(a.effects)-1]
}

// join records an arrival of lanes at a barrier.
func (r *Recorder) join(e *emu.Event, i int32) {
	r.each(e, func(t *thread, _ int) {
		o := &r.objects[i]
		o.count++
		t.joined[i] = o.phase
		r.add(t, op{kind: opJoin, object: i, count: 1, phase: o.phase, instr: e.Instr})
	})
}

// leave records the end of a wait at a barrier.
func (r *Recorder) leave(e *emu.Event, i int32) {
	r.each(e, func(t *thread, _ int) {
		r.add(t, op{kind: opLeave, object: i, phase: t.joined[i], instr: e.Instr})
	})
}

// together records a synchronization of several lanes of a warp, such as bar.warp.sync.
func (r *Recorder) together(e *emu.Event) {
	first, same := -1, true
	r.each(e, func(t *thread, _ int) {
		if first < 0 {
			first = t.last
		}
		same = same && t.last >= 0 && t.last == first && t.ops[len(t.ops)-1].kind == opLeave
	})
	if same {
		return
	}
	i := int32(len(r.objects))
	n := int32(bits.OnesCount32(e.Mask))
	r.objects = append(r.objects,
		object{name: "lanes of a warp", barrier: true, lanes: true, want: []int32{n}})
	r.each(e, func(t *thread, _ int) {
		r.add(t, op{kind: opJoin, object: i, count: 1, instr: e.Instr})
		r.add(t, op{kind: opLeave, object: i, instr: e.Instr})
		t.last = int(i)
	})
}
