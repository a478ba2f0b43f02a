// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"errors"

	"github.com/ptxdsl/ptxdsl/dsl"
	attention "github.com/ptxdsl/ptxdsl/examples/18_attention"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/runtime"
	"github.com/ptxdsl/ptxdsl/runtime/kerneltest"
)

// fp8Heads are the buffers of AttentionFP8.
type fp8Heads struct {
	b             *Bench
	heads, length int
	small         []*runtime.Buffer[uint8] // q, k, v, and the transposed v
	wide          []*runtime.Buffer[runtime.BF16]
	descale       *runtime.Buffer[float32]
}

// newFP8Heads returns buffers for heads of random numbers from -1 to 1.
func newFP8Heads(b *Bench, s attention.Shape, heads, length int) (*fp8Heads, error) {
	x := &fp8Heads{b: b, heads: heads, length: length}
	var codes [256]uint8
	for i := range codes {
		codes[i] = kerneltest.Narrow(isa.E4m3).From(float64(2*i+1)/256 - 1)
	}
	var errs []error
	for range 4 {
		small, e1 := filledBuffer(b, heads*length*s.Width,
			func(f float32) uint8 { return codes[int((f+1)*127.9)] })
		wide, e2 := filledBuffer(b, heads*length*s.Width, runtime.ToBF16)
		x.small, x.wide, errs = append(x.small, small), append(x.wide, wide), append(errs, e1, e2)
	}
	ones := make([]float32, heads)
	for i := range ones {
		ones[i] = 1
	}
	var err error
	x.descale, err = runtime.Upload(b.Device, ones)
	return x, errors.Join(append(errs, err)...)
}

func (x *fp8Heads) close() error {
	err := x.descale.Close()
	for i := range x.small {
		err = errors.Join(err, x.small[i].Close(), x.wide[i].Close())
	}
	return err
}

// contender returns a contender for a persistent kernel, with E4M3 or BF16.
func (x *fp8Heads) contender(name string, s attention.Shape, queries int,
	build func(*dsl.Module)) (Contender, error) {
	t := &kerneltest.T{Device: x.b.Device}
	k, err := t.Kernel("hopper_"+s.Name(), build)
	if err != nil {
		return Contender{}, err
	}
	rows := []int{x.heads, x.length, s.Width}
	var q, ks, vs *runtime.TensorMap
	var e1, e2, e3 error
	var scales []any
	if s.Type == isa.E4m3 {
		q, e1 = k.Tensor("q", x.small[0], rows)
		ks, e2 = k.Tensor("k", x.small[1], rows)
		vs, e3 = k.Tensor("v", x.small[3], []int{x.heads, s.Width, x.length})
		scales = []any{x.descale, x.descale, x.descale}
	} else {
		q, e1 = k.Tensor("q", x.wide[0], rows)
		ks, e2 = k.Tensor("k", x.wide[1], rows)
		vs, e3 = k.Tensor("v", x.wide[2], rows)
	}
	args := append([]any{q, ks, vs, x.wide[3], x.length, x.length, x.heads}, scales...)
	tiles := (x.length + queries - 1) / queries * x.heads
	grid := runtime.Grid(min(tiles, x.b.Device.Info().SMs)).On(x.b.Stream)
	return Contender{name, func() error { return k.Launch(grid, args...) }}, errors.Join(e1, e2, e3)
}

// AttentionFP8 measures the forward pass of attention with E4M3 beside that with BF16, for the
// same sizes as Attention, also with the sums of the tensor cores, and together with the
// transposition of the values, of lengths that are multiples of 16.
func AttentionFP8(b *Bench, s attention.Shape, length int) ([]Result, error) {
	half := s
	s.Type, half.Type = isa.E4m3, isa.Bf16
	j, heads := attentionJob("attention FP8", s, length, 4)
	j.Base = "BF16"
	x, err := newFP8Heads(b, s, heads, length)
	if err != nil {
		return nil, err
	}
	fast, direct := attention.FP8For(s), attention.DirectFP8For(s)
	base, e1 := x.contender("BF16", half, attention.HopperFor(half).Queries(),
		func(m *dsl.Module) { attention.BuildHopper(m, half) })
	ours, e2 := x.contender("FP8", s, fast.Queries(),
		func(m *dsl.Module) { attention.BuildFP8With(m, s, fast) })
	other, e3 := x.contender("FP8, sums of the tensor cores", s, direct.Queries(),
		func(m *dsl.Module) { attention.BuildFP8With(m, s, direct) })
	t := &kerneltest.T{Device: b.Device}
	k, e4 := t.Kernel("transpose_"+s.Name(),
		func(m *dsl.Module) { attention.BuildTransposed(m, s) })
	if err := errors.Join(e1, e2, e3, e4); err != nil {
		return nil, err
	}
	grid := runtime.Grid(attention.TransposedGrid(s, heads, length)).On(b.Stream)
	j.Contenders = []Contender{base, ours, other, {"FP8, with transposition", func() error {
		return errors.Join(k.Launch(grid, x.small[2], x.small[3], length), ours.Run())
	}}}
	results, err := b.Measure(j)
	return results, errors.Join(err, x.close())
}
