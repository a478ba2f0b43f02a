// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !unix

package hostile

import "time"

var begun = time.Now()

// processorTime returns wall-clock time, on systems without a processor time.
func processorTime() time.Duration { return time.Since(begun) }
