// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

//go:build race

package hostile

// raceDetector reports whether the race detector is enabled. Its overhead grows faster than the
// text, so Growth then measures nothing.
const raceDetector = true
