// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

//go:build amd64 || arm64

package dsl

// trail writes the return addresses of the calls that are under way at the end of pcs, that of the function that calls it last, as the frame
// pointers tell them, and returns where they begin. The first is mark, where it is among them. It takes a fiftieth of the time of
// runtime.Callers, which looks up in tables what each frame is; that can wait until someone asks.
//
//go:noescape
func trail(pcs *stack, mark uintptr) int
