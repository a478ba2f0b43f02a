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

// A groupProduct is a decoded wgmma.mma_async.
type groupProduct struct {
	product         *tensorcore.Product
	d, a            []ref // a holds the registers of A, or its descriptor
	b, scale, meta  ref
	selector        int
	inRegisters     bool
	negA, negB      bool
	acrossA, across bool
}

// wgmma decodes wgmma.mma_async.
func wgmma(d *decoder) (step, error) {
	op := d.operation()
	p, err := tensorcore.WgmmaOf(op.Mods(), d.image.module.arch())
	if err != nil {
		return nil, err
	}
	g := &groupProduct{product: p, d: d.writes(), inRegisters: d.in.Args[1].Kind == ir.Vector}
	args := d.reads()
	n := 1
	if g.inRegisters {
		n = 4
	}
	behind := n + 1
	if p.Sparse {
		behind += 2
	}
	if len(args) < behind+1 {
		return nil, fmt.Errorf("%s with these operands is not emulated yet", d.in.Op)
	}
	g.a, g.b, g.scale = args[:n], args[n], args[behind]
	if p.Sparse {
		g.meta, g.selector = args[n+1], int(args[n+2].constant[0])
	}
	rest := args[behind+1:]
	for i := range rest {
		if rest[i].kind != refConstant {
			return nil, fmt.Errorf("%s: the operands after scale-d must be constants", d.in.Op)
		}
	}
	if len(rest) >= 2 {
		g.negA, g.negB, rest = int64(rest[0].constant[0]) < 0, int64(rest[1].constant[0]) < 0,
			rest[2:]
	}
	if !g.inRegisters && len(rest) == 2 {
		g.acrossA, rest = rest[0].constant[0] != 0, rest[1:]
	}
	if len(rest) == 1 {
		g.across = rest[0].constant[0] != 0
	}
	return g.run, nil
}

// groupWarps is the number of warps of a warpgroup.
const groupWarps = 4

// A warpgroup is four warps that compute matrix products together. They issue the same instructions
// in the same order. A matrix product is in flight when the last of them has issued it.
type warpgroup struct {
	open []*groupJob // issued by some warps but not by all
	tail *operation  // products complete in order
}

// A groupJob is a matrix product of a warpgroup.
type groupJob struct {
	*groupProduct
	block       *block
	came        int
	regs        [groupWarps][]eval.Vector
	warps       [groupWarps]*warp
	parts       []*operation // operations reported to observers, one per warp
	left, right uint64       // descriptors
	adds        bool
	op          *operation      // nil until all warps have issued it
	groups      [groupWarps]int // number of groups that each warp had committed before
}

// run issues the matrix product for a warp.
func (g *groupProduct) run(w *warp, _ uint32) action {
	if !w.together() {
		return parked
	}
	if w.live != full {
		return w.fault(-1, nil, "wgmma requires all 32 threads of a warp, but this one has %d",
			bits.OnesCount32(w.live))
	}
	j, why := g.join(w)
	if why != "" {
		return w.fault(0, nil, "%s", why)
	}
	w.groupJobs = append(w.groupJobs, j)
	if w.observing() {
		j.parts = append(j.parts, w.matrixOperation())
	}
	w.block.changes++
	if j.came < groupWarps {
		return advance
	}
	group := w.block.warpgroup(w)
	group.open = group.open[:copy(group.open, group.open[1:])]
	in := w.command()
	o := &operation{warp: w, lanes: 1, before: group.tail, in: in, hidden: true, parts: j.parts}
	o.apply = func(int) *Fault {
		if why := j.compute(); why != "" {
			return w.faultAt(in, "%s", why)
		}
		for _, x := range j.parts {
			w.block.grid.tellOperation(x, EventComplete, full)
		}
		return nil
	}
	j.op, group.tail = o, o
	return w.begin(o, nil)
}

// warpgroup returns the state of the warpgroup to which a warp belongs.
func (b *block) warpgroup(w *warp) *warpgroup {
	for len(b.groups) <= w.index/groupWarps {
		b.groups = append(b.groups, warpgroup{})
	}
	return &b.groups[w.index/groupWarps]
}

// join adds a warp to the next matrix product of its warpgroup. The second result is an error
// message, or "".
func (g *groupProduct) join(w *warp) (*groupJob, string) {
	group := w.block.warpgroup(w)
	own := w.index % groupWarps
	var j *groupJob
	for _, x := range group.open {
		if x.warps[own] == nil {
			j = x
			break
		}
	}
	one := func(r *ref) uint64 { return w.value(r, &w.scratch[0])[0] }
	left, right, adds := uint64(0), one(&g.b), w.truth(&g.scale)&1 != 0
	if !g.inRegisters {
		left = one(&g.a[0])
	}
	switch {
	case j == nil:
		if w.index/groupWarps*groupWarps+groupWarps > w.block.count {
			return nil, "wgmma is executed in a warpgroup of fewer than four warps"
		}
		j = &groupJob{groupProduct: g, block: w.block, left: left, right: right, adds: adds}
		group.open = append(group.open, j)
	case j.groupProduct != g:
		return nil, "warps of one warpgroup execute different wgmma instructions"
	case j.left != left || j.right != right || j.adds != adds:
		return nil, fmt.Sprintf(
			"wgmma descriptors differ between the warps of a warpgroup: 0x%x and 0x%x, 0x%x and 0x%x",
			j.left, left, j.right, right)
	}
	j.came++
	j.warps[own], j.regs[own], j.groups[own] = w, w.regs, w.groupCount
	return j, ""
}

// compute loads the operands and adds the matrix product to the registers of the four warps.
func (j *groupJob) compute() string {
	p := j.block.cluster.products.group(j.groupProduct)
	j.block.grid.charge(p.M * p.N)
	p.Begin(p.M, p.N)
	if why := j.load(p); why != "" {
		return why
	}
	p.Ready()
	half := p.D.Bits == 16
	keep := uint64(1)<<uint(p.D.Bits) - 1
	for row := range p.M {
		regs := j.regs[row/16]
		for col := range p.N {
			_, at := tensorcore.WgmmaD(half, row, col)
			x := &regs[j.d[at.Register].index][at.Lane]
			c := uint64(0)
			if j.adds {
				c = *x >> at.Bit & keep
			}
			*x = *x&^(keep<<at.Bit) | p.Element(row, col, c)&keep<<at.Bit
		}
	}
	return ""
}

// load reads the operands.
func (j *groupJob) load(p *tensorcore.Product) string {
	read := func(address uint32, to *[16]byte) error {
		return j.block.unit(address, to, 16, "wgmma")
	}
	if j.inRegisters {
		j.loadRegisters(p)
	} else {
		m, err := tensorcore.DecodeHopper(j.left)
		if err == nil {
			err = p.LoadA(m, j.acrossA, j.negA, 0, p.M, read)
		}
		if err != nil {
			return err.Error()
		}
	}
	for row := 0; p.Sparse && row < p.M; row++ {
		meta := &j.regs[row/16][j.meta.index]
		for chunk := range p.Chunks() {
			at := p.Metadata(row%16, chunk, j.selector)
			bits := meta[at.Lane&31] >> at.Bit & 15
			if why := p.PlacesFit(row, chunk, bits); why != "" {
				return why
			}
			p.SetPlaces(chunk, bits)
		}
	}
	m, err := tensorcore.DecodeHopper(j.right)
	if err == nil {
		err = p.LoadB(m, j.across, j.negB, 0, p.N, read)
	}
	if err != nil {
		return err.Error()
	}
	return ""
}

// loadRegisters reads A from the current registers of the warps.
func (j *groupJob) loadRegisters(p *tensorcore.Product) {
	keep := uint64(1)<<uint(p.A.Bits) - 1
	if p.A.Bits == 64 {
		keep = ^uint64(0)
	}
	for row := range p.M {
		for i := range p.DepthA() {
			_, at := p.WgmmaA(row, i)
			x := uint64(0)
			switch r := &j.a[at.Register]; r.kind {
			case refRegister:
				x = j.regs[row/16][r.index][at.Lane]
			case refConstant:
				x = r.constant[at.Lane]
			}
			p.SetA(row, i, x>>at.Bit&keep, j.negA)
		}
	}
}

// wgmmaCommit decodes wgmma.commit_group.
func wgmmaCommit(d *decoder) (step, error) {
	return func(w *warp, _ uint32) action {
		if !w.together() {
			return parked
		}
		w.groupCount++
		w.tellGroup(EventCommit, full, GroupMatrix, 0, false)
		return advance
	}, nil
}

// wgmmaWait decodes wgmma.wait_group, which waits until at most the last n groups of the warp are
// in flight.
func wgmmaWait(d *decoder) (step, error) {
	n := int(min(d.reads()[0].constant[0], 1<<30))
	return func(w *warp, _ uint32) action {
		if !w.together() {
			return parked
		}
		kept := 0
		for _, j := range w.groupJobs {
			if j.groups[w.index%groupWarps] >= w.groupCount-n {
				break
			}
			if j.op == nil {
				return w.park(waitsCompletion, wait{
					note: func() string {
						return fmt.Sprintf(
							"waits for wgmma, which %d of the 4 warps of its warpgroup have issued",
							j.came)
					},
					met: func() bool { return j.op != nil },
				})
			}
			if f := j.op.run(full); f != nil {
				w.block.fail(f)
				return failed
			}
			kept++
		}
		w.groupJobs = w.groupJobs[:copy(w.groupJobs, w.groupJobs[kept:])]
		w.tellGroup(EventWait, full, GroupMatrix, n, false)
		return advance
	}, nil
}

// matrixOperation reports that the warp starts a tensor-core operation, and returns it.
func (w *warp) matrixOperation() *operation {
	g := w.block.grid
	g.serial++
	e := w.event(EventIssue, full)
	o := &operation{warp: w, serial: g.serial, kind: GroupMatrix, at: e.Instr, source: e.Source}
	g.tellOperation(o, EventIssue, full)
	return o
}

// wgmmaKinds adds the decoders of the warpgroup instructions.
func wgmmaKinds(to map[isa.Kind]entry) {
	to[isa.KindWgmmaMmaAsync] = entry{make: wgmma, whole: true}
	to[isa.KindWgmmaFence] = entry{make: nothing}
	to[isa.KindWgmmaCommitGroup] = entry{make: wgmmaCommit, whole: true}
	to[isa.KindWgmmaWaitGroup] = entry{make: wgmmaWait, whole: true}
}
