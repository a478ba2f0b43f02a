// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"runtime/debug"
)

// Trees are made, looked at once and dropped, so collecting them seldom saves half of the time of a run; of
// small files few are alive at once, so it costs little memory. A large file gets Go's own pace from there
// on: five times its tree could be more than the machine has.
const (
	seldom    = 400     // percent of what is alive
	usual     = 100     // Go's default
	largeFile = 8 << 20 // bytes of source
)

// collectSeldom sets the collector's pace for a run over many inputs. Who sets GOGC knows better.
func collectSeldom() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(seldom)
	}
}

// collectUsually gives the pace back before an input of the given size, if it is large.
func collectUsually(bytes int64) {
	if bytes > largeFile && os.Getenv("GOGC") == "" {
		debug.SetGCPercent(usual)
	}
}
