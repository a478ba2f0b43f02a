// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package emutest provides emulated devices that edit the PTX of modules before they load them.
// Tests use it to check that a kernel with a deliberate mistake gives wrong results.
package emutest

import (
	"regexp"

	"github.com/ptxdsl/ptxdsl/runtime/device"
	"github.com/ptxdsl/ptxdsl/runtime/emu"
)

// A Device is an emulated device that can edit the PTX of modules.
type Device struct {
	*emu.Device
	// Edit, if not nil, is applied to the PTX of every module that is loaded.
	Edit func(text string) string
	Ran  map[string]int // number of occurrences of each tcgen05.mma opcode in the loaded modules
}

// New returns an emulated device for a target, such as "sm_100a".
func New(target string) *Device {
	d, err := emu.New(emu.Options{Target: target, Workers: 1})
	if err != nil {
		panic("bug: emulated device: " + err.Error())
	}
	return &Device{Device: d, Ran: make(map[string]int)}
}

// Load edits the PTX of a module and loads the module.
func (d *Device) Load(im device.Image) (device.Loaded, error) {
	if d.Edit != nil {
		im.PTX = d.Edit(im.PTX)
	}
	for _, op := range products.FindAllString(im.PTX, -1) {
		d.Ran[op]++
	}
	return d.Device.Load(im)
}

// products matches tcgen05.mma opcodes.
var products = regexp.MustCompile(`tcgen05\.mma[\w.:]*`)
