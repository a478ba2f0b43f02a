// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !amd64 && !arm64

package callsite

import (
	"runtime"
	"slices"
)

// trail writes the return addresses of the active calls to the end of pcs, the outermost first,
// and returns the index of the first address. It stops at mark.
func trail(pcs *stack, mark uintptr) int {
	n := runtime.Callers(3, pcs[:])
	if i := slices.Index(pcs[:n], mark); i >= 0 {
		n = i + 1
	}
	slices.Reverse(pcs[:n])
	return maxStackDepth - copy(pcs[maxStackDepth-n:], pcs[:n])
}
