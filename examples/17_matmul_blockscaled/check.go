// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package blockscaled

import (
	"fmt"
	"math"
	"slices"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/runtime"
	"github.com/ptxdsl/ptxdsl/runtime/kerneltest"
)

// Targets are the PTX targets for which the kernels are built: Build for sm_100a and sm_103a,
// BuildSync for sm_120a and sm_121a.
var Targets = []string{"sm_100a", "sm_103a", "sm_120a", "sm_121a"}

// tolerance is half a unit in the last place of BF16, plus the error of F32 sums. Sums are
// truncated after every 32 products, but their errors are small because the elements of these
// formats have few bits.
var tolerance = kerneltest.BF16.ULPs(0.5).Plus(kerneltest.Abs(0x1p-20).TruncatedEvery(32))

// Check multiplies matrices with every case of the target, and compares the products with a host
// reference. Some shapes are not multiples of the tile. Some rows have edge values: NaN,
// infinities, the largest and smallest numbers, and scale factors of zero.
func Check(t *kerneltest.T) error {
	if err := t.Needs("block scaling", 100, 0); err != nil {
		return err
	}
	for i, c := range CasesFor(t.Target()) {
		if t.Budget > 0 && t.Budget < kerneltest.EmulatorBudget &&
			c.option() == c.Format.option() && i%7 != 0 {
			continue // if the emulator also looks for races, run only some of the formats
		}
		for _, g := range c.sizes(t) {
			if err := c.Check(t, g); err != nil {
				return err
			}
		}
	}
	return nil
}

// sizes returns the sizes with which a case is tested: one size on the emulator, which depends on
// the tiles of the case, and more sizes on a GPU.
func (c Case) sizes(t *kerneltest.T) []kerneltest.GEMM {
	small := kerneltest.GEMM{M: 45, N: 72, K: 400}
	if c.Tiling.Pair {
		small.M = 165
	}
	if rows, cols := c.Tiling.cluster(); rows*cols > 2 || c.Tiling.Overlap || c.Tiling.Dynamic {
		small = kerneltest.GEMM{M: 261, N: c.Tiling.N + 40, K: 272}
	}
	list := []kerneltest.GEMM{small}
	if t.Budget == 0 {
		list = append(list, kerneltest.GEMM{M: 5, N: 136, K: 256},
			kerneltest.GEMM{M: 133, N: 40, K: 384},
			kerneltest.GEMM{M: 333, N: 520, K: 1280}, kerneltest.GEMM{M: 768, N: 512, K: 2048})
	}
	for i := range list {
		list[i] = c.round(list[i])
	}
	return list
}

// round rounds sizes up to multiples that the copies of the case require: rows of 16 bytes, or
// rows of 128 elements if elements take more bits in shared memory than in global memory.
func (c Case) round(g kerneltest.GEMM) kerneltest.GEMM {
	up := func(x *int, n int) { *x = (*x + n - 1) / n * n }
	f := c.Format
	up(&g.K, f.aligned())
	switch bits := c.Epilogue.D.Bits(); {
	case c.Sync:
		up(&g.N, 2)
	case bits == 6:
		up(&g.N, 128)
	case bits < 8:
		up(&g.N, 32)
	default:
		up(&g.N, 16)
	}
	if c.Epilogue.Scale.Vector > 0 {
		up(&g.N, 32)
	}
	if c.Tiling.ColumnsA {
		up(&g.M, 16)
	}
	return g
}

// A part is one of the matrix products of a launch: its first row in A and D, its number of rows
// in A and D, and its first row in B.
type part struct{ row, rows, right int }

// parts returns the matrix products of a launch, and the total numbers of rows of A and of B.
func (c Case) parts(g kerneltest.GEMM) (list []part, left, right int) {
	high, wide := 128, max(128, c.Tiling.N)
	if c.Tiling.Pair {
		high = 256
	}
	high, wide = (g.M+high-1)/high*high, (g.N+wide-1)/wide*wide
	switch c.Tiling.Problems {
	case Batched:
		return []part{{0, g.M, 0}, {high, g.M, wide}}, 2 * high, 2 * wide
	case Grouped: // among them an empty group, whole tiles, and one row
		for i, n := range []int{g.M, 0, 3 * g.M, 128, 1} {
			list = append(list, part{left, n, i * wide})
			left += n
		}
		return list, left, len(list) * wide
	}
	return []part{{0, g.M, 0}}, g.M, g.N
}

// Check runs the kernel on random matrices with edge values in some rows, and compares the result
// with a float64 reference.
func (c Case) Check(t *kerneltest.T, g kerneltest.GEMM) error {
	k, err := t.Kernel(c.kernel(), c.Build)
	if err != nil {
		return fmt.Errorf("%s: %w", c.Name, err)
	}
	f := c.Format
	parts, rows, right := c.parts(g)
	a, b := f.random(t, f.A, rows, g.K), f.random(t, f.B, right, g.K)
	if f.Sparse {
		a.drop(t, f.together())
	}
	a.edges(t, false)
	// B has no NaN and no infinity if A is sparse: the kernel does not multiply the zeros of A that
	// are not stored
	b.edges(t, f.Sparse)
	matrixC := make([]float64, rows*g.N)
	for i := range matrixC {
		matrixC[i] = float64(t.Rand.IntN(64) - 32)
	}
	old, scaleC := kerneltest.BF16.Encode(matrixC), float32(beta)
	if c.Ignored {
		clear(matrixC)
		old, scaleC = slices.Repeat(kerneltest.BF16.Encode([]float64{math.NaN()}), len(old)), 0
	}
	d, factors := c.Epilogue.output(rows*g.N), []uint32(nil)
	known := map[string]any{
		"m": g.M, "n": g.N, "k": g.K, "alpha": float32(alpha), "beta": scaleC,
		"a": a.argument(c.Tiling.ColumnsA), "b": b.argument(c.Tiling.ColumnsB),
		"sfa": scaleWords(a), "sfb": scaleWords(b),
		"c": kerneltest.In(old).Tensor(rows, g.N),
		"d": d.array.Tensor(rows, g.N), "out": d.array,
	}
	if c.Tiling.Problems == Grouped {
		known["sfa"] = scaleWords(a.paddedFactors(parts))
	}
	switch {
	case f.Sparse && c.Sync:
		_, depth := f.depth()
		kept, metadata, high, wide := a.CompressRows(f.together(), f.SyncDefault().M, depth)
		known["a"] = kept.argument(false)
		known["e"] = kerneltest.In(metadata).Tensor(high, wide)
	case f.Sparse:
		kept, metadata := a.Compress(f.together())
		high := (rows + 127) / 128
		known["a"] = kept.argument(false)
		known["e"] = kerneltest.In(metadata).Tensor(high, len(metadata)/8/high)
	}
	if e := c.Epilogue; e.Scale.Vector > 0 {
		factors = make([]uint32, e.Scale.Bytes(rows, g.N)/4)
		known["sfd"] = kerneltest.InOut(factors)
	}
	c.describe(known, parts)
	var args []any
	for _, p := range k.Params() {
		args = append(args, known[p.Name])
	}
	if err := t.Launch(k, c.grid(t, g, len(parts)), args...); err != nil {
		return fmt.Errorf("%s, %s: %w", c.Name, g, err)
	}
	return c.compare(t, g, parts, a, b, matrixC, d.at, factors)
}

// describe adds the arguments that describe several problems in one launch.
func (c Case) describe(known map[string]any, parts []part) {
	known["problems"] = len(parts)
	if c.Tiling.Problems != Grouped {
		return
	}
	var starts []uint32
	for _, p := range parts {
		starts = append(starts, uint32(p.row))
	}
	last := parts[len(parts)-1]
	known["m"], known["groups"] = last.row+last.rows, len(parts)
	known["starts"] = kerneltest.In(append(starts, uint32(last.row+last.rows)))
}

// grid returns a grid with one cluster per tile. Unless the hardware assigns tiles, the grid has
// at most as many clusters as the device can run at the same time.
func (c Case) grid(on *kerneltest.T, g kerneltest.GEMM, problems int) runtime.Config {
	if c.Sync {
		s := c.Format.SyncDefault()
		return runtime.Grid((g.M + s.M - 1) / s.M * ((g.N + s.N - 1) / s.N))
	}
	rows, cols := c.Tiling.cluster()
	clusters := (g.M + 128*rows - 1) / (128 * rows) *
		((g.N + c.Tiling.N*cols - 1) / (c.Tiling.N * cols)) * problems
	if !c.Tiling.Dynamic {
		clusters = max(1, min(clusters, on.Device.Info().SMs/(rows*cols)))
	}
	return runtime.Grid(rows*clusters, cols)
}

// compare compares the output with the product, computed in float64.
func (c Case) compare(t *kerneltest.T, g kerneltest.GEMM, parts []part, a, b Numbers,
	matrixC []float64, got func(int) float64, factors []uint32) error {
	as, bs := a.values(), b.values()
	want := make([]float64, len(matrixC))
	inside := make([]int, 0, len(want)) // indices of the elements of D that belong to a problem
	for _, p := range parts {
		for row := p.row; row < p.row+p.rows; row++ {
			for col := range g.N {
				i, sum, y := row*g.N+col, 0.0, bs[(p.right+col)*g.K:][:g.K]
				for j, x := range as[row*g.K:][:g.K] {
					sum += x * y[j]
				}
				if want[i] = sum; math.Abs(want[i]) > math.MaxFloat32 { // the accumulator overflows
					want[i] = math.Copysign(math.Inf(1), want[i])
				}
				if c.Epilogue.C {
					want[i] = alpha*want[i] + beta*matrixC[i]
				}
				inside = append(inside, i)
			}
		}
	}
	if c.Epilogue.D == isa.Bf16 {
		x, y := make([]float64, len(inside)), make([]float64, len(inside))
		for i, at := range inside {
			x[i], y[i] = got(at), overflowed(want[at])
		}
		return kerneltest.Compare(t, fmt.Sprintf("%s, %s", c.Name, g), x, y, tolerance.Sum(g.K))
	}
	what := fmt.Sprintf("%s in units of the nearest number's error, %s", c.Name, g)
	return c.Epilogue.compare(t, what, g.N, inside, want, got, factors)
}

// overflowed returns x, or an infinity if x is outside the range of F32 or BF16.
func overflowed(x float64) float64 {
	if x = float64(float32(x)); math.Abs(x) > 0x1.ffp127-0x1p119 {
		return kerneltest.BF16.Float(kerneltest.BF16.From(x))
	}
	return x
}

// Build adds the kernel of the case to m.
func (c Case) Build(m *dsl.Module) {
	if c.Sync {
		BuildSync(m, c.Format, c.Format.SyncDefault())
		return
	}
	BuildWith(m, c.Format, c.Tiling, c.Epilogue)
}

// kernel returns the name of the kernel.
func (c Case) kernel() string {
	if c.Sync {
		return "matmul_sync_" + c.Format.Name
	}
	return "matmul_" + c.Format.Name + c.Epilogue.Name
}
