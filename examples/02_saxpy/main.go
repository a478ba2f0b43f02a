// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Command 02_saxpy computes y = a*x + y, four elements at a time.
package main

import "github.com/ptxdsl/ptxdsl/internal/show"

func main() { show.Main("saxpy", "sm_90", Build) }
