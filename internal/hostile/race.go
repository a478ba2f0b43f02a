// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

//go:build race

package hostile

// raceDetector reports whether the race detector is enabled. Its own work grows faster than the
// text, so Growth measures nothing; runs without it check the bound.
const raceDetector = true
