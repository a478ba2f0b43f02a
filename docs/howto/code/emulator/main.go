// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Command emulator runs example 02 in the emulator, counts what it does and writes a timeline.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/ptxdsl/ptxdsl/dsl"
	saxpy "github.com/ptxdsl/ptxdsl/examples/02_saxpy"
	"github.com/ptxdsl/ptxdsl/runtime"
	"github.com/ptxdsl/ptxdsl/runtime/emu"
	"github.com/ptxdsl/ptxdsl/runtime/emu/inspect"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() (err error) {
	stats, timeline := inspect.NewStats(), inspect.NewTimeline()
	back, err := emu.New(emu.Options{
		Target:     "sm_90a",
		Completion: emu.Random, // asynchronous operations complete at a random time
		Seed:       1,
		Observer:   emu.Observers(stats, timeline),
	})
	if err != nil {
		return err
	}
	dev := runtime.On(back)
	defer func() { err = errors.Join(err, dev.Close()) }()

	m := dsl.New("saxpy", "sm_90a")
	saxpy.Build(m)
	mod, err := dev.Load(m)
	if err != nil {
		return err
	}
	k, err := mod.Kernel("saxpy")
	if err != nil {
		return err
	}
	x, err := runtime.Upload(dev, make([]float32, 1024))
	if err != nil {
		return err
	}
	y, err := runtime.Upload(dev, make([]float32, 1024))
	if err != nil {
		return err
	}
	// The context aborts the kernel, even if it would never end.
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := k.LaunchContext(ctx, runtime.Grid(1), x, y, float32(2), 1024); err != nil {
		return err
	}
	if err := stats.Print(os.Stdout); err != nil {
		return err
	}
	file, err := os.Create("saxpy.json")
	if err != nil {
		return err
	}
	return errors.Join(timeline.Write(file), file.Close())
}
