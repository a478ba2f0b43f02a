// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package calls

import (
	"errors"
	"fmt"
	"slices"

	moe "github.com/ptxdsl/ptxdsl/examples/26_moe"
	"github.com/ptxdsl/ptxdsl/runtime"
)

// Experts gives the sizes of a mixture of experts. The rows of all experts are stored one after the
// other. N must be a multiple of 8, and K of 16.
type Experts struct {
	Rows []int // number of rows of each expert, also 0
	N, K int
}

// An FP8 is a matrix of E4M3 elements with scale factors.
type FP8 struct {
	Elements *runtime.Buffer[uint8]
	Factors  *runtime.Buffer[float32]
}

// SwiGLU computes silu(A G') * (A U') for the rows of each expert and its own matrices G and U,
// with a result of BF16. A has a factor for each row and 128 elements of K, stored row by row. G
// and U have K elements in each of the N rows of an expert, and a factor for each expert, 128 rows
// and 128 elements of K.
func SwiGLU(l *Library, d *runtime.Buffer[runtime.BF16], a, gate, up FP8, e Experts) error {
	starts := starts(e.Rows)
	rows, experts := int(starts[len(e.Rows)]), len(e.Rows)
	steps, blocks := (e.K+moe.Block-1)/moe.Block, (e.N+moe.Block-1)/moe.Block
	var err error
	switch target := l.device.Info().Target; {
	case target != "sm_90a":
		err = fmt.Errorf("%s has no kernel for experts, expected sm_90a", target)
	case experts == 0 || slices.ContainsFunc(e.Rows, func(n int) bool { return n < 0 }):
		err = fmt.Errorf(
			"experts with %v rows, expected at least one expert and no negative number",
			e.Rows)
	case e.N < 1 || e.K < 1 || e.N%8 != 0 || e.K%16 != 0:
		err = fmt.Errorf("rows of %d and %d elements in D and A, expected multiples of 8 and of 16", e.N,
			e.K)
	default:
		err = errors.Join(holds("D", d, rows*e.N), holds("A", a.Elements, rows*e.K),
			holds("factors of A", a.Factors, rows*steps))
		for _, w := range []FP8{gate, up} {
			err = errors.Join(err, holds("weights", w.Elements, experts*e.N*e.K),
				holds("factors of weights", w.Factors, experts*blocks*steps))
		}
	}
	if err != nil {
		return fmt.Errorf("calls: SwiGLU: %w", err)
	}
	if rows == 0 {
		return nil
	}
	from, err := runtime.Upload(l.device, starts)
	if err != nil {
		return err
	}
	weights := []int{experts, e.N, e.K}
	err = l.run(plan{"moe_swiglu", "moe_swiglu", moe.Build, runtime.Grid(l.device.Info().SMs)},
		map[string]any{
			"a": tensor{a.Elements, []int{rows, e.K}}, "gate": tensor{gate.Elements, weights},
			"up": tensor{up.Elements, weights}, "d": d, "factors_a": a.Factors,
			"factors_g": gate.Factors, "factors_u": up.Factors, "starts": from,
			"experts": uint32(experts), "n": uint32(e.N), "k": uint32(e.K),
		})
	return errors.Join(err, l.device.Sync(), from.Close())
}
