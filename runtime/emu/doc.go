// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package emu executes PTX on any machine. A device of the package runs kernels that its driver would
// be given, with warps of 32 lanes side by side, and checks every access to memory: bounds, alignment
// and reads of what was never written. What an instruction does comes from packages isa and isa/eval;
// an instruction that is not emulated ends the load of the kernel with its line. The package measures
// no time: clocks count instructions.
package emu
