// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"errors"
	"fmt"

	"github.com/ptxdsl/ptxdsl/dsl"
	attention "github.com/ptxdsl/ptxdsl/examples/18_attention"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/runtime"
	"github.com/ptxdsl/ptxdsl/runtime/kerneltest"
)

// AttentionFP8 measures the forward pass of attention with E4M3 beside that with BF16, for the
// same sizes as Attention, also with the sums of the tensor cores, and together with the
// transposition of the values. More shapes of blocks are further contenders.
func AttentionFP8(b *Bench, s attention.Shape, length int,
	more ...attention.FP8) ([]Result, error) {
	s.Type = isa.E4m3
	j, heads := attentionJob("attention FP8", s, length, 4)
	j.Base = "BF16"
	n := heads * length * s.Width
	f := kerneltest.Narrow(isa.E4m3)
	t := &kerneltest.T{Device: b.Device, Rand: b.rand}
	var codes [256]uint8 // of numbers from -1 to 1
	for i := range codes {
		codes[i] = f.From(float64(2*i+1)/256 - 1)
	}
	narrow := func(x float32) uint8 { return codes[int((x+1)*127.9)] }
	var small []*runtime.Buffer[uint8]
	var wide []*runtime.Buffer[runtime.BF16]
	var errs []error
	for range 4 {
		x, e1 := filledBuffer(b, n, narrow)
		y, e2 := filledBuffer(b, n, runtime.ToBF16)
		small, wide, errs = append(small, x), append(wide, y), append(errs, e1, e2)
	}
	ones := make([]float32, heads)
	for i := range ones {
		ones[i] = 1
	}
	descale, err := runtime.Upload(b.Device, ones)
	transpose, e1 := t.Kernel("transpose_"+s.Name(),
		func(m *dsl.Module) { attention.BuildTransposed(m, s) })
	if err := errors.Join(append(errs, err, e1)...); err != nil {
		return nil, err
	}
	// add adds a contender for a kernel whose grid is persistent.
	add := func(name string, s attention.Shape, queries int, build func(*dsl.Module),
		args func(*runtime.Kernel) ([]any, error)) error {
		k, err := t.Kernel("hopper_"+s.Name(), build)
		if err != nil {
			return err
		}
		list, err := args(k)
		tiles := (length + queries - 1) / queries * heads
		grid := runtime.Grid(min(tiles, b.Device.Info().SMs)).On(b.Stream)
		j.Contenders = append(j.Contenders,
			Contender{name, func() error { return k.Launch(grid, list...) }})
		return err
	}
	of := s
	of.Type = isa.Bf16
	err = add("BF16", of, attention.HopperFor(of).Queries(),
		func(m *dsl.Module) { attention.BuildHopper(m, of) },
		func(k *runtime.Kernel) ([]any, error) {
			sizes := []int{heads, length, s.Width}
			q, e1 := k.Tensor("q", wide[0], sizes)
			ks, e2 := k.Tensor("k", wide[1], sizes)
			vs, e3 := k.Tensor("v", wide[2], sizes)
			return []any{q, ks, vs, wide[3], length, length, heads}, errors.Join(e1, e2, e3)
		})
	for i, h := range append([]attention.FP8{attention.FP8For(s), attention.DirectFP8For(s)},
		more...) {
		name := []string{"FP8", "FP8, sums of the tensor cores",
			fmt.Sprintf("FP8 %+v", h)}[min(i, 2)]
		err = errors.Join(err, add(name, s, h.Queries(),
			func(m *dsl.Module) { attention.BuildFP8With(m, s, h) },
			func(k *runtime.Kernel) ([]any, error) {
				sizes := []int{heads, length, s.Width}
				q, e1 := k.Tensor("q", small[0], sizes)
				ks, e2 := k.Tensor("k", small[1], sizes)
				vs, e3 := k.Tensor("v", small[3], []int{heads, s.Width, length})
				return []any{q, ks, vs, wide[3], length, length, heads, descale, descale, descale},
					errors.Join(e1, e2, e3)
			}))
	}
	if err != nil {
		return nil, err
	}
	grid := runtime.Grid(attention.TransposedGrid(s, heads, length)).On(b.Stream)
	run := j.Contenders[1].Run
	j.Contenders = append(j.Contenders, Contender{"FP8, with transposition", func() error {
		return errors.Join(transpose.Launch(grid, small[2], small[3], length), run())
	}})
	results, err := b.Measure(j)
	for i := range small {
		err = errors.Join(err, small[i].Close(), wide[i].Close())
	}
	return results, errors.Join(err, descale.Close())
}
