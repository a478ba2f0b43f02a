// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package emu

import (
	"fmt"
	"strings"
)

// state describes a named barrier for the report of a hang: which warps arrived and which are
// missing.
func (b *barrier) state(k *block, number uint64) string {
	text := fmt.Sprintf("waits at barrier %d: %d threads arrived, %s expected", number, b.came,
		threadsOf(b.want))
	var missing []string
	for _, w := range k.warps[:k.count] {
		switch lanes := w.live &^ b.lanes[w.index]; {
		case lanes == 0:
		case lanes == w.live:
			missing = append(missing, fmt.Sprintf("warp %d", w.index))
		default:
			missing = append(missing, fmt.Sprintf("lanes %08x of warp %d", lanes, w.index))
		}
	}
	if len(missing) > 0 {
		text += "; missing: " + listed(missing)
	}
	return text
}

// maxListedPerLine limits how many warps or instructions a line of a report lists.
const maxListedPerLine = 8

// listed joins the first maxListedPerLine elements of a list, and states how many are left out.
func listed(list []string) string {
	if more := len(list) - maxListedPerLine; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(list[:maxListedPerLine], ", "), more)
	}
	return strings.Join(list, ", ")
}

// state describes an mbarrier for the report of a hang: what its phase waits for, where it was
// initialized, and which warp arrived last.
func (p *phaseState) state(w *warp) string {
	text := fmt.Sprintf("waits for the mbarrier at %s: %s", w.block.grid.sharedName(p.at), p)
	if p.made != nil {
		text += "; initialized at " + w.block.grid.lineOf(p.made)
	}
	return text + p.visits.state(w.block.grid, p)
}

// lineOf returns the line of a command in the PTX text, for messages.
func (g *grid) lineOf(in *command) string {
	if in.at == nil {
		return "the end"
	}
	at, _ := g.image.module.ir.At(in.at.Pos)
	return fmt.Sprintf("line %d", at.Line)
}

// sharedName names an address of shared memory by the variable that contains it.
func (g *grid) sharedName(at uint64) string {
	for _, s := range g.image.sharedSymbols {
		switch {
		case at == s.at:
			return s.name
		case at > s.at && at < s.at+s.size:
			return fmt.Sprintf("%s+%d", s.name, at-s.at)
		}
	}
	return fmt.Sprintf("shared address 0x%x", at)
}

// waitsForCluster describes the cluster barrier for the report of a hang.
func (c *cluster) waitsForCluster() string {
	var missing []string
	for _, k := range c.blocks {
		for _, w := range k.warps[:k.count] {
			if w.live&^c.barrier.came[w] != 0 {
				missing = append(missing, fmt.Sprintf("warp %d of block %s", w.index, point(k.id)))
			}
		}
	}
	return "waits for the other blocks of its cluster; missing: " + listed(missing)
}
