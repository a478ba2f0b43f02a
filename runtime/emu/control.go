// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package emu

import (
	"fmt"
	"math/bits"

	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/isa/eval"
)

// branch decodes bra. Its guard selects the lanes that jump.
func branch(d *decoder) (step, error) {
	block := d.in.Args[0].Block()
	to, meet := new(int), d.meeting()
	d.fixes = append(d.fixes, func() { *to = d.start[d.index[block]] })
	return func(w *warp, mask uint32) action {
		f := w.cur
		if mask == f.mask {
			f.pc = *to
			return moved
		}
		w.split(mask, *to, *meet)
		f.pc++
		return moved
	}, nil
}

// meeting returns where the lanes that the branch splits reconverge: a pointer to the index of the
// command, which is set when the whole function is decoded. The index is negative if the lanes do
// not reconverge in the function.
func (d *decoder) meeting() *int {
	to, block := new(int), d.meet
	*to = -1
	d.fixes = append(d.fixes, func() {
		switch {
		case block == atEpilogue:
			*to = d.prog.epilogue
		case block >= 0:
			*to = d.start[block]
		}
	})
	return to
}

// branchIndexed decodes brx.idx.
func branchIndexed(d *decoder) (step, error) {
	list, ok := d.in.Args[1].Ref().(*ir.Targets)
	if !ok || len(list.Blocks) == 0 {
		return nil, fmt.Errorf("it has no branch target list")
	}
	index, meet := d.flatten(nil, &d.in.Args[0])[0], d.meeting()
	to := make([]int, len(list.Blocks))
	d.fixes = append(d.fixes, func() {
		for i, b := range list.Blocks {
			to[i] = d.start[d.index[b]]
		}
	})
	return func(w *warp, mask uint32) action {
		f := w.cur
		v := *w.value(&index, &w.scratch[0])
		for {
			lane := bits.TrailingZeros32(f.mask)
			i := v[lane] & 0xffffffff
			if i >= uint64(len(to)) {
				return w.fault(lane, nil, "branch index %d is out of bounds: there are %d targets",
					i, len(to))
			}
			same := uint32(0)
			for l := range eval.Lanes {
				if f.mask>>l&1 != 0 && v[l]&0xffffffff == i {
					same |= 1 << l
				}
			}
			if same == f.mask {
				f.pc = to[i]
				return moved
			}
			w.split(same, to[i], *meet)
		}
	}, nil
}

// leave decodes ret. A ret in the kernel ends the lanes.
func leave(d *decoder) (step, error) {
	if d.prog.fn.Kernel {
		return exit(d)
	}
	meet := d.meeting()
	return func(w *warp, mask uint32) action {
		f := w.cur
		to := f.frame.program.epilogue
		if mask == f.mask {
			f.pc = to
			return moved
		}
		w.split(mask, to, *meet)
		f.pc++
		return moved
	}, nil
}

// exit decodes exit.
func exit(*decoder) (step, error) {
	return func(w *warp, mask uint32) action { return w.end(mask) }, nil
}

// trap decodes trap.
func trap(*decoder) (step, error) {
	return func(w *warp, mask uint32) action {
		return w.fault(bits.TrailingZeros32(mask), nil, TrapExecuted)
	}, nil
}

// fence decodes fences. The emulator performs accesses in program order, so a fence only orders
// them for other workers.
func fence(d *decoder) (step, error) {
	op := d.operation()
	kind := EventFence
	if op.Kind == isa.KindFenceProxy {
		kind = EventProxyFence
	}
	return func(w *warp, mask uint32) action {
		w.tell(kind, mask, &op)
		w.block.grid.order()
		return advance
	}, nil
}

// nanosleep decodes nanosleep, which lets other warps run.
func nanosleep(*decoder) (step, error) {
	return func(w *warp, mask uint32) action {
		w.yield = true
		return advance
	}, nil
}

// toGeneric decodes cvta.
func toGeneric(d *decoder) (step, error) {
	op := d.operation()
	return d.shifted(windowOf(op.Space), op.Type())
}

// fromGeneric decodes cvta.to.
func fromGeneric(d *decoder) (step, error) {
	op := d.operation()
	return d.shifted(-windowOf(op.Space), op.Type())
}

// shifted returns a step that adds a constant to an address.
func (d *decoder) shifted(by uint64, t isa.Type) (step, error) {
	if t.Bits() != 64 {
		return nil, fmt.Errorf("32-bit addresses are not emulated")
	}
	from, to := d.reads()[0], d.writes()[0]
	if d.in.Args[1].Kind == ir.Variable && d.in.Args[1].Var().Space.Base() == isa.Const {
		by = 0 // symbol has already added it
	}
	return func(w *warp, mask uint32) action {
		a := w.value(&from, &w.scratch[0])
		for l, x := range a {
			w.out[0][l] = x + by
		}
		w.write(&to, mask, &w.out[0])
		return advance
	}, nil
}

// inSpace decodes isspacep.
func inSpace(d *decoder) (step, error) {
	op := d.operation()
	from, to := d.reads()[0], d.writes()[0]
	return func(w *warp, mask uint32) action {
		p := uint32(0)
		for l, x := range w.value(&from, &w.scratch[0]) {
			s, at := spaceOf(x)
			holds := s == op.Space.Base()
			if holds && s == isa.Shared && op.Space != isa.SharedCluster {
				holds = uint32(at>>rankShift) == w.block.rank
			}
			if holds {
				p |= 1 << l
			}
		}
		w.writeTruth(&to, mask, p)
		return advance
	}, nil
}

// mapa decodes mapa: the same address in another block of the cluster.
func mapa(d *decoder) (step, error) {
	args, to := d.reads(), d.writes()[0]
	return func(w *warp, mask uint32) action {
		a, rank := w.value(&args[0], &w.scratch[0]), w.value(&args[1], &w.scratch[1])
		for l, x := range a {
			w.out[0][l] = x&^(0xff<<rankShift) | rank[l]&0xff<<rankShift
		}
		w.write(&to, mask, &w.out[0])
		return advance
	}, nil
}

// rankOf decodes getctarank.
func rankOf(d *decoder) (step, error) {
	from, to := d.reads()[0], d.writes()[0]
	return func(w *warp, mask uint32) action {
		for l, x := range w.value(&from, &w.scratch[0]) {
			w.out[0][l] = x >> rankShift & 0xff
		}
		w.write(&to, mask, &w.out[0])
		return advance
	}, nil
}

// policy decodes createpolicy. Its result is 0, because caches are not emulated.
func policy(d *decoder) (step, error) {
	to := d.writes()[0]
	zero := splat(0)
	return func(w *warp, mask uint32) action {
		w.write(&to, mask, zero)
		return advance
	}, nil
}

// alloca decodes alloca, which reserves local memory until the function returns.
func alloca(d *decoder) (step, error) {
	args, to := d.reads(), d.writes()[0]
	return func(w *warp, mask uint32) action {
		f := w.cur.frame
		lane := bits.TrailingZeros32(mask)
		align := uint64(16)
		if len(args) > 1 {
			align = max(align, w.value(&args[1], &w.scratch[1])[lane])
		}
		size := uint64(0)
		for l, x := range w.value(&args[0], &w.scratch[0]) {
			if mask>>l&1 != 0 {
				size = max(size, x)
			}
		}
		if size > maxLocalBytes {
			return w.fault(lane, nil,
				"alloca of %d bytes exceeds the local memory of a thread, %d bytes", size,
				maxLocalBytes)
		}
		at := (f.top + align - 1) &^ (align - 1)
		f.top = (at + size + 15) &^ 15
		if f.top > w.perLane {
			w.growLocal(f.top)
		}
		w.write(&to, mask, splat(at))
		return advance
	}, nil
}

// maxLocalBytes is the maximum local memory of a thread in bytes.
const maxLocalBytes = 512 << 10

// stackSave decodes stacksave.
func stackSave(d *decoder) (step, error) {
	to := d.writes()[0]
	return func(w *warp, mask uint32) action {
		w.write(&to, mask, splat(w.cur.frame.top))
		return advance
	}, nil
}

// stackRestore decodes stackrestore. The memory stays allocated until the function returns, because
// diverged lanes may still use it.
func stackRestore(*decoder) (step, error) { return nothing(nil) }
