// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl

import (
	"fmt"
	"strings"

	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
)

// tensorMemory describes the tensor memory of a block: one allocation for all that the kernel uses.
// The first warp allocates it at the start and frees it at the end.
type tensorMemory struct {
	columns int     // number of columns in use
	base    *ir.Reg // address of the allocation
	slot    *ir.Var // shared variable that receives the address
	pair    bool    // allocated for a pair of blocks
	plan    []tensorRegion
}

// A tensorRegion is a range of columns of tensor memory with one use.
type tensorRegion struct {
	name     string
	first, n int
}

// TMEMPlan returns a table of the columns of tensor memory that the kernel has reserved, and of the
// columns that it allocates; "" if there are none.
//
//	tensor memory of matmul: 280 of 512 columns used, 512 allocated
//	columns   0 to 127: acc, accumulator 0
//	columns 128 to 255: acc, accumulator 1
//	columns 256 to 271: acc, scale factors of A
//	columns 272 to 279: acc, scale factors of B
func (k *Kernel) TMEMPlan() string {
	k = k.sound()
	t := &k.tmem
	if t.base == nil {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "tensor memory of %s: %d of 512 columns used, %d allocated\n", k.Name(), t.columns, t.allocated())
	for _, r := range t.plan {
		fmt.Fprintf(&b, "columns %3d to %3d: %s\n", r.first, r.first+r.n-1, r.name)
	}
	return b.String()
}

// plans records the uses of columns for TMEMPlan.
func (t *tensorMemory) plans(first, n int, format string, args ...any) {
	t.plan = append(t.plan, tensorRegion{fmt.Sprintf(format, args...), first, n})
}

// allocated returns the columns of the allocation: a power of two, at least 32.
func (t *tensorMemory) allocated() int {
	n := 32
	for n < t.columns {
		n *= 2
	}
	return n
}

// columns reserves n columns of tensor memory and returns the first.
func (k *Kernel) columns(n int) int {
	t := &k.tmem
	if t.base == nil {
		if !k.m.Is("sm_100a", "sm_100f", "sm_103a", "sm_103f", "sm_110a", "sm_110f", "sm_107a", "sm_107f") {
			k.fault(&ruleLacks, "%s has no tensor memory, which sm_100a and its family have; use Accumulator on sm_90a, or WarpTile from sm_80 on", k.m.Target())
		}
		base := fresh[U32](k)
		base.r.Name = k.regName("tmem")
		t.base = base.r
		t.slot = k.newShared(unique("tmem_slot", k.names), isa.B32, 16, []int{1})
		k.setup.extra = append(k.setup.extra, k.allocate)
	}
	first := t.columns
	t.columns += n
	if t.columns > 512 {
		k.fault(&ruleSize, "%d columns of tensor memory, want at most 512", t.columns)
		t.columns = first
	}
	return first
}

func (t *tensorMemory) group() string {
	if t.pair {
		return "cta_group::2"
	}
	return "cta_group::1"
}

// allocate emits the part of the setup that allocates the columns.
func (k *Kernel) allocate() {
	t := &k.tmem
	slot := Addr{k: k, space: isa.SharedCTA, v: t.slot}
	if t.pair {
		k.Comment("the other block of the pair must run before memory is taken")
		k.SyncCluster()
	}
	k.Comment("the first warp takes tensor memory for the block")
	k.If(k.WarpIndex().EQI(0), func() {
		k.ins("tcgen05.alloc."+t.group()+".sync.aligned.shared::cta.b32", k.arg(slot), number(int64(t.allocated())))
		k.ins("tcgen05.relinquish_alloc_permit." + t.group() + ".sync.aligned")
	})
	k.ins("tcgen05.fence::before_thread_sync")
	k.Sync()
	k.ins("tcgen05.fence::after_thread_sync")
	k.ins("ld.shared.b32", ir.Operand{Kind: ir.Register, Reg: t.base}, k.arg(Addr{k: k, space: isa.Shared, v: t.slot}))
}

// giveBack frees the columns at the end of the kernel.
func (k *Kernel) giveBack() {
	t := &k.tmem
	if t.base == nil {
		return
	}
	k.Comment("free tensor memory after the last read")
	k.ins("tcgen05.fence::before_thread_sync")
	if t.pair {
		k.SyncCluster()
	} else {
		k.Sync()
	}
	k.If(k.WarpIndex().EQI(0), func() {
		k.ins("tcgen05.dealloc."+t.group()+".sync.aligned.b32", ir.Operand{Kind: ir.Register, Reg: t.base}, number(int64(t.allocated())))
	})
}

// TMEM is a ring of accumulators in tensor memory (sm_100a). One role fills them with MMAs and
// another reads them; with two or more stages both run concurrently.
type TMEM struct {
	ring
	rows, cols int
	first      int // column of the first stage
	scaleA     int // columns of scale factors
	scaleB     int
	scaled     int // atoms of scale factors along K
	places     int // columns of sparsity metadata; none if placed is 0
	placed     int
	half       bool // F16 accumulators, one element per column
	deep       bool // block-scaled MMAs of packed 4-bit elements have a depth of 96
	shared     int  // columns that two overlapping accumulators share; see Overlap
	taken      taken
}

// F16Accumulators makes the accumulators of the ring F16, for operands of .f16, and of 8, 6 and 4
// bits without scale factors. They take as many columns as F32; Load converts them to F32.
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
		k.fault(&ruleLacks, "%s has no MMA with a depth of 96, which sm_103a has", k.m.Target())
	}
	t.deep = true
	return t
}

// Overlap makes a ring of one accumulator alternate between two places that share the given number
// of columns: the last ones of the first place are the first ones of the second. Two accumulators
// of 256 columns thus leave room for scale factors. [Output.StoreTMEM] stores the shared columns
// first and releases them, so that the next MMAs run while it stores the others. Other readers
// release them at the end. Overlap must directly follow the declaration.
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
	if t.stages != 1 || columns < 64 || columns%64 != 0 || columns >= t.cols || k.tmem.columns != t.first+t.cols {
		k.fault(&ruleShape, "Overlap of %d columns in %d accumulators of %d, want a multiple of 64 in one accumulator with more columns, and no other use of tensor memory since its declaration", columns, t.stages, t.cols)
		return t
	}
	t.shared = columns
	k.columns(t.cols - columns)
	k.tmem.plans(t.first+t.cols-columns, t.cols, "%s, accumulator 1, shares its first %d columns", t.name, columns)
	return t
}

// kernel returns the kernel of t, or nil for a zero value.
func (t *TMEM) kernel() *Kernel {
	if t == nil {
		return nil
	}
	return t.k
}

// TMEM declares a ring of accumulators in tensor memory with the given number of rows (64 or 128;
// 256 for a CTA pair) and columns.
func (k *Kernel) TMEM(name string, rows, cols, stages int) *TMEM {
	k = k.sound()
	t := &TMEM{ring: k.newRing(name, stages), rows: rows, cols: cols}
	switch {
	case k.tmem.pair && rows != 256 || !k.tmem.pair && rows != 64 && rows != 128:
		k.fault(&ruleShape, "accumulator of %d rows in tensor memory, want 64 or 128, or 256 for a CTA pair (CTAPair)", rows)
		k.standInShape(rows, cols)
	case cols < 8 || cols > 256 || cols%8 != 0 || rows >= 128 && cols%16 != 0:
		k.fault(&ruleShape, "accumulator of %d columns, want a multiple of 16 up to 256", cols)
		k.standInShape(rows, cols)
	}
	if cols < 8 || cols > 256 {
		_, t.cols = k.standInShape(rows, 16)
	}
	t.taken.parts = make([]bool, t.cols)
	k.unread = append(k.unread, t.checkTaken)
	t.first = k.columns(t.cols * t.stages)
	for i := range t.stages {
		k.tmem.plans(t.first+i*t.cols, t.cols, "%s, accumulator %d", name, i)
	}
	t.pair = k.tmem.pair
	return t
}

// CTAPair makes every two adjacent blocks of a cluster along x a CTA pair (tcgen05 .cta_group::2):
// the even block issues the MMAs for both, and each block holds half of the operands and half of
// the accumulator.
//
//	                     B columns
//	              0 .. N/2-1   N/2 .. N-1
//	              (even block) (odd block)   shared memory: each block loads half of B
//	            +--------------------------+
//	A rows      |                          |
//	0 .. 127    |  even block: tensor      |  A rows 0 .. 127 in the even block's shared memory
//	            |  memory, rows 0 .. 127   |
//	            +--------------------------+
//	128 .. 255  |  odd block: tensor       |  A rows 128 .. 255 in the odd block's shared memory
//	            |  memory, rows 128 .. 255 |
//	            +--------------------------+
func (k *Kernel) CTAPair() {
	k = k.sound()
	if k.cluster[0]%2 != 0 || k.clusterSize() < 2 {
		k.fault(&ruleProtocol, "CTA pair in clusters of %d blocks, want Cluster(2) or another even number along x", k.clusterSize())
	}
	if k.tmem.base != nil {
		k.fault(&ruleProtocol, "CTAPair must precede the first use of tensor memory")
	}
	k.tmem.pair = true
}

// An AccumulatorStage is one accumulator of a TMEM ring while it is filled or read.
type AccumulatorStage struct {
	t     *TMEM
	place *place
	used  Reg[Pred] // whether it has contents that the next MMA adds to
	fills bool
	row   Reg[U32] // address of the thread's row, while it is read
	empty Barrier  // the mbarrier to arrive on at release
	scope int      // scope of the body that reads it
	gone  bool     // it has been released

	multiplied bool // an MMA added to it, or one was rejected
}

// kernel returns the kernel of a, or nil for a zero value.
func (a *AccumulatorStage) kernel() *Kernel {
	if a == nil {
		return nil
	}
	return a.t.kernel()
}

// address returns the accumulator's address in tensor memory.
func (a *AccumulatorStage) address() Reg[U32] {
	k := a.t.k
	base := Reg[U32]{k: k, r: k.tmem.base}.AddI(int64(a.t.first))
	if a.t.shared > 0 {
		return a.second().MadI(int64(a.t.cols-a.t.shared), base)
	}
	if a.t.stages == 1 {
		return base
	}
	return a.place.stage.MadI(int64(a.t.cols), base)
}

// second returns 1 if an accumulator of an overlapping ring is in the second place, and otherwise 0.
// The parity of the role alternates with the places; the role that fills starts with parity 1.
func (a *AccumulatorStage) second() Reg[U32] {
	if a.fills {
		return a.place.parity.XorI(1)
	}
	return a.place.parity
}

// Fill waits until the next accumulator is free, calls body, which issues the MMAs, and signals the
// readers when they are complete. It must run in a role of one warp, of which one thread issues the
// MMAs.
func (t *TMEM) Fill(body func(*AccumulatorStage)) {
	k := t.kernel()
	if k == nil || !k.runs("Fill", body != nil) {
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
		k.fault(&ruleProtocol, "body of Fill issues no MMA into %s: Drain would read undefined values", t.name)
	}
	k.When(k.Leader(), func() { k.commit(full, t.pair) })
	state.next(&t.ring)
}

// Drain waits until the next accumulator is full, calls body, which reads it, and frees it, unless
// body has called Release. It must run in a role of four warps whose first index is a multiple of
// four, since each warp can access only a quarter of the rows.
func (t *TMEM) Drain(body func(*AccumulatorStage)) {
	k := t.kernel()
	if k == nil || !k.runs("Drain", body != nil) {
		return
	}
	state := t.state(0)
	k.quarters("reads")
	full, empty := t.barriers(state)
	full.Wait(state.parity)
	k.ins("tcgen05.fence::after_thread_sync")
	a := &AccumulatorStage{t: t, place: state, empty: empty, scope: k.scope()}
	a.row = a.address().Add(k.quarter())
	body(a)
	if !a.gone {
		a.Release()
	}
	state.next(&t.ring)
}

// Release frees the accumulator before the body of Drain ends, so that the next MMAs can start
// while the body still works with the values that it loaded. All threads of the role must call it,
// after the last Load, outside of conditions and loops of the body.
func (a *AccumulatorStage) Release() {
	k := a.kernel()
	switch {
	case k == nil:
		return
	case a.fills:
		k.fault(&ruleProtocol, "Release of an accumulator that is being written; Drain provides one to release")
		return
	case a.gone:
		k.fault(&ruleProtocol, "accumulator %s is released twice", a.t.name)
		return
	case k.scope() != a.scope:
		k.fault(&ruleProtocol, "Release inside a condition or a loop; the body of Drain must release the accumulator exactly once on every path")
		return
	}
	a.gone = true
	t, empty := a.t, a.empty
	k.ins("tcgen05.fence::before_thread_sync")
	k.SyncWarp()
	if t.pair {
		// The even block issues the MMA and waits for this arrival. The preceding fence orders the
		// reads.
		order := ".relaxed"
		if t.shared > 0 {
			order = ".release" // the thread has written to the staging tile since the last barrier
		}
		k.When(k.Leader(), func() { empty.arriveAt(k.leading(), order) })
		t.arrives(t.empty, 2*k.roleWarps())
	} else {
		k.When(k.Leader(), empty.Arrive)
		t.arrives(t.empty, k.roleWarps())
	}
}

// commit makes an mbarrier track the completion of all MMAs that the thread has started; in a pair,
// the mbarriers of both blocks.
func (k *Kernel) commit(b Barrier, pair bool) {
	op := "tcgen05.commit." + k.tmem.group() + ".mbarrier::arrive::one.shared::cluster"
	switch {
	case pair && k.clusterSize() == 2:
		k.ins(op+".multicast::cluster.b64", k.arg(b.at), number(3))
		return
	case pair:
		k.ins(op+".multicast::cluster.b64", k.arg(b.at), k.arg(To[U16](k.pattern(unshared, true))))
		return
	}
	k.ins(op+".b64", k.arg(b.at))
}

// Row returns the row of the accumulator that the thread reads, among the 128 of its block. If the
// accumulator has 64 rows, each warp has sixteen, in its first lanes; in the other lanes Row is 64
// or more and the loaded values are meaningless.
func (a *AccumulatorStage) Row() Reg[U32] {
	k := a.kernel()
	if k == nil {
		return Reg[U32]{}
	}
	warp, lane := k.WarpIndex().AndI(3), k.Lane()
	if a.t.rows == 64 {
		return Select(lane.LTI(16), warp.MadI(16, lane), lane.AddI(64))
	}
	return warp.MadI(32, lane)
}

// Load reads n columns of the thread's row (see Row), starting at column col.
func (a *AccumulatorStage) Load(col, n int) []Reg[F32] { return LoadAccumulator[F32](a, col, n) }

// LoadAccumulator is [AccumulatorStage.Load] for accumulators of another 32-bit type: S32 for
// products of integers.
func LoadAccumulator[T Scalar](a *AccumulatorStage, col, n int) []Reg[T] {
	k := a.kernel()
	if k == nil {
		return zeros[T](k, n)
	}
	if t := TypeOf[T](); t.Bits() != 32 {
		k.fault(&ruleShape, "accumulator in tensor memory as %s, want a 32-bit type", t)
		return zeros[T](k, n)
	}
	if a.fills {
		k.fault(&ruleProtocol, "accumulator is read while MMAs write it; Drain provides one to read")
		return zeros[T](k, n)
	}
	if a.gone {
		k.fault(&ruleProtocol, "accumulator is read after Release or Output.StoreTMEM: later MMAs may already overwrite it")
		return zeros[T](k, n)
	}
	if col < 0 || n < 1 || n > 128 || n&(n-1) != 0 || col+n > a.t.cols {
		k.fault(&ruleShape, "columns %d to %d of an accumulator with %d columns, want a power of two up to 128", col, col+n-1, a.t.cols)
		return zeros[T](k, n)
	}
	if a.t.half && TypeOf[T]() != isa.F32 {
		k.fault(&ruleShape, "accumulator of .f16 in tensor memory as %s, want .f32", TypeOf[T]())
		return zeros[T](k, n)
	}
	k.lanes("Load")
	a.t.taken.take(k, col, n)
	at := a.row.AddI(int64(col))
	list := make([]Reg[T], n)
	regs := make([]ir.Operand, n)
	for i := range list {
		list[i] = fresh[T](k)
		regs[i] = list[i].in(k)
	}
	k.ins(fmt.Sprintf("tcgen05.ld.sync.aligned.32x32b.x%d.b32", n), k.list(ir.Vector, regs), tensorAddress(k, at))
	k.ins("tcgen05.wait::ld.sync.aligned")
	if a.t.half {
		for i, r := range regs {
			x := k.unpacked(isa.F16, r)[0]
			list[i] = Reg[T]{k: k, r: x.r, scope: x.scope}
		}
	}
	return list
}

// zeros returns n placeholder values after an error, so that building can continue.
func zeros[T Scalar](k *Kernel, n int) []Reg[T] {
	list := make([]Reg[T], min(max(n, 0), 1<<10))
	for i := range list {
		list[i] = fresh[T](k.sound())
	}
	return list
}

// tensorAddress returns the operand [x] in tensor memory.
func tensorAddress(k *Kernel, x Reg[U32]) ir.Operand {
	return k.bracket(k.arg(x.register()))
}
