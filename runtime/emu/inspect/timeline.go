// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package inspect

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/bits"
	"slices"

	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/runtime/emu"
)

// A Timeline records the activity of warps and asynchronous operations as a trace for Perfetto and
// chrome://tracing. Each block is a process and each warp a track. Time is counted in instructions
// of the block's warps, one microsecond each. It is an observer.
type Timeline struct {
	events  []traceEvent
	names   *names
	clock   map[uint32]int64 // by block
	running map[thread]*slice
	stages  map[thread]string
	open    map[uint64]traceEvent // operations in flight
	launch  int
	dropped int
}

// A slice is the current activity of a warp, from its first instruction.
type slice struct {
	name, category string
	begin, end     int64
	line           string
	stage          string
}

// A traceEvent is an event in the Trace Event Format.
type traceEvent struct {
	Name     string         `json:"name"`
	Category string         `json:"cat,omitempty"`
	Phase    string         `json:"ph"`
	Time     int64          `json:"ts"`
	Duration int64          `json:"dur,omitempty"`
	Process  int            `json:"pid"`
	Thread   int            `json:"tid"`
	ID       string         `json:"id,omitempty"`
	Args     map[string]any `json:"args,omitempty"`
}

// maxEvents limits the number of events in a timeline, and thereby its memory.
const maxEvents = 2_000_000

// NewTimeline returns an empty timeline.
func NewTimeline() *Timeline {
	return &Timeline{
		clock: make(map[uint32]int64), running: make(map[thread]*slice),
		stages: make(map[thread]string),
		open:   make(map[uint64]traceEvent),
	}
}

// Step records an instruction of a warp.
func (t *Timeline) Step(e *emu.Event, s *emu.State) {
	now := s.Clock()
	t.clock[e.Block] = now
	who := thread{e.Block, e.Warp}
	name, category := t.activity(e, s)
	at := t.stages[who]
	if category == "wait" || isCopy(e.Instr) || products[e.Instr.Form.Form.Kind] {
		at = stage(s, bits.TrailingZeros32(e.Mask))
		t.stages[who] = at
	}
	r := t.running[who]
	if r != nil && r.name == name && r.stage == at {
		r.end = now
		return
	}
	t.endSlice(who, now-1)
	t.running[who] = &slice{name: name, category: category, begin: now - 1, end: now,
		line: t.names.line(e), stage: at}
}

// activity names the activity of a warp at an instruction: a wait, or its role.
func (t *Timeline) activity(e *emu.Event, s *emu.State) (name, category string) {
	switch kind := e.Instr.Form.Form.Kind; {
	case waitsForPhase(e.Instr), kind == isa.KindBarrierSync, kind == isa.KindBarrierRed,
		kind == isa.KindBarrierClusterWait, kind == isa.KindCpAsyncWaitGroup,
		kind == isa.KindCpAsyncWaitAll,
		kind == isa.KindCpAsyncBulkWaitGroup, kind == isa.KindWgmmaWaitGroup:
		return kind.String(), "wait"
	}
	if role := t.names.role(e.Warp); role != "" {
		return role, "run"
	}
	if f := s.Function(); !f.Kernel {
		return f.Name, "run"
	}
	return "run", "run"
}

// endSlice ends the current activity of a warp.
func (t *Timeline) endSlice(who thread, now int64) {
	r := t.running[who]
	if r == nil {
		return
	}
	delete(t.running, who)
	end := r.end
	if r.category == "wait" {
		end = max(end, now) // the warp continues when its wait is over
	}
	args := map[string]any{"line": r.line}
	if r.stage != "" {
		args["stage"] = r.stage
	}
	t.add(traceEvent{
		Name: r.name, Category: r.category, Phase: "X", Time: r.begin,
		Duration: max(end-r.begin, 1),
		Process:  t.process(who.block), Thread: int(who.warp) + 1, Args: args,
	})
}

// process returns the process number of a block, which is unique over all launches.
func (t *Timeline) process(block uint32) int { return t.launch<<20 + int(block) + 1 }

// add appends an event.
func (t *Timeline) add(e traceEvent) {
	if len(t.events) >= maxEvents {
		t.dropped++
		return
	}
	t.events = append(t.events, e)
}

// Observe records an event.
func (t *Timeline) Observe(e *emu.Event) {
	switch e.Kind {
	case emu.EventBegin:
		t.names = namesOf(e.Launch)
	case emu.EventEnd:
		for _, who := range slices.SortedFunc(maps.Keys(t.running), compareThreads) {
			t.endSlice(who, t.clock[who.block])
		}
		clear(t.clock)
		clear(t.stages)
		t.launch++
	case emu.EventStart:
		t.start(e)
	case emu.EventIssue:
		t.issue(e)
	case emu.EventComplete:
		t.complete(e)
	case emu.EventRead, emu.EventWrite:
		if x, ok := t.open[e.Operation]; ok && e.Mask != 0 && e.At != nil {
			key := "from"
			if e.Kind == emu.EventWrite {
				key = "to"
			}
			if x.Args[key] == nil {
				x.Args[key] = t.names.address(e.At[bits.TrailingZeros32(e.Mask)], e.Size)
			}
		}
	case emu.EventPhase:
		if e.Mask != 0 && e.At != nil {
			at := e.At[bits.TrailingZeros32(e.Mask)]
			t.add(traceEvent{
				Name: "phase of " + t.names.address(at, 8), Category: "mbarrier", Phase: "i",
				Time: t.clock[at.Block], Process: t.process(at.Block),
			})
		}
	}
}

// compareThreads orders warps by block, then by index.
func compareThreads(a, b thread) int {
	return cmp.Or(cmp.Compare(a.block, b.block), cmp.Compare(a.warp, b.warp))
}

// start adds the event that names the track of a warp.
func (t *Timeline) start(e *emu.Event) {
	name := fmt.Sprintf("warp %d", e.Warp)
	if role := t.names.role(e.Warp); role != "" {
		name += ", " + role
	}
	if e.Warp == 0 {
		label := fmt.Sprintf("%s, block %d", t.names.launch.Kernel, e.Block)
		t.add(traceEvent{Name: "process_name", Phase: "M", Process: t.process(e.Block),
			Args: map[string]any{"name": label}})
	}
	t.add(traceEvent{
		Name: "thread_name", Phase: "M", Process: t.process(e.Block), Thread: int(e.Warp) + 1,
		Args: map[string]any{"name": name},
	})
}

// issue records the start of an asynchronous operation.
func (t *Timeline) issue(e *emu.Event) {
	args := map[string]any{"line": t.names.line(e), "warp": e.Warp}
	if s := t.stages[thread{e.Block, e.Warp}]; s != "" {
		args["stage"] = s
	}
	t.open[e.Operation] = traceEvent{
		Name: nameOf(e.Instr), Category: "asynchronous", Time: t.clock[e.Block],
		Process: t.process(e.Block),
		ID:      fmt.Sprintf("%d.%d", t.launch, e.Operation), Args: args,
	}
}

// nameOf returns the name under which an instruction is displayed.
func nameOf(in *ir.Instr) string {
	if in == nil || in.Form == nil {
		return "operation"
	}
	return in.Form.Form.Kind.String()
}

// complete records the end of an asynchronous operation when its last lane is complete.
func (t *Timeline) complete(e *emu.Event) {
	x, ok := t.open[e.Operation]
	if !ok {
		return
	}
	delete(t.open, e.Operation)
	x.Phase = "b"
	t.add(x)
	x.Phase, x.Time, x.Args = "e", max(t.clock[e.Block], x.Time+1), nil
	t.add(x)
}

// Write writes the trace as JSON.
func (t *Timeline) Write(out io.Writer) error {
	list := slices.Clone(t.events)
	slices.SortStableFunc(list, func(a, b traceEvent) int {
		if a.Phase == "M" != (b.Phase == "M") {
			if a.Phase == "M" {
				return -1
			}
			return 1
		}
		return int(a.Time - b.Time)
	})
	file := struct {
		Events []traceEvent   `json:"traceEvents"`
		Unit   string         `json:"displayTimeUnit"`
		Other  map[string]any `json:"otherData"`
	}{list, "ns", map[string]any{
		"time":    "one microsecond is one instruction of a warp of the block",
		"dropped": t.dropped,
	}}
	e := json.NewEncoder(out)
	e.SetIndent("", "")
	return e.Encode(file)
}
