// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package runtime runs kernels: it opens a device, loads modules into it, moves data, and launches. Arguments are checked against what
// the kernel declares before anything is launched, and what the device has to say comes back as Go errors.
//
//	dev, err := runtime.Open("")
//	mod, err := dev.Load(m)                     // a *dsl.Module, or runtime.PTX(text)
//	x, err := runtime.Upload(dev, xs)           // a Buffer[float32]
//	k, err := mod.Kernel("vecadd")
//	err = k.Launch(runtime.Grid(blocks), x, y, z, uint32(n))
//
// Everything that is opened, loaded, made or allocated has a Close; that of a device closes all that it has. Values may be used from several
// goroutines, but two that write one buffer have to agree, and closing what another still uses is an error there.
//
// # Order
//
// Work that names no stream is done in the order given, after all work on streams that were there before it, and before
// what is given to them later; a stream made with [Apart] is not bound by that. Launches return before the kernel has
// run. Copies between Go memory and a device return when they are done; those of [Pinned] memory need not.
package runtime
