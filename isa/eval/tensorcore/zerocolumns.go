// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package tensorcore

// A ZeroColumns specifies which columns of B count as zeros in a weight-stationary product.
type ZeroColumns struct {
	Shift int    // the column of B that is column 0 of the product
	Zero  []bool // by column of the product
}

// ZeroColumnsOf reads a zero-column mask descriptor for a product of m rows and n columns. The mask
// is one, two or four parts for 128, 64 and 32 rows. Each part repeats a span of columns that are
// used and a span of zeros, begins with one of the two, and leaves out some columns at its start.
func ZeroColumnsOf(d uint64, m, n int) ZeroColumns {
	z := ZeroColumns{Shift: int(d >> 56 & 63), Zero: make([]bool, n)}
	if d>>39&1 == 0 {
		return z
	}
	zeros, used := int(d>>40&255)+1, int(d>>48&255)+1
	parts := max(min(128/max(m, 1), 4), 1)
	size := n / parts
	for part := range parts {
		at := int(d >> (8 * part) & 255)
		if d>>(32+part)&1 == 0 {
			at += zeros // begins with columns that are used
		}
		for i := range size {
			z.Zero[part*size+i] = (at+i)%(zeros+used) < zeros
		}
	}
	return z
}
