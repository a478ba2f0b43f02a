// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package broken runs check on the mutants of package mutants, and compares its verdicts with what
// the emulator shows: whether a mutant computes something else than the kernel it was made of.
package broken
