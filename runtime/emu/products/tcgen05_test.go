// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package products

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/ptxdsl/ptxdsl/runtime/emu"
)

// A tensorCase is one tcgen05.mma.
type tensorCase struct {
	kind, d, a, b        string
	m, n, k              int // k includes the zeros of a sparse A
	pair, sparse, ws     bool
	inTensor             bool // A is in tensor memory
	acrossA, acrossB     bool
	swizzleA, swizzleB   int
	negateA, negateB     bool
	accumulates, exactly bool
	saturates            bool
	selector             int
	vectors, scale       string
	vector, idA, idB     int
	divide               int
	off                  [8]uint32 // mask of lanes that are not written
	masked               bool
	base                 int // first lane
	target, collector    string
	a2, b2               number
}

// Columns of tensor memory. D begins at 0.
const (
	columnA, columnMeta, columnSFA, columnSFB = 256, 320, 352, 416
	tensorOffsetB                             = 16384
	tensorBarrier                             = 63488
)

func (c *tensorCase) packed() bool { return c.kind == "mxf4" || c.kind == "mxf4nvf4" }

// padded reports whether elements of four and six bits are stored in groups of sixteen per 16
// bytes.
func (c *tensorCase) padded() bool { return !c.packed() }

func (c *tensorCase) blocks() int { return 1 + bit(c.pair) }

func (c *tensorCase) opcode() string {
	s := "tcgen05.mma"
	if c.ws {
		s += ".ws"
	}
	if c.sparse {
		s += ".sp"
	}
	s += fmt.Sprintf(".cta_group::%d.kind::%s", c.blocks(), c.kind)
	if c.vector > 0 {
		s += ".block_scale" + c.vectors
	}
	return s + c.collector
}

// descriptor returns the instruction descriptor (9.7.16.4.2).
func (c *tensorCase) descriptor() uint32 {
	types := map[string]uint32{"f16": 0, "bf16": 1, "tf32": 2, "e4m3": 0, "e5m2": 1, "e2m3": 3,
		"e3m2": 4, "e2m1": 5, "u8": 0, "s8": 1, "s1z4m11": 3}
	a, b := types[c.a], types[c.b]
	if c.packed() {
		a, b = 1, 1
	}
	x := uint32(bit(c.sparse))<<2 | a<<7 | b<<10 | uint32(bit(c.negateA))<<13 |
		uint32(bit(c.negateB))<<14 |
		uint32(bit(c.acrossA))<<15 | uint32(bit(c.acrossB))<<16 | uint32(c.n/8)<<17
	if c.vector == 0 {
		return x | uint32(c.selector) | uint32(bit(c.saturates))<<3 | map[string]uint32{"f16": 0,
			"f32": 1, "s32": 2}[c.d]<<4 | uint32(c.m/16)<<24
	}
	return x | uint32(c.idB)<<4 | uint32(bit(c.scale == "ue8m0"))<<23 | uint32(c.m/128)<<27 |
		uint32(c.idA)<<29 | uint32(bit(c.k == 96))<<31
}

// sumPlace returns the position of an element of D: the block of the pair, the lane and the column
// (9.7.16.10.5).
func (c *tensorCase) sumPlace(row, col int) (block, lane, column int) {
	switch {
	case c.m == 256:
		return row / 128, row % 128, col
	case c.pair && c.sparse:
		return row / 64, row%64/16*32 + row%16, col
	case c.pair:
		return row / 64, row%64 + 64*(col/(c.n/2)), col % (c.n / 2)
	case c.m == 128:
		return 0, row, col
	case c.m == 64 && c.ws:
		return 0, row + 64*(col/(c.n/2)), col % (c.n / 2)
	case c.m == 64:
		return 0, row/16*32 + row%16, col
	}
	return 0, row + 32*(col/(c.n/4)), col % (c.n / 4)
}

// leftLane returns the block and the lane of a row of A in tensor memory.
func (c *tensorCase) leftLane(row int) (block, lane int) {
	rows := c.m / c.blocks()
	block, row = row/rows, row%rows
	if c.m == 64 && !c.ws || c.m == 128 && c.pair && c.sparse {
		return block, row/16*32 + row%16
	}
	return block, row
}

// An image is the initial shared and tensor memory of a block.
type image struct {
	shared [65536]byte
	tensor [128 * 512]uint32
}

// fill lays out all operands in the images of the blocks and returns their decoded values.
func (c *tensorCase) fill(r *rand.Rand, images []*image) (a, b [][]float64, large [2][][]float64) {
	ca, cb := randomCodes(r, c.a2, c.m, c.k, c.exactly), randomCodes(r, c.b2, c.n, c.k, c.exactly)
	kept, rows := ca, c.m/len(images)
	if c.sparse {
		kept = c.fillPlaces(r, images, ca)
	}
	left, right := c.layouts()
	for i, im := range images {
		if c.inTensor {
			c.fillLeft(im, kept[i*rows:][:rows])
		} else {
			left.place(im.shared[:], 1024, c.a2, c.padded(), kept[i*rows:][:rows])
		}
		right.place(im.shared[:], 1024+tensorOffsetB, c.b2, c.padded(),
			cb[i*c.n/len(images):][:c.n/len(images)])
	}
	sa, sb := c.fillScales(r, images)
	decode := func(n number, codes [][]uint64, scales [][]float64,
		negate bool) (value, size [][]float64) {
		for i := range codes {
			value, size = append(value, make([]float64, c.k)), append(size, make([]float64, c.k))
			for k, x := range codes[i] {
				f := 1.0
				if scales != nil {
					f = scales[i][k/c.vector]
				}
				w := n.worth(x) * f * float64(1-2*bit(negate))
				value[i][k], size[i][k] = w, math.Abs(w)
				// Subnormal numbers are aligned like the smallest normal one.
				if w != 0 && !n.integer {
					size[i][k] = max(size[i][k], math.Ldexp(f, 2-1<<(n.exponent-1)))
				}
			}
		}
		return value, size
	}
	a, large[0] = decode(c.a2, ca, sa, c.negateA)
	b, large[1] = decode(c.b2, cb, sb, c.negateB)
	return a, b, large
}

func (c *tensorCase) layouts() (left, right layout) {
	kept := c.k
	if c.sparse {
		kept /= 2
	}
	bytes := func(n number, depth int) int { return depth * 16 / packing(n, c.padded()) }
	rows, columns := c.m/c.blocks(), c.n/c.blocks()
	left = layoutFor(c.acrossA, c.swizzleA, rows, bytes(c.a2, kept), kept, c.a2.bits)
	right = layoutFor(c.acrossB, c.swizzleB, columns, bytes(c.b2, c.k), c.k, c.b2.bits)
	left.wide, right.wide = c.acrossA && c.a == "tf32", c.acrossB && c.a == "tf32"
	return left, right
}

// fillPlaces makes A sparse and writes its metadata to tensor memory (9.7.16.10.8).
func (c *tensorCase) fillPlaces(r *rand.Rand, images []*image, codes [][]uint64) [][]uint64 {
	kept, places := sparsify(r, codes, c.a2, 1+bit(c.packed()))
	rows := c.m / len(images)
	for row := range places {
		for chunk, four := range places[row] {
			home, column, at := row, chunk/8, chunk%8*4
			if c.a2.bits > 8 { // rows eight apart share two lanes
				home, column, at = row&^8|chunk/4*8, c.selector, chunk%4*4+row%16/8*16
			}
			block, lane := c.leftLane(row/rows*rows + home%rows)
			images[block].tensor[(c.base+lane)*512+columnMeta+column] |= uint32(four) << at
		}
	}
	return kept
}

// fillLeft writes rows of A to tensor memory.
func (c *tensorCase) fillLeft(im *image, codes [][]uint64) {
	wide, inset := c.a2.bits, 0
	if wide < 8 && c.padded() {
		if wide == 4 {
			inset = 2
		}
		wide = 8
	}
	for row := range codes {
		_, lane := c.leftLane(row)
		for i, x := range codes[row] {
			im.tensor[(c.base+lane)*512+columnA+i*wide/32] |= uint32(x) << (i*wide%32 + inset)
		}
	}
}

// fillScales writes random scale factors to all quarters of tensor memory (9.7.16.10.7).
func (c *tensorCase) fillScales(r *rand.Rand, images []*image) (a, b [][]float64) {
	if c.vector == 0 {
		return nil, nil
	}
	n := types8[c.scale]
	put := func(im *image, at, row, i, rows int, x uint64) {
		column := at + row/32 + i/4*((rows+127)/128*4)
		for q := range 4 {
			im.tensor[(32*q+row%32)*512+column] |= uint32(x) << (i % 4 * 8)
		}
	}
	draw := func() uint64 {
		if c.scale == "ue8m0" {
			return uint64(125 + r.IntN(5))
		}
		if c.exactly {
			return uint64(0x30 + 4*r.IntN(5))
		}
		return uint64(0x20 + r.IntN(0x40))
	}
	rows := c.m / len(images)
	for row := range c.m {
		var line []float64
		for i := range c.k / c.vector {
			x := draw()
			line = append(line, n.worth(x))
			put(images[row/rows], columnSFA, row%rows, c.idA+i, rows, x)
		}
		a = append(a, line)
	}
	for col := range c.n {
		var line []float64
		for i := range c.k / c.vector {
			x := draw()
			line = append(line, n.worth(x))
			for _, im := range images {
				put(im, columnSFB, col, c.idB+i, c.n, x)
			}
		}
		b = append(b, line)
	}
	return a, b
}

var types8 = map[string]number{"ue8m0": ue8m0, "ue4m3": ue4m3}

// before returns the initial value of an element of D.
func before(row, col int) float64 { return float64((row*7+col*3)%17-8) / 4 }

// run multiplies and returns an error if the result is wrong.
func (c *tensorCase) run(o emu.Options, r *rand.Rand) error {
	images := make([]*image, c.blocks())
	for i := range images {
		images[i] = new(image)
	}
	a, b, large := c.fill(r, images)
	for row := range c.m {
		for col := range c.n {
			i, lane, column := c.sumPlace(row, col)
			x := before(row, col)
			to := &images[i].tensor[(c.base+lane)*512+column]
			switch c.d {
			case "f16":
				*to = uint32(toHalf(x))
			case "f32":
				*to = math.Float32bits(float32(x))
			default:
				*to = uint32(int32(4 * x))
			}
		}
	}
	out, err := c.launch(o, images)
	if err != nil {
		return err
	}
	for row := range c.m {
		for col := range c.n {
			i, lane, column := c.sumPlace(row, col)
			lane += c.base
			at := lane*512 + column
			got := out[i*len(images[i].tensor)+at]
			if c.masked && c.off[i*4+lane/32]>>(lane%32)&1 != 0 {
				if got != images[i].tensor[at] {
					return fmt.Errorf("row %d, column %d is written, and lane %d is disabled", row,
						col, lane)
				}
				continue
			}
			var want sum
			if c.accumulates {
				x := before(row, col)
				if c.d == "s32" {
					x *= 4
				}
				want.add(math.Ldexp(x, -c.divide))
			}
			for k, x := range a[row] {
				want.add(x * b[col][k])
				want.largest = max(want.largest, large[0][row][k]*large[1][col][k])
			}
			if err := c.compare(got, &want); err != nil {
				return fmt.Errorf("row %d, column %d: %w", row, col, err)
			}
		}
	}
	return nil
}

func (c *tensorCase) compare(got uint32, want *sum) error {
	is, mantissa := float64(math.Float32frombits(got)), 23
	switch c.d {
	case "s32":
		is = float64(int32(got))
		if is != want.value {
			return fmt.Errorf("%v, want %v", is, want.value)
		}
		return nil
	case "f16":
		if is, mantissa = f16.worth(uint64(got&0xffff)), 10; math.Abs(want.value) > 60000 {
			return nil
		}
	}
	if c.exactly && c.d == "f32" && is != want.value || !want.near(is, c.k, 25, mantissa) {
		return fmt.Errorf("%v, want %v, the largest term is %v", is, want.value, want.largest)
	}
	return nil
}

// TestTensorProducts runs kernels with tcgen05.mma and compares the results with matrix products of
// the decoded operands.
func TestTensorProducts(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 22))
	all := tensorCases(r)
	for i := range all {
		c := &all[i]
		o := emu.Options{Completion: emu.Completion(i % 3), Seed: uint64(i)}
		if err := c.run(o, r); err != nil {
			t.Errorf("%s m%dn%dk%d %+v: %v", c.opcode(), c.m, c.n, c.k, *c, err)
		}
	}
	seen := map[string]bool{}
	for i := range all {
		op, _, _ := strings.Cut(all[i].opcode(), ".collector")
		seen[op] = true
	}
	t.Logf("%d instructions, %d opcodes", len(all), len(seen))
	if want := 50; len(seen) < want ||
		!slices.ContainsFunc(all, func(c tensorCase) bool { return c.masked }) {
		t.Errorf("%d opcodes, want %d", len(seen), want)
	}
}
