// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Command run doubles a matrix with TMA copies.
package main

import (
	"errors"
	"fmt"
	"log"

	"github.com/ptxdsl/ptxdsl/docs/tutorial/code/tma"
	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/runtime"
)

func main() {
	if err := run(100, 300); err != nil {
		log.Fatal(err)
	}
}

func run(height, width int) error {
	dev, err := runtime.Open("")
	if err != nil {
		return err
	}
	defer dev.Close()
	m := dsl.New("scale", dev.Info().Target)
	tma.Build(m)
	mod, err := dev.Load(m)
	if err != nil {
		return err
	}
	kernel, err := mod.Kernel("scale")
	if err != nil {
		return err
	}

	xs := make([]float32, height*width)
	for i := range xs {
		xs[i] = float32(i)
	}
	x, e1 := runtime.Upload(dev, xs)
	y, e2 := runtime.Alloc[float32](dev, len(xs))
	if err := errors.Join(e1, e2); err != nil {
		return err
	}
	mapX, e1 := kernel.TensorMap("in", x, height, width)
	mapY, e2 := kernel.TensorMap("out", y, height, width)
	if err := errors.Join(e1, e2); err != nil {
		return err
	}
	grid := runtime.Grid((width+31)/32, (height+7)/8) // a block for each tile of 8x32
	if err := kernel.Launch(grid, mapX, mapY, float32(2)); err != nil {
		return err
	}
	ys, err := runtime.Download(y)
	if err != nil {
		return err
	}
	for i, v := range ys {
		if v != 2*xs[i] {
			return fmt.Errorf("element %d is %v, want %v", i, v, 2*xs[i])
		}
	}
	fmt.Println(ys[:4])
	return nil
}
