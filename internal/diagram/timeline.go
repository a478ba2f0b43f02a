// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package diagram

// A span is an activity in a row of a timeline, from a start time and for a length of time.
type span struct {
	from, length int
	label        string
	color        int
}

// A lane is a row of a timeline.
type lane struct {
	name  string
	spans []span
}

// timeline draws rows of activities over time, with notes as lines of text below.
func timeline(title string, lanes []lane, notes ...string) string {
	const left, top, unit, height = 150, 50, 44, 46
	width := left + 16*unit + 20
	c := newCanvas(width, top+len(lanes)*height+30+22*len(notes), title)
	c.text(width/2, 26, 17, "middle", title)
	for i, l := range lanes {
		y := top + i*height
		c.text(left-10, y+25, 13, "end", l.name)
		for _, s := range l.spans {
			c.box(left+s.from*unit, y, s.length*unit, height-8, hue(s.color), 12, s.label)
		}
	}
	for i, s := range notes {
		c.text(20, top+len(lanes)*height+22*(i+1), 13, "start", s)
	}
	return c.svg()
}

// Colors of copies, products, barriers and stores.
const (
	copies = iota
	stores
	products
	barriers
)

// repeat returns spans of equal length, one per label, whose start times are step apart.
func repeat(from, step, length, color int, labels ...string) (list []span) {
	for i, label := range labels {
		list = append(list, span{from + i*step, length, label, color})
	}
	return list
}

// LadderV0 draws the timeline of the first version of the BF16 ladder.
func LadderV0() string {
	threads := repeat(0, 1, 1, copies, "c0", "c1")
	for i, label := range []string{"mma 0", "mma 1", "mma 2"} {
		at := 3 + 4*i
		threads = append(threads, span{at, 1, "sync", barriers},
			span{at + 1, 1, []string{"c2", "c3", "c4"}[i], copies},
			span{at + 2, 2, label, products})
	}
	return timeline("v0: cp.async, all threads copy and multiply", []lane{
		{"256 threads", threads},
		{"stage 0", []span{{0, 3, "copy 0", copies}, {5, 2, "read 0", products},
			{8, 4, "copy 2", copies}, {13, 2, "read 2", products}}},
		{"stage 1", []span{{1, 6, "copy 1", copies}, {9, 2, "read 1", products},
			{12, 4, "copy 3", copies}}},
	}, "cN: each thread issues its part of the copy of step N (cp.async, commit_group).",
		"sync: wait_group for the own part, then bar.sync, so that all parts are visible to all warps.")
}

// LadderV1 draws the timeline of the second version.
func LadderV1() string {
	return timeline("v1: the TMA copies, one thread starts it", []lane{
		{"thread 0",
			[]span{{0, 1, "tma 0", copies}, {1, 1, "tma 1", copies}, {3, 1, "tma 2", copies},
				{8, 1, "tma 3", copies}}},
		{"TMA, stage 0", []span{{0, 3, "copy 0", copies}, {8, 4, "copy 3", copies}}},
		{"TMA, stage 1", []span{{1, 4, "copy 1", copies}}},
		{"8 warps", []span{{2, 1, "sync", barriers}, {3, 4, "mma 0", products},
			{7, 1, "sync", barriers}, {8, 4, "mma 1", products}, {12, 1, "sync", barriers}}},
	}, "The mbarrier full[stage] expects one arrival and the bytes of both tiles; all threads wait for its phase.",
		"sync: fence.proxy.async and bar.sync, before the TMA overwrites a stage that warps have read.")
}

// LadderV2 draws the timeline of the third version.
func LadderV2() string {
	return timeline("v2: a load warp; warps that multiply wait only for data", []lane{
		{"load warp",
			[]span{{0, 1, "tma 0", copies}, {1, 1, "tma 1", copies}, {6, 1, "tma 2", copies},
				{10, 1, "tma 3", copies}}},
		{"warp 0", []span{{2, 3, "mma 0", products}, {5, 3, "mma 1", products},
			{9, 3, "mma 2", products}, {12, 3, "mma 3", products}}},
		{"warp 1", []span{{2, 4, "mma 0", products}, {6, 4, "mma 1", products},
			{10, 3, "mma 2", products}, {13, 3, "mma 3", products}}},
	}, "full[stage]: the load warp arrives and expects bytes; each warp that multiplies waits.",
		"empty[stage]: each warp arrives after its last read; the load warp waits. No bar.sync in the loop.")
}

// LadderV3 draws the timeline of the fourth version.
func LadderV3() string {
	return timeline("v3: persistent, two warpgroups in turn (ping-pong)", []lane{
		{"load (40 regs)",
			repeat(0, 3, 3, copies, "left, tile 0", "right, tile 0", "left, tile 1",
				"right, tile 1")},
		{"left (232 regs)",
			[]span{{1, 4, "multiply 0", products}, {5, 2, "store 0", stores},
				{7, 4, "multiply 1", products}, {11, 2, "store 1", stores}}},
		{"right (232 regs)",
			[]span{{4, 4, "multiply 0", products}, {8, 2, "store 0", stores},
				{10, 4, "multiply 1", products}, {14, 2, "store 1", stores}}},
	}, "Each half of a tile has its own pipeline. While one warpgroup stores, the other keeps the tensor cores busy.",
		"A block computes the tiles blockIdx, blockIdx + gridDim, ...: launch, setup and drain happen once.")
}

// LadderV4 draws the timeline of the fifth version.
func LadderV4() string {
	return timeline("v4: persistent, eight warps share a tile", []lane{
		{"load (24 regs)",
			repeat(0, 3, 3, copies, "tile 0", "tile 0, 1", "tile 1", "tile 1, 2", "tile 2")},
		{"warp 0 (240 regs)",
			[]span{{1, 4, "multiply 0", products}, {5, 2, "store 0", stores},
				{7, 4, "multiply 1", products}, {11, 2, "store 1", stores}}},
		{"warp 1 (240 regs)",
			[]span{{1, 5, "multiply 0", products}, {6, 2, "store 0", stores},
				{8, 4, "multiply 1", products}, {12, 2, "store 1", stores}}},
	}, "One pipeline has the shared memory of both halves of v3. Its stages fill with the next tile while warps store.",
		"Each warp goes on to the next tile by itself: no barrier separates the tiles of a block.")
}
