// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package blackwell

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"slices"
)

// product is tcgen05.mma: the sums in tensor memory are what the matrices that the descriptors name say.
func (k *kernel) product(s *step) error {
	if s.has("ws") || s.has("ashift") {
		return errModel
	}
	o, err := k.operands(s)
	if err != nil {
		return err
	}
	kind, scaling := s.starting("kind::"), ""
	for _, w := range s.op {
		if w == "block16" || w == "block32" || len(w) > 9 && w[:9] == "scale_vec" {
			scaling = w
		}
	}
	if s.has("block_scale") && kind == "mxf4" && scaling == "" {
		scaling = "block32"
	}
	s.run = func(w *warp, lanes uint32) (effect, error) {
		l := bits.TrailingZeros32(lanes)
		blocks, err := s.blocks(w)
		if err != nil || bits.OnesCount32(lanes) != 1 {
			return goOn, errors.Join(err, fmt.Errorf("%d lanes multiply", bits.OnesCount32(lanes)))
		}
		if len(blocks) == 2 && w.b.rank&1 == 1 {
			return goOn, errors.New("the odd block of a pair multiplies")
		}
		d, err := decodeOrder(uint32(o.order(w, l)), kind, scaling)
		if err != nil {
			return goOn, err
		}
		if err := d.fits(kind, len(blocks) == 2); err != nil {
			return goOn, err
		}
		if d.sparse != (o.places != nil) {
			return goOn, errors.New("the descriptor and the opcode do not agree about zeros")
		}
		f := &factorization{w: w, lane: l, blocks: blocks, order: d, operands: o, rows: d.m / len(blocks)}
		return goOn, f.multiply()
	}
	return nil
}

// A factorization is one tcgen05.mma.
type factorization struct {
	w      *warp
	lane   int
	blocks []*block
	order
	operands
	rows int // of a block
}

// home is the lane of tensor memory of a row of a block: its own, or, of 64 rows, the first sixteen of each quarter (layouts A, D and F of
// 9.7.16.10.5).
func (f *factorization) home(row int) int {
	if f.rows == 64 {
		return row/16*32 + row%16
	}
	return row
}

func (f *factorization) multiply() error {
	right, err := f.right()
	if err != nil {
		return err
	}
	for _, b := range f.blocks {
		left, err := f.left(b)
		if err != nil {
			return err
		}
		var rightHere [4][][]float64 // with the factors that each quarter of tensor memory has
		for row := range f.rows {
			lane := f.home(row)
			quarter := lane / 32
			if rightHere[quarter] == nil {
				if rightHere[quarter], err = f.scaledRight(b, quarter, right); err != nil {
					return err
				}
			}
			for col, y := range rightHere[quarter] {
				sum := 0.0
				for i, x := range left[row] {
					sum += x * y[i]
				}
				if err := f.add(b, lane, col, sum); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// add puts a sum of products where it belongs.
func (f *factorization) add(b *block, lane, col int, sum float64) error {
	c, err := b.tensor.cell(f.d(f.w, f.lane), lane, col)
	if err != nil {
		return err
	}
	used := f.used(f.w, f.lane)&1 == 1
	switch f.sum {
	case 'i':
		if used {
			sum += float64(int32(*c))
		}
		*c = uint32(int32(int64(sum)))
	case 'h':
		if used {
			sum += f16.worth(uint64(*c & 0xffff))
		}
		*c = *c&^0xffff | uint32(toHalf(sum)) // one sum to a cell
	default:
		if used {
			sum += float64(math.Float32frombits(*c))
		}
		*c = math.Float32bits(float32(sum))
	}
	return nil
}

// element is where a number of a row lies: the byte its first bit is in, and that bit.
func (o *order) element(n number, i int) (at, bit int) {
	switch {
	case o.slots && n.bits < 8:
		return i/16*16 + i%16*n.bits/8, i % 16 * n.bits % 8
	case n.bits == 4:
		return i / 2, i % 2 * 4
	}
	return i * n.bits / 8, 0
}

// shared is a number of a matrix in the shared memory of a block.
func (f *factorization) shared(b *block, m matrix, n number, across bool, row, i int) (float64, error) {
	at, bit := f.element(n, i)
	address := func(more int) uint64 {
		if across {
			return m.across(row*n.bits/8+more, i)
		}
		return m.along(row, at+more)
	}
	if across && n.bits%8 != 0 {
		return 0, errors.New("numbers of 4 and 6 bits along the rows are not in the model")
	}
	var code uint64
	for j := range (bit + n.bits + 7) / 8 {
		x, _, err := b.c.shared(uint64(b.rank)<<rankShift|address(j), 1)
		if err != nil {
			return 0, err
		}
		code |= uint64(x[0]) << (8 * j)
	}
	return n.worth(code >> bit), nil
}

// left is the rows of the first factor that a block has, with its zeros and times its scale factors.
func (f *factorization) left(b *block) ([][]float64, error) {
	stored := f.k
	if f.sparse {
		stored /= 2
	}
	from := f.operands.a(f.w, f.lane)
	var m matrix
	if !f.leftInTensor {
		var err error
		if m, err = decodeMatrix(from); err != nil {
			return nil, err
		}
	}
	all := make([][]float64, f.rows)
	for row := range all {
		kept := make([]float64, stored)
		for i := range kept {
			var err error
			if f.leftInTensor {
				kept[i], err = f.inTensor(b, from, f.home(row), i)
			} else {
				kept[i], err = f.shared(b, m, f.order.a, f.acrossA, row, i)
			}
			if err != nil {
				return nil, err
			}
			if f.negA {
				kept[i] = -kept[i]
			}
		}
		line := kept
		if f.sparse {
			var err error
			if line, err = f.spreadOut(b, row, kept); err != nil {
				return nil, err
			}
		}
		if err := f.scaled(b, f.scaleA, f.home(row)/32, row, f.idA, line); err != nil {
			return nil, err
		}
		all[row] = line
	}
	return all, nil
}

// inTensor is a number of the first factor in tensor memory: as many to a cell as fit, or one to a byte.
func (f *factorization) inTensor(b *block, at uint64, lane, i int) (float64, error) {
	n, wide := f.order.a, f.order.a.bits
	if f.slots && wide < 8 {
		wide = 8
	}
	c, err := b.tensor.cell(at, lane, i*wide/32)
	if err != nil {
		return 0, err
	}
	return n.worth(uint64(*c) >> (i * wide % 32)), nil
}

// right is the second factor, a row for each column of the sums: half of them in each block of a pair.
func (f *factorization) right() ([][]float64, error) {
	m, err := decodeMatrix(f.operands.b(f.w, f.lane))
	if err != nil {
		return nil, err
	}
	all := make([][]float64, f.n)
	each := f.n / len(f.blocks)
	for col := range all {
		line := make([]float64, f.k)
		for i := range line {
			if line[i], err = f.shared(f.blocks[col/each], m, f.order.b, f.acrossB, col%each, i); err != nil {
				return nil, err
			}
			if f.negB {
				line[i] = -line[i]
			}
		}
		all[col] = line
	}
	return all, nil
}

// scaledRight is the second factor times its scale factors, as a quarter of a block's tensor memory has them: each has those of all columns.
func (f *factorization) scaledRight(b *block, quarter int, right [][]float64) ([][]float64, error) {
	if f.vector == 0 {
		return right, nil
	}
	all := make([][]float64, len(right))
	for col, line := range right {
		all[col] = append([]float64(nil), line...)
		if err := f.scaled(b, f.scaleB, quarter, col, f.idB, all[col]); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// scaled multiplies a row by its scale factors. Those of a row are bytes of a cell, from byte id on: row r has its own in lane r%32 of a quarter,
// r/32 columns from the address (9.7.16.10.7).
func (f *factorization) scaled(b *block, at source, quarter, row, id int, line []float64) error {
	if f.vector == 0 {
		return nil
	}
	c, err := b.tensor.cell(at(f.w, f.lane), 32*quarter+row%32, row/32)
	if err != nil {
		return err
	}
	for i := range line {
		line[i] *= f.scale.worth(uint64(*c) >> (8 * (id + i/f.vector)))
	}
	return nil
}

// spreadOut puts the zeros of a row in their places. Four bits tell of four neighbours which two are kept, the first two bits of the first; of
// packed numbers neighbours are pairs. Of TF32 they tell of two numbers which is kept.
func (f *factorization) spreadOut(b *block, row int, kept []float64) ([]float64, error) {
	line := make([]float64, f.k)
	together, group := 1, 4
	if f.order.a.bits == 4 && !f.slots {
		together = 2
	}
	if f.order.a.bits == 32 {
		group = 2
	}
	for g := range f.k / (group * together) {
		four, err := f.told(b, row, g)
		if err != nil {
			return nil, err
		}
		to, from := line[g*group*together:], kept[g*group/2*together:][:group/2*together]
		if four == 0 && !slices.ContainsFunc(from, func(x float64) bool { return x != 0 }) {
			continue // beyond the edge, where copies bring zeros alone; CUTLASS has it so too
		}
		if group == 2 {
			place, ok := map[uint64]int{0x4: 0, 0xe: 1}[four]
			if !ok {
				return nil, fmt.Errorf("row %d: %#x does not tell which of two is kept", row, four)
			}
			to[place] = from[0]
			continue
		}
		first, second := int(four&3), int(four>>2)
		if first >= second {
			return nil, fmt.Errorf("row %d: %d and %d do not tell which of four are kept", row, first, second)
		}
		copy(to[first*together:], from[:together])
		copy(to[second*together:], from[together:][:together])
	}
	return line, nil
}

// told is what tells the zeros of a group of neighbours. Types of 8 bits and fewer have the 64 bits of a row in two columns of its lane. Types of
// 16 and 32 bits have one column, which of two the selector says, and rows that are eight apart share two lanes: the lower lane has the
// first half of what there is of both, the upper lane the second; the lower row has the lower half of each word.
func (f *factorization) told(b *block, row, g int) (uint64, error) {
	lane, column, shift := f.home(row), g/8, g%8*4
	if f.order.a.bits > 8 {
		column = f.selector
		shift = g%4*4 + row/8%2*16
		lane = f.home(row&^8 | g/4<<3)
	} else if f.selector != 0 {
		return 0, fmt.Errorf("selector %d", f.selector)
	}
	c, err := b.tensor.cell(f.places(f.w, f.lane), lane, column)
	if err != nil {
		return 0, err
	}
	return uint64(*c) >> shift & 15, nil
}
