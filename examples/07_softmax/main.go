// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Command 07_softmax normalises the rows of a matrix, with one read and one write.
package main

import "github.com/ptxdsl/ptxdsl/internal/show"

func main() { show.Main("softmax", "sm_90", Build) }
