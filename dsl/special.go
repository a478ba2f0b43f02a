// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl

import (
	"fmt"
	"strings"

	"github.com/ptxdsl/ptxdsl/ir"
)

// A Dim3 is an index or a size in three dimensions, such as %tid.
type Dim3 struct{ X, Y, Z Reg[U32] }

// TID returns the thread index in the block.
func (k *Kernel) TID() Dim3 { return k.sound().dim3("%tid.x", "%tid.y", "%tid.z") }

// NTID returns the size of the block in threads. It is constant if Threads specified it.
func (k *Kernel) NTID() Dim3 {
	k = k.sound()
	if k.threads[0] != 0 {
		return Dim3{k.U32(k.threads[0]), k.U32(k.threads[1]), k.U32(k.threads[2])}
	}
	return k.dim3("%ntid.x", "%ntid.y", "%ntid.z")
}

// CTAID returns the index of the block in the grid.
func (k *Kernel) CTAID() Dim3 { return k.sound().dim3("%ctaid.x", "%ctaid.y", "%ctaid.z") }

// NCTAID returns the size of the grid in blocks.
func (k *Kernel) NCTAID() Dim3 { return k.sound().dim3("%nctaid.x", "%nctaid.y", "%nctaid.z") }

// ClusterID returns the index of the cluster in the grid.
func (k *Kernel) ClusterID() Dim3 {
	return k.sound().dim3("%clusterid.x", "%clusterid.y", "%clusterid.z")
}

// NClusterID returns the size of the grid in clusters.
func (k *Kernel) NClusterID() Dim3 {
	return k.sound().dim3("%nclusterid.x", "%nclusterid.y", "%nclusterid.z")
}

// ClusterCTAID returns the index of the block in its cluster.
func (k *Kernel) ClusterCTAID() Dim3 {
	k = k.sound()
	return k.dim3("%cluster_ctaid.x", "%cluster_ctaid.y", "%cluster_ctaid.z")
}

// ClusterRank returns the rank of the block in its cluster.
func (k *Kernel) ClusterRank() Reg[U32] { return Special[U32](k, "%cluster_ctarank") }

// Lane returns the lane index of the thread in its warp.
func (k *Kernel) Lane() Reg[U32] { return Special[U32](k, "%laneid") }

// Thread returns the linear thread index in the block, x first, then y and z. If Threads declares a
// block with one dimension, it is TID().X.
func (k *Kernel) Thread() Reg[U32] {
	k = k.sound()
	if k.threads[0] != 0 && k.threads[1] == 1 && k.threads[2] == 1 {
		return k.TID().X
	}
	if k.thread.k == nil {
		tid, n := k.TID(), k.NTID()
		k.atKernelStart(func() {
			if k.threads[2] == 1 {
				k.thread = tid.Y.Mad(n.X, tid.X)
			} else {
				k.thread = tid.Z.Mad(n.Y, tid.Y).Mad(n.X, tid.X)
			}
		})
	}
	return k.thread
}

// atKernelStart emits code in the head of the kernel.
func (k *Kernel) atKernelStart(build func()) {
	was, guard, scopes := k.cur, k.guard, k.open
	k.cur, k.guard, k.open = k.head, ir.Guard{}, k.open[:1]
	build()
	k.cur, k.guard, k.open = was, guard, scopes
}

// WarpIndex returns the index of the thread's warp in its block. The value comes from a shuffle,
// so that ptxas treats it as warp-uniform.
func (k *Kernel) WarpIndex() Reg[U32] {
	k = k.sound()
	if k.warp.k == nil {
		thread := k.Thread()
		k.atKernelStart(func() { k.warp = k.shuffle("idx", thread.ShrI(5), 0, 31) })
	}
	return k.warp
}

// Clock returns the cycle counter of the multiprocessor (%clock64). Each call reads it again.
func (k *Kernel) Clock() Reg[U64] {
	k = k.sound()
	d := fresh[U64](k)
	k.ins("mov.u64", d.in(k), k.special("%clock64"))
	return d
}

// GlobalTimer returns the time in nanoseconds (%globaltimer). Each call reads it again.
func (k *Kernel) GlobalTimer() Reg[U64] {
	k = k.sound()
	d := fresh[U64](k)
	k.ins("mov.u64", d.in(k), k.special("%globaltimer"))
	return d
}

func (k *Kernel) dim3(x, y, z string) Dim3 {
	return Dim3{Special[U32](k, x), Special[U32](k, y), Special[U32](k, z)}
}

// A special is a special register that the kernel has read, and the register that holds its
// value.
type special struct {
	name string
	r    *ir.Reg
}

// rereadCall returns the call that reads a special register whose value changes over time, for
// messages. ok is false for other registers.
func rereadCall(name string) (how string, ok bool) {
	switch {
	case name == "%clock", name == "%clock_hi", name == "%clock64":
		return "Clock", true
	case strings.HasPrefix(name, "%globaltimer"):
		return "GlobalTimer", true
	case strings.HasPrefix(name, "%pm"):
		return fmt.Sprintf("Result[dsl.U32](k, \"mov.u32\", %q)", name), true
	}
	return "", false
}

// Special returns the value of a special register that does not change while the kernel runs. The
// name includes the %. The register is read once, at the start of the kernel.
func Special[T Scalar](k *Kernel, name string) Reg[T] {
	k = k.sound()
	for i := range k.specials {
		if s := &k.specials[i]; s.name == name {
			return Reg[T]{k: k, r: s.r}
		}
	}
	k.checkSpecial(name)
	if how, changes := rereadCall(name); changes {
		k.fault(&ruleOperand, "%s changes while the kernel runs, but Special reads it once; use %s",
			name, how)
	}
	d := fresh[T](k)
	d.scope = 0
	k.specials = append(k.specials, special{name, d.r})
	was, guard := k.cur, k.guard
	k.cur, k.guard = k.head, ir.Guard{}
	k.ins(k.op("mov", movType(registerType(TypeOf[T]()))), d.in(k), k.special(name))
	k.cur, k.guard = was, guard
	return d
}
