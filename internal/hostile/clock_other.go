// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !unix

package hostile

import "time"

var begun = time.Now()

// processorTime returns the wall-clock time since the start, because the system does not report
// processor time.
func processorTime() time.Duration { return time.Since(begun) }
