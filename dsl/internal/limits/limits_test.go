// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package limits_test

import (
	"testing"

	"github.com/ptxdsl/ptxdsl/dsl/internal/limits"
)

// TestFit tries extents around the limit, and products that overflow.
func TestFit(t *testing.T) {
	for _, test := range []struct {
		extents [3]int
		want    bool
	}{
		{[3]int{1024, 1, 1}, true},
		{[3]int{8, 16, 8}, true},
		{[3]int{1025, 1, 1}, false},
		{[3]int{33, 32, 1}, false},
		{[3]int{1, 1, 0}, false},
		{[3]int{-4, -4, 4}, false},
		{[3]int{1 << 62, 1 << 62, 4}, false},
	} {
		if got := limits.Fit(test.extents, 1024); got != test.want {
			t.Errorf("%v: got %t, want %t", test.extents, got, test.want)
		}
	}
}

// TestTargets compares the limits of some GPUs with the CUDA Programming Guide.
func TestTargets(t *testing.T) {
	for _, test := range []struct {
		target, threads, blocks int
		shared                  int64
	}{
		{75, 1024, 16, 64 << 10},
		{80, 2048, 32, 163 << 10},
		{86, 1536, 16, 99 << 10},
		{89, 1536, 24, 99 << 10},
		{90, 2048, 32, 227 << 10},
		{100, 2048, 32, 227 << 10},
		{120, 1536, 24, 99 << 10},
		{52, 1024, 16, limits.StaticShared},
	} {
		threads, blocks := limits.Residents(test.target)
		if threads != test.threads || blocks != test.blocks ||
			limits.Shared(test.target) != test.shared {
			t.Errorf("sm_%d: %d threads, %d blocks, %d bytes", test.target, threads, blocks,
				limits.Shared(test.target))
		}
	}
}
