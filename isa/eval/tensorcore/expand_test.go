// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package tensorcore

import "testing"

func TestExpand(t *testing.T) {
	four := Expand([16]byte{0x21, 0x43, 7: 0xf0}, 4)
	if want := ([16]byte{0: 1, 1: 2, 2: 3, 3: 4, 15: 15}); four != want {
		t.Errorf("four bits: %x, want %x", four, want)
	}
	six := Expand([16]byte{0x81, 0x30, 0x10, 11: 0xfc}, 6) // elements 1, 2, 3, 4
	if want := ([16]byte{0: 1, 1: 2, 2: 3, 3: 4, 15: 0x3f}); six != want {
		t.Errorf("six bits: %x, want %x", six, want)
	}
	// An e2m1 element in its byte reads as e2m3.
	for code := range uint64(16) {
		if x, y := E2M1.Decode(code), E2M3.Decode(code<<Container(E2M1)); x != y {
			t.Errorf("e2m1 %#x is %v, as e2m3 %v", code, x, y)
		}
	}
}
