// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/runtime/emu/race"
)

// Rules for findings other than races.
const (
	RuleHang   = "E12"
	RuleFault  = "E13"
	RuleOrder  = "E14"
	RuleSearch = "E16" // from the search of orders
	RuleValue  = "E17" // a value that was never written
)

// gaps is the text about known gaps for all rules of this package.
const gaps = "Only the paths and values of the launches that ran are checked. Launches of more than 131072 threads are not checked for races, so the verdict is incomplete."

// page returns the rule with the given texts.
func page(id, title, what, why, wrong, right, fix, section string) diag.Rule {
	return diag.Rule{
		ID: id, Layer: "check", Severity: diag.Error, Title: title, What: what, Why: why,
		Wrong: "\n" + wrong + "\n",
		Right: "\n" + right + "\n", Fix: fix, Gaps: gaps, Section: section,
	}
}

// Rules returns the rules of this package.
func Rules() diag.Rules {
	list := diag.Rules{
		page(race.RuleBlock, "data race between warps of a block",
			"Reports two accesses to one byte by threads of different warps of a block, at least one of "+
				"them a write and one of them weak, that no barrier, mbarrier or release and acquire orders.",
			"Warps run in any order. The reader may see the old value, the new value or a mix of both.",
			"st.shared.u32 [%r1], %r2;\nld.shared.u32 %r4, [%r3];",
			"st.shared.u32 [%r1], %r2;\nbar.sync 0;\nld.shared.u32 %r4, [%r3];",
			"Execute bar.sync in all threads between the accesses, or order them through an mbarrier.",
			"8.9 causality order"),
		page(race.RuleWarp, "data race between lanes of a warp",
			"Reports two accesses to one byte by lanes of one warp that no bar.warp.sync or wider barrier "+
				"orders. Shuffles, votes and reconvergence do not order memory.",
			"Lanes progress independently since sm_70, and stores of one lane are not visible to others "+
				"without synchronization.",
			"st.shared.u32 [%r1], %r2;\nld.shared.u32 %r4, [%r3];",
			"st.shared.u32 [%r1], %r2;\nbar.warp.sync 0xffffffff;\nld.shared.u32 %r4, [%r3];",
			"Execute bar.warp.sync with a mask that names both lanes.", "9.7.13.2 bar.warp.sync"),
		page(race.RuleGrid, "data race between blocks",
			"Reports two accesses to one byte by threads of different blocks that no release and acquire "+
				"orders.",
			"Blocks run in any order and at any time. bar.sync does not order blocks.",
			"st.global.u32 [data], %r1;\nst.global.u32 [flag], 1;",
			"st.global.u32 [data], %r1;\nst.release.gpu.global.u32 [flag], 1;",
			"Publish with st.release.gpu, or with an atomic after fence.acq_rel.gpu, and read the flag with "+
				"ld.acquire.gpu.", "8.8 release and acquire patterns"),
		page(race.RuleScope, "scope does not include the other thread",
			"Reports strong accesses, and releases and acquires, whose scope does not include the other "+
				"thread: .cta between blocks, .cluster between clusters.",
			"A release synchronizes only with threads in its scope.",
			"st.release.cta.global.u32 [flag], 1;", "st.release.gpu.global.u32 [flag], 1;",
			"Use .cluster within a cluster and .gpu between blocks, on both sides.", "8.5 scope"),
		page(race.RuleFlight, "memory of an asynchronous operation in flight is accessed",
			"Reports an access to the source or the destination of an asynchronous operation that may not "+
				"be complete, and an operation that is issued while another thread may still use its memory.",
			"The copy reads or writes at any time until its completion is observed.",
			"cp.async.cg.shared.global [%r1], [%rd1], 16;\ncp.async.commit_group;\nld.shared.u32 %r2, [%r1];",
			"cp.async.cg.shared.global [%r1], [%rd1], 16;\ncp.async.commit_group;\ncp.async.wait_group 0;\nld.shared.u32 %r2, [%r1];",
			"Wait for the group or for the mbarrier of the operation; other threads need a barrier after "+
				"the wait.", "9.7.9.25 asynchronous copy"),
		page(race.RuleProxy, "missing proxy fence",
			"Reports memory that generic instructions wrote, and that an asynchronous operation or the tensor map unit uses without a proxy fence by the writer in between. A read that is followed by an asynchronous write without a fence is a review.",
			"The async proxy may not see generic writes without a proxy fence after them.",
			"st.shared.u32 [%r1], %r2;\nbar.sync 0;\ncp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r1], 128;",
			"st.shared.u32 [%r1], %r2;\nfence.proxy.async.shared::cta;\nbar.sync 0;\ncp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r1], 128;",
			"Execute fence.proxy.async in every writing thread, before the barrier.",
			"8.6 proxies"),
		page(race.RuleMixed, "strong accesses overlap in part",
			"Reports two strong accesses that nothing orders and that have different addresses or sizes.",
			"Accesses that overlap in part are not morally strong: they are not atomic to each other.",
			"atom.global.add.u64 %rd2, [%rd1], 1;\nst.relaxed.gpu.global.u32 [%rd1], 0;",
			"atom.global.add.u64 %rd2, [%rd1], 1;\nst.relaxed.gpu.global.u64 [%rd1], 0;",
			"Use one address and one size for all accesses to a synchronization variable.",
			"8.7 morally strong operations"),
		page(race.RuleValues, "lanes store different values to one address",
			"Reports one store of a warp whose lanes write different values to the same bytes.",
			"Which value remains is undefined.",
			"mov.u32 %r1, %laneid;\nst.shared.u32 [s], %r1;",
			"mov.u32 %r1, %laneid;\nsetp.eq.u32 %p1, %r1, 0;\n@%p1 st.shared.u32 [s], %r1;",
			"Let one lane store, or use an atomic operation.", "8.4 operation types"),
		page(race.RuleInit, "mbarrier initialization is not ordered before its use",
			"Reports a use of an mbarrier, by a thread or an asynchronous operation, that is not ordered after its initialization.",
			"An operation on an mbarrier that is not initialized is undefined.",
			"@%p1 mbarrier.init.shared.b64 [m], 1;\nmbarrier.arrive.shared.b64 %rd1, [m];",
			"@%p1 mbarrier.init.shared.b64 [m], 1;\nbar.sync 0;\nmbarrier.arrive.shared.b64 %rd1, [m];",
			"Execute bar.sync after mbarrier.init. For peers and asynchronous operations execute "+
				"fence.mbarrier_init.release.cluster before.", "9.7.13.15 mbarrier"),
		page(race.RulePeer, "shared memory of a block that may not run",
			"Reports an access to the shared memory of another block of the cluster, if it is not ordered after the start of that block and before its end.",
			"Shared memory exists while its block runs. Accesses outside fault or reach another block.",
			"mapa.shared::cluster.u32 %r1, %r2, 1;\nst.shared::cluster.u32 [%r1], 0;\nret;",
			"barrier.cluster.arrive;\nbarrier.cluster.wait;\nmapa.shared::cluster.u32 %r1, %r2, 1;\nst.shared::cluster.u32 [%r1], 0;\nbarrier.cluster.arrive;\nbarrier.cluster.wait;\nret;",
			"Execute a cluster barrier before the first access and after the last.",
			"9.7.13.3 barrier.cluster"),
		page(race.RuleGrids, "dependent launch accesses memory before it waits",
			"Reports an access by a programmatic dependent launch, before its griddepcontrol.wait, to memory that the preceding launch uses.",
			"The preceding launch may still run.",
			"ld.global.u32 %r1, [%rd1];\ngriddepcontrol.wait;",
			"griddepcontrol.wait;\nld.global.u32 %r1, [%rd1];",
			"Execute griddepcontrol.wait before the first dependent access.",
			"9.7.13.13 griddepcontrol"),
		page(race.RuleTensor, "data race in tensor memory",
			"Reports two tcgen05 operations on the same cells of tensor memory, one of them a write, if the first may still be in flight when the second begins: a wait or a commit is missing between them. Tensor-core operations that one thread issues run in order. A missing tcgen05.fence between two threads is a review.",
			"All tcgen05 operations are asynchronous. The second one may read or overwrite cells before "+
				"the first has used them.",
			"tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r1}, [%r2];\nbar.sync 0;\ntcgen05.mma.cta_group::1.kind::f16 [%r2], %rd1, %rd2, %r3, 0;",
			"tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r1}, [%r2];\ntcgen05.wait::ld.sync.aligned;\ntcgen05.fence::before_thread_sync;\nbar.sync 0;\ntcgen05.fence::after_thread_sync;\ntcgen05.mma.cta_group::1.kind::f16 [%r2], %rd1, %rd2, %r3, 0;",
			"Execute tcgen05.wait::ld or wait::st in the warp that moves, and tcgen05.commit with a wait on "+
				"its mbarrier after operations of the tensor cores.",
			"9.7.16.6 tcgen05 memory consistency"),
		page(RuleHang, "kernel hangs",
			"Reports a launch in which no thread can make progress, and what each warp waits for.",
			"The launch never ends.",
			"setp.eq.u32 %p1, %r1, 0;\n@%p1 bar.sync 1, 64;", "bar.sync 1, 64;",
			"Let all expected threads arrive, with the phase and the count that the wait needs.",
			"9.7.13.1 barrier"),
		page(RuleSearch, "another order of synchronizations hangs",
			"Reports an order of arrivals, waits and completions, other than those that ran, in which the launch hangs, a wait completes on another phase, or more threads arrive than a phase expects. The search visits only one of several equivalent orders, up to a limit. The finding is an error if a run in this order hangs, faults or has a race, else a review.",
			"Warps and asynchronous operations may run in any order that the synchronization allows.",
			"mbarrier.arrive.shared.b64 _, [full]; // twice, without a wait for the reader\nmbarrier.arrive.shared.b64 _, [full];",
			"mbarrier.arrive.shared.b64 _, [full];\n// wait until the reader has arrived at empty\nmbarrier.arrive.shared.b64 _, [full];",
			"Before the next phase, wait on the mbarrier at which the other side releases the buffer.",
			"9.7.13.15 mbarrier"),
		page(RuleFault, "kernel faults",
			"Reports a launch that ended with an invalid memory access, a trap or a misused instruction. It is a review if other derived launches ended without an error.",
			"The launch ends with an error, or computes wrong results.",
			"st.shared.u32 [s+128], %r1; // s has 128 bytes", "st.shared.u32 [s+124], %r1;",
			"Keep accesses in bounds and aligned.", "5.1 state spaces"),
		page(RuleValue, "uninitialized value is used",
			"Reports an undefined value that reaches global memory, an address or a branch: one read from shared or local memory or from a register that no thread has written, or from a lane that does not take part in a shuffle. Values that are loaded but not used are not reported. It is a review if it does not occur in other derived launches.",
			"Shared memory holds what an earlier block left there. A shuffle from a lane that has exited or "+
				"took another branch gives an undefined value.",
			"@%p1 bra DONE; // lanes 16 to 31\nshfl.sync.down.b32 %r2, %r1, 16, 31, 0xffffffff;",
			"shfl.sync.down.b32 %r2, %r1, 16, 31, 0xffffffff;\n@%p1 bra DONE; // lanes 16 to 31",
			"Store to all elements that are read later. Execute shuffles in all lanes that the mask names.",
			"9.7.9.6 shfl.sync"),
		page(race.RuleReadOnly, "read-only load of memory that the kernel writes",
			"Reports a load with .nc of a byte that this launch has written, by any thread.",
			"The read-only cache is not coherent: the load may return the old value, even after a barrier.",
			"st.global.u32 [%rd1], %r1;\nbar.sync 0;\nld.global.nc.u32 %r2, [%rd2];",
			"st.global.u32 [%rd1], %r1;\nbar.sync 0;\nld.global.u32 %r2, [%rd2];",
			"Use .nc only for memory that no thread writes while the kernel runs.",
			"9.7.9.9 ld.global.nc"),
		page(race.RuleLive, "mbarrier is overwritten, invalidated or initialized in use",
			"Reports a write to the memory of an mbarrier and a second mbarrier.init, without mbarrier.inval "+
				"between, and mbarrier.inval while the mbarrier still expects bytes.",
			"The contents of an mbarrier are opaque; overwriting or initializing a live one is undefined.",
			"mbarrier.init.shared.b64 [m], 1;\nmbarrier.init.shared.b64 [m], 1;",
			"mbarrier.init.shared.b64 [m], 1;\nmbarrier.inval.shared.b64 [m];\nmbarrier.init.shared.b64 [m], 1;",
			"Keep data apart from mbarriers. Execute mbarrier.inval before the memory is used again.",
			"9.7.13.15 mbarrier"),
		page(race.RuleFragment, "register of wgmma or tcgen05.ld is accessed too early",
			"Reports an access to the accumulator of a wgmma operation, and a write to its A fragment, before "+
				"wgmma.wait_group completes it, and wgmma.mma_async on registers that were written after the last "+
				"wgmma.fence. A use of a register that tcgen05.ld loads before tcgen05.wait::ld is a review.",
			"The operations read and write their registers asynchronously.",
			"wgmma.commit_group.sync.aligned;\nadd.f32 %f8, %f0, %f1;\nwgmma.wait_group.sync.aligned 0;",
			"wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\nadd.f32 %f8, %f0, %f1;",
			"Execute wgmma.fence after writes and wgmma.wait_group before accesses to the registers.",
			"9.7.15 asynchronous warpgroup level matrix multiply"),
		page(race.RuleExited, "aligned instruction after lanes of the warp have exited",
			"Reports bar.sync, bar.arrive and other instructions of the whole warp that it executes after some "+
				"of its lanes have exited, as a review. Matrix instructions without the fragments of some lanes are "+
				"errors.",
			"All threads of the warp must execute the same instruction; otherwise its behavior is undefined. GPUs "+
				"of today do not wait for exited threads, and CUDA code relies on that.",
			"setp.eq.u32 %p1, %laneid, 0;\n@%p1 bra DONE;\nbar.sync 0;\nDONE:\nret;",
			"bar.sync 0;\nsetp.eq.u32 %p1, %laneid, 0;\n@%p1 bra DONE;\nDONE:\nret;",
			"Let all lanes reach the barrier, and guard the work instead.", "9.7.13.1 barrier"),
		page(RuleOrder, "result depends on the schedule",
			"Reports a kernel without races whose results differ between schedules, as a review.",
			"Floating-point atomics and queues give results that are not reproducible.",
			"red.global.add.f32 [%rd1], %f1;", "st.global.f32 [%rd1], %f1;",
			"Combine values in a fixed order if results must be reproducible.", "9.7.13.9 red"),
	}
	list[len(list)-1].Severity, list[len(list)-2].Severity = diag.Review, diag.Review
	return list
}
