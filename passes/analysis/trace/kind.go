// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package trace

import (
	"strings"

	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
)

// A Kind classifies instructions by their effect on memory or on other threads. Instructions
// without such an effect have kind Other.
type Kind uint8

// Kinds of instructions.
const (
	Other         Kind = iota
	BarrierSync        // bar.sync, barrier.sync, .red
	BarrierArrive      // bar.arrive, barrier.arrive
	WarpSync           // bar.warp.sync
	Collective         // shfl, vote, match, redux, elect: they synchronize lanes
	ClusterArrive      // barrier.cluster.arrive
	ClusterWait        // barrier.cluster.wait
	Init               // mbarrier.init
	Inval              // mbarrier.inval
	Arrive             // mbarrier.arrive, .arrive_drop, with or without .expect_tx
	Expect             // mbarrier.expect_tx
	Complete           // mbarrier.complete_tx
	Wait               // mbarrier.test_wait, .try_wait
	Copy               // cp.async
	CopyCommit         // cp.async.commit_group
	CopyWait           // cp.async.wait_group, .wait_all
	CopyArrive         // cp.async.mbarrier.arrive
	BulkLoad           // cp.async.bulk into shared memory, including tensor copies
	// cp.async.bulk, cp.reduce.async.bulk to global memory, including tensor copies
	BulkStore
	BulkCommit     // cp.async.bulk.commit_group
	BulkWait       // cp.async.bulk.wait_group
	RemoteStore    // st.async, red.async
	Answer         // clusterlaunchcontrol.try_cancel
	Fence          // fence, membar
	ProxyFence     // fence.proxy.async, fence.proxy.alias
	InitFence      // fence.mbarrier_init
	MapFence       // fence.proxy.tensormap
	MapCopy        // tensormap.cp_fenceproxy
	MapEdit        // tensormap.replace
	GroupFence     // wgmma.fence
	GroupMultiply  // wgmma.mma_async
	GroupCommit    // wgmma.commit_group
	GroupWait      // wgmma.wait_group
	TensorAlloc    // tcgen05.alloc
	TensorFree     // tcgen05.dealloc
	TensorYield    // tcgen05.relinquish_alloc_permit
	TensorLoad     // tcgen05.ld
	TensorStore    // tcgen05.st
	TensorWait     // tcgen05.wait::ld, ::st
	TensorBefore   // tcgen05.fence::before_thread_sync
	TensorAfter    // tcgen05.fence::after_thread_sync
	TensorMultiply // tcgen05.mma
	TensorCopy     // tcgen05.cp
	TensorShift    // tcgen05.shift
	TensorCommit   // tcgen05.commit
	Registers      // setmaxnreg
	GridWait       // griddepcontrol.wait
	GridLaunch     // griddepcontrol.launch_dependents
	Load           // ld and other loads
	Store          // st and other stores
	Atomic         // atom, red
	Clear          // st.bulk
	Call           // call
	Exit           // ret, exit
	Touch          // any other instruction that accesses a register of a wgmma
)

// isOwnWait reports whether a thread waits for operations that it issued itself.
func (k Kind) isOwnWait() bool {
	return k == CopyWait || k == BulkWait || k == GroupWait || k == TensorWait
}

// kinds holds the kind of each operation. An operation that is not listed has kind Other.
var kinds = [...]Kind{
	isa.KindBarrierSync: BarrierSync, isa.KindBarrierRed: BarrierSync,
	isa.KindBarrierArrive: BarrierArrive,
	isa.KindBarWarpSync:   WarpSync, isa.KindBarrierClusterArrive: ClusterArrive,
	isa.KindBarrierClusterWait: ClusterWait,
	isa.KindShfl:               Collective, isa.KindVote: Collective, isa.KindMatch: Collective,
	isa.KindRedux: Collective, isa.KindElect: Collective,

	isa.KindMbarrierInit: Init, isa.KindMbarrierInval: Inval,
	isa.KindMbarrierArrive: Arrive, isa.KindMbarrierArriveExpectTx: Arrive,
	isa.KindMbarrierArriveDrop: Arrive, isa.KindMbarrierArriveDropExpectTx: Arrive,
	isa.KindMbarrierExpectTx: Expect, isa.KindMbarrierCompleteTx: Complete,
	isa.KindMbarrierTestWait: Wait, isa.KindMbarrierTestWaitParity: Wait,
	isa.KindMbarrierTryWait: Wait, isa.KindMbarrierTryWaitParity: Wait,

	isa.KindCpAsync: Copy, isa.KindCpAsyncCommitGroup: CopyCommit,
	isa.KindCpAsyncMbarrierArrive: CopyArrive,
	isa.KindCpAsyncWaitGroup:      CopyWait, isa.KindCpAsyncWaitAll: CopyWait,
	// operations with a bulk group are BulkStore; see Of
	isa.KindCpAsyncBulk: BulkLoad, isa.KindCpAsyncBulkTensor: BulkLoad,
	isa.KindCpReduceAsyncBulk: BulkLoad, isa.KindCpReduceAsyncBulkTensor: BulkLoad,
	isa.KindCpAsyncBulkCommitGroup: BulkCommit, isa.KindCpAsyncBulkWaitGroup: BulkWait,
	isa.KindStAsync: RemoteStore, isa.KindRedAsync: RemoteStore,
	isa.KindClusterlaunchcontrolTryCancelAsync: Answer,

	isa.KindFence: Fence, isa.KindFenceProxy: ProxyFence,
	isa.KindTensormapCpFenceproxy: MapCopy, isa.KindTensormapQueryAllocClassLarge: MapCopy,
	isa.KindTensormapReplace: MapEdit,

	isa.KindWgmmaFence: GroupFence, isa.KindWgmmaMmaAsync: GroupMultiply,
	isa.KindWgmmaCommitGroup: GroupCommit, isa.KindWgmmaWaitGroup: GroupWait,

	isa.KindTcgen05Alloc: TensorAlloc, isa.KindTcgen05Dealloc: TensorFree,
	isa.KindTcgen05RelinquishAllocPermit: TensorYield,
	isa.KindTcgen05Ld:                    TensorLoad, isa.KindTcgen05LdRed: TensorLoad,
	isa.KindTcgen05LdSpcompress: TensorLoad, isa.KindTcgen05LdRedSpcompress: TensorLoad,
	isa.KindTcgen05St: TensorStore, isa.KindTcgen05WaitLd: TensorWait,
	isa.KindTcgen05WaitSt:                TensorWait,
	isa.KindTcgen05FenceBeforeThreadSync: TensorBefore,
	isa.KindTcgen05FenceAfterThreadSync:  TensorAfter,
	isa.KindTcgen05Mma:                   TensorMultiply, isa.KindTcgen05MmaWs: TensorMultiply,
	isa.KindTcgen05Cp:    TensorCopy,
	isa.KindTcgen05Shift: TensorShift, isa.KindTcgen05Commit: TensorCommit,

	isa.KindSetmaxnregInc: Registers, isa.KindSetmaxnregDec: Registers,
	isa.KindGriddepcontrol: GridLaunch,
	isa.KindLd:             Load, isa.KindLdu: Load, isa.KindLdmatrix: Load, isa.KindSt: Store,
	isa.KindStmatrix: Store,
	isa.KindAtom:     Atomic, isa.KindRed: Atomic, isa.KindStBulk: Clear, isa.KindCall: Call,
	isa.KindRet: Exit, isa.KindExit: Exit,
}

// Of returns the kind of an instruction.
func Of(in *ir.Instr) Kind {
	of := in.Kind()
	if int(of) >= len(kinds) {
		return Other
	}
	switch k := kinds[of]; {
	case k == BulkLoad && in.HasMod(isa.ModBulkGroup):
		return BulkStore
	case k == Fence && in.HasMod(isa.ModMbarrierInit):
		return InitFence
	case k == ProxyFence && in.HasMod(isa.ModTensormapGeneric):
		return MapFence
	case k == GridLaunch && in.HasMod(isa.ModWait):
		return GridWait
	default:
		return k
	}
}

// spaceName returns the name of a state space without its dot, for the names of loads.
func spaceName(s isa.Space) string {
	switch s {
	case isa.Generic:
		return ""
	case isa.SharedCTA:
		s = isa.Shared
	}
	return strings.TrimPrefix(s.String(), ".")
}
