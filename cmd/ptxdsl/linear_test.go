// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"io"
	"strings"
	"testing"

	"github.com/ptxdsl/ptxdsl/internal/hostile"
)

// TestLinear runs the commands on hostile text and checks that the time grows linearly with its
// length.
func TestLinear(t *testing.T) {
	size := 3000
	if testing.Short() {
		size = 1000
	}
	t.Setenv("GOGC", "off") // otherwise the commands would change the collector's settings
	texts := hostile.Texts()
	for _, command := range []string{"fmt -e", "fmt -d", "verify -e", "opt -passes=all", "stats -v -exact=false"} {
		args := strings.Fields(command)
		// A first run initializes data that later runs share.
		run(args, strings.NewReader(small), io.Discard, io.Discard)
		most, slowest := 0.0, ""
		for i := range texts {
			x := &texts[i]
			e, short, long := x.Growth(size, func(text string) {
				run(args, strings.NewReader(text), io.Discard, io.Discard)
			})
			if e > most {
				most, slowest = e, x.Name
			}
			if e > hostile.Exponent {
				t.Errorf("%s, %s: %d times the text takes %.0f times as long: %v, %v", command, x.Name, hostile.Times,
					long.Seconds()/short.Seconds(), short, long)
			}
		}
		t.Logf("%-16s the time of %s grows fastest, by the power of %.2f", command, slowest, most)
	}
}
