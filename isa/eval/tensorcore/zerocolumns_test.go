// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package tensorcore

import (
	"strings"
	"testing"
)

// TestZeroColumns has the examples of the manual (9.7.16.4.3).
func TestZeroColumns(t *testing.T) {
	const skip, use, any = uint64(2) << 40, uint64(3) << 48, uint64(1) << 39
	for _, test := range []struct {
		descriptor uint64
		m, n       int
		want       string // the lowest column first
		shift      int
	}{
		{4<<40 | use, 128, 14, "00000000000000", 0},
		{skip | use | any, 128, 14, "00001110000111", 0},
		{skip | use | any | 1<<32, 64, 28, "11100001110000 00001110000111", 0},
		{2<<56 | skip | use | any | 1<<32 | 1<<33 | 1<<8 | 2<<16 | 1<<24, 32, 48,
			"111000011100 110000111000 001110000111 000111000011", 2},
	} {
		z := ZeroColumnsOf(test.descriptor, test.m, test.n)
		var b strings.Builder
		for _, zero := range z.Zero {
			b.WriteByte("01"[btoi(zero)])
		}
		if want := strings.ReplaceAll(test.want, " ", ""); b.String() != want ||
			z.Shift != test.shift {
			t.Errorf("%#x: %s and shift %d, want %s and %d", test.descriptor, &b, z.Shift, want,
				test.shift)
		}
	}
}
