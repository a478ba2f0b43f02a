// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package walk

import (
	"slices"

	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
)

// maxSamples is the largest number of constants whose neighbors are threads to execute.
const maxSamples = 8

// Threads returns the threads of a block whose paths may differ: the first and the last, the first
// of the second warp, and those whose index is next to a constant of a comparison. size is the
// number of threads of the block, or 0 if the launch chooses it.
func Threads(f *ir.Func, size int) []int {
	list := []int{0, 1, 31, 32, size - 1}
	samples := 0
	for _, b := range f.Blocks {
		for _, in := range b.Instrs {
			if in.Kind() != isa.KindSetp || samples >= maxSamples {
				continue
			}
			for i := 1; i < len(in.Args); i++ {
				if o := &in.Args[i]; o.Kind == ir.Int && o.Value > 1 && o.Value < 1024 {
					samples++
					list = append(list, int(o.Value)-1, int(o.Value), int(o.Value)+1)
				}
			}
		}
	}
	slices.Sort(list)
	list = slices.DeleteFunc(list, func(t int) bool { return t < 0 || size > 0 && t >= size })
	return slices.Compact(list)
}
