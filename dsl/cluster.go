// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl

import "github.com/ptxdsl/ptxdsl/isa"

// InBlock returns the corresponding address in the shared memory of another block of the cluster,
// given its rank (mapa, sm_90; cluster.map_shared_rank in CUDA). Access it only between two calls
// of SyncCluster in both blocks, so that the other block has started and has not exited.
func (a Addr) InBlock(rank Reg[U32]) Addr {
	k := a.k
	if k == nil {
		return a
	}
	if a.space != isa.Shared && a.space != isa.SharedCTA {
		k.fault(&ruleMemory, "InBlock is called on an address in %s memory, expected shared memory",
			a.space)
		return a
	}
	if k.clusterSize() == 1 {
		k.fault(&ruleProtocol, "InBlock needs a cluster; declare it with Cluster")
	}
	k.checkRank(rank)
	far := fresh[U32](k)
	k.ins("mapa.shared::cluster.u32", far.in(k), a.Value().in(k), rank.in(k))
	return Addr{k: k, space: isa.SharedCluster, reg: far.r, scope: far.scope, align: a.align}
}

// checkRank reports a constant block rank that is not below the cluster size.
func (k *Kernel) checkRank(rank Reg[U32]) {
	if n := k.clusterSize(); n > 1 && rank.IsConstant() && rank.bits >= int64(n) {
		k.fault(&ruleProtocol, "block rank %d is out of bounds: the cluster has %d blocks",
			rank.bits, n)
	}
}

// InBlock returns the corresponding array in the shared memory of another block of the cluster; see
// [Addr.InBlock].
func (a Array[T]) InBlock(rank Reg[U32]) Array[T] { return Array[T]{at: a.at.InBlock(rank)} }

// ClusterGather returns the values of each block of the cluster, by rank, as thread 0 of the block
// has them. All threads must call it, and later release, after which a block may exit: until then
// other blocks may read its values. The name is that of the shared memory.
func ClusterGather[T Scalar](name string, values ...Reg[T]) (all [][]Reg[T], release func()) {
	release = func() {}
	if len(values) == 0 || values[0].k == nil || values[0].k.clusterSize() == 1 {
		return [][]Reg[T]{values}, release
	}
	k := values[0].k
	mine := Shared[T](k, unique(name, k.names), len(values))
	k.If(k.Thread().EQI(0), func() { mine.StoreFirstVec(values) })
	k.SyncCluster()
	for rank := range k.clusterSize() {
		all = append(all, mine.InBlock(k.U32(rank)).LoadFirstVec(len(values)))
	}
	k.Comment("no block exits while another reads its values")
	k.ins("barrier.cluster.arrive.aligned")
	return all, func() { k.ins("barrier.cluster.wait.aligned") }
}

// ClusterReduce combines x over the blocks of the cluster and returns the result in every thread.
// The x of each block must be the same in all of its threads, as BlockReduce returns it. All
// blocks must take part. It declares a shared variable called name.
func ClusterReduce[T Scalar](x Reg[T], name string, combine func(a, b Reg[T]) Reg[T]) Reg[T] {
	k := x.k
	if k == nil || k.clusterSize() == 1 || !k.checkFunctions("ClusterReduce", combine != nil) {
		return x
	}
	mine := Shared[T](k, unique(name, k.names), 1)
	k.If(k.Thread().EQI(0), func() { mine.StoreI(0, x) })
	k.SyncCluster()
	out := mine.InBlock(k.U32(0)).LoadFirst()
	for rank := 1; rank < k.clusterSize(); rank++ {
		out = combine(out, mine.InBlock(k.U32(rank)).LoadFirst())
	}
	k.Comment("no block exits or writes again while another block reads")
	k.SyncCluster()
	return out
}

// LaunchDependents allows the dependent kernels in the stream to launch, once every block has
// called it or exited (griddepcontrol.launch_dependents, sm_90). They must be launched with
// runtime.Config.Programmatic. It makes no memory visible; WaitDependencies in the dependent kernel
// does. Before sm_90 kernels run one after the other, and neither call emits an instruction.
func (k *Kernel) LaunchDependents() {
	k = k.sound()
	if k.m.Has(90) {
		k.ins("griddepcontrol.launch_dependents")
	}
}

// WaitDependencies waits until the preceding kernels in the stream have finished and their writes
// are visible (griddepcontrol.wait, sm_90). Code before it must not depend on them. If the launch
// is not programmatic it returns at once.
func (k *Kernel) WaitDependencies() {
	k = k.sound()
	if k.m.Has(90) {
		k.ins("griddepcontrol.wait")
	}
}
