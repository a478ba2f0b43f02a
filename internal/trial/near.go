// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package trial

import (
	"fmt"
	"math"
)

// A Number is what results are made of.
type Number interface {
	~int8 | ~int32 | ~uint32 | ~uint8 | ~float32 | ~float64
}

// Same is an error where two lists differ.
func Same[N Number](what string, got, want []N) error { return Near(what, got, want, 0) }

// Near is an error where an element is further from what is wanted than a tolerance, as Differences counts. Not-a-number is near to nothing.
func Near[N Number](what string, got, want []N, tolerance float64) error {
	if len(got) != len(want) {
		return fmt.Errorf("%s: %d results, not %d", what, len(got), len(want))
	}
	wrong, worst := Differences(len(got), func(i int) bool { return got[i] == want[i] },
		func(i int) (float64, float64) { return float64(got[i]), float64(want[i]) }, tolerance)
	if wrong == 0 {
		return nil
	}
	return fmt.Errorf("%s: %d of %d results are wrong; the worst is number %d: %v, not %v", what, wrong, len(got), worst, got[worst], want[worst])
}

// Differences counts which of n numbers are neither the same as what is wanted nor within a tolerance of it, times the size of what is
// wanted where that is above one, and names the one that is furthest off. Numbers that differ without a distance, as large integers do that
// a float64 cannot tell apart, are wrong.
func Differences(n int, same func(i int) bool, pair func(i int) (got, want float64), tolerance float64) (wrong, worst int) {
	distance := -1.0
	for i := range n {
		if same(i) {
			continue
		}
		got, want := pair(i)
		d := math.Abs(got-want) / math.Max(1, math.Abs(want))
		if d > 0 && d <= tolerance {
			continue
		}
		wrong++
		if math.IsNaN(d) {
			d = math.Inf(1)
		}
		if d > distance {
			worst, distance = i, d
		}
	}
	return wrong, worst
}
