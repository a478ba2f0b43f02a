// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !unix

package hostile

import "time"

var begun = time.Now()

// processorTime is the time on the clock, where the system does not say how long the process has computed.
func processorTime() time.Duration { return time.Since(begun) }
