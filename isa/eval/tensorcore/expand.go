// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package tensorcore

// Container returns the number of unused bits below a four- or six-bit element in its byte, in
// registers and tensor memory, for the kinds that mix formats. A four-bit element is in the middle
// of the byte, where it reads as an e2m3 whose mantissa ends in zeros.
func Container(e *Element) int {
	_, inset := container(e, true)
	return inset
}

// Expand unpacks 16 elements of four or six bits, which are in the first 8 or 12 bytes, to one byte
// each, in its low bits. ldmatrix and tcgen05.cp do this for .b8x16 from .b4x16_p64 and .b6x16_p32.
// Four-bit elements must be shifted to the position that Container returns before an mma reads
// them, as CUTLASS does.
func Expand(from [16]byte, bits int) (to [16]byte) {
	for i := range to {
		to[i] = byte(field(&from, i*bits, bits))
	}
	return to
}
