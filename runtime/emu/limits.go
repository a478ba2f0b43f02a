// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package emu

import (
	"github.com/ptxdsl/ptxdsl/passes/pressure"
	"github.com/ptxdsl/ptxdsl/runtime/device"
)

// launchCall is the driver function that launches kernels.
const launchCall = "cuLaunchKernelEx"

// check returns an error if a launch exceeds the limits of the target.
func (k *kernel) check(l *device.Launch) error {
	for i, axis := range [3]string{"x", "y", "z"} {
		switch {
		case l.Grid[i] == 0 || int64(l.Grid[i]) > int64(k.limits.MaxGrid[i]):
			return refuse(launchCall, invalidValue, "grid has %v blocks; %s must be 1 to %d",
				l.Grid, axis,
				k.limits.MaxGrid[i])
		case l.Block[i] == 0 || int64(l.Block[i]) > int64(k.limits.MaxBlock[i]):
			return refuse(launchCall, invalidValue, "block has %v threads; %s must be 1 to %d",
				l.Block, axis,
				k.limits.MaxBlock[i])
		}
	}
	threads := int(l.Block[0]) * int(l.Block[1]) * int(l.Block[2])
	if threads > k.limits.MaxThreads {
		return refuse(launchCall, invalidValue, "block has %d threads, but %s allows at most %d",
			threads,
			k.limits.Target, k.limits.MaxThreads)
	}
	if n := int(l.Shared) + k.image.sharedSize; n > k.limits.SharedOptIn {
		return refuse(launchCall, invalidValue,
			"block needs %d bytes of shared memory, but %s allows at most %d",
			n, k.limits.Target, k.limits.SharedOptIn)
	}
	if n := k.image.body.paramBytes(); len(l.Values) < n {
		return refuse(launchCall, invalidValue,
			"launch passes %d bytes of parameters, but the kernel has %d",
			len(l.Values), n)
	}
	if err := k.checkRegisters(threads); err != nil {
		return err
	}
	return k.checkCluster(l, threads)
}

// checkRegisters returns an error if a block needs more registers than a multiprocessor has. The
// register count is an estimate, so only certain excess is rejected.
func (k *kernel) checkRegisters(threads int) error {
	const unit = 8 // registers are allocated in multiples of this
	warps := (threads + 31) / 32
	if k.image.body.regs*2*warps*32 <= k.limits.Registers {
		return nil // each PTX register needs at most two
	}
	least := k.leastRegisters()
	if n := (least + unit - 1) / unit * unit * warps * 32; n > k.limits.Registers {
		return refuse(launchCall, outOfResources,
			"blocks of %d threads with at least %d registers each; %s has %d",
			threads, least, k.limits.Target, k.limits.Registers)
	}
	return nil
}

// leastRegisters returns a lower bound for the registers of a thread. It returns 0 if directives of
// the kernel limit the registers, because ptxas then spills.
func (k *kernel) leastRegisters() int {
	e := k.image.entry
	if e.Attr(".maxnreg") != nil || e.Attr(".maxntid") != nil || e.Attr(".reqntid") != nil {
		return 0
	}
	k.estimate.Do(func() {
		for _, p := range pressure.Of(k.image.module.ir) {
			if p.Func == e {
				k.least = min(p.Low, p.Least)
			}
		}
	})
	return k.least
}

// checkCluster returns an error if a cluster is too large for the target, or if the blocks of a
// cooperative launch cannot all run at the same time.
func (k *kernel) checkCluster(l *device.Launch, threads int) error {
	blocks, err := k.Blocks(threads, int(l.Shared))
	if err != nil {
		return err
	}
	total := int64(l.Grid[0]) * int64(l.Grid[1]) * int64(l.Grid[2])
	if most := int64(blocks) * int64(k.limits.SMs); l.Cooperative && total > most {
		return refuse(launchCall, cooperativeTooLarge,
			"%d blocks, but at most %d can run at the same time", total, most)
	}
	if l.Cluster == [3]uint32{} {
		return nil
	}
	if !k.limits.Clusters {
		return refuse(launchCall, invalidValue, "%s has no clusters", k.limits.Target)
	}
	for i := range l.Cluster {
		if l.Cluster[i] == 0 || l.Grid[i]%l.Cluster[i] != 0 {
			return refuse(launchCall, invalidValue,
				"grid of %v blocks is not a multiple of the cluster size %v", l.Grid,
				l.Cluster)
		}
	}
	size := int(l.Cluster[0]) * int(l.Cluster[1]) * int(l.Cluster[2])
	if size > maxClusterBlocks || size > blocks*maxClusterBlocks {
		return refuse(launchCall, invalidCluster, "cluster has %d blocks, but %s allows at most %d",
			size,
			k.limits.Target, maxClusterBlocks)
	}
	return nil
}

// maxClusterBlocks is the maximum number of blocks in a cluster of non-portable size. It is also
// the number of multiprocessors in a GPC.
const maxClusterBlocks = 16
