// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl

import "github.com/ptxdsl/ptxdsl/ir"

// TMEM is a ring of accumulators in tensor memory (sm_100a). One role fills the accumulators with
// MMAs, and another role reads them. With two or more stages both roles work at the same time.
type TMEM struct {
	ring
	rows, cols int
	first      int // first column of the first stage
	scaleA     int // first columns of the scale factors of A and B
	scaleB     int
	scaled     int  // number of scale factor atoms along K
	sparsity   int  // first column of the sparsity metadata
	placed     int  // number of columns with sparsity metadata
	half       bool // accumulators are F16, one element per column
	deep       bool // block-scaled MMAs of packed 4-bit elements have a depth of 96
	shared     int  // number of columns that two overlapping accumulators share; see Overlap
	reads      *ir.Buffer
}

// F16Accumulators makes the elements of the accumulators F16, for operands of .f16, and of 8, 6
// and 4 bits without scale factors. F16 elements occupy as many columns as F32 elements. Load
// converts them to F32.
func (t *TMEM) F16Accumulators() *TMEM {
	if t.kernel() != nil {
		t.half = true
	}
	return t
}

// Depth96 makes the MMAs of packed 4-bit elements with scale factors 96 elements deep, which needs
// sm_103a. Tiles must have a multiple of 768 elements along K and a swizzle of 128 bytes.
func (t *TMEM) Depth96() *TMEM {
	k := t.kernel()
	if k == nil {
		return t
	}
	if !k.m.Is("sm_103a", "sm_107a") {
		k.fault(&ruleLacks, "%s does not support MMAs with a depth of 96, which only sm_103a has",
			k.m.Target())
	}
	t.deep = true
	return t
}

// Overlap makes a ring of one accumulator alternate between two positions that share the given
// number of columns: the last columns of the first position are the first columns of the second.
// Two accumulators of 256 columns thus leave room for scale factors. [Output.StoreTMEM] stores
// the shared columns first and releases them, so that the next MMAs run while it stores the other
// columns. All other readers release the accumulator at the end. Overlap must directly follow the
// declaration.
//
//	               0            192  256           448     512
//	first place    |-----------------|
//	second place                |------------------|
//	scale factors                                  |-------|
func (t *TMEM) Overlap(columns int) *TMEM {
	k := t.kernel()
	if k == nil {
		return t
	}
	switch {
	case t.stages != 1:
		k.fault(&ruleShape, "Overlap is called on %d accumulators, expected one", t.stages)
		return t
	case columns < 64 || columns%64 != 0 || columns >= t.cols:
		k.fault(&ruleShape,
			"Overlap shares %d of the %d columns of an accumulator, expected a smaller multiple of 64",
			columns, t.cols)
		return t
	case k.tmem.columns != t.first+t.cols:
		k.fault(&ruleShape,
			"Overlap is called after tensor memory was used for other values, expected a call right after TMEM")
		return t
	}
	t.shared = columns
	k.reserveColumns(t.cols - columns)
	k.tmem.addPlan(t.first+t.cols-columns, t.cols,
		"%s, accumulator 1; its first %d columns overlap accumulator 0", t.name, columns)
	return t
}

// kernel returns the kernel of t, or nil for a zero value.
func (t *TMEM) kernel() *Kernel {
	if t == nil {
		return nil
	}
	return t.k
}

// TMEM declares a ring of accumulators in tensor memory. Each has the given number of rows (64 or
// 128; 256 for a CTA pair) and columns.
func (k *Kernel) TMEM(name string, rows, cols, stages int) *TMEM {
	k = k.sound()
	t := &TMEM{ring: k.newRing(name, stages), rows: rows, cols: cols}
	switch {
	case k.tmem.pair && rows != 256 || !k.tmem.pair && rows != 64 && rows != 128:
		k.fault(&ruleShape,
			"accumulator in tensor memory has %d rows, expected 64 or 128, or 256 for a CTA pair (CTAPair)",
			rows)
		k.standInShape(rows, cols)
	case cols < 8 || cols > 256 || cols%8 != 0 || rows >= 128 && cols%16 != 0:
		k.fault(&ruleShape, "accumulator has %d columns, expected a multiple of 16 up to 256",
			cols).
			withFix(nearest(cols, 16, 256, 16))
		k.standInShape(rows, cols)
	}
	if cols < 8 || cols > 256 {
		_, t.cols = k.standInShape(rows, 16)
	}
	t.reads = k.buffer(name, ir.TensorColumns, t.cols)
	t.first = k.reserveColumns(t.cols * t.stages)
	for i := range t.stages {
		k.tmem.addPlan(t.first+i*t.cols, t.cols, "%s, accumulator %d", name, i)
	}
	t.pair = k.tmem.pair
	return t
}

// Fill waits until the next accumulator is free, calls body, which issues the MMAs, and signals
// the readers when the MMAs are complete. It must run in a role of one warp, of which one thread
// issues the MMAs.
func (t *TMEM) Fill(body func(*AccumulatorStage)) {
	k := t.kernel()
	if k == nil || !k.checkFunctions("Fill", body != nil) {
		return
	}
	state := t.state(1)
	if k.role != nil {
		k.role.single = true
		k.role.even = t.pair
	}
	full, empty := t.barriers(state)
	empty.Wait(state.parity)
	// one thread issues the MMA for the warp, and the other threads must not miss the phase
	k.SyncWarp()
	k.ins("tcgen05.fence::after_thread_sync")
	a := &AccumulatorStage{t: t, place: state, fills: true, used: fresh[Pred](k)}
	k.ins("setp.ne.b32", k.arg(a.used), number(0), number(0))
	body(a)
	if !a.multiplied {
		k.fault(&ruleProtocol,
			"body of Fill issues no MMA into %s: Drain would read undefined values", t.name)
	}
	k.When(k.Leader(), func() { k.commit(full, t.pair) })
	state.next(&t.ring)
}

// Drain waits until the next accumulator is full, calls body, which reads the accumulator, and
// frees the accumulator unless body has called Release. It must run in a role of four warps whose
// first index is a multiple of four, since each warp can access only a quarter of the rows.
func (t *TMEM) Drain(body func(*AccumulatorStage)) {
	k := t.kernel()
	if k == nil || !k.checkFunctions("Drain", body != nil) {
		return
	}
	state := t.state(0)
	k.checkWarpgroups("reads")
	full, empty := t.barriers(state)
	full.Wait(state.parity)
	k.ins("tcgen05.fence::after_thread_sync")
	a := &AccumulatorStage{t: t, place: state, empty: empty, scope: k.scope()}
	a.row = a.address().Add(k.firstTMEMLane())
	body(a)
	if !a.released {
		a.Release()
	}
	state.next(&t.ring)
}
