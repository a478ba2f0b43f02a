// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package tensorcore

// The fragment layouts of mma in the manual (9.7.14.5.2 to 9.7.14.5.13): the row and column of
// element i of a lane. They share no code with the package.

type fragment func(lane, i int) (row, col int)

func pick(low bool, a, b int) int {
	if low {
		return a
	}
	return b
}

// manualA returns the layout of A for a shape and an element width, and the number of elements per
// lane.
func manualA(shape string, bits int) (fragment, int) {
	switch {
	case shape == "m8n8k4":
		return func(l, _ int) (int, int) { return l >> 2, l % 4 }, 1
	case shape == "m8n8k16":
		return func(l, i int) (int, int) { return l >> 2, l%4*4 + i }, 4
	case shape == "m8n8k32":
		return func(l, i int) (int, int) { return l >> 2, l%4*8 + i }, 8
	case shape == "m8n8k128":
		return func(l, i int) (int, int) { return l >> 2, l%4*32 + i }, 32
	case shape == "m16n8k4":
		return func(l, i int) (int, int) { return l>>2 + i*8, l % 4 }, 2
	case shape == "m16n8k8" && bits == 16:
		return func(l, i int) (int, int) { return l>>2 + pick(i < 2, 0, 8), l%4*2 + i&1 }, 4
	case shape == "m16n8k8":
		return func(l, i int) (int, int) { return l>>2 + i%2*8, l%4 + pick(i < 2, 0, 4) }, 4
	case shape == "m16n8k16" && bits == 16:
		return func(l, i int) (int, int) {
			low := i < 2 || i >= 4 && i < 6
			return l>>2 + pick(low, 0, 8), l%4*2 + i&1 + pick(i < 4, 0, 8)
		}, 8
	case shape == "m16n8k16" && bits == 64:
		return func(l, i int) (int, int) {
			if i%2 == 0 {
				return l >> 2, i*2 + l%4
			}
			return l>>2 + 8, i*2 - 2 + l%4
		}, 8
	case shape == "m16n8k16":
		return func(l, i int) (int, int) { return l>>2 + pick(i < 4, 0, 8), l%4*4 + i&3 }, 8
	case shape == "m16n8k32" && bits == 4:
		return func(l, i int) (int, int) { return l>>2 + pick(i < 8, 0, 8), l%4*8 + i&7 }, 16
	case shape == "m16n8k32":
		return func(l, i int) (int, int) {
			low := i < 4 || i >= 8 && i < 12
			return l>>2 + pick(low, 0, 8), l%4*4 + i&3 + pick(i < 8, 0, 16)
		}, 16
	case shape == "m16n8k64":
		return func(l, i int) (int, int) {
			low := i < 8 || i >= 16 && i < 24
			return l>>2 + pick(low, 0, 8), l%4*8 + i&7 + pick(i < 16, 0, 32)
		}, 32
	case shape == "m16n8k128":
		return func(l, i int) (int, int) { return l>>2 + pick(i < 32, 0, 8), l%4*32 + i&31 }, 64
	case shape == "m16n8k256":
		return func(l, i int) (int, int) {
			low := i < 32 || i >= 64 && i < 96
			return l>>2 + pick(low, 0, 8), l%4*32 + i&31 + pick(i < 64, 0, 128)
		}, 128
	}
	return nil, 0
}

// manualB returns the layout of B, with k as the row.
func manualB(shape string, bits int) (fragment, int) {
	switch {
	case shape == "m8n8k4" || shape == "m16n8k4":
		return func(l, _ int) (int, int) { return l % 4, l >> 2 }, 1
	case shape == "m8n8k16":
		return func(l, i int) (int, int) { return l%4*4 + i, l >> 2 }, 4
	case shape == "m8n8k32":
		return func(l, i int) (int, int) { return l%4*8 + i, l >> 2 }, 8
	case shape == "m8n8k128" || shape == "m16n8k128":
		return func(l, i int) (int, int) { return l%4*32 + i, l >> 2 }, 32
	case shape == "m16n8k8" && bits == 16:
		return func(l, i int) (int, int) { return l%4*2 + i, l >> 2 }, 2
	case shape == "m16n8k8":
		return func(l, i int) (int, int) { return l%4 + i*4, l >> 2 }, 2
	case shape == "m16n8k16" && bits == 16:
		return func(l, i int) (int, int) { return l%4*2 + i&1 + pick(i < 2, 0, 8), l >> 2 }, 4
	case shape == "m16n8k16" && bits == 64:
		return func(l, i int) (int, int) { return l%4 + i*4, l >> 2 }, 4
	case shape == "m16n8k16":
		return func(l, i int) (int, int) { return l%4*4 + i, l >> 2 }, 4
	case shape == "m16n8k32" && bits == 4:
		return func(l, i int) (int, int) { return l%4*8 + i&7, l >> 2 }, 8
	case shape == "m16n8k32":
		return func(l, i int) (int, int) { return l%4*4 + i&3 + pick(i < 4, 0, 16), l >> 2 }, 8
	case shape == "m16n8k64":
		return func(l, i int) (int, int) { return l%4*8 + i&7 + pick(i < 8, 0, 32), l >> 2 }, 16
	case shape == "m16n8k256":
		return func(l, i int) (int, int) { return l%4*32 + i&31 + pick(i < 32, 0, 128), l >> 2 }, 64
	}
	return nil, 0
}

// manualC returns the layout of the accumulators.
func manualC(rows int) (fragment, int) {
	if rows == 8 {
		return func(l, i int) (int, int) { return l >> 2, l%4*2 + i&1 }, 2
	}
	return func(l, i int) (int, int) { return l>>2 + pick(i < 2, 0, 8), l%4*2 + i&1 }, 4
}
