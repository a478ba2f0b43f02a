// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package emu

import (
	"fmt"
	"strings"
)

// maxReportedWarps limits how many lines the report of a hang has. A line describes one warp, or
// several warps of a block that wait alike.
const maxReportedWarps = 16

// hang returns the fault of a grid in which no cluster can make progress.
func (g *grid) hang() *Fault {
	f := &Fault{Kernel: g.image.entry.Name, Warp: -1, Lane: -1}
	best := -1
	var lines []*waitingWarps
	known := make(map[string]*waitingWarps)
	for _, c := range g.waiting {
		for _, w := range c.order {
			for _, part := range w.fragments() {
				last := part.group
				if last.note == nil {
					last = part.inVain
				}
				if rank := last.rank(); last.note != nil && rank > best {
					best = rank
					f.Waiting = &Waiting{
						Place: w.describe(part, -1).Place,
						Reason: fmt.Sprintf("warp %d of block %s %s", w.index, point(w.block.id),
							last.note()),
					}
				}
				block, state := point(w.block.id), w.report(part)
				line := known[block+state]
				if line == nil {
					line = &waitingWarps{block: block, state: state}
					known[block+state], lines = line, append(lines, line)
				}
				line.warps = append(line.warps, int(w.index))
			}
		}
	}
	for i, l := range lines {
		if i == maxReportedWarps {
			f.Notes = append(f.Notes, fmt.Sprintf("and %d more", len(lines)-i))
			break
		}
		f.Notes = append(f.Notes, l.String())
	}
	f.Message = fmt.Sprintf("%s: no thread of %d blocks can make progress", CauseHang,
		len(g.waiting)*len(g.waiting[0].blocks))
	return f
}

// rank orders the waits of a hang by how likely they are its cause. A wait at a barrier of threads
// is usually a consequence of a wait at an mbarrier. An mbarrier that lacks only bytes waits for no
// thread.
func (w *wait) rank() int {
	switch p := w.phase; {
	case p == nil:
		return 0
	case p.pending == 0 && p.bytes != 0:
		return 2
	}
	return 1
}

// waitingWarps is a line of the report of a hang: warps of a block that wait alike.
type waitingWarps struct {
	block, state string
	warps        []int
}

func (l *waitingWarps) String() string {
	noun := "warp"
	if len(l.warps) > 1 {
		noun = "warps"
	}
	return fmt.Sprintf("block %s, %s %s, %s", l.block, noun, ranges(l.warps), l.state)
}

// ranges lists numbers, of which there is at least one, with runs of three or more as "0 to 3".
func ranges(list []int) string {
	var parts []string
	for i := 0; i < len(list); {
		end := i
		for end+1 < len(list) && list[end+1] == list[end]+1 {
			end++
		}
		if end-i < 2 {
			end = i
			parts = append(parts, fmt.Sprint(list[i]))
		} else {
			parts = append(parts, fmt.Sprintf("%d to %d", list[i], list[end]))
		}
		i = end + 1
	}
	last := len(parts) - 1
	if last == 0 {
		return parts[0]
	}
	return strings.Join(parts[:last], ", ") + " and " + parts[last]
}

// fragments returns the fragments of a warp.
func (w *warp) fragments() []*fragment {
	var list []*fragment
	if w.cur != nil {
		list = append(list, w.cur)
	}
	return append(append(list, w.ready...), w.waiting...)
}

// report describes where a fragment is and what it waits for, after the name of its warp.
func (w *warp) report(f *fragment) string {
	e := w.describe(f, -1)
	what := string(CauseSpin)
	switch {
	case f.group.note != nil:
		what = f.group.note()
	case f.inVain.note != nil:
		what = f.inVain.note()
	case f.state == waitsConverge:
		what = fmt.Sprintf("waits for lanes %08x of its warp, which execute other code",
			w.live&^f.mask)
	case f.state == waitsLanes:
		what = fmt.Sprintf("waits for lanes %08x of its member mask, which execute other code",
			f.group.mask&w.live&^f.mask)
	}
	place := fmt.Sprintf("%s:%d", e.Place.File, e.Place.Line)
	if e.Source != "" {
		place += " (" + e.Source + ")"
	}
	return fmt.Sprintf("lanes %08x: %s: %s: %s", f.mask, place, e.Opcode, what)
}
