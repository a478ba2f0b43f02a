// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package race finds accesses to memory that nothing orders. A Detector watches launches of package emu
// and keeps, for each byte, the last accesses with vector clocks of threads and asynchronous operations.
// It reports a race if no synchronization orders two accesses, also where the schedule at hand happened
// to perform them far apart. It sees only the paths and values of the launches that it watched.
package race
