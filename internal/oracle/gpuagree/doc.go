// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package gpuagree compares the arithmetic of isa/eval and isa/eval/tensorcore with a GPU. It
// generates a kernel for every operation that the target can execute. The kernels run on a
// machine with a GPU, which records the results; the results can be compared on any machine. The
// inputs are generated from the same seed on both.
package gpuagree
