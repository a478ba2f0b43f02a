// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package trace

import "strings"

// A Kind classifies instructions by their effect on memory or on other threads.
type Kind uint8

// Kinds.
const (
	Other          Kind = iota
	BarrierSync         // bar.sync, barrier.sync, .red
	BarrierArrive       // bar.arrive, barrier.arrive
	WarpSync            // bar.warp.sync
	Collective          // shfl, vote, match, redux, elect: lanes synchronize
	ClusterArrive       // barrier.cluster.arrive
	ClusterWait         // barrier.cluster.wait
	Init                // mbarrier.init
	Inval               // mbarrier.inval
	Arrive              // mbarrier.arrive, .arrive_drop, with .expect_tx or without
	Expect              // mbarrier.expect_tx
	Complete            // mbarrier.complete_tx
	Wait                // mbarrier.test_wait, .try_wait
	Copy                // cp.async
	CopyCommit          // cp.async.commit_group
	CopyWait            // cp.async.wait_group, .wait_all
	CopyArrive          // cp.async.mbarrier.arrive
	BulkLoad            // cp.async.bulk into shared memory, including tensor copies
	BulkStore           // cp.async.bulk, cp.reduce.async.bulk to global memory, also tensors
	BulkCommit          // cp.async.bulk.commit_group
	BulkWait            // cp.async.bulk.wait_group
	RemoteStore         // st.async, red.async
	Answer              // clusterlaunchcontrol.try_cancel
	Fence               // fence, membar
	ProxyFence          // fence.proxy.async, fence.proxy.alias
	InitFence           // fence.mbarrier_init
	MapFence            // fence.proxy.tensormap
	MapCopy             // tensormap.cp_fenceproxy
	MapEdit             // tensormap.replace
	GroupFence          // wgmma.fence
	GroupMultiply       // wgmma.mma_async
	GroupCommit         // wgmma.commit_group
	GroupWait           // wgmma.wait_group
	TensorAlloc         // tcgen05.alloc
	TensorFree          // tcgen05.dealloc
	TensorYield         // tcgen05.relinquish_alloc_permit
	TensorLoad          // tcgen05.ld
	TensorStore         // tcgen05.st
	TensorWait          // tcgen05.wait::ld, ::st
	TensorBefore        // tcgen05.fence::before_thread_sync
	TensorAfter         // tcgen05.fence::after_thread_sync
	TensorMultiply      // tcgen05.mma
	TensorCopy          // tcgen05.cp
	TensorShift         // tcgen05.shift
	TensorCommit        // tcgen05.commit
	Registers           // setmaxnreg
	GridWait            // griddepcontrol.wait
	GridLaunch          // griddepcontrol.launch_dependents
	Load                // ld and similar
	Store               // st and similar
	Atomic              // atom, red
	Clear               // st.bulk
	Call                // call
	Exit                // ret, exit
	Touch               // any other instruction that accesses a register of a wgmma
)

// ownWait reports whether a thread waits for operations that it issued itself.
func (k Kind) ownWait() bool {
	return k == CopyWait || k == BulkWait || k == GroupWait || k == TensorWait
}

// Of returns the kind of an opcode.
func Of(op string) Kind {
	head, _, _ := strings.Cut(op, ".")
	switch head {
	case "bar", "barrier":
		return barrier(op)
	case "shfl", "vote", "match", "redux", "elect", "activemask":
		if head == "activemask" {
			return Other
		}
		return Collective
	case "mbarrier":
		return object(op)
	case "cp":
		return copying(op)
	case "st":
		switch {
		case strings.HasPrefix(op, "st.async"):
			return RemoteStore
		case strings.HasPrefix(op, "st.bulk"):
			return Clear
		}
		return Store
	case "red":
		if strings.HasPrefix(op, "red.async") {
			return RemoteStore
		}
		return Atomic
	case "atom":
		return Atomic
	case "ld", "ldu", "ldmatrix":
		return Load
	case "stmatrix":
		return Store
	case "clusterlaunchcontrol":
		if strings.Contains(op, "try_cancel") {
			return Answer
		}
	case "fence", "membar":
		return fence(op)
	case "tensormap":
		if strings.HasPrefix(op, "tensormap.replace") {
			return MapEdit
		}
		return MapCopy
	case "wgmma":
		return group(op)
	case "tcgen05":
		return tensor(op)
	case "setmaxnreg":
		return Registers
	case "griddepcontrol":
		if strings.HasSuffix(op, ".wait") {
			return GridWait
		}
		return GridLaunch
	case "call":
		return Call
	case "ret", "exit":
		return Exit
	}
	return Other
}

func barrier(op string) Kind {
	switch {
	case strings.HasPrefix(op, "bar.warp"):
		return WarpSync
	case strings.HasPrefix(op, "barrier.cluster.arrive"):
		return ClusterArrive
	case strings.HasPrefix(op, "barrier.cluster"):
		return ClusterWait
	case strings.Contains(op, ".arrive"):
		return BarrierArrive
	}
	return BarrierSync
}

func object(op string) Kind {
	switch {
	case strings.HasPrefix(op, "mbarrier.init"):
		return Init
	case strings.HasPrefix(op, "mbarrier.inval"):
		return Inval
	case strings.HasPrefix(op, "mbarrier.arrive"):
		return Arrive
	case strings.HasPrefix(op, "mbarrier.expect"):
		return Expect
	case strings.HasPrefix(op, "mbarrier.complete"):
		return Complete
	case strings.HasPrefix(op, "mbarrier.test"), strings.HasPrefix(op, "mbarrier.try"):
		return Wait
	}
	return Other
}

func copying(op string) Kind {
	switch {
	case strings.HasPrefix(op, "cp.async.bulk.commit"):
		return BulkCommit
	case strings.HasPrefix(op, "cp.async.bulk.wait"):
		return BulkWait
	case strings.HasPrefix(op, "cp.async.bulk.prefetch"):
		return Other
	case strings.HasPrefix(op, "cp.async.bulk"), strings.HasPrefix(op, "cp.reduce.async.bulk"):
		if strings.Contains(op, "bulk_group") {
			return BulkStore
		}
		return BulkLoad
	case strings.HasPrefix(op, "cp.async.commit"):
		return CopyCommit
	case strings.HasPrefix(op, "cp.async.wait"):
		return CopyWait
	case strings.HasPrefix(op, "cp.async.mbarrier"):
		return CopyArrive
	case strings.HasPrefix(op, "cp.async"):
		return Copy
	}
	return Other
}

func fence(op string) Kind {
	switch {
	case strings.HasPrefix(op, "fence.mbarrier_init"):
		return InitFence
	case strings.HasPrefix(op, "fence.proxy.tensormap"):
		return MapFence
	case strings.HasPrefix(op, "fence.proxy"):
		return ProxyFence
	}
	return Fence
}

func group(op string) Kind {
	switch {
	case strings.HasPrefix(op, "wgmma.fence"):
		return GroupFence
	case strings.HasPrefix(op, "wgmma.mma"):
		return GroupMultiply
	case strings.HasPrefix(op, "wgmma.commit"):
		return GroupCommit
	case strings.HasPrefix(op, "wgmma.wait"):
		return GroupWait
	}
	return Other
}

func tensor(op string) Kind {
	word := strings.TrimPrefix(op, "tcgen05.")
	for _, k := range []struct {
		prefix string
		kind   Kind
	}{
		{"alloc", TensorAlloc}, {"dealloc", TensorFree}, {"relinquish", TensorYield},
		{"ld", TensorLoad}, {"st", TensorStore}, {"wait", TensorWait},
		{"fence::before", TensorBefore}, {"fence::after", TensorAfter},
		{"mma", TensorMultiply}, {"cp", TensorCopy}, {"shift", TensorShift}, {"commit", TensorCommit},
	} {
		if strings.HasPrefix(word, k.prefix) {
			return k.kind
		}
	}
	return Other
}

// space returns the state space in an opcode: "shared", "shared::cluster", "global", "" for
// generic.
func space(op string) string {
	for _, w := range []string{"shared::cluster", "shared", "global", "local", "param", "const"} {
		if strings.Contains(op, "."+w) {
			return w
		}
	}
	return ""
}
