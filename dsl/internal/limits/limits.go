// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package limits holds limits of GPUs that the builder checks: shared memory, resident blocks, and
// the extents of blocks and clusters.
package limits

// StaticShared is the maximum size in bytes of statically declared shared memory per block.
const StaticShared = 48 << 10

// Shared returns the maximum size in bytes of shared memory per block, for the architecture
// sm_number.
func Shared(number int) int64 {
	switch number {
	case 70, 72:
		return 96 << 10
	case 75:
		return 64 << 10
	case 80, 87:
		return 163 << 10
	case 86, 89, 88, 120, 121:
		return 99 << 10
	case 90, 100, 101, 103, 107, 110:
		return 227 << 10
	}
	return StaticShared
}

// Residents returns the maximum numbers of resident threads and blocks per multiprocessor, from
// the table of compute capabilities in the CUDA Programming Guide. ptxas ignores a .minnctapersm
// that exceeds them.
func Residents(target int) (threads, blocks int) {
	switch {
	case target < 80:
		return 1024, 16
	case target < 86:
		return 2048, 32
	case target < 89:
		return 1536, 16
	case target < 90:
		return 1536, 24
	case target < 107:
		return 2048, 32
	case target < 110:
		return 1024, 16
	}
	return 1536, 24
}

// Fit reports whether all elements of n are positive and their product is at most `most`.
func Fit(n [3]int, most int) bool {
	left := most
	for _, x := range n {
		if x < 1 || x > left {
			return false
		}
		left /= x
	}
	return true
}
