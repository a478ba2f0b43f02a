// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Command 05_scan makes running sums of each block's part of a vector.
package main

import "github.com/ptxdsl/ptxdsl/internal/show"

func main() { show.Main("scan", "sm_90", Build) }
