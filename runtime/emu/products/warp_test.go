// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package products

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/internal/ptxas"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/runtime"
)

// A warpCase is a block-scaled matrix product of four warps with mma.sync, with a 128x64
// accumulator.
type warpCase struct {
	x, y   isa.Type
	scale  dsl.BlockScale // Vector is 0 without scale factors
	sparse bool
	ahead  bool // A and B are copied by cp.async and fragments are prefetched
}

const (
	warpRows, warpCols = 128, 64
	warpStages         = 3
)

// deep returns the stored depth of a stage, which is 128 bytes, and the depth including the zeros
// of a sparse A.
func (c warpCase) deep() (kept, full int) {
	if kept = 256; c.bytes() {
		kept = 128
	}
	if c.sparse {
		return kept, 2 * kept
	}
	return kept, kept
}

// bytes reports whether each element takes a byte in shared memory. This holds for all except
// block-scaled pairs of 4-bit types.
func (c warpCase) bytes() bool {
	return c.scale.Vector == 0 || c.x != isa.E2m1 || c.y != isa.E2m1
}

// box returns a tile of elements of a type.
func (c warpCase) box(t isa.Type, rows, cols int) dsl.Box {
	return dsl.Box{Rows: rows, Cols: cols, Padded: t.Bits() < 8 && c.bytes()}
}

func (c warpCase) shape() dsl.MMA {
	switch {
	case c.scale.Vector == 0 && c.sparse:
		return dsl.SparseMixedMMAFor(c.x, c.y, isa.F32)
	case c.scale.Vector == 0:
		return dsl.MixedMMAFor(c.x, c.y, isa.F32)
	case c.sparse:
		return dsl.SparseScaledMMAFor(c.x, c.y, c.scale)
	}
	return dsl.ScaledMMAFor(c.x, c.y, c.scale)
}

// metadataBytes returns the metadata bytes in a row of a stage.
func (c warpCase) metadataBytes() int {
	_, full := c.deep()
	if !c.bytes() {
		return full / 16
	}
	return full / 8
}

func (c warpCase) build(m *dsl.Module) {
	kept, full := c.deep()
	if c.ahead {
		c.buildAhead(m)
		return
	}
	k := m.Kernel("k", dsl.Threads(160))
	a := k.TensorMap("a", c.x, c.box(c.x, warpRows, kept), dsl.Swizzle128)
	b := k.TensorMap("b", c.y, c.box(c.y, warpCols, full), dsl.Swizzle128)
	maps := []*dsl.TensorMap{a, b}
	var sfa, sfb, e *dsl.TensorMap
	if c.scale.Vector > 0 {
		sfa, sfb = k.ScaleMap("sfa", c.scale, warpRows, full), k.ScaleMap("sfb", c.scale, 128, full)
		maps = append(maps, sfa, sfb)
	}
	if c.sparse {
		e = k.TensorMap("e", isa.U8, dsl.Box{Rows: warpRows, Cols: c.metadataBytes()},
			dsl.NoSwizzle)
		maps = append(maps, e)
	}
	d := k.Matrix("d", isa.F32)
	var feeds []dsl.Feed
	for _, m := range maps {
		feeds = append(feeds, m.Feed())
	}
	p := k.Pipeline("p", 1, feeds...)
	k.Roles(
		dsl.OnWarp(4, "load", func() {
			for s := range p.Produce(k.U32(warpStages)) {
				for _, m := range maps {
					s.Load(m, dsl.TileAt(k.U32(0), s.Iteration()))
				}
			}
		}),
		dsl.OnWarps(0, 4, "multiply", func(warp dsl.Reg[dsl.U32]) {
			w := dsl.NewWarpTile[dsl.F32](k, c.shape(), warpRows/2, warpCols/2)
			row, col := w.Origin(warp, 2)
			for s := range p.Consume(k.U32(warpStages)) {
				switch {
				case c.sparse && c.scale.Vector > 0:
					w.SparseScaledMMA(s.Tile(a), row, s.Tile(e), []dsl.SharedTile{s.Tile(b)}, col,
						s.Tile(sfa), s.Tile(sfb))
				case c.sparse:
					w.SparseMMA(s.Tile(a), row, s.Tile(e), []dsl.SharedTile{s.Tile(b)}, col)
				case c.scale.Vector > 0:
					w.ScaledMMA(s.Tile(a), row, s.Tile(b), col, s.Tile(sfa), s.Tile(sfb))
				default:
					w.MMA(s.Tile(a), row, s.Tile(b), col)
				}
			}
			w.Store(d.Sized(k.U32(warpRows), k.U32(warpCols)), row, col)
		}),
	)
}

// buildAhead creates the kernel that copies with cp.async.
func (c warpCase) buildAhead(m *dsl.Module) {
	kept, full := c.deep()
	k := m.Kernel("k", dsl.Threads(128))
	a, b, d := k.Matrix("a", c.x), k.Matrix("b", c.y), k.Matrix("d", isa.F32)
	sfa, sfb := k.Matrix("sfa", isa.U64), k.Matrix("sfb", isa.U64)
	atoms := full / (4 * c.scale.Vector)
	scales := dsl.Tile{Type: isa.U64, Rows: 1, Cols: 64 * atoms}
	p := k.AsyncPipeline("p", 2,
		dsl.Tile{Type: c.x, Rows: warpRows, Cols: kept, Swizzle: dsl.Swizzle128},
		dsl.Tile{Type: c.y, Rows: warpCols, Cols: full, Swizzle: dsl.Swizzle128}, scales, scales)
	w := dsl.NewWarpTile[dsl.F32](k, c.shape(), warpRows/2, warpCols/2)
	row, col := w.Origin(k.WarpIndex(), 2)
	depth, zero, one := k.U32(warpStages*full), k.U32(0), k.U32(1)
	a, b = a.Sized(k.U32(warpRows), depth), b.Sized(k.U32(warpCols), depth)
	wide := k.U32(warpStages * 64 * atoms)
	sfa, sfb = sfa.Sized(one, wide), sfb.Sized(one, wide)
	p.Multiply(k.U32(warpStages),
		func(step dsl.Reg[dsl.U32], s dsl.AsyncStage) {
			a.RowsFrom(zero).CopyAsync(s.Tile(0), step.MulI(int64(kept)))
			b.RowsFrom(zero).CopyAsync(s.Tile(1), step.MulI(int64(full)))
			sfa.RowsFrom(zero).CopyAsync(s.Tile(2), step.MulI(int64(64*atoms)))
			sfb.RowsFrom(zero).CopyAsync(s.Tile(3), step.MulI(int64(64*atoms)))
		},
		func(s dsl.AsyncStage) dsl.MMAStep {
			return w.ScaledMMAStep(s.Tile(0), row, s.Tile(1), col, s.Tile(2), s.Tile(3))
		})
	w.Store(d.Sized(k.U32(warpRows), k.U32(warpCols)), row, col)
}

// places returns the sparsity metadata of a matrix in the layout of mma.sync: rows of bytes, with
// four bits for each four neighbors.
func places(r *rand.Rand, s *sample, together int) (kept sample, metadata []byte) {
	kept = sample{s.n, s.rows, s.cols / 2, nil}
	each := s.cols / (8 * together)
	metadata = make([]byte, s.rows*each)
	for g := range len(s.codes) / (4 * together) {
		from := s.codes[4*g*together:][:4*together]
		p := r.Perm(4)
		p[0], p[1] = min(p[0], p[1]), max(p[0], p[1])
		metadata[g/2] |= uint8(p[0]|p[1]<<2) << (g % 2 * 4)
		was := append([]uint64(nil), from...)
		clear(from)
		for _, p := range p[:2] {
			copy(from[p*together:], was[p*together:][:together])
			kept.codes = append(kept.codes, was[p*together:][:together]...)
		}
	}
	return kept, metadata
}

func (c warpCase) run(d *Device) error {
	r := rand.New(rand.NewPCG(3, 4))
	dev := runtime.On(d)
	m := dsl.New("m.ptx", d.Info().Target)
	c.build(m)
	text, err := m.Text()
	if err != nil {
		return err
	}
	tool, err := ptxas.Find()
	if err != nil {
		return err
	}
	if _, verdict, err := tool.Assemble(context.Background(), text, ptxas.Options{}); err != nil ||
		!verdict.OK() {
		return fmt.Errorf("ptxas: %s, %w", verdict, err)
	}
	loaded, err := dev.Load(m)
	if err != nil {
		return err
	}
	k, err := loaded.Kernel("k")
	if err != nil {
		return err
	}
	_, full := c.deep()
	depth := warpStages * full
	a, b := random(r, c.x, warpRows, depth), random(r, c.y, warpCols, depth)
	stored := a
	var metadata []byte
	if c.sparse {
		together := 1
		if !c.bytes() {
			together = 2
		}
		stored, metadata = places(r, &a, together)
	}
	one := func(int, int) float64 { return 1 }
	scaleA, scaleB := one, one
	var atomsA, atomsB []byte
	if c.scale.Vector > 0 {
		scaleA, atomsA = factors(r, c.scale, warpRows, depth)
		scaleB, atomsB = factors(r, c.scale, warpCols, depth)
	}
	var args []any
	var errs []error
	add := func(name string, b []byte, rows, cols int) {
		if c.ahead && name[0] == 's' {
			words := make([]uint64, len(b)/8)
			for i := range words {
				words[i] = word(b[8*i:][:8])
			}
			u, err := runtime.Upload(dev, words)
			args, errs = append(args, u), append(errs, err)
			return
		}
		u, err := runtime.Upload(dev, b)
		errs = append(errs, err)
		if c.ahead {
			args = append(args, u)
			return
		}
		x, err := k.TensorMap(name, u, rows, cols)
		args, errs = append(args, x), append(errs, err)
	}
	add("a", stored.packed(), stored.rows, stored.cols)
	add("b", b.packed(), b.rows, b.cols)
	out, err := runtime.Alloc[float32](dev, warpRows*warpCols)
	errs = append(errs, err)
	if c.ahead {
		args = append(args, out)
	}
	if c.scale.Vector > 0 {
		add("sfa", atomsA, 1, len(atomsA)/8)
		add("sfb", atomsB, 1, len(atomsB)/8)
	}
	if c.sparse {
		add("e", metadata, warpRows, len(metadata)/warpRows)
	}
	if !c.ahead {
		args = append(args, out)
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	if err := k.Launch(runtime.Grid(1), args...); err != nil {
		return err
	}
	got, err := runtime.Download(out)
	if err != nil {
		return err
	}
	return differ(got, a.lines(scaleA), b.lines(scaleB))
}

// TestWarpProducts multiplies block-scaled matrices with mma.sync, dense and sparse, with and
// without prefetched fragments.
func TestWarpProducts(t *testing.T) {
	list := []warpCase{
		{x: isa.E2m1, y: isa.E2m1, scale: dsl.NVFP4}, {x: isa.E2m1, y: isa.E2m1, scale: dsl.MXFP4},
		{x: isa.E4m3, y: isa.E5m2, scale: dsl.MXFP8},
		{x: isa.E5m2, y: isa.E4m3, scale: dsl.MXFP8, ahead: true},
		{x: isa.E4m3, y: isa.E4m3, scale: dsl.MXFP8, ahead: true},
		{x: isa.E2m1, y: isa.E2m1, scale: dsl.NVFP4.Sparse(), sparse: true},
		{x: isa.E2m1, y: isa.E2m1, scale: dsl.MXFP4.Sparse(), sparse: true},
		{x: isa.E4m3, y: isa.E5m2, scale: dsl.MXFP8.Sparse(), sparse: true},
	}
	// The cases cycle through pairs of types of 8, 6 and 4 bits, with and without scale factors,
	// dense and sparse.
	small := []isa.Type{isa.E4m3, isa.E5m2, isa.E2m3, isa.E3m2, isa.E2m1}
	for i, x := range small {
		for j, y := range small {
			if x.Bits() == 8 && y.Bits() == 8 {
				continue
			}
			c := warpCase{x: x, y: y, sparse: (i+j)%2 == 1}
			if (i+2*j)%4 < 2 && (x != isa.E2m1 || y != isa.E2m1) {
				if c.scale = dsl.MXFP8; c.sparse {
					c.scale = dsl.MXFP8.Sparse()
				}
			}
			list = append(list, c)
		}
	}
	for _, c := range list {
		if err := c.run(New("sm_120a")); err != nil {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

// TestWarpMistakes checks that a kernel with one wrong constant computes a wrong result.
func TestWarpMistakes(t *testing.T) {
	two := warpCase{x: isa.E2m1, y: isa.E2m1, scale: dsl.MXFP4}
	one := warpCase{x: isa.E4m3, y: isa.E4m3, scale: dsl.MXFP8}
	mixed := warpCase{x: isa.E2m1, y: isa.E2m3}
	for _, m := range []struct {
		c         warpCase
		old, with string
	}{
		{two, "{2, 0}", "{0, 0}"}, {one, "{3, 0}", "{2, 0}"}, {two, ", 0x1f;", ", 0xf;"},
		{two, ", 0xc;", ", 0x8;"},
		{mixed, "b4x16_p64", "b6x16_p32"}, {mixed, "b6x16_p32", "b4x16_p64"},
		{mixed, ".e2m1.e2m3", ".e2m3.e2m1"}, {mixed, ".e2m1.e2m3", ".e2m1.e3m2"},
		{two, "+25088]", "+24576]"},
		{two, "scale_vec::2X.f32.e2m1.e2m1.f32.ue8m0", "scale_vec::1X.f32.e2m1.e2m1.f32.ue8m0"},
	} {
		d, changed := New("sm_120a"), false
		d.Edit = func(text string) string {
			changed = strings.Contains(text, m.old)
			return strings.ReplaceAll(text, m.old, m.with)
		}
		if err := m.c.run(d); err == nil || !changed {
			t.Errorf("%+v, %s for %s: changed %v, %v", m.c, m.with, m.old, changed, err)
		}
	}
}
