// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl

import (
	"fmt"
	"slices"

	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
)

// A TMEMOperand is a ring of A operands of 128 rows in tensor memory (sm_100a). Threads write
// them, and tcgen05.mma reads them from tensor memory instead of shared memory, for example the
// attention weights. In a CTA pair each block writes its own 128 of the 256 rows.
type TMEMOperand struct {
	ring
	tile  Tile
	first int // column of the first stage
}

// TMEMOperand declares a ring of A operands in tensor memory with the given number of columns, of a
// type of 8 or 16 bits.
func (k *Kernel) TMEMOperand(name string, t isa.Type, cols, stages int) *TMEMOperand {
	k = k.sound()
	f := &TMEMOperand{ring: k.newRing(name, stages), tile: Tile{Type: t, Rows: 128, Cols: cols}}
	f.full.spec.count = 0 // threads arrive, so the count depends on the role and is added later
	f.pair = k.tmem.pair
	if t != isa.F16 && t != isa.Bf16 && t != isa.E4m3 && t != isa.E5m2 {
		k.fault(&ruleShape, "TMEMOperand %s has type %s, expected .f16, .bf16, .e4m3 or .e5m2",
			name, t)
		f.tile.Type = isa.Bf16
	}
	if cols < 16 || cols > 512 || f.tile.RowBytes()%32 != 0 {
		k.fault(&ruleShape,
			"TMEMOperand %s has %d columns, expected rows of a multiple of 32 bytes", name, cols)
		f.tile.Cols = 32
	}
	f.first = k.reserveColumns(f.columns() * f.stages)
	k.tmem.addPlan(f.first, f.columns()*f.stages, "%s, A operand", name)
	return f
}

// columns returns the number of tensor memory columns of a stage. A column holds four bytes of
// each row.
func (f *TMEMOperand) columns() int { return f.tile.RowBytes() / 4 }

// A TMEMOperandStage is one operand of a TMEMOperand ring that is being written or read.
type TMEMOperandStage struct {
	t     *TMEMOperand
	place *place
	fills bool
	put   []bool // for each column, whether it has been written
}

// kernel returns the kernel of the operand, or nil for a zero value.
func (s *TMEMOperandStage) kernel() *Kernel {
	if s == nil || s.t == nil {
		return nil
	}
	return s.t.k
}

// address returns the tensor memory address of the operand.
func (s *TMEMOperandStage) address() Reg[U32] {
	k := s.t.k
	base := Reg[U32]{k: k, r: k.tmem.base}.AddI(int64(s.t.first))
	if s.t.stages == 1 {
		return base
	}
	return s.place.stage.MadI(int64(s.t.columns()), base)
}

// Fill waits until the next operand is free, calls body, which writes the operand, and signals
// the role that issues the MMAs. It must run in a role of four warps whose first index is a
// multiple of four. Each thread writes one row, as in [TMEM.Drain].
func (f *TMEMOperand) Fill(body func(*TMEMOperandStage)) {
	if f == nil || f.k == nil || !f.k.checkFunctions("Fill", body != nil) {
		return
	}
	k := f.k
	k.checkWarpgroups("writes")
	state := f.state(1)
	full, empty := f.barriers(state)
	empty.Wait(state.parity)
	k.ins("tcgen05.fence::after_thread_sync")
	s := &TMEMOperandStage{t: f, place: state, fills: true, put: make([]bool, f.tile.Cols)}
	body(s)
	if from := slices.Index(s.put, false); from >= 0 {
		n := slices.Index(append(s.put[from:], true), true)
		k.fault(&ruleProtocol,
			"Fill does not write columns %d to %d of TMEMOperand %s: the MMA would read stale data",
			from, from+n-1, f.name)
	}
	k.ins("tcgen05.wait::st.sync.aligned")
	k.ins("tcgen05.fence::before_thread_sync")
	k.SyncWarp()
	if f.pair {
		// The even block issues the MMA and waits for this arrival. The preceding fence orders
		// the writes.
		k.When(k.Leader(), func() { full.arriveAt(k.evenRank(), ".relaxed") })
		f.countArrivals(f.full, 2*k.roleWarps())
	} else {
		k.When(k.Leader(), full.Arrive)
		f.countArrivals(f.full, k.roleWarps())
	}
	state.next(&f.ring)
}

// Drain waits until the next operand is written, calls body, which issues the MMAs that read it
// ([AccumulatorStage.MMAFromTMEM]), and frees the operand when they are complete. It must run in
// a role of one warp.
func (f *TMEMOperand) Drain(body func(*TMEMOperandStage)) {
	if f == nil || f.k == nil || !f.k.checkFunctions("Drain", body != nil) {
		return
	}
	k := f.k
	state := f.state(0)
	if k.role != nil {
		k.role.single = true
		k.role.even = k.role.even || f.pair
	}
	full, empty := f.barriers(state)
	full.Wait(state.parity)
	// one thread issues the MMA for the warp, and the other threads must not miss the phase
	k.SyncWarp()
	k.ins("tcgen05.fence::after_thread_sync")
	body(&TMEMOperandStage{t: f, place: state})
	k.When(k.Leader(), func() { k.commit(empty, f.pair) })
	f.countArrivals(f.empty, 1)
	state.next(&f.ring)
}

// Store writes elements of the thread's row, starting at column col, converted to the operand's
// type. The elements must fill whole registers.
func (s *TMEMOperandStage) Store(col int, x []Reg[F32]) {
	k := s.kernel()
	if k == nil {
		if len(x) > 0 && x[0].k != nil {
			x[0].k.fault(&ruleValue,
				"TMEMOperand in Store is a zero value, not created by a builder call")
		}
		return
	}
	each := 32 / s.t.tile.Type.Bits()
	n := len(x) / each
	switch {
	case !s.fills:
		s.put = nil
		k.fault(&ruleProtocol,
			"Store writes TMEMOperand %s while MMAs read it; write the one that Fill provides",
			s.t.name)
		return
	case col < 0 || col%each != 0 || len(x)%each != 0 || n < 1 || n > 128 || n&(n-1) != 0 ||
		col+len(x) > s.t.tile.Cols:
		s.put = nil // the cause of the missing columns has been reported
		k.fault(&ruleShape,
			"columns %d to %d are stored to a TMEMOperand with %d columns of %s; they must fill a power of two of registers with %d elements each",
			col, col+len(x)-1, s.t.tile.Cols, s.t.tile.Type, each)
		return
	}
	for i := range x {
		if s.put != nil {
			s.put[col+i] = true
		}
	}
	regs := make([]ir.Operand, n)
	for i := range regs {
		regs[i] = k.packElements(s.t.tile.Type, x[i*each:][:each])
	}
	at := s.address().Add(k.firstTMEMLane()).AddI(int64(col / each))
	k.ins(fmt.Sprintf("tcgen05.st.sync.aligned.32x32b.x%d.b32", n), tensorAddress(k, at),
		k.list(ir.Vector, regs))
}

// packElements converts x, the elements that fill one register, to type t and packs them, the
// first in the lowest bits.
func (k *Kernel) packElements(t isa.Type, x []Reg[F32]) ir.Operand {
	all := ir.Operand{Kind: ir.Register, Reg: k.newReg(isa.B32)}
	switch t.Bits() {
	case 32:
		return k.arg(x[0])
	case 16:
		k.ins("cvt.rn"+packedPair(t).String()+".f32", all, k.arg(x[1]), k.arg(x[0]))
		return all
	}
	halves, two := make([]ir.Operand, len(x)/2), isa.B16
	if t.Bits() == 4 {
		two = isa.B8
	}
	for i := range halves {
		halves[i] = ir.Operand{Kind: ir.Register, Reg: k.newReg(two)}
		k.ins("cvt.rn.satfinite"+t.String()+"x2.f32", halves[i], k.arg(x[2*i+1]), k.arg(x[2*i]))
	}
	k.ins("mov.b32", all, k.vector(halves...))
	return all
}

// firstTMEMLane returns the first tensor memory lane that the warp can access, as an address.
// Each warp can access 32 lanes; the lane index starts at bit 16.
func (k *Kernel) firstTMEMLane() Reg[U32] { return k.WarpIndex().AndI(3).ShlI(21) }

// checkWarpgroups reports a role that does not consist of whole warpgroups, and therefore cannot
// access all lanes of tensor memory.
func (k *Kernel) checkWarpgroups(what string) {
	if r := k.role; r != nil && (r.n%4 != 0 || r.first%4 != 0) {
		k.fault(&ruleRole,
			"role %s %s tensor memory but consists of %s, expected whole warpgroups, since a warp can access only a quarter of the rows",
			r.name, what, r.warpRange())
	}
}
