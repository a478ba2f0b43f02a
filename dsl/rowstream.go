// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl

// A RowStream distributes the elements of a long row over the threads of a block, or of a cluster
// whose blocks share the row, as RowTile does for rows that fit into registers. Bulk copies move
// the part of the row that a block computes to shared memory, so that loads in flight do not take
// registers:
//
//	t := dsl.NewRowStream(x, cols, dsl.RowBuffer{Copies: 4})
//	sum := k.F32(0).Var()
//	t.Each(func(_ u32, xs []f32) {
//		for _, x := range xs {
//			sum.Set(sum.Add(x))
//		}
//	})
type RowStream[E Scalar] struct {
	k      *Kernel
	size   int // number of elements per block
	step   int // number of elements that all threads compute in one step
	first  Reg[U32]
	offset Reg[U32] // index in the row of the block's first element
	row    Reg[U32]
	start  Reg[U64] // of the block's part in the matrix
	source Array[E] // the part in global memory
	staged Array[E] // its beginning in shared memory
	length int      // number of elements in shared memory
	copied int      // number of elements per bulk copy, or 0
	full   Barrier  // one for each copy
	kept   []FloatVec
	waited bool
}

// A RowBuffer specifies where a RowStream keeps the part of a row that a block computes.
type RowBuffer struct {
	// Copies is the number of bulk copies to shared memory: the threads compute with the elements
	// of the first one while the others are in flight. If it is 0, elements are loaded from global
	// memory each time that they are used, which suits kernels that use each element once.
	Copies int
	// Kept is the number of groups at the end of the part that each thread keeps in registers
	// instead, so that the shared memory suffices for more blocks.
	Kept int
}

// NewRowStream starts to copy the part of a block, in the row that the block or the cluster
// computes: that with its index. Threads and Cluster must have set the number of threads. A thread
// has groups of 16 bytes, and so cols must be a multiple of 16 bytes times the number of blocks in
// a cluster. All parameters of the kernel must have been declared before.
func NewRowStream[E Scalar](x Array[E], cols int, b RowBuffer) *RowStream[E] {
	k := x.at.k.sound()
	threads, blocks, width := max(1, k.BlockThreads()), k.clusterSize(), 1
	if isFloats(TypeOf[E]()) {
		width = 128 / TypeOf[E]().Bits()
	}
	t := &RowStream[E]{k: k, size: cols / blocks, step: width * threads}
	t.length = t.size - b.Kept*t.step
	if width == 1 || k.BlockThreads() == 0 || cols < 1 || cols%(width*blocks) != 0 ||
		b.Copies < 0 || b.Kept < 0 || b.Kept > 0 && b.Copies == 0 || b.Copies > 0 && t.length < 1 {
		k.fault(&ruleShape,
			"row stream of %d elements of %s over %d blocks with %d copies and %d groups in registers, expected .f32, .f16 or .bf16, a multiple of 16 bytes per block, copies if there are groups in registers and elements that they copy, and a block whose threads are set",
			cols, TypeOf[E](), blocks, b.Copies, b.Kept)
		return nil
	}
	t.row, t.offset = k.CTAID().X, k.U32(0)
	if blocks > 1 {
		t.row, t.offset = t.row.DivI(int64(blocks)), k.ClusterRank().MulI(int64(t.size))
	}
	t.first = k.TID().X.MulI(int64(width))
	t.start = To[U64](t.row).MulI(int64(cols)).Add(To[U64](t.offset))
	t.source = x.At64(t.start)
	if b.Copies > 0 {
		t.copy(b)
	}
	return t
}

// copy starts the bulk copies and the loads of the elements that are kept in registers.
func (t *RowStream[E]) copy(b RowBuffer) {
	k, bytes := t.k, TypeOf[E]().Bits()/8
	t.copied = (t.length + b.Copies*t.step - 1) / (b.Copies * t.step) * t.step
	t.staged = Shared[E](k, unique("part", k.names), t.length)
	t.full = k.Barriers(unique("full", k.names), (t.length+t.copied-1)/t.copied, 1)
	k.If(k.Thread().EQI(0), func() {
		for from := 0; from < t.length; from += t.copied {
			n, full := min(t.copied, t.length-from), t.full.AtI(from/t.copied)
			full.ArriveExpect(k.U32(n * bytes))
			t.source.AtI(int64(from)).BulkLoad(t.staged.AtI(int64(from)), k.U32(n), full)
		}
	})
	for i := t.length; i < t.size; i += t.step {
		t.kept = append(t.kept, FloatsOf(t.source).Load(t.first.AddI(int64(i)), NC))
	}
}

// kernel returns the kernel of t, or nil for a zero value.
func (t *RowStream[E]) kernel() *Kernel {
	if t == nil {
		return nil
	}
	return t.k
}

// Row returns the index of the row.
func (t *RowStream[E]) Row() Reg[U32] {
	if t.kernel() == nil {
		return Reg[U32]{}
	}
	return t.row
}

// Offset returns the index in the row of the first element that the block computes.
func (t *RowStream[E]) Offset() Reg[U32] {
	if t.kernel() == nil {
		return Reg[U32]{}
	}
	return t.offset
}

// Start returns the index in the matrix of the first element that the block computes.
func (t *RowStream[E]) Start() Reg[U64] {
	if t.kernel() == nil {
		return Reg[U64]{}
	}
	return t.start
}

// Len returns the number of elements that a block computes.
func (t *RowStream[E]) Len() int {
	if t.kernel() == nil {
		return 0
	}
	return t.size
}

// IsFirst reports whether the thread has the first element of the row.
func (t *RowStream[E]) IsFirst() Reg[Pred] {
	if t.kernel() == nil {
		return Reg[Pred]{}
	}
	return t.offset.Add(t.first).EQI(0)
}

// Each calls do for each group of elements of the thread, with the index of the first one in the
// part of the block. The first call of Each waits for the copies, so it must be outside of
// branches.
func (t *RowStream[E]) Each(do func(at Reg[U32], xs []Reg[F32])) {
	if !checkCreated(t.kernel(), "row stream in Each") || !t.k.checkFunctions("Each", do != nil) {
		return
	}
	if t.copied == 0 {
		t.loadEach(do)
		return
	}
	staged := FloatsOf(t.staged)
	for i := 0; i < t.length; i += t.step {
		if !t.waited && i%t.copied == 0 {
			t.full.AtI(i / t.copied).Wait(t.k.U32(0))
		}
		t.group(staged, i, t.length, do)
	}
	t.waited = true
	for i, x := range t.kept {
		do(t.first.AddI(int64(t.length+i*t.step)), x.F32())
	}
}

// loadEach is Each for a part that is not copied. Several loads are in flight at the same time.
func (t *RowStream[E]) loadEach(do func(at Reg[U32], xs []Reg[F32])) {
	const loads = 4
	k, from := t.k, FloatsOf(t.source)
	batch := loads * t.step
	whole := t.size / batch * batch
	for i := range k.RangeStep(t.first, k.U32(whole), k.U32(batch)) {
		var list []FloatVec
		for j := range loads {
			list = append(list, from.Load(i.AddI(int64(j*t.step)), NC))
		}
		for j, x := range list {
			do(i.AddI(int64(j*t.step)), x.F32())
		}
	}
	for i := whole; i < t.size; i += t.step {
		t.group(from, i, t.size, do, NC)
	}
}

// group calls do for the thread's elements in the step that starts at index i, if they are before
// end.
func (t *RowStream[E]) group(from Floats, i, end int, do func(at Reg[U32], xs []Reg[F32]),
	mods ...Mod) {
	at := t.first.AddI(int64(i))
	if i+t.step <= end {
		do(at, from.Load(at, mods...).F32())
		return
	}
	t.k.If(at.LTI(int64(end)), func() { do(at, from.Load(at, mods...).F32()) })
}

// Map calls to for each group of elements of the thread, as Each does, rounds the elements that it
// returns and stores them in the same part of another matrix of rows.
func (t *RowStream[E]) Map(a Array[E], to func(at Reg[U32], xs []Reg[F32]) []Reg[F32]) {
	if !checkCreated(t.kernel(), "row stream in Map", a.at.k) ||
		!t.k.checkFunctions("Map", to != nil) {
		return
	}
	a = a.At64(t.start)
	t.Each(func(at Reg[U32], xs []Reg[F32]) {
		xs = to(at, xs)
		list := make([]Reg[E], len(xs))
		for i, x := range xs {
			list[i] = To[E](x)
		}
		a.StoreVec(at, list)
	})
}
