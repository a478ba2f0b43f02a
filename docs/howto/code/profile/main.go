// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Command profile runs saxpy with line information, for a profiler.
package main

import (
	"fmt"
	"log"
	"time"

	"github.com/ptxdsl/ptxdsl/docs/tutorial/code/saxpy"
	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/runtime"
)

func main() {
	if err := run(1 << 24); err != nil {
		log.Fatal(err)
	}
}

func run(n int) error {
	dev, err := runtime.Open("")
	if err != nil {
		return err
	}
	defer dev.Close()

	// dsl.LineInfo writes .file and .loc directives; runtime.LineInfo keeps them in the cubin.
	m := dsl.New("saxpy", dev.Info().Target, dsl.LineInfo())
	saxpy.Build(m)
	mod, err := dev.Load(m, runtime.LineInfo())
	if err != nil {
		return err
	}
	k, err := mod.Kernel("saxpy")
	if err != nil {
		return err
	}
	x, err := runtime.Alloc[float32](dev, n)
	if err != nil {
		return err
	}
	y, err := runtime.Alloc[float32](dev, n)
	if err != nil {
		return err
	}

	launch := func() error { return k.Launch(runtime.Grid(1024), x, y, float32(2), n) }
	took, err := measure(dev, 100, launch)
	if err != nil {
		return err
	}
	fmt.Printf("%v for each launch\n", took)
	return nil
}

// measure returns the mean time of n launches on the device's clock.
func measure(dev *runtime.Device, n int, launch func() error) (time.Duration, error) {
	// An idle GPU runs at a lower clock: keep it busy for a while first.
	for begin := time.Now(); time.Since(begin) < 100*time.Millisecond; {
		if err := launch(); err != nil {
			return 0, err
		}
		if err := dev.Sync(); err != nil {
			return 0, err
		}
	}
	first, err := dev.Event()
	if err != nil {
		return 0, err
	}
	last, err := dev.Event()
	if err != nil {
		return 0, err
	}
	if err := first.Record(nil); err != nil {
		return 0, err
	}
	for range n {
		if err := launch(); err != nil {
			return 0, err
		}
	}
	if err := last.Record(nil); err != nil {
		return 0, err
	}
	if err := last.Sync(); err != nil {
		return 0, err
	}
	total, err := last.Since(first)
	return total / time.Duration(n), err
}
