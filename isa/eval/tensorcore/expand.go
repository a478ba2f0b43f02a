// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package tensorcore

// Container returns the bits below an element of four or six bits in a byte of a register or of
// tensor memory, for the kinds that mix formats. Elements of four bits are in the middle of the
// byte, where they read as e2m3 with a mantissa that ends in zeros.
func Container(e *Element) int {
	_, inset := container(e, true)
	return inset
}

// Expand spreads 16 elements of four or six bits, which lie in the first 8 or 12 bytes, over bytes
// of their own: what ldmatrix and tcgen05.cp do for .b8x16 from .b4x16_p64 and .b6x16_p32. Elements
// are in the low bits. Those of four bits must be shifted to where Container says before an mma reads
// them, as CUTLASS does.
func Expand(from [16]byte, bits int) (to [16]byte) {
	for i := range to {
		to[i] = byte(field(&from, i*bits, bits))
	}
	return to
}
