// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Command 06_histogram counts bytes, with atomics in shared memory.
package main

import "github.com/ptxdsl/ptxdsl/internal/show"

func main() { show.Main("histogram", "sm_90", Build) }
