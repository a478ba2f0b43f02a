// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package mbarrier

import "github.com/ptxdsl/ptxdsl/diag"

var (
	ruleMade = diag.Rule{
		ID: "M1", Layer: "mbarrier", Severity: diag.Error,
		Title: "invalid mbarrier count, alignment or address",
		What: "Reports mbarrier.init with a count below 1 or above 1048575, at an address that " +
			"is not a multiple of 8, or past the end of its variable.",
		Why: "A phase that no number of arrivals completes hangs every waiting thread. A " +
			"misaligned mbarrier faults.",
		Wrong: `
mov.b32 %r1, 0;
mbarrier.init.shared.b64 [bars], %r1;
`,
		Right: `
mov.b32 %r1, 1;
mbarrier.init.shared.b64 [bars], %r1;
`,
		Fix:     "Pass the number of arrivals of one phase.",
		Section: "9.7.13.15.9 mbarrier.init",
	}
	ruleLife = diag.Rule{
		ID: "M2", Layer: "mbarrier", Severity: diag.Error,
		Title: "mbarrier initialized twice, used after mbarrier.inval, or overwritten",
		What: "Reports mbarrier.init on a live mbarrier, use of an mbarrier after " +
			"mbarrier.inval, and stores and copies into the bytes of a live mbarrier.",
		Why: "The state of the mbarrier is lost. The kernel hangs or corrupts data.",
		Wrong: `
mbarrier.init.shared.b64 [bars], 1;
mbarrier.init.shared.b64 [bars], 2;
`,
		Right: `
mbarrier.init.shared.b64 [bars], 1;
mbarrier.inval.shared.b64 [bars];
mbarrier.init.shared.b64 [bars], 2;
`,
		Fix: "Execute mbarrier.inval before the memory is reused, and keep data out of it.",
		Gaps: "Writes by another role are not reported if no block barrier separates them from " +
			"the initialization.",
		Section: "9.7.13.15.9 mbarrier.init",
	}
	ruleSeen = diag.Rule{
		ID: "M3", Layer: "mbarrier", Severity: diag.Error,
		Title: "mbarrier used before its initialization is visible",
		What: "Reports use of an mbarrier by threads other than the initializing one without a " +
			"block barrier in between. Also reports use by a copy or a tensor core without a " +
			"fence between mbarrier.init and the barrier that precedes the use. st.async and " +
			"red.async need no fence: they are performed in the generic proxy, so a cluster " +
			"barrier with release and acquire makes an mbarrier of another block visible to " +
			"them. Without that barrier, C3 or C2 reports them.",
		Why: "The user sees uninitialized memory. This rarely shows as a hang in the first " +
			"iteration.",
		Wrong: `
mov.u32 %r1, %tid.x;
setp.eq.u32 %p1, %r1, 0;
@%p1 mbarrier.init.shared.b64 [bars], 128;
mbarrier.arrive.shared.b64 _, [bars];
`,
		Right: `
mov.u32 %r1, %tid.x;
setp.eq.u32 %p1, %r1, 0;
@%p1 mbarrier.init.shared.b64 [bars], 128;
bar.sync 0;
mbarrier.arrive.shared.b64 _, [bars];
`,
		Fix: "In the initializing thread, put fence.mbarrier_init.release.cluster after " +
			"mbarrier.init. Then use a block barrier, or a cluster barrier if other blocks " +
			"arrive.",
		Gaps: "Without a cluster, a missing fence is a review: the manual requires it, but " +
			"NVIDIA libraries omit it.",
		Section: "9.7.13.4 fence",
	}
	ruleArrivals = diag.Rule{
		ID: "M4", Layer: "mbarrier", Severity: diag.Error,
		Title: "mbarrier arrival count does not match its arrivals",
		What: "Reports a wait for a phase that needs more arrivals than all threads make, and " +
			"arrivals beyond the count of a phase. If the arrivals of one instruction fall into " +
			"two phases, the finding is a review. Arrivals are counted per thread: an " +
			"instruction executed by 32 lanes is 32 arrivals. cp.async.mbarrier.arrive without " +
			".noinc counts as none: it raises the pending count by one and lowers it again.",
		Why: "The wait never completes, or completes before all threads have arrived.",
		Wrong: `
.reqntid 128
mov.u32 %r1, %tid.x;
setp.eq.u32 %p1, %r1, 0;
@%p1 mbarrier.init.shared.b64 [bars], 2;
bar.sync 0;
@%p1 mbarrier.arrive.shared.b64 _, [bars];
WAIT:
mbarrier.try_wait.parity.shared.b64 %p2, [bars], 0;
@!%p2 bra WAIT;
`,
		Right: `
.reqntid 128
mov.u32 %r1, %tid.x;
setp.eq.u32 %p1, %r1, 0;
@%p1 mbarrier.init.shared.b64 [bars], 1;
bar.sync 0;
@%p1 mbarrier.arrive.shared.b64 _, [bars];
WAIT:
mbarrier.try_wait.parity.shared.b64 %p2, [bars], 0;
@!%p2 bra WAIT;
`,
		Fix: "Initialize the mbarrier with the number of arrivals per phase.",
		Gaps: "An undeclared block size is assumed to be the largest possible. Arrivals from " +
			"other blocks of a cluster of unknown size are not counted. If an arrival has an " +
			"unknown address, such as one that a call returns, the kernel is incomplete.",
		Section: "9.7.13.15.13 mbarrier.arrive",
	}
	ruleBytes = diag.Rule{
		ID: "M5", Layer: "mbarrier", Severity: diag.Error,
		Title: "expect_tx byte count does not match the copied bytes",
		What: "Reports a path on which the bytes expected at an mbarrier differ from the bytes " +
			"of the copies that complete on it, if all sizes are constant.",
		Why: "The phase never completes, or it completes before the data has arrived.",
		Wrong: `
.reqntid 32
elect.sync _|%p1, 0xffffffff;
@!%p1 bra DONE;
mbarrier.init.shared.b64 [bars], 1;
fence.mbarrier_init.release.cluster;
mbarrier.arrive.expect_tx.shared.b64 _, [bars], 128;
cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [tile], [%rd1], 256, [bars];
`,
		Right: `
.reqntid 32
elect.sync _|%p1, 0xffffffff;
@!%p1 bra DONE;
mbarrier.init.shared.b64 [bars], 1;
fence.mbarrier_init.release.cluster;
mbarrier.arrive.expect_tx.shared.b64 _, [bars], 256;
cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [tile], [%rd1], 256, [bars];
`,
		Fix: "Expect the total size of all copies of one phase.",
		Gaps: "Tensor copies are not summed, because the box size is in the tensor map. " +
			"Multicast copies are not summed either.",
		Section: "9.7.13.15.11 mbarrier.expect_tx",
	}
	ruleParity = diag.Rule{
		ID: "M6", Layer: "mbarrier", Severity: diag.Error,
		Title: "wrong phase parity in an mbarrier wait",
		What: "Reports a wait whose parity is neither 0 nor 1, or which names a phase other than " +
			"the current and the preceding one.",
		Why: "The wait returns at once, or never.",
		Wrong: `
mov.b32 %r1, 0;
LOOP:
mbarrier.try_wait.parity.shared.b64 %p1, [bars], %r1;
@!%p1 bra LOOP;
add.u32 %r1, %r1, 1;
setp.lt.u32 %p2, %r1, 4;
@%p2 bra LOOP;
`,
		Right: `
mov.b32 %r1, 0;
LOOP:
and.b32 %r2, %r1, 1;
mbarrier.try_wait.parity.shared.b64 %p1, [bars], %r2;
@!%p1 bra LOOP;
add.u32 %r1, %r1, 1;
setp.lt.u32 %p2, %r1, 4;
@%p2 bra LOOP;
`,
		Fix:     "Flip the parity with xor 1 each time the ring index wraps.",
		Section: "9.7.13.15.16 mbarrier.test_wait",
	}
	ruleRemote = diag.Rule{
		ID: "M8", Layer: "mbarrier", Severity: diag.Error,
		Title: "wait on an mbarrier of another block",
		What:  "Reports mbarrier.test_wait and mbarrier.try_wait on an address from mapa.",
		Why:   "Other blocks' mbarriers accept only arrivals and transaction counts.",
		Wrong: `
barrier.cluster.arrive.aligned;
barrier.cluster.wait.aligned;
mov.u32 %r1, bars;
mapa.shared::cluster.u32 %r2, %r1, 1;
mbarrier.try_wait.parity.shared.b64 %p1, [%r2], 0;
`,
		Right: `
barrier.cluster.arrive.aligned;
barrier.cluster.wait.aligned;
mov.u32 %r1, bars;
mapa.shared::cluster.u32 %r2, %r1, 1;
mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r2];
barrier.cluster.arrive.aligned;
barrier.cluster.wait.aligned;
`,
		Fix:     "Let the other block arrive at an mbarrier of this block, and wait on that one.",
		Section: "9.7.13.15 mbarrier",
	}
	ruleScope = diag.Rule{
		ID: "M9", Layer: "mbarrier", Severity: diag.Error,
		Title: "mbarrier scope too small for data of another block",
		What: "Reports stores to another block's shared memory followed by a remote arrival " +
			"without .release.cluster, or by a wait without .acquire.cluster. If st.async brings " +
			"the data, the wait is a review. A relaxed arrival " +
			"after plain shared-memory accesses is a review. So is a relaxed wait before " +
			"accesses to shared memory, or before a copy into memory that the arriving threads " +
			"used.",
		Why: "Without the scope, the waiting thread may read old data. A relaxed arrival signals " +
			"an event but orders no earlier access; tcgen05 has its own fences for tensor memory.",
		Wrong: `
barrier.cluster.arrive.aligned;
barrier.cluster.wait.aligned;
mov.u32 %r1, bars;
mov.u32 %r3, tile;
mapa.shared::cluster.u32 %r2, %r1, 1;
mapa.shared::cluster.u32 %r4, %r3, 1;
st.shared::cluster.b32 [%r4], %r1;
mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r2];
WAIT:
mbarrier.try_wait.parity.shared.b64 %p1, [bars], 0;
@!%p1 bra WAIT;
barrier.cluster.arrive.aligned;
barrier.cluster.wait.aligned;
`,
		Right: `
barrier.cluster.arrive.aligned;
barrier.cluster.wait.aligned;
mov.u32 %r1, bars;
mov.u32 %r3, tile;
mapa.shared::cluster.u32 %r2, %r1, 1;
mapa.shared::cluster.u32 %r4, %r3, 1;
st.shared::cluster.b32 [%r4], %r1;
mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r2];
WAIT:
mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p1, [bars], 0;
@!%p1 bra WAIT;
barrier.cluster.arrive.aligned;
barrier.cluster.wait.aligned;
`,
		Fix: "Use .release.cluster on the arrival and .acquire.cluster on the wait. In the DSL, " +
			"wait with Barrier.WaitCluster.",
		Section: "9.7.13.15.16 mbarrier.test_wait",
	}
	ruleTry = diag.Rule{
		ID: "M10", Layer: "mbarrier", Severity: diag.Error,
		Title: "mbarrier.try_wait result is ignored",
		What: "Reports mbarrier.try_wait or .test_wait whose result is unused. It is a review if " +
			"the result is used but the kernel also continues after failure, for example after a " +
			"number of tries. It is also a review if other waits on the same mbarrier do use the " +
			"result. Paths that end in a trap are accepted.",
		Why: "Both instructions may return before the phase is complete. The accesses that " +
			"follow race with the producer.",
		Wrong: `
mbarrier.try_wait.parity.shared.b64 %p1, [bars], 0;
ld.shared.b32 %r1, [tile];
`,
		Right: `
WAIT:
mbarrier.try_wait.parity.shared.b64 %p1, [bars], 0;
@!%p1 bra WAIT;
ld.shared.b32 %r1, [tile];
`,
		Fix:     "Loop until the predicate is true.",
		Section: "9.7.13.15.16 mbarrier.test_wait",
	}
)
