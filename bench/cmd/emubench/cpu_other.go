// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !unix

package main

import "time"

// cpuTime returns zero: on this system the processor time of the process is unknown.
func cpuTime() time.Duration { return 0 }
