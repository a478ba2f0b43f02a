// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package emu

import (
	"fmt"
	"slices"

	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/isa/eval/tensorcore"
)

// A productCache caches matrix products by instruction descriptor, because they hold working
// memory.
type productCache struct {
	list   map[productKey]*cachedProduct
	groups map[*groupProduct]*tensorcore.Product
}

type productKey struct {
	of         *tensorProduct
	descriptor uint32
}

type cachedProduct struct {
	in      *tensorcore.Instruction
	product *tensorcore.Product
}

// of returns the matrix product for an instruction descriptor, which it creates on first use.
func (c *productCache) of(t *tensorProduct,
	descriptor uint32) (*tensorcore.Instruction, *tensorcore.Product, error) {
	key := productKey{t, descriptor}
	if x := c.list[key]; x != nil {
		return x.in, x.product, nil
	}
	in, err := tensorcore.InstructionOf(descriptor, t.kind, t.vectors)
	if err != nil {
		return nil, nil, err
	}
	if c.list == nil {
		c.list = make(map[productKey]*cachedProduct)
	}
	x := &cachedProduct{in, in.Product(t.arch)}
	c.list[key] = x
	return x.in, x.product, nil
}

// group returns the matrix product of a wgmma instruction. The result is cached.
func (c *productCache) group(g *groupProduct) *tensorcore.Product {
	p := c.groups[g]
	if p == nil {
		if c.groups == nil {
			c.groups = make(map[*groupProduct]*tensorcore.Product)
		}
		own := *g.product
		p = &own
		c.groups[g] = p
	}
	return p
}

// run computes the matrix product.
func (j *tensorJob) run() string {
	j.w.block.grid.charge(j.rows * len(j.blocks) * j.in.N)
	for _, b := range j.blocks {
		if b != j.w.block && b.alive == 0 {
			return j.w.peerEnded(j.blocks)
		}
	}
	if !j.scaled {
		if why := j.load(nil); why != "" {
			return why
		}
		return j.compute(nil)
	}
	// Each quarter of the lanes holds a copy of the scale factors of B. A correct kernel writes the
	// same factors to all four.
	var done [][]uint32
	var passes []*quarter
	for i := range j.blocks {
		for q := range 4 {
			x := &quarter{block: i, index: q}
			if !j.reaches(q) {
				continue
			}
			var why string
			if x.factors, why = j.factorsB(i, q); why != "" {
				return why
			}
			at := slices.IndexFunc(done, func(y []uint32) bool {
				return slices.Equal(x.factors, y)
			})
			if at >= 0 {
				passes[at].also = append(passes[at].also, [2]int{i, q})
				continue
			}
			done = append(done, x.factors)
			x.also = [][2]int{{i, q}}
			passes = append(passes, x)
		}
	}
	for _, x := range passes {
		if why := j.load(x); why != "" {
			return why
		}
		if why := j.compute(x); why != "" {
			return why
		}
	}
	return ""
}

// A quarter is one of four sets of lanes of a block, with its scale factors of B.
type quarter struct {
	block, index int
	factors      []uint32
	also         [][2]int // blocks and quarters with equal factors
}

// has reports whether a row of a block uses the scale factors in quarter q.
func (q *quarter) has(block, lane int) bool {
	return q == nil || slices.Contains(q.also, [2]int{block, lane / 32})
}

// reaches reports whether any row is in quarter q of the lanes.
func (j *tensorJob) reaches(q int) bool {
	for row := range j.rows {
		if lane, _ := j.path.D(row, 0, j.in.N); (lane+j.base)/32 == q {
			return true
		}
	}
	return false
}

// wordsOf returns the number of columns between words of scale factors of one row.
func wordsOf(rows int) int { return (rows + 127) / 128 * 4 }

// factors reads the scale factors of a row of A or a column of B from tensor memory.
func (j *tensorJob) factors(b *block, at uint32, q, row, rows, id int,
	add func(i int, code uint64)) string {
	lane, column, first := tensorcore.ScaleFactor(row, 0, id)
	for i := range j.product.Factors {
		n := first + i
		c, why := b.tensorCell(laneOf(at)+32*q+lane, columnOf(at)+column+n/4*wordsOf(rows),
			"a scale factor")
		if why != "" {
			return why
		}
		add(i, uint64(c>>(n%4*8)&255))
	}
	return ""
}

// factorsB reads the scale factors of B in a quarter of a block.
func (j *tensorJob) factorsB(block, q int) (list []uint32, why string) {
	for col := range j.in.N {
		why = j.factors(j.blocks[block], j.factorB, q, col, j.in.N, j.in.FactorB,
			func(_ int, code uint64) {
				list = append(list, uint32(code))
			})
		if why != "" {
			return nil, why
		}
	}
	return list, ""
}

// load loads the operands of all rows of all blocks.
func (j *tensorJob) load(q *quarter) string {
	p := j.product
	p.Begin(j.rows*len(j.blocks), j.in.N)
	for i, b := range j.blocks {
		if why := j.loadA(i, b); why != "" {
			return why
		}
		read := func(address uint32, to *[16]byte) error {
			return b.unit(address, to, j.need(p.B), "tcgen05.mma")
		}
		err := p.LoadShifted(j.mb, j.in.AcrossB, j.in.NegateB, i*j.n, j.n, j.zero.Shift, read)
		if err != nil {
			return err.Error()
		}
	}
	for col, zero := range j.zero.Zero {
		for k := 0; zero && k < j.in.K; k++ {
			p.SetB(col, k, 0, false)
		}
	}
	if q != nil {
		for col := range j.in.N {
			for i := range p.Factors {
				p.SetScaleB(col, i, uint64(q.factors[col*p.Factors+i]))
			}
		}
	}
	p.Ready()
	return ""
}

// loadA loads the rows of A of a block, with their metadata and scale factors.
func (j *tensorJob) loadA(i int, b *block) string {
	p, first := j.product, i*j.rows
	if j.inTensor {
		if why := j.leftInTensor(b, first); why != "" {
			return why
		}
	} else {
		read := func(address uint32, to *[16]byte) error {
			return b.unit(address, to, j.need(p.A), "tcgen05.mma")
		}
		if err := p.LoadA(j.ma, j.in.AcrossA, j.in.NegateA, first, j.rows, read); err != nil {
			return err.Error()
		}
	}
	for row := range j.rows {
		for chunk := 0; j.sparse && chunk < p.Chunks(); chunk++ {
			lane, column, bit := j.path.Metadata(p.A, row, chunk, j.in.Selector)
			c, why := b.tensorCell(j.base+lane, columnOf(j.places)+column, "sparse metadata")
			if why == "" {
				why = p.PlacesFit(first+row, chunk, uint64(c>>bit&15))
			}
			if why != "" {
				return why
			}
			p.SetPlaces(chunk, uint64(c>>bit&15))
		}
		if !j.scaled {
			continue
		}
		lane, _ := j.path.D(row, 0, j.in.N)
		why := j.factors(b, j.factorA, (lane+j.base)/32, row, j.rows, j.in.FactorA,
			func(k int, code uint64) {
				p.SetScaleA(first+row, k, code)
			})
		if why != "" {
			return why
		}
	}
	return ""
}

// need returns how many of 16 bytes hold elements. The remaining bytes are padding.
func (j *tensorJob) need(e *tensorcore.Element) int {
	if e.Bits < 8 && !j.product.Packed {
		return 2 * e.Bits
	}
	return 16
}

// leftInTensor reads the rows of A of a block from its tensor memory.
func (j *tensorJob) leftInTensor(b *block, first int) string {
	p := j.product
	wide, inset := p.A.Bits, 0
	if wide < 8 && !p.Packed {
		wide, inset = 8, tensorcore.Container(p.A)
	}
	keep := uint64(1)<<uint(p.A.Bits) - 1
	for row := range j.rows {
		from := row
		if j.shifted && row > 0 {
			from--
		}
		lane := j.base + j.path.A(from)
		for i := range p.DepthA() {
			c, why := b.tensorCell(lane, columnOf(uint32(j.left))+i*wide/32, "A")
			if why != "" {
				return why
			}
			code := uint64(c) >> (i * wide % 32)
			if wide != p.A.Bits && code&255&^(keep<<inset) != 0 {
				return fmt.Sprintf("byte 0x%02x of A in tensor memory is no element of %s",
					code&255, p.A.Name)
			}
			if err := p.A.Check(code >> inset & keep); err != nil {
				return err.Error()
			}
			p.SetA(first+row, i, code>>inset&keep, j.in.NegateA)
		}
	}
	return ""
}

// compute adds the matrix product to D for the lanes of a quarter and of the quarters with equal
// factors.
func (j *tensorJob) compute(q *quarter) string {
	p, n := j.product, j.in.N
	half := p.D.Bits == 16
	for i, b := range j.blocks {
		t := b.tensor()
		for row := range j.rows {
			first, _ := j.path.D(row, 0, n)
			if !q.has(i, first+j.base) {
				continue
			}
			j.tellRow(b, row)
			for col := range n {
				lane, column := j.path.D(row, col, n)
				lane += j.base
				if why := t.check(lane, columnOf(j.at)+column, 1); why != "" {
					return why
				}
				if len(j.lanes) > 0 && j.off[i*4+lane/32]>>(lane%32)&1 != 0 {
					continue
				}
				cell, known := &t.cells[lane][columnOf(j.at)+column],
					&t.known[lane][columnOf(j.at)+column]
				c := uint64(0)
				if j.accumulates {
					if *known == 0 {
						return fmt.Sprintf(
							"tcgen05.mma adds to lane %d, column %d of tensor memory, which was never written",
							lane, columnOf(j.at)+column)
					}
					if c = uint64(*cell); half {
						c &= 0xffff
					}
					c = p.ScaleInput(c, j.divide)
				}
				*cell = uint32(p.Element(i*j.rows+row, col, c))
				*known = 0xff
			}
		}
	}
	return ""
}

// tellRow reports the accesses to a row of D to observers.
func (j *tensorJob) tellRow(b *block, row int) {
	if b.grid.observer == nil {
		return
	}
	width := j.in.N
	switch j.path {
	case tensorcore.PathB, tensorcore.PathE:
		width /= 2
	case tensorcore.PathG:
		width /= 4
	}
	for col := 0; col < j.in.N; col += width {
		lane, column := j.path.D(row, col, j.in.N)
		if j.accumulates {
			b.tellTensor(EventRead, lane+j.base, columnOf(j.at)+column, width)
		}
		b.tellTensor(EventWrite, lane+j.base, columnOf(j.at)+column, width)
	}
}

// A collectorHint is the collector-buffer modifier of an instruction: what it does with a buffer.
type collectorHint struct {
	mod    isa.Mod // isa.NoMod without a modifier
	buffer collectorBuffer
	action collectorAction
}

// A collectorBuffer is a collector buffer: one of A, or one of the five of B.
type collectorBuffer uint8

const (
	bufferA collectorBuffer = iota
	bufferB
	bufferB0
	bufferB1
	bufferB2
	bufferB3
	collectorBuffers
)

// A collectorAction specifies how an instruction uses a buffer.
type collectorAction uint8

const (
	collectorDiscard collectorAction = iota
	collectorFill
	collectorUse
	collectorLastUse
)

// collectorMods are the modifiers of each buffer, by action.
var collectorMods = [collectorBuffers][4]isa.Mod{
	bufferA: {isa.ModCollectorADiscard, isa.ModCollectorAFill, isa.ModCollectorAUse,
		isa.ModCollectorALastuse},
	bufferB: {isa.ModCollectorBDiscard, isa.ModCollectorBFill, isa.ModCollectorBUse,
		isa.ModCollectorBLastuse},
	bufferB0: {isa.ModCollectorB0Discard, isa.ModCollectorB0Fill, isa.ModCollectorB0Use,
		isa.ModCollectorB0Lastuse},
	bufferB1: {isa.ModCollectorB1Discard, isa.ModCollectorB1Fill, isa.ModCollectorB1Use,
		isa.ModCollectorB1Lastuse},
	bufferB2: {isa.ModCollectorB2Discard, isa.ModCollectorB2Fill, isa.ModCollectorB2Use,
		isa.ModCollectorB2Lastuse},
	bufferB3: {isa.ModCollectorB3Discard, isa.ModCollectorB3Fill, isa.ModCollectorB3Use,
		isa.ModCollectorB3Lastuse},
}

// collectorHintOf parses a collector modifier. ok is false if m is not a collector modifier.
func collectorHintOf(m isa.Mod) (h collectorHint, ok bool) {
	for buffer, mods := range collectorMods {
		if action := slices.Index(mods[:], m); action >= 0 {
			return collectorHint{m, collectorBuffer(buffer), collectorAction(action)}, true
		}
	}
	return collectorHint{}, false
}

// collectors records which operand each collector buffer of a block holds. It does not affect
// results.
type collectors [collectorBuffers]struct {
	full    bool
	operand uint64
}

// use updates the buffers for a hint. It returns an error message if the instruction uses a buffer
// that does not hold its operand, or "".
func (c *collectors) use(h collectorHint, a, b uint64) string {
	if h.mod == isa.NoMod {
		return ""
	}
	operand, held := b, &c[h.buffer]
	if h.buffer == bufferA {
		operand = a
	}
	switch h.action {
	case collectorFill:
		held.full, held.operand = true, operand
		return ""
	case collectorUse, collectorLastUse:
		if !held.full || held.operand != operand {
			return fmt.Sprintf("%s, and the buffer does not hold this operand", h.mod.String()[1:])
		}
	}
	held.full = h.action == collectorUse
	return ""
}
