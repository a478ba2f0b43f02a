// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !unix

package main

import "time"

// cpuTime returns zero, because the processor time of the process is unknown on this system.
func cpuTime() time.Duration { return 0 }
