// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package rmsnorm

import (
	"math"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/isa"
)

// A frame assigns the elements of a row to the threads. E is the type of x.
type frame[E dsl.Scalar] struct {
	k     *dsl.Kernel
	r     RowKernel
	width int // number of adjacent elements in a group
	step  int // distance between the starts of two groups of a thread, in elements
	// whether F32 elements are computed again at each use, because they would take too many
	// registers
	lazy  bool
	first dsl.Reg[dsl.U32] // index in the row of the thread's first element
	row   dsl.Reg[dsl.U32]
	start dsl.Reg[dsl.U64] // index in the matrix of the first element of the row
}

// values holds the elements of a thread as one function per group of width adjacent elements.
// Each call of a function emits the code that loads, converts or computes the group.
type values []func() []dsl.Reg[dsl.F32]

// eager is the largest number of groups per thread that are kept in registers as F32.
const eager = 4

// newFrame adds a kernel to m and returns its frame.
func newFrame[E dsl.Scalar](m *dsl.Module, r RowKernel) *frame[E] {
	threads, blocks := r.Threads()
	options := []dsl.KernelOption{dsl.Threads(threads)}
	if blocks > 1 {
		options = append(options, dsl.Cluster(blocks))
	}
	if long := r.Cols >= 8192*blocks; long && r.Type.Bits() == 16 && !r.Residual && threads <= 512 {
		// limit the registers to 64 per thread, so that one block loads while another waits
		options = append(options, dsl.MinBlocks(1024/threads))
	}
	f := &frame[E]{k: m.Kernel(string(r.Kind), options...), r: r, width: 128 / r.Type.Bits()}
	if r.Output == isa.E2m1 {
		f.width = 16
	}
	if r.Cols%f.width != 0 {
		f.width = 1
	}
	return f
}

// begin computes the thread's position in the row. All parameters must have been declared before.
func (f *frame[E]) begin() {
	k := f.k
	threads, blocks := f.r.Threads()
	f.step = threads * blocks * f.width
	f.lazy = f.r.Cols > eager*f.step
	f.row, f.first = k.CTAID().X, k.TID().X.MulI(int64(f.width))
	if blocks > 1 {
		f.row = f.row.DivI(int64(blocks))
		f.first = k.ClusterRank().MadI(int64(threads), k.TID().X).MulI(int64(f.width))
	}
	f.start = dsl.To[dsl.U64](f.row).MulI(int64(f.r.Cols))
}

// each calls do for each group of the thread that is in the row, with the number of the group and
// the index of its first element.
func (f *frame[E]) each(do func(i int, at dsl.Reg[dsl.U32])) {
	for i := range f.groups() {
		at := f.at(i)
		f.inRow(i, at, func() { do(i, at) })
	}
}

// groups returns the number of groups per thread.
func (f *frame[E]) groups() int { return (f.r.Cols + f.step - 1) / f.step }

// at returns the index in the row of the first element of a group.
func (f *frame[E]) at(i int) dsl.Reg[dsl.U32] { return f.first.AddI(int64(i * f.step)) }

// whole reports whether the group is inside the row for all threads.
func (f *frame[E]) whole(i int) bool { return (i+1)*f.step <= f.r.Cols }

// inRow calls do. The code that do emits is executed only by threads whose group is in the row.
func (f *frame[E]) inRow(i int, at dsl.Reg[dsl.U32], do func()) {
	if f.whole(i) {
		do()
	} else {
		f.k.If(at.LTI(int64(f.r.Cols)), do)
	}
}

// load returns the elements of a row that are assigned to the thread. Elements past the end of
// the row have the value fill.
func (f *frame[E]) load(a dsl.Array[E], fill float64) (v values) {
	for i := range f.groups() {
		if f.whole(i) {
			v = append(v, f.kept(f.group(a, f.at(i))))
		} else {
			v = append(v, f.last(a, i, fill))
		}
	}
	return v
}

// last loads a group that may be past the end of the row, like load.
func (f *frame[E]) last(a dsl.Array[E], i int, fill float64) func() []dsl.Reg[dsl.F32] {
	at := f.at(i)
	xs := make([]dsl.Reg[dsl.F32], f.width)
	for j := range xs {
		xs[j] = f.k.F32(fill).Var()
	}
	f.inRow(i, at, func() {
		for j, x := range f.group(a, at)() {
			xs[j].Set(x)
		}
	})
	return func() []dsl.Reg[dsl.F32] { return xs }
}

// reload is like load, for a row that all blocks read, such as the weights. If a thread has many
// groups, each use of a group loads it again.
func (f *frame[E]) reload(a dsl.Array[E]) (v values) {
	if !f.lazy || f.r.Cols%f.step != 0 {
		return f.load(a, 0)
	}
	for i := range f.groups() {
		at := f.at(i)
		v = append(v, func() []dsl.Reg[dsl.F32] { return f.group(a, at)() })
	}
	return v
}

// group emits loads of one group, 16 bytes at a time, and returns a function that converts the
// elements to F32. Elements of 16 bits stay packed until then.
func (f *frame[E]) group(a dsl.Array[E], at dsl.Reg[dsl.U32]) func() []dsl.Reg[dsl.F32] {
	each := 128 / f.r.Type.Bits()
	if f.width < each {
		x := dsl.To[dsl.F32](a.Load(at))
		return func() []dsl.Reg[dsl.F32] { return []dsl.Reg[dsl.F32]{x} }
	}
	var parts values
	for j := 0; j < f.width; j += each {
		at := at.AddI(int64(j))
		switch f.r.Type {
		case isa.F32:
			v := dsl.As[dsl.F32](a).LoadVec(at, each)
			parts = append(parts, func() []dsl.Reg[dsl.F32] { return v })
		case isa.F16:
			parts = append(parts, pairs(dsl.As[dsl.F16x2](a).LoadVec(at.ShrI(1), each/2)))
		default:
			parts = append(parts, pairs(dsl.As[dsl.BF16x2](a).LoadVec(at.ShrI(1), each/2)))
		}
	}
	return func() (all []dsl.Reg[dsl.F32]) {
		for _, part := range parts {
			all = append(all, part()...)
		}
		return all
	}
}

// pairs returns a function that converts packed pairs of elements to F32.
func pairs[P dsl.Scalar](list []dsl.Reg[P]) func() []dsl.Reg[dsl.F32] {
	return func() (all []dsl.Reg[dsl.F32]) {
		for _, pair := range list {
			lo, hi := dsl.Widen(pair)
			all = append(all, lo, hi)
		}
		return all
	}
}

// kept returns a group that is computed once, now, unless the frame is lazy.
func (f *frame[E]) kept(group func() []dsl.Reg[dsl.F32]) func() []dsl.Reg[dsl.F32] {
	if f.lazy {
		return group
	}
	list := group()
	return func() []dsl.Reg[dsl.F32] { return list }
}

// change returns the results of a function for all elements. The arguments of the function are
// the number of the group, the index in the group, and the element.
func (f *frame[E]) change(v values, to func(i, j int, x dsl.Reg[dsl.F32]) dsl.Reg[dsl.F32]) values {
	all := make(values, len(v))
	for i, group := range v {
		all[i] = f.kept(func() (list []dsl.Reg[dsl.F32]) {
			for j, x := range group() {
				list = append(list, to(i, j, x))
			}
			return list
		})
	}
	return all
}

// with returns the results of a function for all pairs of an element and the corresponding
// element of another row.
func (f *frame[E]) with(v, other values, both func(x, y dsl.Reg[dsl.F32]) dsl.Reg[dsl.F32]) values {
	all := make(values, len(v))
	for i, group := range v {
		all[i] = f.kept(func() (list []dsl.Reg[dsl.F32]) {
			xs, ys := group(), other[i]()
			for j, x := range xs {
				list = append(list, both(x, ys[j]))
			}
			return list
		})
	}
	return all
}

// store converts the elements of the thread to E, and writes them to a.
func (f *frame[E]) store(a dsl.Array[E], v values) {
	each := min(f.width, 128/f.r.Type.Bits())
	f.each(func(i int, at dsl.Reg[dsl.U32]) {
		xs := v[i]()
		for j := 0; j < f.width; j += each {
			list := make([]dsl.Reg[E], each)
			for n := range list {
				list[n] = dsl.To[E](xs[j+n])
			}
			a.StoreVec(at.AddI(int64(j)), list)
		}
	})
}

// combine reduces the row to one value, which all threads receive: it applies element to each
// element, and combines the results with both. name is the name of the shared memory for partial
// results.
func (f *frame[E]) combine(
	v values, name string, element func(dsl.Reg[dsl.F32]) dsl.Reg[dsl.F32],
	both func(a, b dsl.Reg[dsl.F32]) dsl.Reg[dsl.F32],
) dsl.Reg[dsl.F32] {
	var total dsl.Reg[dsl.F32]
	for i, group := range v {
		for j, x := range group() {
			if x = element(x); i+j > 0 {
				x = both(total, x)
			}
			total = x
		}
	}
	return dsl.ClusterReduce(dsl.BlockReduce(total, name, both), name+"_cluster", both)
}

func plus(a, b dsl.Reg[dsl.F32]) dsl.Reg[dsl.F32]    { return a.Add(b) }
func largest(a, b dsl.Reg[dsl.F32]) dsl.Reg[dsl.F32] { return a.Max(b) }
func same(x dsl.Reg[dsl.F32]) dsl.Reg[dsl.F32]       { return x }
func square(x dsl.Reg[dsl.F32]) dsl.Reg[dsl.F32]     { return x.Mul(x) }

// exp returns exp(x - most) as a power of two.
func exp(x, most dsl.Reg[dsl.F32]) dsl.Reg[dsl.F32] { return x.Sub(most).MulF(math.Log2E).Exp2() }
