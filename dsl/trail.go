// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

//go:build amd64 || arm64

package dsl

// trail writes the return addresses of the active calls to the end of pcs, its caller's last, by
// following the frame pointers. It returns the index of the first. It stops at mark. It takes a
// fiftieth of the time of runtime.Callers, which looks up each frame in tables; that can wait until
// a position is resolved.
//
//go:noescape
func trail(pcs *stack, mark uintptr) int
