// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Command 09_matmul_simt multiplies matrices of F32 without tensor cores.
package main

import "github.com/ptxdsl/ptxdsl/internal/show"

func main() { show.Main("matmul_simt", "sm_90", Build) }
