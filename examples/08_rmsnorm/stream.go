// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package rmsnorm

import (
	"math"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/isa"
)

// A stream is a kernel for long rows of 16-bit elements. If several blocks compute a row, the
// threads keep the end of the part of a block in registers, so that more blocks fit on a
// multiprocessor while they wait for each other. A kernel that reads each element once keeps
// nothing. The blocks of a cluster exchange their partial results through shared memory.
type stream[E dsl.Scalar] struct {
	*dsl.RowStream[E] // set by begin
	k                 *dsl.Kernel
	r                 RowKernel
	end               func() // waits until no other block reads the memory of this one
}

// A streamShape gives the numbers of threads and blocks of a stream.
type streamShape struct {
	threads, blocks int // threads per block, and blocks per row
	together        int // blocks that run on a multiprocessor at the same time
	buffer          dsl.RowBuffer
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
	s := streamShape{threads: 256, blocks: 1, buffer: dsl.RowBuffer{Copies: 4}}
	for ; r.Cols > part*s.blocks && s.blocks < 8; s.blocks *= 2 {
	}
	mine, step := r.Cols/s.blocks, 8*s.threads
	switch {
	case s.blocks == 1:
	case r.Kind == CrossEntropy:
		s.buffer.Copies, s.together = 0, 6
		return s
	case mine%step == 0 && r.Kind == LayerNorm:
		s.buffer = dsl.RowBuffer{Copies: 3, Kept: mine / step / 3}
	case mine%step == 0:
		s.buffer.Kept = mine / step / 2
	}
	s.together = max(1, min(memory/(2*(mine-s.buffer.Kept*step)+2048), 2048/s.threads))
	if s.buffer.Kept > 0 {
		s.together = min(s.together, most)
	}
	return s
}

// newStream adds a kernel to m and returns its stream.
func newStream[E dsl.Scalar](m *dsl.Module, r RowKernel) *stream[E] {
	s := r.stream()
	k := m.Kernel(string(r.Kind), dsl.Threads(s.threads), dsl.MinBlocks(s.together),
		dsl.Cluster(s.blocks))
	return &stream[E]{k: k, r: r}
}

// begin starts the copies of the block's part, after the parameters are declared.
func (f *stream[E]) begin(x dsl.Array[E]) {
	f.RowStream = dsl.NewRowStream(x, f.r.Cols, f.r.stream().buffer)
}

// reduce adds up a function of the elements over the threads of the block.
func (f *stream[E]) reduce(name string,
	step func(sum, x dsl.Reg[dsl.F32]) dsl.Reg[dsl.F32]) dsl.Reg[dsl.F32] {
	total := f.k.F32(0).Var()
	f.Each(func(_ dsl.Reg[dsl.U32], xs []dsl.Reg[dsl.F32]) {
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
	f.Map(y, func(_ dsl.Reg[dsl.U32], xs []dsl.Reg[dsl.F32]) []dsl.Reg[dsl.F32] {
		for i := range xs {
			xs[i] = exp(xs[i], most).Mul(part)
		}
		return xs
	})
}

func (f *stream[E]) crossEntropy(x dsl.Array[E]) {
	k := f.k
	targets, losses, sums := dsl.Global[dsl.U32](k, "targets"), dsl.Global[dsl.F32](k, "losses"),
		dsl.Global[dsl.F32](k, "sums")
	f.begin(x)
	most, sum := f.powers()
	k.If(f.IsFirst(), func() {
		log := sum.Log2().MulF(math.Ln2).Add(most)
		sums.Store(f.Row(), log)
		losses.Store(f.Row(),
			log.Sub(dsl.To[dsl.F32](x.At64(f.Start()).Load(targets.Load(f.Row())))))
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
	f.Each(func(_ dsl.Reg[dsl.U32], xs []dsl.Reg[dsl.F32]) {
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
	squares := f.reduce("squares", func(sum, x dsl.Reg[dsl.F32]) dsl.Reg[dsl.F32] {
		return x.FMA(x, sum)
	})
	scale := total(f.exchange(squares), 0).MulF(1 / float64(f.r.Cols)).Add(eps).Rsqrt()
	w = w.At(f.Offset())
	f.Map(y, func(at dsl.Reg[dsl.U32], xs []dsl.Reg[dsl.F32]) []dsl.Reg[dsl.F32] {
		ws := dsl.FloatsOf(w).Load(at, dsl.NC).F32()
		for i := range xs {
			xs[i] = xs[i].Mul(scale).Mul(ws[i])
		}
		return xs
	})
}

// quantize emits a kernel that normalizes each row, and stores it as .e4m3 with a scale such that
// the largest magnitude becomes 448, the largest number of .e4m3.
func (f *stream[E]) quantize(x dsl.Array[E]) {
	k := f.k
	w, y, scales, eps := dsl.Global[E](k, "w"), dsl.Global[dsl.E4M3x2](k, "y"),
		dsl.Global[dsl.F32](k, "scales"), dsl.Param[dsl.F32](k, "eps")
	f.begin(x)
	w = w.At(f.Offset())
	squares, most := k.F32(0).Var(), k.F32(0).Var()
	f.Each(func(at dsl.Reg[dsl.U32], xs []dsl.Reg[dsl.F32]) {
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
	k.If(f.IsFirst(), func() { scales.Store(f.Row(), scale) })
	by := scale.Rcp()
	y = y.At64(f.Start().ShrI(1))
	f.Each(func(at dsl.Reg[dsl.U32], xs []dsl.Reg[dsl.F32]) {
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
	mine := f.reduce("means", plus).MulF(1 / float64(f.Len()))
	squares := f.reduce("squares", func(sum, x dsl.Reg[dsl.F32]) dsl.Reg[dsl.F32] {
		x = x.Sub(mine)
		return x.FMA(x, sum)
	})
	all := f.exchange(mine, squares)
	center, sum := total(all, 0).MulF(1/float64(len(all))), total(all, 1)
	if len(all) > 1 {
		for _, of := range all {
			away := of[0].Sub(center)
			sum = away.MulF(float64(f.Len())).FMA(away, sum)
		}
	}
	scale := sum.MulF(1 / float64(f.r.Cols)).Add(eps).Rsqrt()
	w, b = w.At(f.Offset()), b.At(f.Offset())
	f.Map(y, func(at dsl.Reg[dsl.U32], xs []dsl.Reg[dsl.F32]) []dsl.Reg[dsl.F32] {
		ws, bs := dsl.FloatsOf(w).Load(at, dsl.NC).F32(), dsl.FloatsOf(b).Load(at, dsl.NC).F32()
		for i := range xs {
			xs[i] = xs[i].Sub(center).Mul(scale).FMA(ws[i], bs[i])
		}
		return xs
	})
}
