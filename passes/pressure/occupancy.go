// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package pressure

// Limits that all targets share: the 32-bit registers of a multiprocessor, the maximum per thread,
// and the granularity of their allocation to a warp.
const (
	fileWords    = 65536
	maxRegisters = 255
	warpThreads  = 32
	registerStep = 8 // per thread
	leastCount   = 4 // the least count that ptxas reports
)

// A machine holds the resources of a multiprocessor of a target.
type machine struct {
	warps  int // resident
	blocks int
	shared int64 // bytes available to thread blocks
}

// machineOf returns the multiprocessor of a target by its number, from the table of compute
// capabilities of the CUDA programming guide. An unknown target is treated as the nearest lower
// one.
func machineOf(number int) machine {
	const k = 1 << 10
	switch {
	case number < 80:
		return machine{32, 16, 64 * k}
	case number < 86:
		return machine{64, 32, 164 * k}
	case number < 87:
		return machine{48, 16, 100 * k}
	case number < 89:
		return machine{48, 16, 164 * k}
	case number < 90:
		return machine{48, 24, 100 * k}
	case number < 107:
		return machine{64, 32, 228 * k}
	case number < 110:
		// ptxas limits .minnctapersm to these warps and blocks
		return machine{32, 16, 228 * k}
	case number < 120:
		return machine{48, 24, 228 * k}
	}
	return machine{48, 24, 100 * k}
}

// fullRegisters returns the number of registers per thread when all warps are resident.
func (m machine) fullRegisters() int {
	return fileWords / (m.warps * warpThreads) / registerStep * registerStep
}

// An Occupancy is the number of warps of a kernel that can be resident on a multiprocessor.
type Occupancy struct {
	Warps, Of int
	Blocks    int    // resident thread blocks, or 0 if their size is unknown
	Bound     string // the limiting resource: "registers", "warps", "blocks", "shared memory"
}

// occupancy returns the occupancy for a number of registers per thread, threads per block and bytes
// of shared memory per block. If threads is zero, it counts single warps.
func (m machine) occupancy(registers, threads int, shared int64) Occupancy {
	step := (max(registers, 1) + registerStep - 1) / registerStep * registerStep
	byRegisters := fileWords / (step * warpThreads)
	o := Occupancy{Of: m.warps, Warps: min(m.warps, byRegisters), Bound: "warps"}
	if byRegisters < m.warps {
		o.Bound = "registers"
	}
	if threads <= 0 {
		return o
	}
	warps := (threads + warpThreads - 1) / warpThreads
	o.Blocks, o.Bound = m.warps/warps, "warps"
	bound := func(n int, what string) {
		if n < o.Blocks {
			o.Blocks, o.Bound = n, what
		}
	}
	bound(byRegisters/warps, "registers")
	bound(m.blocks, "blocks")
	if shared > 0 {
		bound(int(m.shared/shared), "shared memory")
	}
	o.Warps = o.Blocks * warps
	return o
}
