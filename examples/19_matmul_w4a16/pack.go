// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package w4a16

import (
	"fmt"

	"github.com/ptxdsl/ptxdsl/runtime"
)

// Weights are numbers from 0 to 15, of which Zero stands for zero. They are packed for 64 columns at a time: for each number of the depth these
// have eight words, in which every lane of a warp finds what it multiplies 16 bytes at a time.
const (
	Zero  = 8
	pack  = 64
	words = pack * 4 / 32
)

// Pack lays weights out as the kernel reads them, given n columns of k of them each. The words of 64 columns follow one another, step by step of 16
// weights, lane by lane. A lane has four words, each for two times eight columns, of which one is its own; of that it has four weights,
// two neighbours and the two eight further on.
func Pack(weights []uint8, n, k int) ([]uint32, error) {
	if n%pack != 0 || k%16 != 0 || len(weights) != n*k {
		return nil, fmt.Errorf("%d weights in %d columns of %d; multiples of %d and 16 are expected", len(weights), n, k, pack)
	}
	packed := make([]uint32, n*k/8)
	for col := range n {
		for at := range k {
			w := weights[col*k+at]
			if w > 15 {
				return nil, fmt.Errorf("weight %d of column %d is %d; four bits are expected", at, col, w)
			}
			eight, odd := col%pack/8, at%2 // which eight columns of the 64, and which of two neighbours
			lane := col%8*4 + at%8/2
			word := (col/pack*(k/16)+at/16)*32*4 + lane*4 + eight/2
			packed[word] |= uint32(w) << (at%16/8*4 + eight%2*8 + odd*16)
		}
	}
	return packed, nil
}

// PackScales lays scales out as the kernel reads them, a row of n for each Group of weights: those that a lane needs of 64 columns stand side by side.
func PackScales(scales []runtime.F16, n int) ([]runtime.F16, error) {
	if n%pack != 0 || len(scales)%n != 0 {
		return nil, fmt.Errorf("%d scales in rows of %d; rows of a multiple of %d are expected", len(scales), n, pack)
	}
	packed := make([]runtime.F16, len(scales))
	for i, s := range scales {
		packed[i/pack*pack+i%8*8+i%pack/8] = s
	}
	return packed, nil
}
