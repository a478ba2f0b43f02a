// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package emu

import (
	"fmt"
	"math/bits"

	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/isa/eval"
	"github.com/ptxdsl/ptxdsl/isa/eval/tensorcore"
)

// A groupProduct is a decoded wgmma.mma_async. Each of the four warps computes its 16 rows of D, when
// the instruction is issued.
type groupProduct struct {
	product         *tensorcore.Product
	d, a            []ref // a holds the registers of A, or its descriptor
	b, scale        ref
	inRegisters     bool
	negA, negB      bool
	acrossA, across bool
}

// wgmma decodes wgmma.mma_async.
func wgmma(d *decoder) (step, error) {
	p, err := tensorcore.WgmmaOf(d.in.Form.Opcode, tensorcore.ArchOf(d.image.module.ir.Target.Info().Number))
	if err != nil {
		return nil, err
	}
	g := &groupProduct{product: p, d: d.writes(), inRegisters: d.in.Args[1].Kind == ir.Vector}
	args := d.reads()
	n := 1
	if g.inRegisters {
		n = 4
	}
	if p.Sparse || len(args) < n+2 {
		return nil, fmt.Errorf("%s with these operands is not emulated yet", d.in.Op)
	}
	g.a, g.b, g.scale = args[:n], args[n], args[n+1]
	rest := args[n+2:]
	for i := range rest {
		if rest[i].kind != refConstant {
			return nil, fmt.Errorf("%s: operands behind the scale are constants", d.in.Op)
		}
	}
	if len(rest) >= 2 {
		g.negA, g.negB, rest = int64(rest[0].constant[0]) < 0, int64(rest[1].constant[0]) < 0, rest[2:]
	}
	if !g.inRegisters && len(rest) == 2 {
		g.acrossA, rest = rest[0].constant[0] != 0, rest[1:]
	}
	if len(rest) == 1 {
		g.across = rest[0].constant[0] != 0
	}
	return g.run, nil
}

// run computes the rows of a warp.
func (g *groupProduct) run(w *warp, _ uint32) action {
	if !w.together() {
		return parked
	}
	if w.live != full {
		return w.fault(-1, nil, "wgmma runs in warps of 32 threads, and this one has %d", bits.OnesCount32(w.live))
	}
	p := w.products[g.product]
	if p == nil {
		if w.products == nil {
			w.products = make(map[*tensorcore.Product]*tensorcore.Product)
		}
		own := *g.product
		p = &own
		w.products[g.product] = p
	}
	p.Begin(p.M, p.N)
	if why := g.load(w, p); why != nil {
		return w.fault(0, nil, "%v", why)
	}
	p.Ready()
	half := p.D.Bits == 16
	first := w.index % 4 * 16
	adds := w.truth(&g.scale)&1 != 0
	keep := uint64(1)<<uint(p.D.Bits) - 1
	for row := first; row < first+16; row++ {
		for col := range p.N {
			_, at := tensorcore.WgmmaD(half, row, col)
			x := &w.regs[g.d[at.Register].index][at.Lane]
			c := uint64(0)
			if adds {
				c = *x >> at.Bit & keep
			}
			*x = *x&^(keep<<at.Bit) | p.Element(row, col, c)&keep<<at.Bit
		}
	}
	return advance
}

// load reads the operands.
func (g *groupProduct) load(w *warp, p *tensorcore.Product) error {
	var v eval.Vector
	memory := w.block.shared
	o := w.matrixOperation()
	defer w.block.grid.tellOperation(o, EventComplete, full)
	read := func(address uint32, to *[16]byte) error {
		at := uint64(address) & (1<<18 - 1)
		if at < sharedStart || at+16 > uint64(len(memory.data)) {
			return fmt.Errorf("access out of bounds: wgmma reads 16 bytes at shared address 0x%x", at)
		}
		if w.mustBeWritten(memory) && !allSet(memory.init[at:at+16]) {
			return fmt.Errorf("wgmma reads shared memory at 0x%x that was never written", at)
		}
		w.block.grid.tellRange(o, EventRead, 0, memory, at, 16, ProxyAsync)
		copy(to[:], memory.data[at:])
		return nil
	}
	if g.inRegisters {
		keep := uint64(1)<<uint(p.A.Bits) - 1
		for row := w.index % 4 * 16; row < w.index%4*16+16; row++ {
			for i := range p.DepthA() {
				_, at := p.WgmmaA(row, i)
				p.SetA(row, i, w.value(&g.a[at.Register], &v)[at.Lane]>>at.Bit&keep, g.negA)
			}
		}
	} else {
		m, err := tensorcore.DecodeHopper(w.value(&g.a[0], &v)[0])
		if err != nil {
			return err
		}
		if err := p.LoadA(m, g.acrossA, g.negA, 0, p.M, read); err != nil {
			return err
		}
	}
	m, err := tensorcore.DecodeHopper(w.value(&g.b, &v)[0])
	if err != nil {
		return err
	}
	return p.LoadB(m, g.across, g.negB, 0, p.N, read)
}

// matrixOperation shows that the warp begins an operation of tensor cores, and returns it.
func (w *warp) matrixOperation() *operation {
	g := w.block.grid
	if g.observer == nil {
		return nil
	}
	g.serial++
	e := w.event(EventIssue, full)
	o := &operation{warp: w, serial: g.serial, kind: GroupMatrix, at: e.Instr, source: e.Source}
	g.tellOperation(o, EventIssue, full)
	return o
}

// matrixGroup decodes wgmma.commit_group and wgmma.wait_group.
func matrixGroup(d *decoder) (step, error) {
	if d.is(isa.KindWgmmaCommitGroup) {
		return func(w *warp, mask uint32) action {
			w.tellGroup(EventCommit, mask, GroupMatrix, 0, false)
			return advance
		}, nil
	}
	n := int(d.reads()[0].constant[0])
	return func(w *warp, mask uint32) action {
		w.tellGroup(EventWait, mask, GroupMatrix, n, false)
		return advance
	}, nil
}

// wgmmaKinds are the instructions of warpgroups.
func wgmmaKinds(to map[isa.Kind]entry) {
	to[isa.KindWgmmaMmaAsync] = entry{make: wgmma, whole: true, without: []isa.Mod{isa.ModSp}}
	to[isa.KindWgmmaFence] = entry{make: nothing}
	to[isa.KindWgmmaCommitGroup] = entry{make: matrixGroup}
	to[isa.KindWgmmaWaitGroup] = entry{make: matrixGroup}
}
