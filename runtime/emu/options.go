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

// Options configure an emulated device.
type Options struct {
	// Target is the target whose limits the device has, such as sm_90a. With "", the device accepts
	// modules for every target and has the limits of sm_90a.
	Target string
	// Seed selects the order in which warps run. A kernel without races computes the same result
	// with every seed.
	Seed uint64
	// Interleave lets blocks start in a random order and take turns after a few instructions. It
	// needs a Seed other than 0 and one worker, and is slow.
	Interleave bool
	// Scattered runs lanes as PTX allows but the emulator otherwise does not: lanes that diverged
	// reconverge only at instructions that need them together, and elect.sync elects the last lane.
	Scattered bool
	// Impatient lets mbarrier.try_wait time out at once: of two consecutive executions that find
	// the phase incomplete, the first one returns false. PTX allows this, but GPUs rarely do it.
	Impatient bool
	// Completion specifies when asynchronous operations take effect.
	Completion Completion
	// Workers is the number of blocks that run at once. 0 means the number of processors.
	Workers int
	// Unchecked allows reads of uninitialized memory. Bounds and alignment are always checked.
	Unchecked bool
	// Strict also reports loads of uninitialized shared and local memory whose value no lane uses.
	// Kernels that prefetch may correctly load from a stage that was never filled.
	Strict bool
	// Exact lets tensor-core instructions add in float64 and round each result once, to nearest.
	// By default they add as the architecture of the module's target does. A comparison of both
	// modes distinguishes rounding errors of an instruction from errors of a kernel.
	Exact bool
	// Memory is the size of global memory in bytes. 0 means 16 GiB.
	Memory int64
	// Number, from 0 to 255, distinguishes devices that are open at the same time. Each number
	// has a separate range of memory addresses. Device.Reach may change the number of a device
	// that has not allocated memory.
	Number int
	// Limit ends a launch with a fault after about this many thread instructions. Each element of
	// a matrix product of a warpgroup or of tcgen05, and each 4 bytes of a copied box, count as one
	// more. 0 means no limit.
	Limit int64
	// Progress is called periodically while a kernel runs, and once at the end if it took long. It
	// must not use the device.
	Progress func(Progress)
	// Observer receives the events of kernels; nil means that no events are reported.
	Observer Observer
	// Output receives the output of vprintf. If nil, it is the standard output.
	Output io.Writer
}

// defaultTarget is the target whose limits a device has if no target is named.
const defaultTarget = "sm_90a"

// infoOf returns the properties of a device with these options.
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
		return device.Info{},
			fmt.Errorf("%s is too old: the emulator needs independent thread scheduling (sm_70 or later)", name)
	}
	place := "emu"
	if o.Target != "" {
		place += ":" + o.Target
	}
	if o.Number != 0 {
		place += ":" + strconv.Itoa(o.Number)
	}
	limits := limitsOf(n)
	reserved := 0 // reserved shared memory per block, from sm_80 on
	if n >= 80 {
		reserved = sharedStart
	}
	title := "PTX emulator"
	if o.Target != "" {
		title += " (" + name + ")" // otherwise it runs kernels for all targets
	}
	info := device.Info{
		Name: title, Place: place, Target: target.String(),
		Driver: "emulator on " + goruntime.GOARCH, Capability: n,
		Memory: o.Memory, L2: 50 << 20, SMs: limits.multiprocessors, WarpSize: 32, Clock: 1_000_000,
		MemoryClock: 1_000_000, MemoryBits: 64,
		MaxGrid: [3]int{1<<31 - 1, 65535, 65535}, MaxBlock: [3]int{1024, 1024, 64},
		MaxThreads: 1024, Threads: limits.warps * 32, Blocks: limits.blocks,
		Registers: 65536, Shared: 48 << 10, SharedOptIn: limits.shared - reserved,
		SharedPerSM: limits.shared,
		Clusters:    n >= 90, Cooperative: true, TensorMaps: n >= 90, PeerCapable: true,
		Emulated: true, MaxParameter: 4096, AllTargets: o.Target == "",
	}
	if n >= 70 {
		info.MaxParameter = 32764
	}
	if info.AllTargets { // kernels have the limits of their target
		info.Clusters, info.TensorMaps = true, true
	}
	return info, nil
}

// A limit holds the capacity of a multiprocessor of a target, from the table of compute
// capabilities in the CUDA Programming Guide.
type limit struct{ warps, blocks, shared, multiprocessors int }

// limitsOf returns the limits of a target, given its number, such as 90.
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

// ParsePlace parses the name of an emulated device for runtime.Open: emu or emu:sm_90a, optionally
// with a number as in emu:1 and emu:sm_90a:1.
func ParsePlace(name string) (Options, error) {
	parts := strings.Split(name, ":")
	var o Options
	if n := len(parts); n > 1 && parts[n-1] != "" && !strings.HasPrefix(parts[n-1], "sm_") {
		number, err := strconv.Atoi(parts[n-1])
		if err != nil || number < 0 || number >= maxDevices {
			return Options{},
				fmt.Errorf("%q is not an emulated device, expected a name such as emu, emu:sm_90a or emu:1", name)
		}
		o.Number, parts = number, parts[:n-1]
	}
	if parts[0] != "emu" || len(parts) > 2 || len(parts) == 2 && parts[1] == "" {
		return Options{},
			fmt.Errorf("%q is not an emulated device, expected a name such as emu, emu:sm_90a or emu:1", name)
	}
	if len(parts) == 2 {
		o.Target = parts[1]
	}
	_, err := infoOf(o)
	return o, err
}
