// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package check runs kernels in the emulator and reports what is wrong with the executions: data races,
// missing fences, hangs, wrong accesses to memory. It derives a launch for a kernel if none is given.
// What it reports happened or could happen in the launches that it ran; it says nothing about others.
package check
