// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package vecadd

import (
	"fmt"

	"github.com/ptxdsl/ptxdsl/runtime"
	"github.com/ptxdsl/ptxdsl/runtime/kerneltest"
)

// Targets are the PTX targets for which the kernel is built.
var Targets = []string{"sm_80", "sm_90", "sm_100", "sm_120"}

// Check adds vectors of even and odd lengths. Some elements are infinities, NaNs and subnormal
// numbers.
func Check(t *kerneltest.T) error {
	k, err := t.Kernel("vecadd", Build)
	if err != nil {
		return err
	}
	for _, n := range t.Lengths(1, 255, 256, 257, 10_007, 1<<22) {
		a, b := kerneltest.RandomEdges(t, kerneltest.F32, n),
			kerneltest.RandomEdges(t, kerneltest.F32, n)
		c := make([]float32, n)
		err := t.Launch(k, runtime.Threads(n), kerneltest.In(a), kerneltest.In(b),
			kerneltest.Out(c), n)
		if err != nil {
			return err
		}
		if err := kerneltest.Equal(t, fmt.Sprintf("n = %d", n), c, Reference(a, b)); err != nil {
			return err
		}
	}
	return nil
}
