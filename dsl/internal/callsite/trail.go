// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

//go:build amd64 || arm64

package callsite

// trail writes the return addresses of the active calls to the end of pcs, the outermost first,
// and returns the index of the first address. It follows the frame pointers and stops at mark. It
// is 50 times as fast as runtime.Callers, which looks up each frame in tables. The tables are
// only needed when a position is resolved.
//
//go:noescape
func trail(pcs *stack, mark uintptr) int
