// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package gputest

import (
	"regexp"
	"slices"
	"testing"

	"github.com/ptxdsl/ptxdsl/form"
	"github.com/ptxdsl/ptxdsl/ptx"
)

// TestLaunches checks that every pattern matches kernels, and that the passes keep these kernels
// and leave no errors.
func TestLaunches(t *testing.T) {
	entry := regexp.MustCompile(`\.entry (\w+)`)
	total := 0
	for _, l := range launches() {
		before, after, err := text(l.file)
		if err != nil {
			t.Errorf("%s: %v", l.file, err)
			continue
		}
		file, faults := ptx.Parse(l.file, after)
		faults = append(faults, form.Check(file, form.Options{})...)
		if faults.Errors() > 0 {
			t.Errorf("%v: %s", faults[0].Place, faults[0].Message)
		}
		pattern, n := regexp.MustCompile(l.kernels), 0
		for _, m := range entry.FindAllStringSubmatch(before, -1) {
			if pattern.MatchString(m[1]) {
				n++
			}
		}
		if n == 0 {
			t.Errorf("%s has no kernels that %s finds", l.file, l.kernels)
		}
		total += n
		if a, b := entry.FindAllString(before, -1),
			entry.FindAllString(after, -1); !slices.Equal(a, b) {
			t.Errorf("%s has the kernels %v, then %v", l.file, a, b)
		}
	}
	if total < 100 {
		t.Errorf("only %d kernels", total)
	}
}
