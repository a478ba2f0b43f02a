// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Command run multiplies two matrices on a Hopper GPU and compares a few elements.
package main

import (
	"errors"
	"fmt"
	"log"
	"math"
	"math/rand/v2"

	"github.com/ptxdsl/ptxdsl/docs/tutorial/code/hopper"
	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/runtime"
)

func main() {
	if err := run(1024, 2048, 512); err != nil {
		log.Fatal(err)
	}
}

func run(m, n, k int) error {
	dev, err := runtime.Open("")
	if err != nil {
		return err
	}
	defer dev.Close()
	module := dsl.New("gemm", "sm_90a")
	hopper.Build(module)
	mod, err := dev.Load(module)
	if err != nil {
		return err
	}
	gemm, err := mod.Kernel("gemm")
	if err != nil {
		return err
	}

	as, bs := random(m*k), random(n*k)
	a, e1 := runtime.Upload(dev, as)
	b, e2 := runtime.Upload(dev, bs)
	d, e3 := runtime.Alloc[runtime.BF16](dev, m*n)
	if err := errors.Join(e1, e2, e3); err != nil {
		return err
	}
	// The kernel knows the box, the swizzle and the element type of each tensor map.
	mapA, e1 := gemm.TensorMap("a", a, m, k)
	mapB, e2 := gemm.TensorMap("b", b, n, k)
	mapD, e3 := gemm.TensorMap("d", d, m, n)
	if err := errors.Join(e1, e2, e3); err != nil {
		return err
	}
	grid := runtime.Grid(dev.Info().SMs) // one persistent block for each SM
	if err := gemm.Launch(grid, mapA, mapB, mapD, m, n, k); err != nil {
		return err
	}
	got, err := runtime.Download(d)
	if err != nil {
		return err
	}
	for range 1000 {
		i, j := rand.IntN(m), rand.IntN(n)
		var want float64
		for l := range k {
			want += float64(as[i*k+l].Float32()) * float64(bs[j*k+l].Float32())
		}
		if x := float64(got[i*n+j].Float32()); math.Abs(x-want) > 0.01*math.Abs(want)+0.05 {
			return fmt.Errorf("row %d, column %d is %v, want %v", i, j, x, want)
		}
	}
	fmt.Println("1000 elements compared")
	return nil
}

func random(n int) []runtime.BF16 {
	xs := make([]runtime.BF16, n)
	for i := range xs {
		xs[i] = runtime.ToBF16(2*rand.Float32() - 1)
	}
	return xs
}
