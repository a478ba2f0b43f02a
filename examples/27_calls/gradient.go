// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package calls

import (
	"errors"
	"fmt"

	"github.com/ptxdsl/ptxdsl/dsl"
	attention "github.com/ptxdsl/ptxdsl/examples/18_attention"
	"github.com/ptxdsl/ptxdsl/runtime"
)

// Gradients are the gradients of the operands of Attention, and that of its result.
type Gradients[E runtime.Element] struct {
	Q, K, V *runtime.Buffer[E]
	O       *runtime.Buffer[E] // the operand; the others are results
}

// AttentionGradient computes the gradients of Q, K and V from that of O, the result of Attention
// for the same operands. The gradient of a query that sees no key is zero.
func AttentionGradient[E runtime.Element](l *Library, d Gradients[E], o, q, k, v *runtime.Buffer[E],
	h Heads) error {
	s := attention.Shape{Type: typeOf[E](), Width: h.Width, Causal: h.Causal}
	n, m := h.Heads*h.Queries*h.Width, h.Heads*h.Keys*h.Width
	err := h.check(s.Type)
	if err == nil {
		err = errors.Join(holds("Q", q, n), holds("K", k, m), holds("V", v, m), holds("O", o, n),
			holds("the gradient of Q", d.Q, n), holds("the gradient of K", d.K, m),
			holds("the gradient of V", d.V, m), holds("the gradient of O", d.O, n))
	}
	if err != nil {
		return fmt.Errorf("calls: AttentionGradient: %w", err)
	}
	rows := h.Heads * attention.PaddedQueries(h.Queries)
	logs, e1 := runtime.Alloc[float32](l.device, rows)
	deltas, e2 := runtime.Alloc[float32](l.device, rows)
	if err := errors.Join(e1, e2); err != nil {
		return err
	}
	of := func(b *runtime.Buffer[E], rows int) tensor {
		return tensor{b, []int{h.Heads, rows, h.Width}}
	}
	known := map[string]any{
		"q": of(q, h.Queries), "k": of(k, h.Keys), "v": of(v, h.Keys), "o": o,
		"do": of(d.O, h.Queries), "dq": d.Q, "dk": of(d.K, h.Keys), "dv": of(d.V, h.Keys),
		"logs": logs, "deltas": deltas, "n": uint32(h.Queries), "m": uint32(h.Keys),
		"heads": uint32(h.Heads),
	}
	if l.device.Info().Target == "sm_90a" {
		err = hopperGradient[E](l, s, h, known)
	} else {
		err = l.gradient(s, h, known)
	}
	return errors.Join(err, l.device.Sync(), logs.Close(), deltas.Close())
}

// gradient launches the kernels with mma.sync.
func (l *Library) gradient(s attention.Shape, h Heads, known map[string]any) error {
	build := func(m *dsl.Module) {
		attention.BuildRows(m, s)
		attention.BuildBackwardKV(m, s)
		attention.BuildBackwardQ(m, s)
	}
	for _, step := range []struct {
		kernel string
		rows   int
	}{{"_rows", h.Queries}, {"_backward_kv", h.Keys}, {"_backward_q", h.Queries}} {
		blocks := (step.rows + attention.Queries - 1) / attention.Queries
		err := l.run(plan{s.Name() + step.kernel, "gradient of " + s.Name(), build,
			runtime.Grid(blocks, h.Heads)}, known)
		if err != nil {
			return err
		}
	}
	return nil
}

// hopperGradient launches the kernels with wgmma. The first one repeats the forward pass, and
// stores the logarithms of the sums of exponentials.
func hopperGradient[E runtime.Element](l *Library, s attention.Shape, h Heads,
	known map[string]any) error {
	shape := attention.HopperBackwardFor(s)
	rows := h.Heads * attention.PaddedQueries(h.Queries)
	sums, e1 := runtime.Alloc[float32](l.device, rows*h.Width)
	again, e2 := runtime.Alloc[E](l.device, h.Heads*h.Queries*h.Width)
	if err := errors.Join(e1, e2); err != nil {
		return err
	}
	known["sums"] = sums
	result := known["o"]
	var err error
	for i, launch := range attention.HopperLaunches(s, shape, h.Heads, h.Queries, h.Keys,
		l.device.Info().SMs) {
		known["o"] = result
		if i == 0 {
			known["o"] = again
		}
		if err == nil {
			err = l.run(plan{launch.Kernel, "gradient of " + s.Name(), func(m *dsl.Module) {
				attention.BuildHopperPass(m, s, shape)
			}, runtime.Grid(launch.Grid[0], launch.Grid[1])}, known)
		}
	}
	return errors.Join(err, l.device.Sync(), sums.Close(), again.Close())
}
