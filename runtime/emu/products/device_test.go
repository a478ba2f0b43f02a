// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package products runs matrix products of sm_100a and sm_120a on the emulator and compares them
// with sums in float64 of operands that it decodes by itself.
package products

import "github.com/ptxdsl/ptxdsl/internal/emutest"

// A Device is an emulated device that can change the text of modules.
type Device = emutest.Device

// New opens a device of a target.
func New(target string) *Device { return emutest.New(target) }

// word reads bytes as a number.
func word(b []byte) (x uint64) {
	for i := len(b) - 1; i >= 0; i-- {
		x = x<<8 | uint64(b[i])
	}
	return x
}

// put writes a number.
func put(b []byte, x uint64) {
	for i := range b {
		b[i] = byte(x >> (8 * i))
	}
}
