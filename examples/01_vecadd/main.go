// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Command 01_vecadd adds two vectors.
package main

import "github.com/ptxdsl/ptxdsl/internal/show"

func main() { show.Main("vecadd", "sm_90", Build) }
