// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package objects

import "github.com/ptxdsl/ptxdsl/diag"

var (
	ruleMade = diag.Rule{
		ID: "M1", Layer: "objects", Severity: diag.Error, Title: "a barrier object that cannot be",
		What: "mbarrier.init with a count below 1 or above 1048575, at a place that is no multiple of 8, or beyond the variable that it is counted from.",
		Why:  "A phase that no arrival completes hangs whoever waits; a misplaced object faults.",
		Wrong: `
mov.b32 %r1, 0;
mbarrier.init.shared.b64 [bars], %r1;
`,
		Right: `
mov.b32 %r1, 1;
mbarrier.init.shared.b64 [bars], %r1;
`,
		Fix:     "Give the number of arrivals of a phase.",
		Section: "9.7.13.15.9 mbarrier.init",
	}
	ruleLife = diag.Rule{
		ID: "M2", Layer: "objects", Severity: diag.Error, Title: "a barrier object made, ended or overwritten at the wrong time",
		What: "mbarrier.init where an object is alive, use of one that mbarrier.inval ended, and stores and copies into the bytes of one that is alive.",
		Why:  "The object's state is lost: hangs and corruption.",
		Wrong: `
mbarrier.init.shared.b64 [bars], 1;
mbarrier.init.shared.b64 [bars], 2;
`,
		Right: `
mbarrier.init.shared.b64 [bars], 1;
mbarrier.inval.shared.b64 [bars];
mbarrier.init.shared.b64 [bars], 2;
`,
		Fix:     "End the object with mbarrier.inval before its memory is used again, and keep data off it.",
		Gaps:    "Writes of another role with no barrier of the block between the object's making and them.",
		Section: "9.7.13.15.9 mbarrier.init",
	}
	ruleSeen = diag.Rule{
		ID: "M3", Layer: "objects", Severity: diag.Error, Title: "a barrier object used before it can be seen",
		What: "Use of an object by other threads than the one that made it with no barrier of the block between, or by a copy or a matrix unit with no fence between mbarrier.init and the barrier that the user comes behind. " +
			"st.async and red.async need no fence: they are performed in the generic proxy (PTX ISA, st.async and red.async), so that a barrier of the cluster which releases and acquires makes an mbarrier of another block visible to them. " +
			"Without that barrier C3 reports them, and C2 if its arrival is relaxed.",
		Why: "The user works on what was in memory before: a hang in the first round, rarely.",
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
		Fix:     "Have fence.mbarrier_init.release.cluster behind the inits of the thread that makes objects, then a barrier of the block, or of the cluster if other blocks arrive.",
		Gaps:    "A missing fence is a review where there is no cluster: the manual asks for it, and libraries of NVIDIA leave it out.",
		Section: "9.7.13.4 fence",
	}
	ruleArrivals = diag.Rule{
		ID: "M4", Layer: "objects", Severity: diag.Error, Title: "arrivals that do not make up a phase",
		What: "A wait for a phase of more arrivals than all threads together make, and a phase that arrivals overrun; a review where those of one instruction fall into two phases. Arrivals are counted by threads: an instruction that 32 lanes execute is 32 arrivals. " +
			"cp.async.mbarrier.arrive without .noinc is none: it raises the pending count by one and lowers it again.",
		Why: "The wait never ends, or ends before all have come.",
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
		Fix:     "Make the object for as many arrivals as come in a phase.",
		Gaps:    "Blocks whose size is not laid down are taken at their greatest; arrivals from other blocks of a cluster whose size is not known. Where some arrival is at an address that is not known, as one that a call returns, nothing is reported, and the verdict is incomplete.",
		Section: "9.7.13.15.13 mbarrier.arrive",
	}
	ruleBytes = diag.Rule{
		ID: "M5", Layer: "objects", Severity: diag.Error, Title: "bytes expected that are not those copied",
		What: "The bytes that a trace expects at an object differ from those of the copies that complete there, all of constant size.",
		Why:  "The phase never completes, or completes before the data is there.",
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
		Fix:     "Expect the sum of the sizes of all copies of a phase.",
		Gaps:    "Tensor copies: the size of the box is in the tensor map. Copies to several blocks.",
		Section: "9.7.13.15.11 mbarrier.expect_tx",
	}
	ruleParity = diag.Rule{
		ID: "M6", Layer: "objects", Severity: diag.Error, Title: "a parity that does not follow the phases",
		What: "A wait whose parity is neither 0 nor 1, or is that of a phase which lies further back or further ahead than the one that runs and the one before.",
		Why:  "The wait lets pass at once, or never.",
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
		Fix:     "Flip the parity each time round the ring: xor with 1.",
		Section: "9.7.13.15.16 mbarrier.test_wait",
	}
	ruleRemote = diag.Rule{
		ID: "M8", Layer: "objects", Severity: diag.Error, Title: "a wait on a barrier object of another block",
		What: "mbarrier.test_wait or .try_wait on an address that mapa gives.",
		Why:  "Only arrivals and byte counts may go to objects of other blocks.",
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
		Fix:     "Let the other block arrive at an object of this one, and wait for that.",
		Section: "9.7.13.15 mbarrier",
	}
	ruleScope = diag.Rule{
		ID: "M9", Layer: "objects", Severity: diag.Error, Title: "a scope too small for another block's data",
		What: "Stores to another block's shared memory, then an arrival there that is not .release.cluster, or a wait there that is not .acquire.cluster. Where st.async brings the data, the wait is a review. A relaxed arrival behind plain accesses to shared memory, or a relaxed wait ahead of accesses to it or of a copy into what those who arrive have used, is a review.",
		Why:  "Without the scope the waiter may read what was there before. A relaxed arrival says that something has happened and puts nothing before it; tcgen05 has fences of its own for tensor memory.",
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
		Fix:     "Write .release.cluster at the arrival and .acquire.cluster at the wait. In the DSL, wait with Barrier.WaitCluster.",
		Section: "9.7.13.15.16 mbarrier.test_wait",
	}
	ruleTry = diag.Rule{
		ID: "M10", Layer: "objects", Severity: diag.Error, Title: "a try that is not tried again",
		What: "mbarrier.try_wait or .test_wait whose result nothing rests on. Where something does, and the kernel goes on without success, as after a number of tries, it is a review, and so it is where other waits for the same object are heeded. Ways that end in a trap are right.",
		Why:  "Both may come back before the phase is complete: a race.",
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
		Fix:     "Loop until the predicate holds.",
		Section: "9.7.13.15.16 mbarrier.test_wait",
	}
)
