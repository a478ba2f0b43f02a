// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package emu executes PTX on any machine. An emulated device takes the same modules as a driver,
// runs warps of 32 lanes, and checks every memory access: bounds, alignment and reads of
// uninitialized memory. The semantics of instructions come from packages isa and isa/eval. If a
// kernel contains an instruction that is not emulated, loading it fails with the line of the
// instruction. The package does not measure time: clocks count instructions.
package emu
