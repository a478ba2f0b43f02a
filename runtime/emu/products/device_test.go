// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package products runs matrix products for sm_100a and sm_120a on the emulator. It compares them
// with float64 references of operands that it decodes independently.
package products

import "github.com/ptxdsl/ptxdsl/internal/emutest"

// A Device is an emulated device that can modify the text of modules before they are loaded.
type Device = emutest.Device

// New opens a device of a target.
func New(target string) *Device { return emutest.New(target) }

// word reads bytes as an integer.
func word(b []byte) (x uint64) {
	for i := len(b) - 1; i >= 0; i-- {
		x = x<<8 | uint64(b[i])
	}
	return x
}

// put writes an integer.
func put(b []byte, x uint64) {
	for i := range b {
		b[i] = byte(x >> (8 * i))
	}
}
