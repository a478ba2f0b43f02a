// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package check runs kernels in the emulator and reports errors of the executions: data races,
// missing fences, hangs and invalid memory accesses. It derives a launch for a kernel if none is
// given. Each finding happened or could happen in the launches that were run. The findings do not
// cover other launches.
package check
