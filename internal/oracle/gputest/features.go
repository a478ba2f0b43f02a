// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package gputest

import (
	"errors"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/runtime"
)

// featureChecks returns checks of features that no example uses.
func featureChecks() []Check {
	return []Check{
		{"dsl", "scans", checkScans},
		{"dsl", "vectors of atomics", checkVectors},
		{"dsl", "shared memory of any size", checkDynamic},
		{"dsl", "matrices of registers", checkMatrices},
		{"dsl", "bulk copies", checkBulk},
		{"dsl", "chunks", checkChunks},
		{"dsl", "boxes", checkBoxes},
		{"dsl", "a product as a factor of the next", checkChain},
		{"dsl", "factors that lie the other way round", checkTurned},
		{"dsl", "factors of warpgroups that lie the other way round", transposedWarpgroups().check},
		{"dsl", "a left factor that threads make", computedOperand().check},
		{"dsl", "a left factor of which half is there", sparseOperand().check},
		{"dsl", "tiles that threads write for a pipeline", checkWidened},
		{"dsl", "rows that threads gather", checkGathered},
	}
}

// Sizes of the kernels.
const (
	scanThreads, scanTurns = 96, 3
	bulkSize               = 64
	chunkTurns             = 10
)

// floats launches a kernel that reads an array of floats and writes results, and compares the
// results with the expected ones.
func (t *T) floats(name string, grid runtime.Config, build func(*dsl.Module), xs, want []float32,
	more ...any) error {
	k, err := t.Kernel(name, build)
	if err != nil {
		return err
	}
	x, e1 := runtime.Upload(t.Device, xs)
	out, e2 := runtime.Upload(t.Device, make([]float32, len(want)))
	if err := errors.Join(e1, e2); err != nil {
		return err
	}
	if err := k.Launch(grid, append([]any{x, out}, more...)...); err != nil {
		return err
	}
	got, err := runtime.Download(out)
	if err := errors.Join(err, x.Close(), out.Close()); err != nil {
		return err
	}
	return compareNear(t, name, got, want, 1e-5)
}

func scans(m *dsl.Module) {
	k := m.Kernel("scans", dsl.Threads(scanThreads))
	x, out := dsl.Global[dsl.F32](k, "x"), dsl.Global[dsl.F32](k, "out")
	// last returns its last operand that is not zero; 0 means that there is none.
	last := func(a, b dsl.Reg[dsl.F32]) dsl.Reg[dsl.F32] { return dsl.Select(b.EQF(0), a, b) }
	for i := range k.RangeI(0, scanTurns) {
		at := i.MadI(scanThreads, k.TID().X)
		upTo, all := dsl.BlockScan(x.Load(at), "up_to", last)
		before, _ := dsl.BlockExclusiveScan(x.Load(at), k.F32(-1), "before", last)
		out.Store(at, upTo.MulF(64).Add(before).MulF(64).Add(all))
	}
}

// checkScans tests scans with an operator that is not commutative, so that the result depends on
// the order.
func checkScans(t *T) error {
	xs, want := make([]float32, scanThreads*scanTurns), make([]float32, scanThreads*scanTurns)
	for turn := range scanTurns {
		line := xs[turn*scanThreads:][:scanThreads]
		for i := range line {
			if t.Rand.IntN(8) == 0 {
				line[i] = float32(1 + t.Rand.IntN(60))
			}
		}
		upTo, before := float32(0), float32(-1)
		for i, x := range line {
			if i == 1 {
				before = 0
			}
			if i > 0 && line[i-1] != 0 {
				before = line[i-1]
			}
			if x != 0 {
				upTo = x
			}
			want[turn*scanThreads+i] = (upTo*64 + before) * 64
		}
		for i := range line {
			want[turn*scanThreads+i] += upTo
		}
	}
	return t.floats("scans", runtime.Grid(1), scans, xs, want)
}

func vectors(m *dsl.Module) {
	k := m.Kernel("vectors", dsl.Threads(32))
	x, out := dsl.Global[dsl.F32](k, "x"), dsl.Global[dsl.F32](k, "out")
	i := k.TID().X.ShlI(2)
	out.ReduceVec("add", i, x.LoadVec(i, 4))
	out.AtomicVec("add", i, x.LoadVec(i, 2))
}

func checkVectors(t *T) error {
	if err := t.Needs("atomics of vectors", 90, 0); err != nil {
		return err
	}
	const blocks = 16
	xs := make([]float32, 128)
	want := make([]float32, 128)
	for i := range xs {
		xs[i] = float32(t.Rand.IntN(100))
		want[i] = blocks * xs[i]
		if i%4 < 2 {
			want[i] *= 2
		}
	}
	return t.floats("vectors", runtime.Grid(blocks), vectors, xs, want)
}

func dynamic(m *dsl.Module, fixed int) {
	k := m.Kernel("dynamic", dsl.Threads(32))
	x, out, count := dsl.Global[dsl.F32](k, "x"), dsl.Global[dsl.F32](k, "out"),
		dsl.Param[dsl.U32](k, "count")
	all, beside := dsl.DynamicShared[dsl.F32](k, "all"), dsl.Shared[dsl.F32](k, "beside", fixed)
	k.When(k.TID().X.EQI(0), func() { beside.StoreI(int64(fixed-1), k.F32(5)) })
	for i := range k.RangeStep(k.TID().X, count, k.U32(32)) {
		all.Store(i, x.Load(i))
	}
	k.Sync()
	for i := range k.RangeStep(k.TID().X, count, k.U32(32)) {
		out.Store(i, all.Load(count.SubI(1).Sub(i)).Add(beside.LoadI(int64(fixed-1))))
	}
}

// checkDynamic tests a kernel that reverses an array in dynamic shared memory, together with an
// array in static shared memory.
func checkDynamic(t *T) error {
	for _, fixed := range []int{4, 13_000} {
		for _, n := range []int{32, 1000} {
			xs, want := t.Float32s(n), make([]float32, n)
			for i := range xs {
				want[i] = xs[n-1-i] + 5
			}
			bytes := 4 * n
			if fixed > 12_288 {
				bytes += 4 * fixed
			}
			if err := t.floats("dynamic", runtime.Grid(1).Shared(bytes),
				func(m *dsl.Module) { dynamic(m, fixed) }, xs, want, n); err != nil {
				return err
			}
		}
	}
	return nil
}

func matrices(m *dsl.Module) {
	k := m.Kernel("matrices", dsl.Threads(32))
	x, out := dsl.Global[dsl.F32](k, "x"), dsl.Global[dsl.F32](k, "out")
	tile := dsl.Tile{Type: isa.F16, Rows: 16, Cols: 64, Swizzle: dsl.Swizzle128}
	a, b := k.SharedTile("a", tile), k.SharedTile("b", tile)
	lane := k.Lane()
	for row := range 16 {
		for half := range 2 {
			col := lane.AddI(int64(32 * half))
			dsl.Element[dsl.F16](a, k.U32(row),
				col).StoreFirst(dsl.To[dsl.F16](x.Load(col.AddI(int64(64 * row)))))
		}
	}
	k.SyncWarp()
	row, unit := lane.AndI(15), lane.ShrI(4)
	for step := range 4 {
		four := a.LoadMatrices(row, unit.AddI(int64(2*step)), dsl.Trans)
		// Matrix 1 has the lower 8 rows and matrix 2 the right 8 columns. Transposing exchanges
		// the two.
		four[1], four[2] = four[2], four[1]
		b.StoreMatrices(row, unit.AddI(int64(2*step)), four)
	}
	k.SyncWarp()
	for row := range 16 {
		for half := range 2 {
			col := lane.AddI(int64(32 * half))
			out.Store(col.AddI(int64(64*row)),
				dsl.To[dsl.F32](dsl.Element[dsl.F16](b, k.U32(row), col).LoadFirst()))
		}
	}
}

// checkMatrices transposes a 16x64 matrix through its fragments, and compares all elements.
func checkMatrices(t *T) error {
	if err := t.Needs("stmatrix", 90, 0); err != nil {
		return err
	}
	xs, want := make([]float32, 16*64), make([]float32, 16*64)
	for i := range xs {
		xs[i] = float32(i)
		row, col := i/64, i%64
		want[col%16*64+col/16*16+row] = xs[i] // each 16x16 block is transposed
	}
	return t.floats("matrices", runtime.Grid(1), matrices, xs, want)
}

func bulk(m *dsl.Module) {
	k := m.Kernel("bulk", dsl.Threads(bulkSize), dsl.Cluster(2))
	x, out := dsl.Global[dsl.F32](k, "x"), dsl.Global[dsl.F32](k, "out")
	a, b := dsl.Shared[dsl.F32](k, "a", bulkSize), dsl.Shared[dsl.F32](k, "b", bulkSize)
	loaded, sent := k.Barrier("loaded", 1), k.Barrier("sent", 1)
	first, count, i := k.TID().X.EQI(0), k.U32(bulkSize), k.TID().X
	mine := x.At(k.ClusterRank().MulI(bulkSize))
	k.When(first, func() {
		mine.BulkPrefetch(count)
		loaded.ArriveExpect(k.U32(4 * bulkSize))
		sent.ArriveExpect(k.U32(4 * bulkSize))
		mine.BulkLoad(a, count, loaded)
	})
	loaded.Wait(k.U32(0))
	k.When(first, func() { a.BulkSend(b, count, k.ClusterRank().XorI(1), sent) })
	sent.Wait(k.U32(0))
	b.Store(i, a.Load(i).MulF(100).Add(b.Load(i)))
	k.FenceAsync()
	k.Sync()
	k.When(first, func() {
		out.BulkReduce("add", b, count)
		out.At(k.ClusterRank().MulI(bulkSize)).AtI(bulkSize).BulkStore(b, count)
		k.CommitStores()
		k.WaitStores(0)
	})
	k.SyncCluster()
}

// checkBulk tests bulk copies: two blocks of a cluster send each other values and add them; bulk
// copies store and reduce the sums.
func checkBulk(t *T) error {
	if err := t.Needs("bulk copies", 90, 0); err != nil {
		return err
	}
	xs, want := make([]float32, 2*bulkSize), make([]float32, 3*bulkSize)
	for i := range xs {
		xs[i] = float32(t.Rand.IntN(100))
	}
	for i := range bulkSize {
		want[i] = 101 * (xs[i] + xs[bulkSize+i])
		want[bulkSize+i], want[2*bulkSize+i] = 100*xs[i]+xs[bulkSize+i], 100*xs[bulkSize+i]+xs[i]
	}
	return t.floats("bulk", runtime.Grid(2), bulk, xs, want)
}

func chunks(m *dsl.Module) {
	k := m.Kernel("chunks", dsl.Threads(160))
	x, out := dsl.Global[dsl.F32](k, "x"), dsl.Global[dsl.F32](k, "out")
	chunk := dsl.ChunkOf(x, 512)
	p := k.Pipeline("p", 3, chunk.Feed())
	k.Roles(
		dsl.OnWarp(4, "load", func() {
			for s := range p.Produce(k.U32(chunkTurns)) {
				chunk.Load(s, s.Iteration())
			}
		}),
		dsl.OnWarpgroup(0, "sum", func() {
			sum := k.F32(0).Var()
			for s := range p.Consume(k.U32(chunkTurns)) {
				for _, v := range chunk.InStage(s).LoadVec(k.TID().X.ShlI(2), 4) {
					sum.Set(sum.Add(v))
				}
			}
			out.Store(k.TID().X, sum)
		}),
	)
}

func checkChunks(t *T) error {
	if err := t.Needs("bulk copies", 90, 0); err != nil {
		return err
	}
	xs, want := make([]float32, 512*chunkTurns), make([]float32, 128)
	for i := range xs {
		xs[i] = float32(t.Rand.IntN(100))
		want[i%512/4] += xs[i]
	}
	return t.floats("chunks", runtime.Grid(1), chunks, xs, want)
}

func boxes(m *dsl.Module) {
	k := m.Kernel("boxes", dsl.Threads(128))
	in, out := k.Tensor("in", isa.F32, []int{4, 6, 16}, dsl.NoSwizzle),
		k.Tensor("out", isa.F32, []int{2, 4, 8}, dsl.NoSwizzle)
	a, b := k.SharedTile("a", in.Tile()), k.SharedTile("b", out.Tile())
	full, first := k.Barrier("full", 1), k.TID().X.EQI(0)
	plane, row, col := k.CTAID().Z.ShlI(1), k.CTAID().Y.ShlI(2), k.CTAID().X.ShlI(3)
	k.When(first, func() {
		full.ArriveExpect(k.U32(a.Bytes()))
		// the innermost coordinate must be a multiple of 16 bytes
		in.Load(a, []dsl.Reg[dsl.U32]{plane.SubI(1), row.SubI(1), col.SubI(4)}, full)
	})
	full.Wait(k.U32(0))
	i := k.TID().X
	z, y, x := i.ShrI(5), i.ShrI(3).AndI(3), i.AndI(7)
	k.If(i.LTI(64), func() {
		at := func(dz, dy, dx int64) dsl.Reg[dsl.F32] {
			return dsl.Element[dsl.F32](a, z.AddI(dz).MadI(6, y.AddI(dy)), x.AddI(3+dx)).LoadFirst()
		}
		sum := at(0, 1, 1).Add(at(2, 1, 1)).Add(at(1, 0, 1)).Add(at(1, 2, 1)).Add(at(1, 1, 0)).Add(
			at(1, 1, 2))
		dsl.Element[dsl.F32](b, z.ShlI(2).Add(y), x).StoreFirst(sum)
	})
	k.FenceAsync()
	k.Sync()
	k.When(first, func() {
		out.Store(b, plane, row, col)
		k.CommitStores()
		k.WaitStores(0)
	})
}

// checkBoxes adds the six neighbors of each point of a cube, with boxes that extend over its
// edges, and stores a box that is clipped at the edges.
func checkBoxes(t *T) error {
	if err := t.Needs("tensor maps", 90, 0); err != nil {
		return err
	}
	const planes, rows, cols = 5, 9, 40
	k, err := t.Kernel("boxes", boxes)
	if err != nil {
		return err
	}
	xs, want := make([]float32, planes*rows*cols), make([]float32, planes*rows*cols)
	for i := range xs {
		xs[i] = float32(t.Rand.IntN(100))
	}
	at := func(z, y, x int) float32 {
		if z < 0 || y < 0 || x < 0 || z >= planes || y >= rows || x >= cols {
			return 0
		}
		return xs[(z*rows+y)*cols+x]
	}
	for i := range want {
		z, y, x := i/rows/cols, i/cols%rows, i%cols
		want[i] = at(z-1, y, x) + at(z+1, y, x) + at(z, y-1, x) + at(z, y+1, x) + at(z, y, x-1) +
			at(z, y, x+1)
	}
	x, e1 := runtime.Upload(t.Device, xs)
	out, e2 := runtime.Upload(t.Device, make([]float32, len(want)))
	if err := errors.Join(e1, e2); err != nil {
		return err
	}
	from, e1 := k.Tensor("in", x, []int{planes, rows, cols})
	to, e2 := k.Tensor("out", out, []int{planes, rows, cols})
	if err := errors.Join(e1, e2); err != nil {
		return err
	}
	if err := k.Launch(runtime.Grid(cols/8, (rows+3)/4, (planes+1)/2), from, to); err != nil {
		return err
	}
	got, err := runtime.Download(out)
	if err := errors.Join(err, x.Close(), out.Close()); err != nil {
		return err
	}
	return compareNear(t, "boxes", got, want, 0)
}
