// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package code

import "github.com/ptxdsl/ptxdsl/dsl"

// Warps shows operations of all threads of a warp, a block and a cluster.
func Warps(m *dsl.Module) {
	k := m.Kernel("warps", dsl.Threads(256), dsl.Cluster(2))
	x := dsl.Global[dsl.F32](k, "x")
	v := x.Load(k.TID().X)
	p := v.GTF(0)

	//cuda: `__shfl_xor_sync(~0u, v, 16)`, `__shfl_sync(~0u, v, 0)`
	use(v.ShuffleXor(16), v.ShuffleFrom(k.U32(0)))

	//cuda: `__ballot_sync(~0u, p)`, `__any_sync(~0u, p)`, `__all_sync(~0u, p)`
	use(k.Ballot(p), k.AnyLane(p), k.AllLanes(p))

	//cuda: `cub::WarpReduce`, `cub::WarpScan`
	use(v.WarpReduce(add), v.WarpScan(add))

	//cuda: `cub::BlockReduce`
	sum := dsl.BlockReduce(v, "sums", add)

	//cuda: `cub::BlockScan`, inclusive, and the total
	scan, all := dsl.BlockScan(v, "scans", add)

	//cuda:text one elected thread of the warp
	k.If(k.Elect(), func() { x.StoreI(0, sum) })

	//cuda: `__nv_namedbarrier`, `bar.sync 1, 128`
	k.Sync()
	half := k.NamedBarrier(128)
	k.If(k.WarpIndex().LTI(4), func() { half.Sync() })

	//cuda: `cluster.sync()`, `cluster.block_rank()`
	k.SyncCluster()
	rank := k.ClusterRank()

	//cuda: `cluster.map_shared_rank(part, 1)`
	part := dsl.Shared[dsl.F32](k, "part", 1)
	k.If(k.TID().X.EQI(0), func() { part.StoreI(0, sum) })
	k.SyncCluster()
	other := part.InBlock(rank.XorI(1)).LoadI(0)
	k.SyncCluster()

	//cuda:text a sum over all threads of the cluster
	total := dsl.ClusterReduce(sum, "cluster_sums", add)

	x.Store(k.TID().X, scan.Add(all).Add(other).Add(total))
}
