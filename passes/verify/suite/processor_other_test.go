// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !unix

package suite_test

import (
	"testing"
	"time"
)

// processor returns the time since the first call: there is no portable way to ask for processor
// time.
func processor(testing.TB) time.Duration { return time.Since(began) }

var began = time.Now()
