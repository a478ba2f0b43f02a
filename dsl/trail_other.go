// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !amd64 && !arm64

package dsl

import (
	"runtime"
	"slices"
)

// trail writes the return addresses of the calls that are under way, beginning with that of the function that calls it, and returns how
// many there are. The last is mark, where it is among them.
func trail(pcs *stack, mark uintptr) int {
	n := runtime.Callers(3, pcs[:])
	if i := slices.Index(pcs[:n], mark); i >= 0 {
		return i + 1
	}
	return n
}
