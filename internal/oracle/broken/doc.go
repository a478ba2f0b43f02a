// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package broken runs `ptxdsl check` on the mutants of package mutants, and compares its verdicts
// with the results of the emulator: whether a mutant computes something else than the kernel from
// which it was derived.
package broken
