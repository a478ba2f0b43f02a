// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package program compares what whole kernels leave in memory in the emulator and on a GPU: memory
// accesses, atomics, warp instructions, barriers, copies and matrix instructions. Every program
// runs on both with the same inputs. The results of a GPU are kept as a record, so that the
// emulator can be compared with them on any machine.
package program
