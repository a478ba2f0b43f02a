// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package gpuagree compares the arithmetic of isa/eval and isa/eval/tensorcore with a GPU: it makes
// a kernel for every operation that the target executes, runs the kernels where there is a GPU, and
// compares the recorded results anywhere. Inputs come from a seed on both sides.
package gpuagree
