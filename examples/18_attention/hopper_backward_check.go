// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package attention

import (
	"errors"
	"fmt"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/runtime"
	"github.com/ptxdsl/ptxdsl/runtime/kerneltest"
)

// hopperBackwardVariants returns the kernels of the backward pass with wgmma.
func hopperBackwardVariants() (list []kerneltest.Variant) {
	for _, s := range []Shape{{isa.Bf16, 64, false}, {isa.F16, 64, true}, {isa.F16, 128, false},
		{isa.Bf16, 128, true}} {
		for _, ordered := range []bool{false, true} {
			h := HopperBackwardFor(s)
			h.Ordered = ordered
			name := fmt.Sprintf("wgmma, %s, %d, all keys", s.Type.String()[1:], s.Width)
			if s.Causal {
				name = fmt.Sprintf("wgmma, %s, %d, causal", s.Type.String()[1:], s.Width)
			}
			if ordered {
				name += ", ordered"
			}
			list = append(list, kerneltest.Variant{
				Option: "attention backward", Name: name, Targets: []string{"sm_90a"},
				Build: func(m *dsl.Module) {
					BuildHopperDeltas(m, s)
					BuildHopperBackwardWith(m, s, h)
					BuildHopperQueries(m, s)
				},
				Check: func(t *kerneltest.T) error { return CheckHopperBackward(t, s, h) },
				Why:   "probabilities, their changes and the result are rounded to the type, and the deltas depend on the rounded result",
			})
		}
	}
	return list
}

// BuildHopperPass adds the kernels of a forward pass, which also stores the logarithms, and of the
// backward pass.
func BuildHopperPass(m *dsl.Module, s Shape, h HopperBackward) {
	forward := HopperFor(s)
	forward.Logs = true
	BuildHopperWith(m, s, forward)
	BuildHopperDeltas(m, s)
	BuildHopperBackwardWith(m, s, h)
	BuildHopperQueries(m, s)
}

// A HopperLaunch is a launch of one of the kernels of a forward and a backward pass.
type HopperLaunch struct {
	Kernel string
	Grid   [2]int
}

// HopperLaunches returns the launches of a forward and a backward pass, in order, for a device with
// some multiprocessors.
func HopperLaunches(s Shape, h HopperBackward, heads, queries, keys, sms int) []HopperLaunch {
	tiles := func(n, each int) int { return (n + each - 1) / each }
	rows := PaddedQueries(queries)
	blocks := heads * tiles(keys, BackwardKeys)
	if !h.Ordered {
		blocks = min(blocks, sms)
	}
	return []HopperLaunch{
		{"hopper_" + s.Name(), [2]int{min(heads*tiles(queries, HopperFor(s).Queries()), sms), 1}},
		{s.hopperDeltas(), [2]int{rows / 128, heads}},
		{s.hopperBackward(), [2]int{blocks, 1}},
		{s.hopperQueries(), [2]int{rows / 64 * s.Width / 64, heads}},
	}
}

// CheckHopperBackward runs the kernels of a forward and a backward pass on heads whose sizes are
// not multiples of the tiles, and with edge values.
func CheckHopperBackward(t *kerneltest.T, s Shape, h HopperBackward) error {
	cost := func(z size) int { return z.heads * z.queries * z.keys }
	var errs []error
	for _, z := range kerneltest.Sizes(t, cost, size{2, 7, 9}, size{1, 130, 260},
		size{2, 400, 400}, size{20, 300, 500}, size{2, 1024, 1024}) {
		if s.Type == isa.F16 {
			errs = append(errs, checkHopperBackward(t, s, h, z, kerneltest.F16, 0x1p-11))
		} else {
			errs = append(errs, checkHopperBackward(t, s, h, z, kerneltest.BF16, 0x1p-8))
		}
	}
	return errors.Join(errs...)
}

func checkHopperBackward[E runtime.Element](t *kerneltest.T, s Shape, h HopperBackward, z size,
	f kerneltest.Format[E], unit float64) error {
	x := newGradients(t, f, z, s)
	loaded, err := t.Module("backward", func(m *dsl.Module) { BuildHopperPass(m, s, h) })
	if err != nil {
		return err
	}
	rows := z.heads * PaddedQueries(z.queries)
	o, dq := make([]E, len(x.q)), make([]E, len(x.q))
	dk, dv := make([]E, len(x.k)), make([]E, len(x.k))
	queries := []int{z.heads, z.queries, s.Width}
	keys := []int{z.heads, z.keys, s.Width}
	known := map[string]any{
		"q": kerneltest.In(x.q).Tensor(queries...), "k": kerneltest.In(x.k).Tensor(keys...),
		"v": kerneltest.In(x.v).Tensor(keys...), "do": kerneltest.In(x.gradient).Tensor(queries...),
		"o": kerneltest.InOut(o), "dq": kerneltest.Out(dq),
		"dk": kerneltest.Out(dk).Tensor(keys...),
		"dv": kerneltest.Out(dv).Tensor(keys...), "logs": kerneltest.InOut(make([]float32, rows)),
		"deltas": kerneltest.InOut(make([]float32, rows)),
		"sums":   kerneltest.InOut(make([]float32, rows*s.Width)),
		"turns":  kerneltest.InOut(make([]uint32, 2*rows/h.Queries)),
		"n":      z.queries, "m": z.keys, "heads": z.heads,
	}
	for _, l := range HopperLaunches(s, h, z.heads, z.queries, z.keys, t.Device.Info().SMs) {
		kernel, err := loaded.Kernel(l.Kernel)
		if err != nil {
			return err
		}
		var args []any
		for _, p := range kernel.Params() {
			args = append(args, known[p.Name])
		}
		if err := t.Launch(kernel, runtime.Grid(l.Grid[0], l.Grid[1]), args...); err != nil {
			return fmt.Errorf("%s: %w", l.Kernel, err)
		}
	}
	return x.compare(t, f, z, unit, dq, dk, dv)
}
