// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package gpuagree compares the arithmetic of isa/eval and isa/eval/tensorcore with a GPU. It
// generates a kernel for every operation that the target executes, runs the kernels on a machine
// with a GPU, and compares the recorded results on any machine. Both sides compute the inputs from
// the same seed.
package gpuagree
