// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Command 04_reduce sums a vector: within warps by shuffles, within the block through shared memory, between blocks by an atomic.
package main

import "github.com/ptxdsl/ptxdsl/internal/show"

func main() { show.Main("reduce", "sm_90", Build) }
