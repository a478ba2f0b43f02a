// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package ptx_test

import (
	"testing"

	"github.com/ptxdsl/ptxdsl/internal/hostile"
	"github.com/ptxdsl/ptxdsl/ptx"
)

// TestLinear checks that formatting takes time in proportion to the length of hostile text. The
// test of that name in cmd/ptxdsl does the same with all commands.
func TestLinear(t *testing.T) {
	size := 3000
	if testing.Short() {
		size = 1000 // under the race detector, larger sizes would take minutes
	}
	for _, x := range hostile.Texts() {
		e, short, long := x.Growth(size, func(text string) { ptx.Format("hostile", text) })
		if e > hostile.Exponent {
			t.Errorf("%s: %d times the text takes %.0f times as long: %v, %v", x.Name,
				hostile.Times,
				long.Seconds()/short.Seconds(), short, long)
		}
	}
}
