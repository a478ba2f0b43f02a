// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"runtime/debug"
)

// Syntax trees are used once and then garbage. With few garbage collections the run takes half
// the time. Few small files are in memory at once, so the cost in memory is small. Before a large
// file the default is restored, because five times the size of its tree could exceed the memory
// of the machine.
const (
	seldomPercent = 400     // GOGC in percent
	usualPercent  = 100     // Go's default
	largeFile     = 8 << 20 // bytes of source
)

// collectSeldom makes garbage collections rare, for a run over many inputs, unless GOGC is set.
func collectSeldom() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(seldomPercent)
	}
}

// collectUsually restores the default before a large input.
func collectUsually(bytes int64) {
	if bytes > largeFile && os.Getenv("GOGC") == "" {
		debug.SetGCPercent(usualPercent)
	}
}
