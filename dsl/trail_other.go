// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !amd64 && !arm64

package dsl

import (
	"runtime"
	"slices"
)

// trail writes the return addresses of the calls that are under way at the end of pcs, that of the function that calls it last, and
// returns where they begin. The first is mark, where it is among them.
func trail(pcs *stack, mark uintptr) int {
	n := runtime.Callers(3, pcs[:])
	if i := slices.Index(pcs[:n], mark); i >= 0 {
		n = i + 1
	}
	slices.Reverse(pcs[:n])
	return deepest - copy(pcs[deepest-n:], pcs[:n])
}
