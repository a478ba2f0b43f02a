// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package w4a16

import (
	"fmt"

	"github.com/ptxdsl/ptxdsl/runtime"
)

// Weights are integers from 0 to 15; the value Zero represents zero. They are packed in groups of
// 64 columns, in which each lane of a warp loads its operands for one step with one 16-byte
// access.
const (
	Zero  = 8
	pack  = 64
	words = pack * 4 / 32
)

// Pack converts weights to the layout of the kernels. The argument contains n columns of k
// weights. The words of a group of 64 columns are ordered by step of 16 weights, and then by
// lane. A lane has four words, and each word contains weights of one column in each of two groups
// of eight columns. For each of these columns the word contains four weights: two adjacent
// weights, and the two weights that are eight positions further.
func Pack(weights []uint8, n, k int) ([]uint32, error) {
	if n%pack != 0 || k%16 != 0 || len(weights) != n*k {
		return nil, fmt.Errorf(
			"%d weights in %d columns of %d; multiples of %d and 16 are expected", len(weights), n,
			k, pack)
	}
	packed := make([]uint32, n*k/8)
	for col := range n {
		for at := range k {
			w := weights[col*k+at]
			if w > 15 {
				return nil, fmt.Errorf("weight %d of column %d is %d; four bits are expected", at,
					col, w)
			}
			// the index of the group of eight columns among the 64 columns, and which of two
			// adjacent weights
			eight, odd := col%pack/8, at%2
			lane := col%8*4 + at%8/2
			word := (col/pack*(k/16)+at/16)*32*4 + lane*4 + eight/2
			packed[word] |= uint32(w) << (at%16/8*4 + eight%2*8 + odd*16)
		}
	}
	return packed, nil
}

// PackScales converts scales to the layout of the kernels: one row of n scales for every Group
// weights, in which the scales that a lane needs for 64 columns are adjacent.
func PackScales(scales []runtime.F16, n int) ([]runtime.F16, error) {
	if n%pack != 0 || len(scales)%n != 0 {
		return nil, fmt.Errorf("%d scales in rows of %d; rows of a multiple of %d are expected",
			len(scales), n, pack)
	}
	packed := make([]runtime.F16, len(scales))
	for i, s := range scales {
		packed[i/pack*pack+i%8*8+i%pack/8] = s
	}
	return packed, nil
}
