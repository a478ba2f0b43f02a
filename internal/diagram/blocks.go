// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package diagram

import "fmt"

// TMEM draws the tensor memory of a multiprocessor with two accumulators of 128 rows and 256
// columns.
func TMEM() string {
	c := newCanvas(860, 450, "Tensor memory")
	c.text(430, 26, 17, "middle",
		"Tensor memory of one multiprocessor: 128 lanes by 512 columns of 32 bits")
	const left, top, half, quarter = 150, 90, 320, 66
	c.text(left+half/2, top-28, 13, "middle", "accumulator 0")
	c.text(left+half+half/2, top-28, 13, "middle", "accumulator 1")
	for i, s := range []string{"0", "256", "512"} {
		c.text(left+i*half, top-8, 12, "middle", "column "+s)
	}
	for w := range 4 {
		y := top + w*quarter
		c.text(left-10, y+16, 12, "end", fmt.Sprintf("lane %d", w*32))
		for stage := range 2 {
			c.box(left+stage*half, y, half, quarter, hue(w), 13,
				fmt.Sprintf("rows %d to %d of D", w*32, w*32+31),
				fmt.Sprintf("read by warp %d of the warpgroup", w))
		}
	}
	c.text(left-10, top+4*quarter-6, 12, "end", "lane 127")
	c.text(left, top+4*quarter+30, 13, "start",
		"An address is lane * 65536 + column. A warp reaches the 32 lanes of its quarter only.")
	c.text(left, top+4*quarter+52, 13, "start",
		"While the warpgroup reads one accumulator, tcgen05.mma writes the other.")
	return c.svg()
}

// HopperRoles draws the roles and barriers of a warp-specialized GEMM.
func HopperRoles() string {
	c := newCanvas(900, 400, "Roles of the Hopper GEMM")
	c.text(450, 26, 17, "middle", "Roles, stages and mbarriers of the Hopper GEMM")
	c.box(20, 60, 150, 60, hue(0), 13, "A, B", "global memory")
	c.box(20, 180, 150, 130, hue(1), 13, "load", "warpgroup 0", "one thread", "setmaxnreg 40")
	for s := range 3 {
		y := 70 + s*90
		c.box(330, y, 190, 36, hue(2), 13, fmt.Sprintf("stage %d: A 16 KB, B 32 KB", s))
		c.box(330, y+38, 94, 26, hue(7), 12, "full")
		c.box(426, y+38, 94, 26, hue(7), 12, "empty")
	}
	c.box(700, 60, 180, 90, hue(3), 13, "math", "warpgroup 1, rows 0-63", "setmaxnreg 232")
	c.box(700, 170, 180, 90, hue(3), 13, "math", "warpgroup 2, rows 64-127", "setmaxnreg 232")
	c.box(700, 300, 180, 50, hue(0), 13, "D", "global memory")
	c.arrow(170, 90, 328, 90, "#2b6cb0")
	c.text(249, 80, 12, "middle", "TMA copy")
	c.arrow(170, 215, 328, 215, "#555555")
	c.text(249, 205, 12, "middle", "expect bytes")
	c.arrow(522, 90, 698, 90, "#2b6cb0")
	c.text(610, 80, 12, "middle", "wgmma reads")
	c.arrow(522, 125, 698, 125, "#555555")
	c.text(610, 117, 12, "middle", "full: wait")
	c.arrow(698, 210, 522, 210, "#555555")
	c.text(610, 202, 12, "middle", "empty: arrive")
	c.arrow(328, 300, 172, 300, "#555555")
	c.text(249, 290, 12, "middle", "empty: wait")
	c.arrow(790, 260, 790, 298, "#2b6cb0")
	c.text(782, 284, 12, "end", "TMA store")
	c.text(20, 384, 13, "start",
		"full expects 1 arrival and 49,152 bytes. empty expects 8 arrivals, one for each math warp.")
	return c.svg()
}

// Pair draws the parts of A, B and D that each block of a CTA pair holds.
func Pair() string {
	c := newCanvas(900, 560, "A pair of blocks")
	c.text(450, 26, 17, "middle",
		"Two blocks compute a tile of 256 x 256 as a pair (tcgen05.mma.cta_group::2)")
	// B is drawn above D, and A to its left.
	c.box(270, 60, 200, 80, hue(0), 13, "B rows 0-127", "box 2*Col + 0", "in block 0")
	c.box(470, 60, 200, 80, hue(1), 13, "B rows 128-255", "box 2*Col + 1", "in block 1")
	c.box(110, 160, 140, 130, hue(0), 13, "A rows 0-127", "box Row", "in block 0")
	c.box(110, 290, 140, 130, hue(1), 13, "A rows 128-255", "box Row + 1", "in block 1")
	c.box(270, 160, 400, 130, hue(0), 13, "D rows 0-127, all 256 columns",
		"tensor memory of block 0", "stored by block 0")
	c.box(270, 290, 400, 130, hue(1), 13, "D rows 128-255, all 256 columns",
		"tensor memory of block 1", "stored by block 1")
	c.text(270, 152, 12, "start", "column 0")
	c.text(470, 152, 12, "middle", "column 128")
	c.text(670, 152, 12, "end", "column 255")
	c.box(700, 60, 180, 46, hue(0), 13, "block 0: even rank")
	c.box(700, 112, 180, 46, hue(1), 13, "block 1: odd rank")
	for i, s := range []string{
		"Row and Col are at.Row and at.Col in block 0; at.Row of block 1 is one more.",
		"The even block issues the product, which reads A and B from the shared memory of both blocks.",
		"Column j of D needs row j of B. Each block computes all columns and keeps half of B.",
	} {
		c.text(110, 456+i*26, 13, "start", s)
	}
	return c.svg()
}

// Multicast draws the blocks of a cluster of 4 by 2 that share tiles of A and B.
func Multicast() string {
	c := newCanvas(900, 520, "Multicast in a cluster")
	c.text(450, 26, 17, "middle",
		"A cluster of 4 x 2 blocks: dsl.Cluster(4, 2), two pairs along x in each column of tiles")
	const left, top, width, height = 250, 120, 260, 76
	for col := range 2 {
		c.box(left+col*width, 60, width, 44, hue(4+col), 13,
			fmt.Sprintf("B of tile column %d", col),
			"even x: first half, odd x: second half")
		for row := range 4 {
			c.box(left+col*width, top+row*height, width, height, hue(row/2), 13,
				fmt.Sprintf("block x=%d y=%d", row, col), fmt.Sprintf("D tile (%d, %d)", row, col))
		}
	}
	for row := range 4 {
		c.box(30, top+row*height+14, 190, height-28, hue(row/2), 12, fmt.Sprintf("A of tile row %d",
			row), "shared by 2 blocks")
		c.arrow(222, top+row*height+height/2, left-3, top+row*height+height/2, "#2b6cb0")
	}
	for pair := range 2 {
		y := top + 2*pair*height
		c.frame(left-2, y+2, 2*width+4, 2*height-4, "#777777")
		c.text(left+2*width+14, y+height, 13, "start", fmt.Sprintf("pairs %d", pair))
	}
	for i, s := range []string{
		"MulticastRow: blocks (x, 0) and (x, 1) each load half of A of tile row x, for both.",
		"MulticastHalf: blocks 0 and 2 of a column share the first half of B, blocks 1 and 3 the second.",
		"Each of them loads a part, for both.",
	} {
		c.text(30, 450+i*24, 13, "start", s)
	}
	return c.svg()
}
