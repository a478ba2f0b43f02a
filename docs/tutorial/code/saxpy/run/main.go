// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Command run runs saxpy on a device and prints the first results.
package main

import (
	"fmt"
	"log"

	"github.com/ptxdsl/ptxdsl/docs/tutorial/code/saxpy"
	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/runtime"
)

func main() {
	if err := run(1 << 20); err != nil {
		log.Fatal(err)
	}
}

func run(n int) error {
	dev, err := runtime.Open("")
	if err != nil {
		return err
	}
	defer dev.Close() // closes the module and the buffers too

	m := dsl.New("saxpy", dev.Info().Target)
	saxpy.Build(m)
	mod, err := dev.Load(m)
	if err != nil {
		return err
	}
	k, err := mod.Kernel("saxpy")
	if err != nil {
		return err
	}

	xs, ys := make([]float32, n), make([]float32, n)
	for i := range xs {
		xs[i], ys[i] = float32(i), 1
	}
	x, err := runtime.Upload(dev, xs)
	if err != nil {
		return err
	}
	y, err := runtime.Upload(dev, ys)
	if err != nil {
		return err
	}
	if err := k.Launch(runtime.Grid(512), x, y, float32(2), n); err != nil {
		return err
	}
	result, err := runtime.Download(y) // waits for the kernel
	if err != nil {
		return err
	}
	for i, v := range result {
		if want := 2*float32(i) + 1; v != want {
			return fmt.Errorf("y[%d] is %v, want %v", i, v, want)
		}
	}
	fmt.Println(result[:4])
	return nil
}
