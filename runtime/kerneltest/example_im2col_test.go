// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package kerneltest_test

import (
	"fmt"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/runtime"
	"github.com/ptxdsl/ptxdsl/runtime/kerneltest"
)

// box adds each pixel of a row of 8 pixels and its two neighbors: a convolution with a filter of 3
// ones and padding 1. Pixels have 4 channels, of which it uses the first.
func box(m *dsl.Module) {
	k := m.Kernel("box", dsl.Threads(32))
	x, y := k.Im2col("x", isa.F32, 3, 8, 4, dsl.NoSwizzle), dsl.Global[dsl.F32](k, "y")
	tile, full := k.SharedTile("tile", x.Tile()), k.Barrier("full", 1)
	sum := k.F32(0).Var()
	for r := range 3 {
		k.If(k.TID().X.EQI(0), func() {
			full.ArriveExpect(k.U32(8 * 4 * 4))
			// image 0, from the first position of the filter, channel 0; element r of the filter
			x.LoadIm2col(tile, []dsl.Reg[dsl.U32]{k.U32(0), k.U32(0).SubI(1), k.U32(0)},
				[]dsl.Reg[dsl.U16]{k.U16(r)}, full)
		})
		full.Wait(k.U32(r % 2))
		k.If(k.TID().X.LTI(8), func() {
			sum.Set(sum.Add(dsl.Element[dsl.F32](tile, k.TID().X, k.U32(0)).LoadFirst()))
		})
		k.FenceAsync()
		k.Sync()
	}
	k.If(k.TID().X.LTI(8), func() { y.Store(k.TID().X, sum) })
}

// An im2col tensor map needs the bounding box of the filter positions: with padding 1 and 3
// elements, it starts one pixel before the image and ends one pixel before the end of the image.
func Example_im2col() {
	d, err := runtime.Open("emu:sm_90")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer d.Close()
	t := kerneltest.New(d)
	pixels := make([]float32, 8*4)
	for i := range 8 {
		pixels[4*i] = float32(i + 1)
	}
	k, err := t.Kernel("box", box)
	if err != nil {
		fmt.Println(err)
		return
	}
	x, err := runtime.Upload(d, pixels)
	if err != nil {
		fmt.Println(err)
		return
	}
	images, err := k.Images("x", x, []int{1, 8, 4},
		runtime.Window{Lower: []int{-1}, Upper: []int{-1}})
	if err != nil {
		fmt.Println(err)
		return
	}
	y := make([]float32, 8)
	if err := t.Launch(k, runtime.Grid(1), images, kerneltest.Out(y)); err != nil {
		fmt.Println(err)
	}
	fmt.Println(y)
	// Output: [3 6 9 12 15 18 21 15]
}
