// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package transpose

import (
	"fmt"

	"github.com/ptxdsl/ptxdsl/runtime"
	"github.com/ptxdsl/ptxdsl/runtime/kerneltest"
)

// Targets are the PTX targets for which the kernels are built.
var Targets = []string{"sm_80", "sm_90", "sm_100", "sm_120"}

// Check transposes matrices of several shapes with both kernels.
func Check(t *kerneltest.T) error {
	area := func(size [2]int) int { return size[0] * size[1] }
	for _, name := range []string{"transpose_padded", "transpose_swizzled"} {
		k, err := t.Kernel(name, Build)
		if err != nil {
			return err
		}
		for _, size := range kerneltest.Sizes(t, area, [2]int{32, 32}, [2]int{32, 96},
			[2]int{160, 32}, [2]int{1056, 2016}) {
			height, width := size[0], size[1]
			x, y := t.Float32s(height*width), make([]float32, height*width)
			err := t.Launch(k, runtime.Grid(width/side, height/side), kerneltest.In(x),
				kerneltest.Out(y), height, width)
			if err != nil {
				return err
			}
			what := fmt.Sprintf("%s, %dx%d", name, height, width)
			if err := kerneltest.Equal(t, what, y, Reference(x, height, width)); err != nil {
				return err
			}
		}
	}
	return nil
}
