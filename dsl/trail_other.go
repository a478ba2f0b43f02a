// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !amd64 && !arm64

package dsl

import "runtime"

// trail writes the return addresses of the calls that are under way, and returns how many there are.
func trail(pcs *stack) int { return runtime.Callers(3, pcs[:]) }
