// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl

import (
	"fmt"

	"github.com/ptxdsl/ptxdsl/dsl/internal/limits"
	"github.com/ptxdsl/ptxdsl/dsl/internal/source"
	"github.com/ptxdsl/ptxdsl/ir"
)

// A KernelOption sets a launch property of a kernel. Each property can be set once.
type KernelOption func(*Kernel)

// Threads sets the block size that a launch must have (.reqntid).
func Threads(x int, yz ...int) KernelOption {
	return func(k *Kernel) {
		k = k.sound()
		if !k.checkFirstUse(".reqntid", "block size (Threads, WarpCount, Warpgroups)") {
			return
		}
		n := [3]int{x, 1, 1}
		copy(n[1:], yz)
		if len(yz) > 2 || !limits.Fit(n, 1024) || n[2] > 64 {
			var fix source.Edit
			if len(yz) == 0 {
				fix = nearest(x, 1, 1024, 1)
			}
			k.fault(&ruleKernel,
				"block of %v threads cannot be launched, expected 1 to 1024 threads and at most 64 in z",
				n).withFix(fix)
			n = [3]int{128, 1, 1}
		}
		k.threads = n
		k.attr(".reqntid", fmt.Sprintf("%d, %d, %d", n[0], n[1], n[2]))
	}
}

// WarpCount sets the block size to n warps.
func WarpCount(n int) KernelOption { return Threads(times(32, n)) }

// Warpgroups sets the block size to n warpgroups of four warps.
func Warpgroups(n int) KernelOption { return Threads(times(128, n)) }

// times returns threads * n, or n itself if n is negative or exceeds the largest block size, so
// that Threads reports the invalid value.
func times(threads, n int) int {
	if n > 1024 || n < 0 {
		return n
	}
	return threads * n
}

// MaxThreads sets the largest block size that a launch may have (.maxntid), for kernels whose
// block size the launch chooses. For a fixed block size use Threads.
func MaxThreads(x int) KernelOption {
	return func(k *Kernel) {
		k = k.sound()
		switch {
		case !k.checkFirstUse(".maxntid", "MaxThreads"):
		case x < 1 || x > 1024:
			k.fault(&ruleKernel, "MaxThreads is %d, expected 1 to 1024", x).
				withFix(nearest(x, 1, 1024, 1))
		default:
			k.maxThreads = x
			k.attr(".maxntid", fmt.Sprintf("%d, 1, 1", x))
		}
	}
}

// MinBlocks sets how many blocks must fit on a multiprocessor at the same time (.minnctapersm).
// It requires Threads or MaxThreads.
func MinBlocks(n int) KernelOption {
	return func(k *Kernel) {
		k = k.sound()
		switch {
		case !k.checkFirstUse(".minnctapersm", "MinBlocks"):
		case n < 1 || n > 32:
			k.fault(&ruleKernel, "MinBlocks is %d, expected 1 to 32", n).
				withFix(nearest(n, 1, 32, 1))
		default:
			k.blocks = n
			k.attr(".minnctapersm", fmt.Sprint(n))
		}
	}
}

// MaxRegs limits the registers per thread (.maxnreg).
func MaxRegs(n int) KernelOption {
	return func(k *Kernel) {
		k = k.sound()
		switch {
		case !k.checkFirstUse(".maxnreg", "MaxRegs"):
		case n < 16 || n > 255:
			k.fault(&ruleKernel, "MaxRegs is %d, expected 16 to 255", n).
				withFix(nearest(n, 16, 255, 1))
		default:
			k.attr(".maxnreg", fmt.Sprint(n))
		}
	}
}

// Cluster sets the cluster size in blocks that a launch must have (.reqnctapercluster). It requires
// sm_90. A size of one block has no effect.
func Cluster(x int, yz ...int) KernelOption {
	return func(k *Kernel) {
		k = k.sound()
		c := [3]int{x, 1, 1}
		copy(c[1:], yz)
		switch {
		case c == [3]int{1, 1, 1}:
			return
		case !k.m.Has(90):
			k.fault(&ruleLacks, "%s does not support clusters, which need sm_90", k.m.Target())
			return
		case !k.checkFirstUse(".reqnctapercluster", "Cluster"):
			return
		case len(yz) > 2 || !limits.Fit(c, 16):
			k.fault(&ruleKernel,
				"cluster of %v blocks cannot be launched, expected at most 16, and at most 8 unless the launch allows more",
				c)
			return
		}
		k.cluster = c
		k.attr(".explicitcluster", "")
		k.attr(".reqnctapercluster", fmt.Sprintf("%d, %d, %d", c[0], c[1], c[2]))
	}
}

func (k *Kernel) attr(name, text string) {
	k.f.Attrs = append(k.f.Attrs, ir.Directive{Name: name, Text: text})
}

// checkFirstUse reports whether the directive has not been set before, and records a finding if
// it has.
func (k *Kernel) checkFirstUse(directive, what string) bool {
	if a := k.f.Attr(directive); a != nil {
		k.fault(&ruleKernel, "%s is set twice: %s %s is already set", what, directive, a.Text).
			withFix(source.DropArgument(what))
		return false
	}
	return true
}

// checkOptions reports launch options that contradict each other.
func (k *Kernel) checkOptions() {
	most, target := k.maxThreads, k.m.ir.Target.Info()
	if n := k.BlockThreads(); n != 0 {
		if most != 0 {
			k.fault(&ruleKernel,
				"MaxThreads(%d) conflicts with the fixed block size of %d threads: ptxas accepts .maxntid or .reqntid, not both",
				most, n).withFix(source.DropArgument("MaxThreads"))
		}
		most = n
	}
	resident, blocks := limits.Residents(target.Number)
	switch {
	case k.blocks == 0:
	case most == 0:
		k.fault(&ruleKernel, "MinBlocks(%d) without Threads or MaxThreads is ignored by ptxas",
			k.blocks).withFix(source.DropArgument("MinBlocks"))
	case k.blocks*most > resident:
		k.fault(&ruleKernel,
			"%d blocks of %d threads do not fit on a multiprocessor: that of %s has %d threads, so at most %d of these blocks",
			k.blocks, most, k.m.Target(), resident, resident/most)
	case k.blocks > blocks:
		k.fault(&ruleKernel,
			"%d blocks do not fit on a multiprocessor: that of %s holds at most %d", k.blocks,
			k.m.Target(), blocks)
	}
}
