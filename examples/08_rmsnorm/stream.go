// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package rmsnorm

import (
	"math"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/isa"
)

// A stream is a kernel for long rows of 16-bit elements. Bulk copies move the part of the row
// that a block computes to shared memory, so that loads in flight do not take registers. If
// several blocks compute a row, the threads keep the end of the part in registers, so that more
// blocks fit on a multiprocessor while they wait for each other. A kernel that reads each element
// once keeps nothing. The blocks of a cluster exchange their partial results through shared
// memory.
type stream[E dsl.Scalar] struct {
	k      *dsl.Kernel
	r      RowKernel
	shape  streamShape
	part   int              // number of elements per block
	step   int              // number of elements that all threads compute in one step
	chunk  int              // number of elements per bulk copy
	first  dsl.Reg[dsl.U32] // index in the part of the thread's first element
	base   dsl.Reg[dsl.U32] // index in the row of the block's first element
	row    dsl.Reg[dsl.U32]
	start  dsl.Reg[dsl.U64] // of the block's part in the matrix
	source dsl.Array[E]     // the part in global memory
	length int              // number of elements in shared memory
	staged dsl.Array[E]     // the part in shared memory
	full   dsl.Barrier      // of each chunk
	kept   []dsl.FloatVec   // the thread's elements after those in shared memory
	end    func()           // waits until no other block reads the memory of this one
}

// A streamShape gives the numbers of threads and blocks of a stream.
type streamShape struct {
	threads, blocks int  // threads per block, and blocks per row
	together        int  // blocks that run on a multiprocessor at the same time
	chunks          int  // bulk copies per block
	kept            int  // number of steps whose elements stay in registers
	once            bool // whether each element is read once, from global memory
}

// longest is the length of the longest row that is kept in registers if the kernel supports
// streaming.
const longest = 16384

// streamed reports whether the kernel is a stream.
func (r RowKernel) streamed() bool {
	switch {
	case r.Type.Bits() != 16 || r.Residual || r.Cols <= longest:
		return false
	case r.Kind == LayerNorm && r.Output == isa.E4m3 || r.Output == isa.E2m1 || r.Kind == Gradient:
		return false
	}
	s := r.stream()
	return r.Cols%(8*s.blocks) == 0 && r.Cols <= 32768*s.blocks
}

// stream returns the shape of the kernel as a stream.
func (r RowKernel) stream() streamShape {
	// bytes per multiprocessor, elements per block, and the most blocks for which a thread has 64
	// registers
	const memory, part, most = 226 << 10, 32768, 4
	s := streamShape{threads: 256, blocks: 1, chunks: 4}
	for ; r.Cols > part*s.blocks && s.blocks < 8; s.blocks *= 2 {
	}
	mine, step := r.Cols/s.blocks, 8*s.threads
	switch {
	case s.blocks == 1:
	case r.Kind == CrossEntropy:
		s.once, s.together = true, 6
		return s
	case mine%step == 0 && r.Kind == LayerNorm:
		s.chunks, s.kept = 3, mine/step/3
	case mine%step == 0:
		s.kept = mine / step / 2
	}
	s.together = max(1, min(memory/(2*(mine-s.kept*step)+2048), 2048/s.threads))
	if s.kept > 0 {
		s.together = min(s.together, most)
	}
	return s
}

// newStream adds a kernel to m and returns its stream.
func newStream[E dsl.Scalar](m *dsl.Module, r RowKernel) *stream[E] {
	s := r.stream()
	f := &stream[E]{r: r, shape: s, part: r.Cols / s.blocks, step: 8 * s.threads}
	f.length = f.part - s.kept*f.step
	f.chunk = (f.length + s.chunks*f.step - 1) / (s.chunks * f.step) * f.step
	options := []dsl.KernelOption{dsl.Threads(s.threads), dsl.MinBlocks(s.together)}
	if s.blocks > 1 {
		options = append(options, dsl.Cluster(s.blocks))
	}
	f.k = m.Kernel(string(r.Kind), options...)
	return f
}

// begin starts the copies of the block's part. All parameters must have been declared before.
func (f *stream[E]) begin(x dsl.Array[E]) {
	k, s := f.k, f.shape
	f.row, f.base = k.CTAID().X, k.U32(0)
	if s.blocks > 1 {
		f.row, f.base = f.row.DivI(int64(s.blocks)), k.ClusterRank().MulI(int64(f.part))
	}
	f.first = k.TID().X.MulI(8)
	f.start = dsl.To[dsl.U64](f.row).MulI(int64(f.r.Cols)).Add(dsl.To[dsl.U64](f.base))
	f.source = x.At64(f.start)
	if s.once {
		return
	}
	f.staged = dsl.Shared[E](k, "part", f.length)
	f.full = k.Barriers("full", (f.length+f.chunk-1)/f.chunk, 1)
	k.If(k.Thread().EQI(0), func() {
		for from := 0; from < f.length; from += f.chunk {
			n, full := min(f.chunk, f.length-from), f.full.AtI(from/f.chunk)
			full.ArriveExpect(k.U32(2 * n))
			f.source.AtI(int64(from)).BulkLoad(f.staged.AtI(int64(from)), k.U32(n), full)
		}
	})
	for i := f.length; i < f.part; i += f.step {
		at := f.first.AddI(int64(i))
		f.kept = append(f.kept, dsl.FloatsOf(f.source).Load(at, dsl.NC))
	}
}

// elements calls do for each eight elements of the thread, with the index of the first one in the
// part. The first call waits for the elements.
func (f *stream[E]) elements(first bool, do func(at dsl.Reg[dsl.U32], xs []dsl.Reg[dsl.F32])) {
	k, staged := f.k, dsl.FloatsOf(f.staged)
	for i := 0; i < f.length; i += f.step {
		if first && i%f.chunk == 0 {
			f.full.AtI(i / f.chunk).Wait(k.U32(0))
		}
		f.eight(staged, i, do)
	}
	for i, x := range f.kept {
		do(f.first.AddI(int64(f.length+i*f.step)), x.F32())
	}
}

// eight calls do for the thread's elements in the step that starts at index i, if it has any.
func (f *stream[E]) eight(from dsl.Floats, i int,
	do func(at dsl.Reg[dsl.U32], xs []dsl.Reg[dsl.F32]), mods ...dsl.Mod) {
	at := f.first.AddI(int64(i))
	if i+f.step <= f.part {
		do(at, from.Load(at, mods...).F32())
		return
	}
	f.k.If(at.LTI(int64(f.part)), func() { do(at, from.Load(at, mods...).F32()) })
}

// once calls do as elements does, for a kernel that reads each element once. Several loads are in
// flight at the same time.
func (f *stream[E]) once(do func(at dsl.Reg[dsl.U32], xs []dsl.Reg[dsl.F32])) {
	const loads = 4
	k, from := f.k, dsl.FloatsOf(f.source)
	batch := loads * f.step
	whole := f.part / batch * batch
	for i := range k.RangeStep(f.first, k.U32(whole), k.U32(batch)) {
		var list []dsl.FloatVec
		for j := range loads {
			list = append(list, from.Load(i.AddI(int64(j*f.step)), dsl.NC))
		}
		for j, x := range list {
			do(i.AddI(int64(j*f.step)), x.F32())
		}
	}
	for i := whole; i < f.part; i += f.step {
		f.eight(from, i, do, dsl.NC)
	}
}

// reduce combines a function of the elements over the threads of the block.
func (f *stream[E]) reduce(first bool, name string,
	step func(sum, x dsl.Reg[dsl.F32]) dsl.Reg[dsl.F32]) dsl.Reg[dsl.F32] {
	total := f.k.F32(0).Var()
	f.elements(first, func(_ dsl.Reg[dsl.U32], xs []dsl.Reg[dsl.F32]) {
		for _, x := range xs {
			total.Set(step(total, x))
		}
	})
	return dsl.BlockReduce(total, name, plus)
}

// exchange returns the given values from each block of the cluster.
func (f *stream[E]) exchange(values ...dsl.Reg[dsl.F32]) (all [][]dsl.Reg[dsl.F32]) {
	all, f.end = dsl.ClusterGather("values", values...)
	return all
}

// store converts eight results to E and writes them as 16 bytes.
func (f *stream[E]) store(y dsl.Array[E], at dsl.Reg[dsl.U32], xs []dsl.Reg[dsl.F32]) {
	list := make([]dsl.Reg[E], len(xs))
	for i, x := range xs {
		list[i] = dsl.To[E](x)
	}
	y.StoreVec(at, list)
}

// buildStream adds the kernel for long rows.
func buildStream[E dsl.Scalar](m *dsl.Module, r RowKernel) {
	f := newStream[E](m, r)
	x := dsl.Global[E](f.k, "x")
	switch {
	case r.Kind == Softmax:
		f.softmax(x)
	case r.Kind == CrossEntropy:
		f.crossEntropy(x)
	case r.Kind == LayerNorm:
		f.layerNorm(x)
	case r.Output == isa.E4m3:
		f.quantize(x)
	default:
		f.normalize(x)
	}
	f.end()
}

func (f *stream[E]) softmax(x dsl.Array[E]) {
	y := dsl.Global[E](f.k, "y")
	f.begin(x)
	most, sum := f.powers()
	part := sum.Rcp()
	y = y.At64(f.start)
	f.elements(false, func(at dsl.Reg[dsl.U32], xs []dsl.Reg[dsl.F32]) {
		for i := range xs {
			xs[i] = exp(xs[i], most).Mul(part)
		}
		f.store(y, at, xs)
	})
}

func (f *stream[E]) crossEntropy(x dsl.Array[E]) {
	k := f.k
	targets, losses, sums := dsl.Global[dsl.U32](k, "targets"), dsl.Global[dsl.F32](k, "losses"),
		dsl.Global[dsl.F32](k, "sums")
	f.begin(x)
	most, sum := f.powers()
	k.If(f.base.Add(f.first).EQI(0), func() {
		log := sum.Log2().MulF(math.Ln2).Add(most)
		sums.Store(f.row, log)
		losses.Store(f.row, log.Sub(dsl.To[dsl.F32](x.At64(f.start).Load(targets.Load(f.row)))))
	})
}

// powers returns the largest element of the row, and the sum of exp(x - largest), in one pass.
// Each thread keeps the largest of its elements so far, and rescales its sum when a larger
// element appears.
func (f *stream[E]) powers() (most, sum dsl.Reg[dsl.F32]) {
	k := f.k
	// The initial value is finite because a block or a thread may have only elements that are
	// -inf.
	largestSoFar, sumSoFar := k.F32(-math.MaxFloat32).Var(), k.F32(0).Var()
	read := func(do func(dsl.Reg[dsl.U32], []dsl.Reg[dsl.F32])) { f.elements(true, do) }
	if f.shape.once {
		read = f.once
	}
	read(func(_ dsl.Reg[dsl.U32], xs []dsl.Reg[dsl.F32]) {
		now := largestSoFar.Max(xs[0])
		for _, x := range xs[1:] {
			now = now.Max(x)
		}
		next := sumSoFar.Mul(exp(largestSoFar, now))
		for _, x := range xs {
			next = next.Add(exp(x, now))
		}
		sumSoFar.Set(next)
		largestSoFar.Set(now)
	})
	block := dsl.BlockReduce(largestSoFar, "maxima", largest)
	all := f.exchange(block, dsl.BlockReduce(sumSoFar.Mul(exp(largestSoFar, block)), "sums", plus))
	most, sum = all[0][0], all[0][1]
	if len(all) == 1 {
		return most, sum
	}
	for _, of := range all[1:] {
		most = most.Max(of[0])
	}
	sum = sum.Mul(exp(all[0][0], most))
	for _, of := range all[1:] {
		sum = of[1].FMA(exp(of[0], most), sum)
	}
	return most, sum
}

// total returns the sum over the blocks of the value with index i.
func total(all [][]dsl.Reg[dsl.F32], i int) dsl.Reg[dsl.F32] {
	sum := all[0][i]
	for _, of := range all[1:] {
		sum = sum.Add(of[i])
	}
	return sum
}

// normalize emits a kernel that divides each row by its root mean square.
func (f *stream[E]) normalize(x dsl.Array[E]) {
	k := f.k
	w, y, eps := dsl.Global[E](k, "w"), dsl.Global[E](k, "y"), dsl.Param[dsl.F32](k, "eps")
	f.begin(x)
	squares := f.reduce(true, "squares", func(sum, x dsl.Reg[dsl.F32]) dsl.Reg[dsl.F32] {
		return x.FMA(x, sum)
	})
	scale := total(f.exchange(squares), 0).MulF(1 / float64(f.r.Cols)).Add(eps).Rsqrt()
	w, y = w.At(f.base), y.At64(f.start)
	f.elements(false, func(at dsl.Reg[dsl.U32], xs []dsl.Reg[dsl.F32]) {
		ws := dsl.FloatsOf(w).Load(at, dsl.NC).F32()
		for i := range xs {
			xs[i] = xs[i].Mul(scale).Mul(ws[i])
		}
		f.store(y, at, xs)
	})
}

// quantize emits a kernel that normalizes each row, and stores it as .e4m3 with a scale such that
// the largest magnitude becomes 448, the largest number of .e4m3.
func (f *stream[E]) quantize(x dsl.Array[E]) {
	k := f.k
	w, y, scales, eps := dsl.Global[E](k, "w"), dsl.Global[dsl.E4M3x2](k, "y"),
		dsl.Global[dsl.F32](k, "scales"), dsl.Param[dsl.F32](k, "eps")
	f.begin(x)
	w = w.At(f.base)
	squares, most := k.F32(0).Var(), k.F32(0).Var()
	f.elements(true, func(at dsl.Reg[dsl.U32], xs []dsl.Reg[dsl.F32]) {
		ws := dsl.FloatsOf(w).Load(at, dsl.NC).F32()
		for i, x := range xs {
			squares.Set(x.FMA(x, squares))
			most.Set(most.Max(x.Mul(ws[i]).Abs()))
		}
	})
	all := f.exchange(dsl.BlockReduce(squares, "squares", plus),
		dsl.BlockReduce(most, "magnitudes", largest))
	norm := total(all, 0).MulF(1 / float64(f.r.Cols)).Add(eps).Rsqrt()
	magnitude := all[0][1]
	for _, of := range all[1:] {
		magnitude = magnitude.Max(of[1])
	}
	// the lower bound keeps the scale of a row of zeros from being zero
	scale := magnitude.Mul(norm).MulF(1.0 / 448).Max(k.F32(0x1p-120))
	k.If(f.base.Add(f.first).EQI(0), func() { scales.Store(f.row, scale) })
	by := scale.Rcp()
	y = y.At64(f.start.ShrI(1))
	f.elements(false, func(at dsl.Reg[dsl.U32], xs []dsl.Reg[dsl.F32]) {
		ws := dsl.FloatsOf(w).Load(at, dsl.NC).F32()
		var list []dsl.Reg[dsl.E4M3x2]
		for i := range xs {
			xs[i] = xs[i].Mul(norm).Mul(ws[i]).Mul(by)
		}
		for i := 0; i < len(xs); i += 2 {
			list = append(list, dsl.Pack[dsl.E4M3x2](xs[i], xs[i+1]))
		}
		y.StoreVec(at.ShrI(1), list)
	})
}

// layerNorm emits a kernel for LayerNorm. Each block computes the mean of its part and the sum of
// the squared differences from that mean; the results of the blocks are then combined.
func (f *stream[E]) layerNorm(x dsl.Array[E]) {
	k := f.k
	w, b, y, eps := dsl.Global[E](k, "w"), dsl.Global[E](k, "b"), dsl.Global[E](k, "y"),
		dsl.Param[dsl.F32](k, "eps")
	f.begin(x)
	mine := f.reduce(true, "means", plus).MulF(1 / float64(f.part))
	squares := f.reduce(false, "squares", func(sum, x dsl.Reg[dsl.F32]) dsl.Reg[dsl.F32] {
		x = x.Sub(mine)
		return x.FMA(x, sum)
	})
	all := f.exchange(mine, squares)
	center, sum := total(all, 0).MulF(1/float64(len(all))), total(all, 1)
	if len(all) > 1 {
		for _, of := range all {
			away := of[0].Sub(center)
			sum = away.MulF(float64(f.part)).FMA(away, sum)
		}
	}
	scale := sum.MulF(1 / float64(f.r.Cols)).Add(eps).Rsqrt()
	w, b, y = w.At(f.base), b.At(f.base), y.At64(f.start)
	f.elements(false, func(at dsl.Reg[dsl.U32], xs []dsl.Reg[dsl.F32]) {
		ws, bs := dsl.FloatsOf(w).Load(at, dsl.NC).F32(), dsl.FloatsOf(b).Load(at, dsl.NC).F32()
		for i := range xs {
			xs[i] = xs[i].Sub(center).Mul(scale).FMA(ws[i], bs[i])
		}
		f.store(y, at, xs)
	})
}
