// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package emu

import (
	"fmt"

	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/isa/eval"
)

// A registerPool holds the registers of a block. A launch gives all of them to its warps, and
// setmaxnreg moves them between warps.
type registerPool struct {
	launch int // registers per thread at launch
	free   int
}

// registerUnit is the granularity of register allocation per thread.
const registerUnit = 8

// launchRegisters returns the number of registers that each thread of a kernel has at the start:
// the number in .maxnreg, or the maximum for the block size. all is the number of registers of a
// multiprocessor.
func launchRegisters(fn *ir.Func, threads, all int) int {
	if a := fn.Attr(".maxnreg"); a != nil {
		var n int
		if _, err := fmt.Sscanf(a.Text, "%d", &n); err == nil && n > 0 {
			return (n + registerUnit - 1) / registerUnit * registerUnit
		}
	}
	blocks := 1
	if a := fn.Attr(".minnctapersm"); a != nil {
		if _, err := fmt.Sscanf(a.Text, "%d", &blocks); err != nil || blocks < 1 {
			blocks = 1
		}
	}
	threads = (threads + eval.Lanes - 1) / eval.Lanes * eval.Lanes * blocks
	return min(all/threads/registerUnit*registerUnit, 256)
}

// otherCount returns a warp of the same warpgroup whose next setmaxnreg, in the order of its
// execution, requested another number of registers, or -1.
func (w *warp) otherCount(n int) int {
	first, k := w.index&^3, len(w.requests)
	for i := first; i < min(first+4, w.block.count); i++ {
		if r := w.block.warps[i].requests; len(r) > k && r[k] != n {
			return i
		}
	}
	return -1
}

// setmaxnreg decodes setmaxnreg.inc, which waits for registers, and setmaxnreg.dec.
func setmaxnreg(d *decoder) (step, error) {
	n := int(d.reads()[0].constant[0])
	more := d.is(isa.KindSetmaxnregInc)
	return func(w *warp, _ uint32) action {
		if !w.together() {
			return parked
		}
		if other := w.otherCount(n); other >= 0 {
			return w.fault(-1, nil,
				"setmaxnreg requests %d registers, but warp %d of the warpgroup requested %d: %s",
				n, other, w.block.warps[other].requests[len(w.requests)], CauseWarpgroup)
		}
		pool := &w.block.registers
		if w.registers == 0 {
			w.registers = pool.launch
		}
		need := (n - w.registers) * eval.Lanes
		switch {
		case more && need < 0:
			return w.fault(-1, nil, "setmaxnreg.inc requests %d registers, but the warp has %d", n,
				w.registers)
		case !more && need > 0:
			return w.fault(-1, nil, "setmaxnreg.dec requests %d registers, but the warp has %d", n,
				w.registers)
		case need > pool.free:
			return w.park(waitsPool, wait{
				note: func() string {
					return fmt.Sprintf(
						"waits for %d registers: each thread has %d and requests %d, but only %d of the block are free",
						need, w.registers, n, pool.free)
				},
				met: func() bool { return need <= pool.free },
			})
		}
		pool.free -= need
		w.registers = n
		w.requests = append(w.requests, n)
		w.block.changes++
		return advance
	}, nil
}
