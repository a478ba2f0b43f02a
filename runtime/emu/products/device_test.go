// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package products runs matrix products of sm_100a and sm_120a on the emulator and compares them
// with sums in float64 of operands that it decodes by itself.
package products

import (
	"regexp"

	"github.com/ptxdsl/ptxdsl/runtime/device"
	"github.com/ptxdsl/ptxdsl/runtime/emu"
)

// A Device is an emulated device that can change the text of modules.
type Device struct {
	*emu.Device
	target string
	// Edit, where it is not nil, is applied to the PTX of every module: to see that a mistake is found.
	Edit func(text string) string
	Ran  map[string]int // how often each opcode of tcgen05.mma is in the modules
}

// New opens a device of a target.
func New(target string) *Device {
	d, err := emu.New(emu.Options{Target: target, Workers: 1})
	if err != nil {
		panic(err)
	}
	return &Device{Device: d, target: target, Ran: make(map[string]int)}
}

// Load loads a module.
func (d *Device) Load(im device.Image) (device.Loaded, error) {
	if d.Edit != nil {
		im.PTX = d.Edit(im.PTX)
	}
	for _, op := range products.FindAllString(im.PTX, -1) {
		d.Ran[op]++
	}
	return d.Device.Load(im)
}

// products finds opcodes of tcgen05.mma.
var products = regexp.MustCompile(`tcgen05\.mma[\w.:]*`)

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
