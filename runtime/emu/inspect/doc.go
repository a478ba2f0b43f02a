// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package inspect shows what kernels do in the emulator. Stats counts events, Timeline writes a
// trace for Perfetto, Watch prints the changes of a register, and Break prints the state of a
// thread at a line. Each is an observer for emu.Options; emu.Observers combines several
// observers. Observers do not change the results of a kernel.
package inspect
