// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package emutest opens emulated devices for tests that change the text of kernels: a kernel with a
// mistake must not compute what the right one computes.
package emutest

import (
	"regexp"

	"github.com/ptxdsl/ptxdsl/runtime/device"
	"github.com/ptxdsl/ptxdsl/runtime/emu"
)

// A Device is an emulated device that can change the text of modules.
type Device struct {
	*emu.Device
	// Edit, where it is not nil, is applied to the PTX of every module: to see that a mistake
	// is found.
	Edit func(text string) string
	Ran  map[string]int // how often each opcode of tcgen05.mma is in the modules
}

// New opens a device of a target.
func New(target string) *Device {
	d, err := emu.New(emu.Options{Target: target, Workers: 1})
	if err != nil {
		panic(err)
	}
	return &Device{Device: d, Ran: make(map[string]int)}
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
