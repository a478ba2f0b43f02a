// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"errors"
	"fmt"
	"slices"

	"github.com/ptxdsl/ptxdsl/dsl"
	attention "github.com/ptxdsl/ptxdsl/examples/18_attention"
	"github.com/ptxdsl/ptxdsl/runtime"
	"github.com/ptxdsl/ptxdsl/runtime/kerneltest"
)

// attentionJob returns a job for one pass of attention over 16,384 tokens of 2048 elements, in
// sequences of the given length, and the number of heads over all sequences. products is twice
// the number of matrix products in the pass: 4 for the forward pass, 10 for the backward pass.
func attentionJob(group string, s attention.Shape, length, products int) (Job, int) {
	heads := 2048 / s.Width * (16384 / length)
	j := Job{Group: group, Name: fmt.Sprintf("%d heads of %dx%d", heads, length, s.Width),
		Base: "ours"}
	j.Flop = float64(products) * float64(heads*s.Width) * float64(length) * float64(length)
	if s.Causal {
		j.Name, j.Flop = j.Name+", causal", j.Flop/2
	}
	return j, heads
}

// Attention measures the forward pass of attention in BF16 on Hopper, with tiles of queries that
// the kernel assigns to blocks, and with a list of tasks.
func Attention(b *Bench, s attention.Shape, length int) (results []Result, err error) {
	j, heads := attentionJob("attention", s, length, 4)
	known := make(map[string]any)
	defer func() { err = errors.Join(err, closeAll(known)) }()
	for _, name := range []string{"q", "k", "v", "o"} {
		known[name], err = filledBuffer(b, heads*length*s.Width, runtime.ToBF16)
		if err != nil {
			return nil, err
		}
	}
	t, h := &kerneltest.T{Device: b.Device}, attention.HopperFor(s)
	k, err := t.Kernel("hopper_"+s.Name(), func(m *dsl.Module) { attention.BuildHopper(m, s) })
	if err != nil {
		return nil, err
	}
	known["n"], known["m"], known["heads"] = length, length, heads
	var args []any
	for _, p := range k.Params() {
		arg := known[p.Name]
		if p.Box != nil {
			x := arg.(*runtime.Buffer[runtime.BF16])
			if arg, err = k.Tensor(p.Name, x, []int{heads, length, s.Width}); err != nil {
				return nil, err
			}
		}
		args = append(args, arg)
	}
	tiles := (length + h.Queries() - 1) / h.Queries() * heads
	grid := runtime.Grid(min(tiles, b.Device.Info().SMs)).On(b.Stream)
	j.Contenders = []Contender{{"ours", func() error { return k.Launch(grid, args...) }}}
	// each head is a sequence
	listed, err := batchContender(b, "list of tasks", attention.Batch{Shape: s, Heads: 1, KV: 1},
		Sequences{Lengths: slices.Repeat([]int{length}, heads)}, nil, known)
	if err != nil {
		return nil, err
	}
	j.Contenders = append(j.Contenders, listed)
	results, err = b.Measure(j)
	for _, c := range j.Contenders {
		err = errors.Join(err, repeats(b, j, known["o"].(*runtime.Buffer[runtime.BF16]), c.Run))
	}
	return results, err
}

// AttentionBackward measures the backward pass for the same sizes as Attention, with wgmma, and
// with the additions in a fixed order, whose bits are compared if b.Repeats is not 0. The forward
// pass, which stores the logarithms, runs once before.
func AttentionBackward(b *Bench, s attention.Shape, length int) (results []Result, err error) {
	j, heads := attentionJob("attention backward", s, length, 10)
	n, rows := heads*length*s.Width, heads*attention.PaddedQueries(length)
	known := map[string]any{"n": length, "m": length, "heads": heads}
	var errs []error
	for _, name := range []string{"q", "k", "v", "o", "do", "dq", "dk", "dv"} {
		x, err := filledBuffer(b, n, runtime.ToBF16)
		known[name], errs = x, append(errs, err)
	}
	for name, n := range map[string]int{"logs": rows, "deltas": rows, "sums": rows * s.Width} {
		x, err := runtime.Alloc[float32](b.Device, n)
		known[name], errs = x, append(errs, err)
	}
	turns, err := runtime.Upload(b.Device, make([]uint32, 2*rows))
	known["turns"], errs = turns, append(errs, err)
	defer func() {
		for _, x := range known {
			if x, ok := x.(interface{ Close() error }); ok {
				err = errors.Join(err, x.Close())
			}
		}
	}()
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	for _, ordered := range []bool{false, true} {
		h := attention.HopperBackwardFor(s)
		h.Ordered = ordered
		launches, err := backwardLaunches(b, s, h, heads, length, known)
		if err != nil {
			return nil, err
		}
		name := "ours"
		if ordered {
			name = "ordered"
		}
		if err := errors.Join(launches[0](), b.Device.Sync()); err != nil {
			return nil, err
		}
		j.Contenders = append(j.Contenders, Contender{name, func() error {
			for _, launch := range launches[1:] {
				if err := launch(); err != nil {
					return err
				}
			}
			return nil
		}})
	}
	results, err = b.Measure(j)
	for _, name := range []string{"dq", "dk", "dv"} {
		if d := known[name].(*runtime.Buffer[runtime.BF16]); err == nil {
			err = repeats(b, j, d, j.Contenders[1].Run)
		}
	}
	return results, err
}

// backwardLaunches returns functions that launch the kernels of a forward and a backward pass.
func backwardLaunches(b *Bench, s attention.Shape, h attention.HopperBackward, heads, length int,
	known map[string]any) (launches []func() error, err error) {
	t := &kerneltest.T{Device: b.Device}
	m := dsl.New("backward", t.Target())
	attention.BuildHopperPass(m, s, h)
	module, err := t.Load(m)
	if err != nil {
		return nil, err
	}
	sms := b.Device.Info().SMs
	for _, l := range attention.HopperLaunches(s, h, heads, length, length, sms) {
		k, err := module.Kernel(l.Kernel)
		if err != nil {
			return nil, err
		}
		var args []any
		for _, p := range k.Params() {
			arg := known[p.Name]
			if p.Box != nil {
				x := arg.(*runtime.Buffer[runtime.BF16])
				if arg, err = k.Tensor(p.Name, x, []int{heads, length, s.Width}); err != nil {
					return nil, err
				}
			}
			args = append(args, arg)
		}
		grid := runtime.Grid(l.Grid[0], l.Grid[1]).On(b.Stream)
		launches = append(launches, func() error { return k.Launch(grid, args...) })
	}
	return launches, nil
}
