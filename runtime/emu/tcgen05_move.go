// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package emu

import (
	"fmt"
	"slices"

	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/isa/eval"
)

// A tensorShape gives the position of the registers of tcgen05.ld and tcgen05.st: the row within
// the lanes of the warp, and the column relative to the address.
type tensorShape struct {
	rows  int // 16 or 32
	place func(register, lane int) (row, column int)
}

// tensorShapeOf returns the shape of an instruction. The parameter half is the offset of the second
// half of 16x32bx2.
func tensorShapeOf(op *isa.Operation, half int) tensorShape {
	switch {
	case op.Has(isa.ModShape16x64b):
		return tensorShape{16, func(i, l int) (int, int) { return l/4 + l%2*8, i*2 + l/2%2 }}
	case op.Has(isa.ModShape16x128b):
		return tensorShape{16, func(i, l int) (int, int) { return l/4 + i%2*8, i/2*4 + l%4 }}
	case op.Has(isa.ModShape16x256b):
		return tensorShape{16, func(i, l int) (int, int) {
			return l/4 + i/2%2*8, i/4*8 + l%4*2 + i%2
		}}
	case op.Has(isa.ModShape16x32bx2):
		return tensorShape{16, func(i, l int) (int, int) { return l % 16, l/16*half + i }}
	}
	return tensorShape{32, func(i, l int) (int, int) { return l, i }}
}

// A tensorMove is a decoded tcgen05.ld or tcgen05.st.
type tensorMove struct {
	at     addressRef
	shape  tensorShape
	packed bool // two 16-bit columns share a register
	regs   []ref
	reduce *eval.Op // reduction of tcgen05.ld.red
	abs    bool
	result ref
}

// tensorMove decodes the operands that loads and stores share.
func (d *decoder) tensorMove() (*tensorMove, error) {
	op := d.operation()
	at, err := d.address(0)
	if err != nil {
		return nil, err
	}
	half := 0
	for i := range d.in.Args {
		if o := &d.in.Args[i]; o.Kind == ir.Int {
			half = int(o.Value)
		}
	}
	return &tensorMove{at: at, shape: tensorShapeOf(&op, half)}, nil
}

// begin checks that all lanes of the warp run the instruction and that the warp may access the
// addressed lanes.
func (t *tensorMove) begin(w *warp) (address uint32, act action) {
	if !w.together() {
		return 0, parked
	}
	if w.live != full {
		return 0, w.fault(-1, nil,
			"tcgen05.ld and tcgen05.st require all 32 threads of a warp, but some have exited")
	}
	for l := range eval.Lanes {
		if x := w.pointer(&t.at, l); l == 0 {
			address = x
		} else if x != address {
			return 0, w.fault(l, nil,
				"the address differs between the lanes of a warp: 0x%x and 0x%x", address, x)
		}
	}
	quarter := w.index % 4 * 32
	lane := laneOf(address)
	if lane != quarter && !(t.shape.rows == 16 && lane == quarter+16) {
		return 0, w.fault(-1, nil,
			"address names lane %d of tensor memory, but warp %d of a warpgroup can access only lanes %d to %d, and the address must name the first of them",
			lane, w.index%4, quarter, quarter+31)
	}
	return address, advance
}

// tensorLoad decodes tcgen05.ld and tcgen05.ld.red. Registers are written when the load completes.
func tensorLoad(d *decoder) (step, error) {
	t, err := d.tensorMove()
	if err != nil {
		return nil, err
	}
	op := d.operation()
	t.regs, t.packed = d.writes(), op.Has(isa.ModPack16b)
	if op.Kind == isa.KindTcgen05LdRed {
		last := len(t.regs) - 1
		t.result, t.regs = t.regs[last], t.regs[:last]
		kind := isa.KindMin
		if op.Has(isa.ModMax) {
			kind = isa.KindMax
		}
		t.abs = op.Has(isa.ModAbs)
		mods := slices.DeleteFunc(slices.Clone(op.Mods()),
			func(m isa.Mod) bool { return m != isa.ModNaN && m.Type() != op.Type() })
		if t.reduce, err = eval.Of(kind, mods); err != nil {
			return nil, err
		}
	}
	early := d.usedEarly()
	return func(w *warp, _ uint32) action {
		address, act := t.begin(w)
		if act != advance {
			return act
		}
		regs, b := w.regs, w.block
		in := w.command()
		act = w.issueOne(&w.tensorLoads, GroupTensorLoad, func(int) *Fault {
			if why := t.load(b, regs, address); why != "" {
				return w.faultAt(in, "%s", why)
			}
			return nil
		})
		if early && act == advance {
			for _, o := range w.tensorLoads {
				if f := o.run(full); f != nil {
					b.fail(f)
					return failed
				}
			}
		}
		return act
	}, nil
}

// usedEarly reports whether a register of the current tcgen05.ld is used in the same basic block
// before the wait for the load. The PTX manual forbids that. Triton generates such code, and
// ptxas and the hardware track these registers like the registers of any other load.
func (d *decoder) usedEarly() bool {
	loaded := make(map[*ir.Reg]bool)
	d.in.Registers(func(r *ir.Reg, a isa.Access) {
		if a != isa.Read {
			loaded[r] = true
		}
	})
	for _, in := range d.rest {
		if in.Form != nil && in.Form.Form.Kind == isa.KindTcgen05WaitLd {
			return false
		}
		used := false
		in.Registers(func(r *ir.Reg, a isa.Access) { used = used || loaded[r] && a != isa.Write })
		if used {
			return true
		}
	}
	return false
}

// load reads tensor memory into the registers of a warp.
func (t *tensorMove) load(b *block, regs []eval.Vector, address uint32) string {
	m := b.tensor()
	seen := byte(0)
	var reduced eval.Vector
	for i := range t.regs {
		var v eval.Vector
		for l := range v {
			row, col := t.shape.place(i, l)
			row, col = row+laneOf(address), col+columnOf(address)
			if t.packed {
				col += col - columnOf(address)
			}
			n := 1
			if t.packed {
				n = 2
			}
			cells, known, why := m.row(row, col, n)
			if why != "" {
				return why
			}
			b.tellTensor(EventRead, row, col, n)
			seen |= known[0]
			v[l] = uint64(cells[0])
			if t.packed {
				v[l] = uint64(cells[0]&0xffff | cells[1]<<16)
			}
			if t.reduce != nil {
				t.fold(&reduced[l], v[l], i == 0)
			}
		}
		if r := &t.regs[i]; r.kind == refRegister {
			regs[r.index] = v
		}
	}
	if t.reduce != nil && t.result.kind == refRegister {
		regs[t.result.index] = reduced
	}
	if seen == 0 && b.grid.checks {
		return fmt.Sprintf("read of tensor memory that was never written, from column %d on",
			columnOf(address))
	}
	return ""
}

// fold adds an element to the reduction of a lane.
func (t *tensorMove) fold(to *uint64, x uint64, first bool) {
	if t.abs {
		x &= 1<<31 - 1
	}
	if first {
		*to = x
		return
	}
	c := eval.Cell{In: [8]uint64{*to, x}}
	t.reduce.Lane(&c)
	*to = c.Out[0]
}

// tensorStore decodes tcgen05.st, which reads the registers when it is issued.
func tensorStore(d *decoder) (step, error) {
	t, err := d.tensorMove()
	if err != nil {
		return nil, err
	}
	op := d.operation()
	t.regs, t.packed = d.reads(), op.Has(isa.ModUnpack16b)
	if op.Has(isa.ModShape16x32bx2) {
		t.regs = t.regs[1:] // the offset of the second half
	}
	return func(w *warp, _ uint32) action {
		address, act := t.begin(w)
		if act != advance {
			return act
		}
		values := make([]eval.Vector, len(t.regs))
		for i := range t.regs {
			values[i] = *w.value(&t.regs[i], &w.scratch[0])
		}
		b, in := w.block, w.command()
		return w.issueOne(&w.tensorStores, GroupTensorStore, func(int) *Fault {
			if why := t.store(b, values, address); why != "" {
				return w.faultAt(in, "%s", why)
			}
			return nil
		})
	}, nil
}

// store writes the registers of a warp to tensor memory.
func (t *tensorMove) store(b *block, values []eval.Vector, address uint32) string {
	m := b.tensor()
	for i := range values {
		for l, x := range values[i] {
			row, col := t.shape.place(i, l)
			row, col = row+laneOf(address), col+columnOf(address)
			list := [2]uint32{uint32(x)}
			n := 1
			if t.packed {
				col += col - columnOf(address)
				list, n = [2]uint32{uint32(x & 0xffff), uint32(x) >> 16}, 2
			}
			cells, known, why := m.row(row, col, n)
			if why != "" {
				return why
			}
			b.tellTensor(EventWrite, row, col, n)
			copy(cells, list[:n])
			fill(known, 0xff)
		}
	}
	return ""
}

// tensorWait decodes tcgen05.wait::ld and tcgen05.wait::st.
func tensorWait(d *decoder) (step, error) {
	loads := d.is(isa.KindTcgen05WaitLd)
	return func(w *warp, _ uint32) action {
		if !w.together() {
			return parked
		}
		list, kind := &w.tensorStores, GroupTensorStore
		if loads {
			list, kind = &w.tensorLoads, GroupTensorLoad
		}
		for _, o := range *list {
			if f := o.run(full); f != nil {
				w.block.fail(f)
				return failed
			}
		}
		clear(*list)
		*list = (*list)[:0]
		w.tellGroup(EventWait, full, kind, 0, false)
		return advance
	}, nil
}
