// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package runtime runs kernels: it opens a device, loads modules into it, copies data, and
// launches kernels. It checks arguments against the kernel's parameters before a launch, and
// returns the device's errors as Go errors.
//
//	dev, err := runtime.Open("")
//	mod, err := dev.Load(m)                     // a *dsl.Module, or runtime.PTX(text)
//	x, err := runtime.Upload(dev, xs)           // a Buffer[float32]
//	k, err := mod.Kernel("vecadd")
//	err = k.Launch(runtime.Grid(blocks), x, y, z, uint32(n))
//
// Everything that is opened, loaded or allocated has a Close method; closing a device closes
// everything on it. Values can be used by several goroutines, but writes to one buffer need
// synchronization, and closing a value that is still in use is an error.
//
// # Order
//
// Work that is submitted without a stream runs in order on the default stream. It runs after all
// earlier work on other streams, and before all later work on them. Streams created with [Apart]
// are not ordered with the default stream. Launches return before the kernel has run. Copies
// between Go memory and a device return when they are complete; copies of [Pinned] memory may
// return earlier.
package runtime
