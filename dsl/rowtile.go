// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl

// A RowTile distributes the elements of a row over the threads of a block, or of a cluster whose
// blocks share the row. A thread has groups of adjacent elements, so that it accesses 16 bytes at a
// time, and computes with them as F32. It suits norms, softmax and other kernels whose rows fit
// into registers:
//
//	t := dsl.NewRowTile[dsl.F16](k, cols, 8)
//	v := t.Load(x.At64(t.Start()), 0)
//	sum := t.Reduce(v, "sum", nil, add)
//	t.Store(y.At64(t.Start()), t.Map(v, func(x f32) f32 { return x.Sub(sum) }))
type RowTile[E Scalar] struct {
	k     *Kernel
	cols  int
	width int      // adjacent elements of a thread
	step  int      // distance of those from the next ones of the thread
	lazy  bool     // elements are computed from the loaded ones each time
	first Reg[U32] // first element of the thread
	row   Reg[U32]
	start Reg[U64] // of the row in the matrix
}

// RowValues holds the elements of a row that a thread has, in groups. Each call of a function
// converts or computes the elements of one group.
type RowValues []func() []Reg[F32]

// maxGroups is the largest number of groups per thread that are kept in registers as F32.
const maxGroups = 4

// NewRowTile returns the tile of the row that the block or the cluster computes: that with its
// index. Threads and Cluster must have set the number of threads. A thread has groups of width
// elements, a multiple of 16 bytes, or single elements if cols is no multiple of width. If it has
// more than four groups, elements of 16 bits stay packed, and functions of them are computed when
// they are used.
func NewRowTile[E Scalar](k *Kernel, cols, width int) *RowTile[E] {
	k = k.sound()
	threads, blocks := max(1, k.BlockThreads()), k.clusterSize()
	if each := 128 / TypeOf[E]().Bits(); !isFloats(TypeOf[E]()) || cols < 1 || width < 1 ||
		width%each != 0 || k.BlockThreads() == 0 {
		k.fault(&ruleShape,
			"row tile of %d elements of %s in groups of %d, expected .f32, .f16 or .bf16, groups of a multiple of 16 bytes, and a block whose threads are set",
			cols, TypeOf[E](), width)
		cols, width = max(1, cols), 1
	}
	if cols%width != 0 {
		width = 1
	}
	t := &RowTile[E]{k: k, cols: cols, width: width, step: threads * blocks * width}
	t.lazy = cols > maxGroups*t.step
	t.row, t.first = k.CTAID().X, k.TID().X.MulI(int64(width))
	if blocks > 1 {
		t.row = t.row.DivI(int64(blocks))
		t.first = k.ClusterRank().MadI(int64(threads), k.TID().X).MulI(int64(width))
	}
	t.start = To[U64](t.row).MulI(int64(cols))
	return t
}

// kernel returns the kernel of t, or nil for a zero value.
func (t *RowTile[E]) kernel() *Kernel {
	if t == nil {
		return nil
	}
	return t.k
}

// Row returns the index of the row.
func (t *RowTile[E]) Row() Reg[U32] {
	if t.kernel() == nil {
		return Reg[U32]{}
	}
	return t.row
}

// Start returns the index of the first element of the row in the matrix.
func (t *RowTile[E]) Start() Reg[U64] {
	if t.kernel() == nil {
		return Reg[U64]{}
	}
	return t.start
}

// IsFirst reports whether the thread has the first element of the row.
func (t *RowTile[E]) IsFirst() Reg[Pred] {
	if t.kernel() == nil {
		return Reg[Pred]{}
	}
	return t.first.EQI(0)
}

// Eager makes functions of elements that follow compute them once, also if a thread has many.
func (t *RowTile[E]) Eager() {
	if t.kernel() != nil {
		t.lazy = false
	}
}

// groups returns the number of groups of a thread.
func (t *RowTile[E]) groups() int {
	if t.kernel() == nil {
		return 0
	}
	return (t.cols + t.step - 1) / t.step
}

// at returns the index of the first element of a group.
func (t *RowTile[E]) at(i int) Reg[U32] { return t.first.AddI(int64(i * t.step)) }

// whole reports whether a group is in the row for all threads.
func (t *RowTile[E]) whole(i int) bool { return (i+1)*t.step <= t.cols }

// inRow calls do for group i, whose first element has index at. If the group is not whole, the call
// is in a branch that skips it outside the row.
func (t *RowTile[E]) inRow(i int, at Reg[U32], do func()) {
	if t.whole(i) {
		do()
	} else {
		t.k.If(at.LTI(int64(t.cols)), do)
	}
}

// Each calls do for each group of the thread that is in the row, with the index of its first
// element in the row.
func (t *RowTile[E]) Each(v RowValues, do func(at Reg[U32], xs []Reg[F32])) {
	if !t.fits("Each", do != nil, v) {
		return
	}
	for i := range t.groups() {
		at := t.at(i)
		t.inRow(i, at, func() { do(at, v[i]()) })
	}
}

// fits reports whether values have the groups of the tile, and records the reason if not.
func (t *RowTile[E]) fits(call string, given bool, values ...RowValues) bool {
	if !checkCreated(t.kernel(), "row tile in "+call) || !t.k.checkFunctions(call, given) {
		return false
	}
	for _, v := range values {
		if len(v) != t.groups() {
			t.k.fault(&ruleShape,
				"%s is called with %d groups of elements, but the row tile has %d",
				call, len(v), t.groups())
			return false
		}
	}
	return true
}

// Load returns the elements of a row. Elements past the end of the row have the value fill.
func (t *RowTile[E]) Load(a Array[E], fill float64) (v RowValues) {
	if !checkCreated(t.kernel(), "row tile in Load", a.at.k) {
		return nil
	}
	for i := range t.groups() {
		if t.whole(i) {
			v = append(v, t.kept(t.group(a, t.at(i))))
		} else {
			v = append(v, t.last(a, i, fill))
		}
	}
	return v
}

// last is Load for a group that may be past the end of the row.
func (t *RowTile[E]) last(a Array[E], i int, fill float64) func() []Reg[F32] {
	at := t.at(i)
	xs := make([]Reg[F32], t.width)
	for j := range xs {
		xs[j] = t.k.F32(fill).Var()
	}
	t.inRow(i, at, func() {
		for j, x := range t.group(a, at)() {
			xs[j].Set(x)
		}
	})
	return func() []Reg[F32] { return xs }
}

// Reload is like Load with a fill of zero, for a row that all blocks read, such as weights. If a
// thread has many groups, each group is loaded when it is used, and again when it is used again.
func (t *RowTile[E]) Reload(a Array[E]) (v RowValues) {
	if t.kernel() == nil || !t.lazy || t.cols%t.step != 0 {
		return t.Load(a, 0)
	}
	for i := range t.groups() {
		at := t.at(i)
		v = append(v, func() []Reg[F32] { return t.group(a, at)() })
	}
	return v
}

// group loads the elements of a group. Elements of 16 bits stay packed until they are used.
func (t *RowTile[E]) group(a Array[E], at Reg[U32]) func() []Reg[F32] {
	if t.width == 1 {
		x := To[F32](a.Load(at))
		return func() []Reg[F32] { return []Reg[F32]{x} }
	}
	from := FloatsOf(a)
	var parts []FloatVec
	for j := 0; j < t.width; j += from.Width() {
		parts = append(parts, from.Load(at.AddI(int64(j))))
	}
	return func() (all []Reg[F32]) {
		for _, part := range parts {
			all = append(all, part.F32()...)
		}
		return all
	}
}

// kept returns a group whose elements are computed only once, unless the tile is lazy.
func (t *RowTile[E]) kept(group func() []Reg[F32]) func() []Reg[F32] {
	if t.lazy {
		return group
	}
	list := group()
	return func() []Reg[F32] { return list }
}

// Map applies a function to each element.
func (t *RowTile[E]) Map(v RowValues, to func(x Reg[F32]) Reg[F32]) RowValues {
	return t.apply("Map", to != nil, func(_, _ int, xs []Reg[F32]) Reg[F32] { return to(xs[0]) }, v)
}

// MapAt is Map for a function that also depends on the index of the element in the row, which col
// returns.
func (t *RowTile[E]) MapAt(v RowValues,
	to func(col func() Reg[U32], x Reg[F32]) Reg[F32]) RowValues {
	return t.apply("MapAt", to != nil, func(i, j int, xs []Reg[F32]) Reg[F32] {
		return to(func() Reg[U32] { return t.first.AddI(int64(i*t.step + j)) }, xs[0])
	}, v)
}

// Zip applies a function to each pair of an element and the element of another row at its index.
func (t *RowTile[E]) Zip(v, w RowValues, both func(x, y Reg[F32]) Reg[F32]) RowValues {
	return t.apply("Zip", both != nil,
		func(_, _ int, xs []Reg[F32]) Reg[F32] { return both(xs[0], xs[1]) }, v, w)
}

// apply applies a function to the elements of several rows at each index: group i, element j.
func (t *RowTile[E]) apply(call string, given bool, to func(i, j int, xs []Reg[F32]) Reg[F32],
	rows ...RowValues) RowValues {
	if !t.fits(call, given, rows...) {
		return nil
	}
	all := make(RowValues, t.groups())
	for i := range all {
		all[i] = t.kept(func() []Reg[F32] {
			groups := make([][]Reg[F32], len(rows))
			for n, row := range rows {
				groups[n] = row[i]()
			}
			list := make([]Reg[F32], len(groups[0]))
			for j := range list {
				xs := make([]Reg[F32], len(rows))
				for n, group := range groups {
					xs[n] = group[j]
				}
				list[j] = to(i, j, xs)
			}
			return list
		})
	}
	return all
}

// Store rounds the elements that the thread has and writes them.
func (t *RowTile[E]) Store(a Array[E], v RowValues) {
	each := 128 / TypeOf[E]().Bits()
	t.Each(v, func(at Reg[U32], xs []Reg[F32]) {
		for j := 0; j < len(xs); j += each {
			list := make([]Reg[E], min(each, len(xs)-j))
			for n := range list {
				list[n] = To[E](xs[j+n])
			}
			a.StoreVec(at.AddI(int64(j)), list)
		}
	})
}

// Reduce combines a function of the elements of the row to one value, which all threads get. A nil
// function is the element itself. The function both must be associative, and elements past the end
// of the row, which Load fills, must not change the result. The name is that of the memory through
// which the warps exchange values.
func (t *RowTile[E]) Reduce(v RowValues, name string, of func(x Reg[F32]) Reg[F32],
	both func(a, b Reg[F32]) Reg[F32]) Reg[F32] {
	if !t.fits("Reduce", both != nil, v) {
		return Reg[F32]{}
	}
	var total Reg[F32]
	for i, group := range v {
		for j, x := range group() {
			if of != nil {
				x = of(x)
			}
			if i+j > 0 {
				x = both(total, x)
			}
			total = x
		}
	}
	return ClusterReduce(BlockReduce(total, name, both), name+"_cluster", both)
}
