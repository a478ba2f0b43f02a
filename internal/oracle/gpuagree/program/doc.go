// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package program compares the memory contents that kernels produce in the emulator and on a GPU.
// The kernels use memory accesses, atomics, warp instructions, barriers, copies and matrix
// instructions. Each kernel runs on both with the same inputs. The results of a GPU are recorded,
// so that the emulator can be compared with them on any machine.
package program
