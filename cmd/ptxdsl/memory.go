// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"runtime/debug"
)

// Trees are created, used once and dropped, so collecting garbage seldom halves the run time. Few
// small files are in memory at once, so it costs little memory. For large files the collector
// returns to its normal pace: five times the size of its tree could exceed the machine's memory.
const (
	seldom    = 400     // percent of live memory
	usual     = 100     // Go's default
	largeFile = 8 << 20 // bytes of source
)

// collectSeldom sets the collector's pace for a run over many inputs, unless GOGC is set.
func collectSeldom() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(seldom)
	}
}

// collectUsually restores the pace before a large input.
func collectUsually(bytes int64) {
	if bytes > largeFile && os.Getenv("GOGC") == "" {
		debug.SetGCPercent(usual)
	}
}
