// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package products

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/runtime"
)

// A leftCase is a matrix product whose A operand threads write to tensor memory. Its depth is 128.
type leftCase struct {
	x, y isa.Type
	pair bool
	half bool // false for a block-scaled product
	cols int
}

const leftDepth = 128

func (c leftCase) share() int {
	if c.pair {
		return 2
	}
	return 1
}

func (c leftCase) scale() dsl.BlockScale {
	if c.x.Bits() == 8 && !c.half {
		return dsl.MXFP8
	}
	return dsl.BlockScale{}
}

func (c leftCase) build(m *dsl.Module) {
	options := []dsl.KernelOption{dsl.Warpgroups(3)}
	if c.pair {
		options = append(options, dsl.Cluster(2))
	}
	k := m.Kernel("k", options...)
	if c.pair {
		k.CTAPair()
	}
	x := dsl.Global[dsl.F32](k, "x")
	y := k.TensorMap("y", c.y, dsl.Box{Rows: c.cols / c.share(), Cols: leftDepth}, dsl.Swizzle128)
	feeds := []dsl.Feed{y.Feed()}
	var sfa, sfb *dsl.TensorMap
	scale := c.scale()
	acc := k.TMEM("acc", 128*c.share(), c.cols, 1)
	if scale.Vector > 0 {
		sfa, sfb = k.ScaleMap("sfa", scale, 128, leftDepth),
			k.ScaleMap("sfb", scale, 128, leftDepth)
		feeds = append(feeds, sfa.Feed(), sfb.Feed())
		acc.Scales(scale, leftDepth)
	}
	if c.half {
		acc.F16Accumulators()
	}
	d := dsl.Global[dsl.F32](k, "d")
	left := k.TMEMOperand("left", c.x, leftDepth, 1)
	p := k.Pipeline("p", 1, feeds...)
	row := func(r dsl.Reg[dsl.U32]) dsl.Reg[dsl.U32] {
		if c.pair {
			return k.ClusterRank().MadI(128, r)
		}
		return r
	}
	k.Roles(
		dsl.OnWarp(0, "load", func() {
			for s := range p.Produce(k.U32(1)) {
				rank := k.U32(0)
				if c.pair {
					rank = k.ClusterRank()
				}
				s.Load(y, dsl.TileAt(rank, k.U32(0)))
				if scale.Vector > 0 {
					s.Load(sfa, dsl.TileAt(rank, k.U32(0)))
					s.Load(sfb, dsl.TileAt(k.U32(0), k.U32(0)))
				}
			}
		}),
		dsl.OnWarp(1, "multiply", func() {
			acc.Fill(func(d *dsl.AccumulatorStage) {
				left.Drain(func(f *dsl.TMEMOperandStage) {
					for s := range p.Consume(k.U32(1)) {
						if scale.Vector > 0 {
							d.ScaledMMAFromTMEM(scale, f, s.Tile(y), s.Tile(sfa), s.Tile(sfb))
						} else {
							d.MMAFromTMEM(f, s.Tile(y))
						}
					}
				})
			})
		}),
		dsl.OnWarpgroup(1, "write", func() {
			left.Fill(func(f *dsl.TMEMOperandStage) {
				at := row(k.Thread().AndI(127)).MulI(leftDepth)
				for col := 0; col < leftDepth; col += 32 {
					var list []dsl.Reg[dsl.F32]
					for i := 0; i < 32; i += 4 {
						list = append(list, x.LoadVec(at.AddI(int64(col+i)), 4)...)
					}
					f.Store(col, list)
				}
			})
		}),
		dsl.OnWarpgroup(2, "read", func() {
			acc.Drain(func(a *dsl.AccumulatorStage) {
				at := row(a.Row()).MulI(int64(c.cols))
				for col := 0; col < c.cols; col += 8 {
					v := a.Load(col, 8)
					d.StoreVec(at.AddI(int64(col)), v[:4])
					d.StoreVec(at.AddI(int64(col+4)), v[4:])
				}
			})
		}),
	)
}

func (c leftCase) run(d *Device) error {
	r := rand.New(rand.NewPCG(5, 6))
	dev := runtime.On(d)
	m := dsl.New("m.ptx", d.Info().Target)
	c.build(m)
	loaded, err := dev.Load(m)
	if err != nil {
		return err
	}
	k, err := loaded.Kernel("k")
	if err != nil {
		return err
	}
	rows := 128 * c.share()
	a, b := random(r, c.x, rows, leftDepth), random(r, c.y, c.cols, leftDepth)
	list := make([]float32, len(a.codes))
	for i, x := range a.codes {
		list[i] = float32(a.n.worth(x))
	}
	xs, err := runtime.Upload(dev, list)
	if err != nil {
		return err
	}
	y, err := b.upload(dev)
	if err != nil {
		return err
	}
	ym, err := k.TensorMap("y", y, c.cols, leftDepth)
	if err != nil {
		return err
	}
	args := []any{xs, ym}
	one := func(int, int) float64 { return 1 }
	scaleA, scaleB := one, one
	if scale := c.scale(); scale.Vector > 0 {
		for i, name := range []string{"sfa", "sfb"} {
			worth, atoms := factors(r, scale, []int{rows, c.cols}[i], leftDepth)
			if i == 0 {
				scaleA = worth
			} else {
				scaleB = worth
			}
			u, err := runtime.Upload(dev, atoms)
			if err != nil {
				return err
			}
			high := ([]int{rows, c.cols}[i] + 127) / 128
			x, err := k.TensorMap(name, u, high, len(atoms)/8/high)
			if err != nil {
				return err
			}
			args = append(args, x)
		}
	}
	out, err := runtime.Alloc[float32](dev, rows*c.cols)
	if err != nil {
		return err
	}
	if err := k.Launch(runtime.Grid(c.share()), append(args, out)...); err != nil {
		return err
	}
	got, err := runtime.Download(out)
	if err != nil {
		return err
	}
	return differ(got, a.lines(scaleA), b.lines(scaleB))
}

// TestLefts multiplies with A in tensor memory, on one CTA and on a CTA pair, with and without
// scale factors.
func TestLefts(t *testing.T) {
	for _, c := range []leftCase{
		{x: isa.Bf16, y: isa.Bf16, cols: 64}, {x: isa.Bf16, y: isa.Bf16, cols: 128, pair: true},
		{x: isa.E4m3, y: isa.E5m2, cols: 128}, {x: isa.E5m2, y: isa.E4m3, cols: 128, pair: true},
		{x: isa.F16, y: isa.F16, cols: 64, half: true},
		{x: isa.F16, y: isa.F16, cols: 64, half: true, pair: true},
	} {
		if err := c.run(New("sm_100a")); err != nil {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

// TestLeftMistakes checks that a kernel with one wrong constant computes a wrong result.
func TestLeftMistakes(t *testing.T) {
	pair := leftCase{x: isa.E5m2, y: isa.E4m3, cols: 128, pair: true}
	for _, m := range []struct{ old, with string }{
		{"e5m2x2", "e4m3x2"}, {"tcgen05.mma.cta_group::2", "tcgen05.mma.cta_group::1"},
		{"multicast::cluster.b64 [", "b64 ["},
	} {
		d, changed := New("sm_100a"), false
		d.Edit = func(text string) string {
			changed = strings.Contains(text, m.old)
			return strings.ReplaceAll(text, m.old, m.with)
		}
		err := pair.run(d)
		if err == nil || !changed {
			t.Errorf("%s for %s: changed %v, %v", m.with, m.old, changed, err)
		}
		t.Log(err)
	}
}
