// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package diagram

import (
	"fmt"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/isa"
)

// Swizzle draws 1024 bytes of shared memory, in lines of 128 bytes, and the position of each
// 16-byte unit of a tile with a swizzle of the given size.
func Swizzle(bytes int) string {
	const line, unit, lines = 128, 16, 8
	tile := dsl.Tile{Type: isa.F16, Rows: lines * line / bytes, Cols: bytes / 2,
		Swizzle: dsl.Swizzle(bytes)}
	c := newCanvas(760, 410, fmt.Sprintf("The %d-byte swizzle", bytes))
	c.text(380, 26, 17, "middle",
		fmt.Sprintf("A tile with rows of %d bytes and the %d-byte swizzle, in shared memory", bytes,
			bytes))
	const left, top, width, height = 90, 76, 80, 34
	for u := range line / unit {
		c.text(left+u*width+width/2, top-10, 12, "middle", fmt.Sprintf("banks %d-%d", 4*u, 4*u+3))
	}
	for l := range lines {
		c.text(left-8, top+l*height+22, 12, "end", fmt.Sprintf("byte %d", l*line))
	}
	for row := range tile.Rows {
		for u := range bytes / unit {
			at := tile.Offset(row, u*unit/2)
			x, y := left+at%line/unit*width, top+at/line*height
			c.box(x, y, width, height, hue(u), 13, fmt.Sprintf("r%d u%d", row, u))
		}
	}
	for row := range 8 {
		at := tile.Offset(row, 0)
		c.frame(left+at%line/unit*width+1, top+at/line*height+1, width-3, height-3, "#c00000")
	}
	c.text(left, 372, 13, "start", "r3 u1 is the second unit of 16 bytes in row 3.")
	c.text(left, 392, 13, "start",
		"Framed: unit 0 of rows 0 to 7, which ldmatrix reads at once: all banks are different.")
	return c.svg()
}

// A cellOf returns the lane of a warp that holds an element of a matrix, and the element's index
// in the lane's part of the fragment.
type cellOf func(row, col int) (lane, index int)

// fragmentA, fragmentB and fragmentC are the fragments of mma.sync.m16n8k16 for 16-bit types and
// F32 accumulators (PTX ISA, section "Matrix Fragments for mma.m16n8k16").
func fragmentA(row, col int) (lane, index int) {
	return row%8*4 + col%8/2, col/8*4 + row/8*2 + col%2
}

func fragmentB(row, col int) (lane, index int) {
	return col*4 + row%8/2, row/8*2 + row%2
}

func fragmentC(row, col int) (lane, index int) {
	return row%8*4 + col/2, row/8*2 + col%2
}

// MMA draws the elements that each lane holds of the fragments of mma.sync m16n8k16.
func MMA() string {
	c := newCanvas(1150, 860, "Fragments of mma.sync m16n8k16")
	c.text(575, 26, 17, "middle",
		"mma.sync.m16n8k16: the lane and the index of each element (bf16 or f16, F32 accumulators)")
	matrix := func(left, top, rows, cols int, title, name string, at cellOf) {
		const width, height = 44, 22
		c.text(left+cols*width/2, top-22, 14, "middle", title)
		for col := range cols {
			c.text(left+col*width+width/2, top-6, 11, "middle", fmt.Sprint(col))
		}
		for row := range rows {
			c.text(left-5, top+row*height+15, 11, "end", fmt.Sprint(row))
			for col := range cols {
				lane, index := at(row, col)
				c.box(left+col*width, top+row*height, width, height, hue(lane/4), 10,
					fmt.Sprintf("T%d %s%d",
						lane, name, index))
			}
		}
	}
	matrix(780, 80, 16, 8, "B: 16 x 8", "b", fragmentB)
	matrix(40, 480, 16, 16, "A: 16 x 16", "a", fragmentA)
	matrix(780, 480, 16, 8, "C and D: 16 x 8", "c", fragmentC)
	for i, s := range []string{
		"T5 a2 is element 2 of A in lane 5.",
		"Elements 0 and 1 of A and B share a register, as do 2 and 3, and so on.",
		"Each element of C and D has a register.",
		"Colors: lanes 4*i to 4*i+3.",
	} {
		c.text(40, 100+i*26, 14, "start", s)
	}
	return c.svg()
}

// ScaleFactors draws an atom of scale factors: 128 rows by four factors in 512 bytes.
func ScaleFactors() string {
	const left, top, width, height = 120, 110, 44, 20
	c := newCanvas(860, 800, "Scale factors")
	c.text(430, 26, 17, "middle", "An atom of scale factors: 128 rows by 4 factors, 512 bytes")
	c.text(430, 50, 13, "middle",
		"Each cell is one byte of memory. 37.2 is the factor of row 37 for the third block along k.")
	for b := range 16 {
		c.text(left+b*width+width/2, top-8, 11, "middle", fmt.Sprintf("+%d", b))
	}
	for i := range 4 {
		c.text(left+(i*4+2)*width, top-28, 13, "middle",
			fmt.Sprintf("rows %d to %d", 32*i, 32*i+31))
	}
	scale := dsl.MXFP8
	for row := range 128 {
		for factor := range 4 {
			at := scale.Offset(row, factor*scale.Vector, 4*scale.Vector)
			c.box(left+at%16*width, top+at/16*height, width, height, hue(row/32), 11,
				fmt.Sprintf("%d.%d",
					row, factor))
		}
	}
	for line := 0; line < 32; line += 4 {
		c.text(left-8, top+line*height+15, 12, "end", fmt.Sprintf("byte %d", line*16))
	}
	return c.svg()
}
