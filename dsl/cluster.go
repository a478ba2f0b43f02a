// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl

import "github.com/ptxdsl/ptxdsl/isa"

// In is the same place in the shared memory of another block of the cluster (mapa, sm_90), known by its rank. That block runs, and stays,
// only between two SyncCluster of both.
func (a Addr) In(rank Reg[U32]) Addr {
	k := a.k
	if k == nil {
		return a
	}
	if a.space != isa.Shared && a.space != isa.SharedCTA {
		k.fault(&ruleMemory, "In of an address in %s; blocks of a cluster reach each other's shared memory", a.space)
		return a
	}
	if k.clusterSize() == 1 {
		k.fault(&ruleProtocol, "shared memory of another block, in a kernel without Cluster")
	}
	k.checkRank(rank)
	far := fresh[U32](k)
	k.ins("mapa.shared::cluster.u32", far.in(k), a.Value().in(k), rank.in(k))
	return Addr{k: k, space: isa.SharedCluster, reg: far.r, scope: far.scope, align: a.align}
}

// checkRank reports a rank known while building that no block of the cluster has.
func (k *Kernel) checkRank(rank Reg[U32]) {
	if n := k.clusterSize(); n > 1 && rank.Constant() && rank.bits >= int64(n) {
		k.fault(&ruleProtocol, "the block of rank %d, in a cluster of %d", rank.bits, n)
	}
}

// In is the same array in the shared memory of another block of the cluster.
func (a Array[T]) In(rank Reg[U32]) Array[T] { return Array[T]{at: a.at.In(rank)} }

// ClusterReduce combines x of the threads with one number in each block of the cluster, which is what BlockReduce leaves in every thread;
// every thread of every block gets the result. All blocks take part. The name is that of the shared memory it takes.
func ClusterReduce[T Scalar](x Reg[T], name string, combine func(a, b Reg[T]) Reg[T]) Reg[T] {
	k := x.k
	if k == nil || k.clusterSize() == 1 || !k.runs("ClusterReduce", combine != nil) {
		return x
	}
	mine := Shared[T](k, unique(name, k.names), 1)
	k.If(k.Thread().EqI(0), func() { mine.StoreI(0, x) })
	k.SyncCluster()
	out := mine.In(k.U32(0)).Get()
	for rank := 1; rank < k.clusterSize(); rank++ {
		out = combine(out, mine.In(k.U32(rank)).Get())
	}
	k.Comment("no block goes on to leave, or to write again, while another reads")
	k.SyncCluster()
	return out
}

// LaunchDependents lets kernels behind this one in its stream begin, once every block has said so or is done
// (griddepcontrol.launch_dependents, sm_90). They are launched with runtime.Config.Programmatic. It says nothing of what this kernel has
// written: WaitDependencies does. Before sm_90 kernels begin one behind the other, and neither call makes an instruction.
func (k *Kernel) LaunchDependents() {
	k = k.sound()
	if k.m.Has(90) {
		k.ins("griddepcontrol.launch_dependents")
	}
}

// WaitDependencies waits until the kernels before this one in its stream are done, and what they wrote can be read
// (griddepcontrol.wait, sm_90). What a kernel does before it may not rest on them. Where the launch is not programmatic it returns at once.
func (k *Kernel) WaitDependencies() {
	k = k.sound()
	if k.m.Has(90) {
		k.ins("griddepcontrol.wait")
	}
}
