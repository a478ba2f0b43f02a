// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package emu

import (
	"fmt"
	"io"
	goruntime "runtime"
	"strconv"
	"strings"

	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/runtime/device"
)

// Options say what a device is like.
type Options struct {
	// Target is the target whose limits the device has: sm_90a. With "" it runs modules for every
	// target and has the limits of sm_90a.
	Target string
	// Seed chooses the order in which warps have their turns. A kernel without races computes the same
	// with all of them.
	Seed uint64
	// Interleave lets blocks start in a random order and take turns after a few instructions. It needs a
	// Seed other than 0 and one worker, and is slow.
	Interleave bool
	// Completion says when asynchronous operations take effect.
	Completion Completion
	// Workers is how many blocks run at once; with 0, as many as there are processors.
	Workers int
	// Unchecked accepts reads of memory that was never written. Bounds and alignment are checked always.
	Unchecked bool
	// Strict reports loads of shared and local memory that was never written even where no lane uses the
	// value.
	// Kernels that fetch ahead load from a stage that was never filled, which is no mistake.
	Strict bool
	// Memory is the bytes of global memory; with 0, 16 GiB.
	Memory int64
	// Number tells devices apart that are open at once, from 0 to 255: their memory has different
	// addresses. Device.Reach changes the number of a device without memory where it must.
	Number int
	// Limit ends a launch with a fault after about so many instructions of threads; 0 is no limit.
	Limit int64
	// Progress is called now and then while a kernel runs, and once when it has ended, if it took
	// long. It must not use the device.
	Progress func(Progress)
	// Observer watches what kernels do; nil for none.
	Observer Observer
	// Output is where vprintf writes; with nil, the standard output.
	Output io.Writer
}

// defaultTarget has the limits of a device for which none is named.
const defaultTarget = "sm_90a"

// infoOf returns what a device with these options is.
func infoOf(o Options) (device.Info, error) {
	name := o.Target
	if name == "" {
		name = defaultTarget
	}
	target, ok := isa.ParseTarget(name)
	if !ok {
		return device.Info{}, fmt.Errorf("%q is not a PTX target", o.Target)
	}
	n := target.Info().Number
	if n < 70 {
		return device.Info{}, fmt.Errorf("%s is too old: the emulator has the independent lanes of sm_70 and later", name)
	}
	place := "emu"
	if o.Target != "" {
		place += ":" + o.Target
	}
	if o.Number != 0 {
		place += ":" + strconv.Itoa(o.Number)
	}
	limits := limitsOf(n)
	reserved := 0 // bytes of shared memory of each block, from sm_80 on
	if n >= 80 {
		reserved = sharedStart
	}
	info := device.Info{
		Name: "PTX emulator (" + name + ")", Place: place, Target: target.String(), Driver: "emulator on " + goruntime.GOARCH, Capability: n,
		Memory: o.Memory, L2: 50 << 20, SMs: limits.multiprocessors, WarpSize: 32, Clock: 1_000_000, MemoryClock: 1_000_000, MemoryBits: 64,
		MaxGrid: [3]int{1<<31 - 1, 65535, 65535}, MaxBlock: [3]int{1024, 1024, 64}, MaxThreads: 1024, Threads: limits.warps * 32, Blocks: limits.blocks,
		Registers: 65536, Shared: 48 << 10, SharedOptIn: limits.shared - reserved, SharedPerSM: limits.shared,
		Clusters: n >= 90, Cooperative: true, TensorMaps: n >= 90, PeerCapable: true, Emulated: true, MaxParameter: 4096, AllTargets: o.Target == "",
	}
	if n >= 70 {
		info.MaxParameter = 32764
	}
	if info.AllTargets { // kernels have the limits of their target
		info.Clusters, info.TensorMaps = true, true
	}
	return info, nil
}

// A limit is what a multiprocessor of a target holds, from the table of compute capabilities of the
// CUDA programming guide.
type limit struct{ warps, blocks, shared, multiprocessors int }

// limitsOf returns the limits of a target by its number.
func limitsOf(number int) limit {
	const k = 1 << 10
	switch {
	case number < 75:
		return limit{64, 32, 96 * k, 80}
	case number < 80:
		return limit{32, 16, 64 * k, 72}
	case number < 86:
		return limit{64, 32, 164 * k, 108}
	case number < 87:
		return limit{48, 16, 100 * k, 84}
	case number < 89:
		return limit{48, 16, 164 * k, 16}
	case number < 90:
		return limit{48, 24, 100 * k, 128}
	case number < 107:
		return limit{64, 32, 228 * k, 132}
	case number < 120:
		return limit{48, 24, 228 * k, 20}
	}
	return limit{48, 24, 100 * k, 170}
}

// ParsePlace reads the name of an emulated device as runtime.Open takes it: emu, emu:sm_90a, and with
// a number emu:1, emu:sm_90a:1.
func ParsePlace(name string) (Options, error) {
	parts := strings.Split(name, ":")
	var o Options
	if n := len(parts); n > 1 && parts[n-1] != "" && !strings.HasPrefix(parts[n-1], "sm_") {
		number, err := strconv.Atoi(parts[n-1])
		if err != nil || number < 0 || number >= mostDevices {
			return Options{}, fmt.Errorf("%q is not an emulated device; emu, emu:sm_90a and emu:1 are", name)
		}
		o.Number, parts = number, parts[:n-1]
	}
	if parts[0] != "emu" || len(parts) > 2 || len(parts) == 2 && parts[1] == "" {
		return Options{}, fmt.Errorf("%q is not an emulated device; emu, emu:sm_90a and emu:1 are", name)
	}
	if len(parts) == 2 {
		o.Target = parts[1]
	}
	_, err := infoOf(o)
	return o, err
}
