// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package calls

import (
	"errors"
	"fmt"

	"github.com/ptxdsl/ptxdsl/dsl"
	rmsnorm "github.com/ptxdsl/ptxdsl/examples/08_rmsnorm"
	"github.com/ptxdsl/ptxdsl/runtime"
)

// A Rotation describes queries or keys: for each token, heads of Width elements, which is a
// multiple of 64 up to 512.
type Rotation struct {
	Tokens, Heads, Width int
	Eps                  float32
}

// NormRope computes the RMSNorm of each head of X, with the weights W, and rotates each pair of
// elements i and i + Width/2 by the angle of the head's token (RoPE). The angles are given by their
// cosines and sines, with Width/2 of each for every token.
func NormRope[E runtime.Element](l *Library, y, x, w *runtime.Buffer[E],
	cosines, sines *runtime.Buffer[float32], r Rotation) error {
	t := typeOf[E]()
	rows, angles := r.Tokens*r.Heads, r.Tokens*r.Width/2
	err := errors.Join(fits(y, x, rows, r.Width), holds("W", w, r.Width),
		holds("cosines", cosines, angles), holds("sines", sines, angles))
	switch {
	case t == 0:
		err = errTypes
	case r.Tokens < 1 || r.Heads < 1 || r.Width < 64 || r.Width%64 != 0 || r.Width > 512:
		err = fmt.Errorf(
			"%d tokens of %d heads of %d elements, expected positive numbers and a multiple of 64 up to 512",
			r.Tokens, r.Heads, r.Width)
	}
	if err != nil {
		return fmt.Errorf("calls: NormRope: %w", err)
	}
	return l.run(plan{
		name: "rope", key: fmt.Sprintf("rope of %d %s", r.Width, t),
		build:  func(m *dsl.Module) { rmsnorm.BuildRope(m, t, r.Width) },
		config: runtime.Grid((rows + rmsnorm.RopeRows - 1) / rmsnorm.RopeRows),
	}, map[string]any{"x": x, "w": w, "y": y, "cosines": cosines, "sines": sines,
		"rows": uint32(rows), "heads": uint32(r.Heads), "eps": r.Eps})
}
