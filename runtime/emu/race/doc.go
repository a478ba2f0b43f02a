// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package race detects data races. A Detector observes launches of package emu. For each byte, it
// keeps the last accesses, with vector clocks of threads and asynchronous operations. It reports
// a race if no synchronization orders two accesses, even if they happened far apart in the
// observed schedule. It covers only the paths and values of the observed launches.
package race
