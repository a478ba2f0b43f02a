// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Command 03_transpose transposes a matrix through shared memory, without bank conflicts.
package main

import "github.com/ptxdsl/ptxdsl/internal/show"

func main() { show.Main("transpose", "sm_90", Build) }
