// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package tensor

import "github.com/ptxdsl/ptxdsl/diag"

var (
	ruleAlloc = diag.Rule{
		ID: "T1", Layer: "tensor", Severity: diag.Error, Title: "an allocation of tensor memory that cannot be",
		What: "tcgen05.alloc of a number of columns that is no power of two from 32 to 512, larger than an earlier one of the block, or by several warps with one instruction.",
		Why:  "The kernel traps, or waits for ever.",
		Wrong: `
.reqntid 32
mov.b32 %r2, 48;
tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [slot], %r2;
ld.shared.b32 %r1, [slot];
tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r1, %r2;
`,
		Right: `
.reqntid 32
mov.b32 %r2, 64;
tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [slot], %r2;
ld.shared.b32 %r1, [slot];
tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r1, %r2;
`,
		Fix:     "Round the columns up to a power of two, and let one whole warp allocate.",
		Gaps:    "Several allocations by different warps.",
		Section: "9.7.16.7 Tensor memory allocation",
	}
	ruleAddress = diag.Rule{
		ID: "T2", Layer: "tensor", Severity: diag.Error, Title: "an address of tensor memory read too early",
		What: "A load, by threads of another warp than the one that allocates, of the place where tcgen05.alloc leaves the address, with no barrier before it.",
		Why:  "The address is a plain write: others may read what was there before, and work on a random place.",
		Wrong: `
.reqntid 64
mov.u32 %r2, %tid.x;
setp.lt.u32 %p1, %r2, 32;
@!%p1 bra READ;
tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [slot], 32;
READ:
ld.shared.b32 %r1, [slot];
bar.sync 0;
@!%p1 bra DONE;
tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r1, 32;
`,
		Right: `
.reqntid 64
mov.u32 %r2, %tid.x;
setp.lt.u32 %p1, %r2, 32;
@!%p1 bra READ;
tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [slot], 32;
READ:
bar.sync 0;
ld.shared.b32 %r1, [slot];
bar.sync 0;
@!%p1 bra DONE;
tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r1, 32;
`,
		Fix:     "Put a barrier of the block between.",
		Section: "9.7.16.7 Tensor memory allocation",
	}
	ruleFree = diag.Rule{
		ID: "T3", Layer: "tensor", Severity: diag.Error, Title: "tensor memory that is not freed",
		What: "A way through the kernel on which tensor memory is allocated and not freed, or freed twice; or an allocation behind tcgen05.relinquish_alloc_permit, or with nothing that puts it before that of another warp.",
		Why:  "The next block on the multiprocessor waits for it for ever.",
		Wrong: `
.reqntid 32
tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [slot], 32;
ld.shared.b32 %r1, [slot];
`,
		Right: `
.reqntid 32
tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [slot], 32;
ld.shared.b32 %r1, [slot];
tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r1, 32;
`,
		Fix:     "Free on every way, early returns among them.",
		Gaps:    "Which allocation a free is of is not followed; of two frees, those by one warp at one address are compared.",
		Section: "9.7.16.7 Tensor memory allocation",
	}
	ruleEarly = diag.Rule{
		ID: "T4", Layer: "tensor", Severity: diag.Error, Title: "tensor memory freed while in use",
		What: "tcgen05.dealloc in one warp with no barrier between a use in another warp and it.",
		Why:  "The other warp may read what the next block writes.",
		Wrong: `
.reqntid 64
mov.u32 %r2, %tid.x;
setp.lt.u32 %p1, %r2, 32;
@!%p1 bra JOIN;
tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [slot], 32;
JOIN:
bar.sync 0;
ld.shared.b32 %r1, [slot];
@%p1 bra FREE;
add.u32 %r3, %r1, 0x200000;
tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r4}, [%r3];
tcgen05.wait::ld.sync.aligned;
bra DONE;
FREE:
tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r1, 32;
`,
		Right: `
.reqntid 64
mov.u32 %r2, %tid.x;
setp.lt.u32 %p1, %r2, 32;
@!%p1 bra JOIN;
tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [slot], 32;
JOIN:
bar.sync 0;
ld.shared.b32 %r1, [slot];
@%p1 bra FREE;
add.u32 %r3, %r1, 0x200000;
tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r4}, [%r3];
tcgen05.wait::ld.sync.aligned;
bar.sync 0;
bra DONE;
FREE:
bar.sync 0;
tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r1, 32;
`,
		Fix:     "Put a barrier of the block before the free.",
		Gaps:    "Where the freeing warp waits for a barrier object before, what that stands for is not known.",
		Section: "9.7.16.7 Tensor memory allocation",
	}
	rulePair = diag.Rule{
		ID: "T5", Layer: "tensor", Severity: diag.Error, Title: "a pair of blocks that do not meet",
		What: "tcgen05.alloc.cta_group::2 with no barrier of the cluster before it, or a free with none between it and the last use. Where the blocks meet behind the allocation before anything is done to tensor memory it is a review: both execute it together, and the manual does not say that the other must have started; kernels in use count on that.",
		Why:  "The other block may not have started, or may still use the memory: a fault or a hang.",
		Wrong: `
.reqntid 32
.explicitcluster
.reqnctapercluster 2
tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [slot], 32;
ld.shared.b32 %r1, [slot];
tcgen05.dealloc.cta_group::2.sync.aligned.b32 %r1, 32;
`,
		Right: `
.reqntid 32
.explicitcluster
.reqnctapercluster 2
barrier.cluster.arrive.aligned;
barrier.cluster.wait.aligned;
tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [slot], 32;
ld.shared.b32 %r1, [slot];
tcgen05.dealloc.cta_group::2.sync.aligned.b32 %r1, 32;
`,
		Fix:     "Meet at a barrier of the cluster before the allocation and before the free.",
		Section: "9.7.16.5 Issue granularity",
	}
	ruleOrder = diag.Rule{
		ID: "T6", Layer: "tensor", Severity: diag.Error, Title: "a load of tensor memory that overtakes a matrix operation",
		What: "tcgen05.ld of columns that a tcgen05.mma of the same threads writes in the same lanes, with no commit and no wait for it between. " +
			"A product with 64 rows writes lanes 0 to 15 of each 32, or 16 to 31; a load whose shape begins with 16 reads as many.",
		Why: "The operation runs in the background: wrong numbers.",
		Wrong: `
.reqntid 32
tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [slot], 32;
ld.shared.b32 %r1, [slot];
elect.sync _|%p1, 0xffffffff;
@%p1 tcgen05.mma.cta_group::1.kind::f16 [%r1], %rd1, %rd2, %r2, 1;
tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r4}, [%r1];
tcgen05.wait::ld.sync.aligned;
tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r1, 32;
`,
		Right: `
.reqntid 32
tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [slot], 32;
ld.shared.b32 %r1, [slot];
@%p2 mbarrier.init.shared.b64 [bars], 1;
fence.mbarrier_init.release.cluster;
elect.sync _|%p1, 0xffffffff;
@%p1 tcgen05.mma.cta_group::1.kind::f16 [%r1], %rd1, %rd2, %r2, 1;
@%p1 tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [bars];
WAIT:
mbarrier.try_wait.parity.shared.b64 %p3, [bars], 0;
@!%p3 bra WAIT;
tcgen05.fence::after_thread_sync;
tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r4}, [%r1];
tcgen05.wait::ld.sync.aligned;
tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r1, 32;
`,
		Fix:     "Commit the operation to a barrier object, wait for its phase, then load.",
		Gaps:    "Columns further in than the first; operations of other threads. Of a product whose instruction descriptor is not a constant only half of the lanes is certain.",
		Section: "9.7.16.6 tcgen05 memory consistency",
	}
	ruleCommit = diag.Rule{
		ID: "T7", Layer: "tensor", Severity: diag.Error, Title: "a commit that tracks nothing",
		What: "tcgen05.commit by other threads than issued the tcgen05.mma, .cp or .shift before it; or one of these by threads that never commit it, where another lane of the warp commits. " +
			"Where the same thread commits on other paths only, as in a loop that may run zero times, it is a review.",
		Why: "A commit tracks the operations of its own thread: the object is released at once. Every thread that issues an operation makes one of its own: of those that no commit tracks nobody learns when they end.",
		Wrong: `
.reqntid 32
tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [slot], 32;
ld.shared.b32 %r1, [slot];
@%p2 mbarrier.init.shared.b64 [bars], 1;
fence.mbarrier_init.release.cluster;
elect.sync _|%p1, 0xffffffff;
@%p1 tcgen05.mma.cta_group::1.kind::f16 [%r1], %rd1, %rd2, %r2, 1;
@!%p1 tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [bars];
WAIT:
mbarrier.try_wait.parity.shared.b64 %p3, [bars], 0;
@!%p3 bra WAIT;
tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r1, 32;
`,
		Right: `
.reqntid 32
tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [slot], 32;
ld.shared.b32 %r1, [slot];
@%p2 mbarrier.init.shared.b64 [bars], 1;
fence.mbarrier_init.release.cluster;
elect.sync _|%p1, 0xffffffff;
@%p1 tcgen05.mma.cta_group::1.kind::f16 [%r1], %rd1, %rd2, %r2, 1;
@%p1 tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [bars];
WAIT:
mbarrier.try_wait.parity.shared.b64 %p3, [bars], 0;
@!%p3 bra WAIT;
tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r1, 32;
`,
		Fix:     "Let the thread that commits issue, and no other.",
		Section: "9.7.16.10 tcgen05.commit",
	}
	ruleWait = diag.Rule{
		ID: "T8", Layer: "tensor", Severity: diag.Error, Title: "tensor memory handed over with a load or store under way",
		What: "An arrival, a barrier or a free behind tcgen05.ld with no wait::ld between, or behind tcgen05.st with no wait::st. Registers of a load that are used before the wait are a review, so is an arrival or a free where all of them were, and so is a barrier, which may hand over something else.",
		Why:  "Others overwrite what was not read, or read what was not written.",
		Wrong: `
.reqntid 32
tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [slot], 32;
ld.shared.b32 %r1, [slot];
tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r4}, [%r1];
mbarrier.arrive.shared.b64 _, [bars];
tcgen05.wait::ld.sync.aligned;
tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r1, 32;
`,
		Right: `
.reqntid 32
tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [slot], 32;
ld.shared.b32 %r1, [slot];
tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r4}, [%r1];
tcgen05.wait::ld.sync.aligned;
mbarrier.arrive.shared.b64 _, [bars];
tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r1, 32;
`,
		Fix:     "Wait before the arrival.",
		Section: "9.7.16.6 tcgen05 memory consistency",
	}
	ruleFence = diag.Rule{
		ID: "T9", Layer: "tensor", Severity: diag.Review, Title: "tensor operations of several threads without thread fences",
		What: "A tensor operation behind a wait for another thread with no tcgen05.fence::after_thread_sync, or an arrival behind one with no ::before_thread_sync. A commit is a fence before by itself. Where the use of tensor memory comes before a free by another warp with a barrier between and no fence ahead of it, that is a note, and the verdict incomplete.",
		Why:  "Without the fences tensor operations may cross the wait or the arrival. Compilers leave them out where they know more, hence a review.",
		Wrong: `
.reqntid 32
tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [slot], 32;
ld.shared.b32 %r1, [slot];
@%p2 mbarrier.init.shared.b64 [bars], 1;
fence.mbarrier_init.release.cluster;
elect.sync _|%p1, 0xffffffff;
@%p1 tcgen05.mma.cta_group::1.kind::f16 [%r1], %rd1, %rd2, %r2, 1;
@%p1 tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [bars];
WAIT:
mbarrier.try_wait.parity.shared.b64 %p3, [bars], 0;
@!%p3 bra WAIT;
tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r4}, [%r1];
tcgen05.wait::ld.sync.aligned;
tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r1, 32;
`,
		Right: `
.reqntid 32
tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [slot], 32;
ld.shared.b32 %r1, [slot];
@%p2 mbarrier.init.shared.b64 [bars], 1;
fence.mbarrier_init.release.cluster;
elect.sync _|%p1, 0xffffffff;
@%p1 tcgen05.mma.cta_group::1.kind::f16 [%r1], %rd1, %rd2, %r2, 1;
@%p1 tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [bars];
WAIT:
mbarrier.try_wait.parity.shared.b64 %p3, [bars], 0;
@!%p3 bra WAIT;
tcgen05.fence::after_thread_sync;
tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r4}, [%r1];
tcgen05.wait::ld.sync.aligned;
tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r1, 32;
`,
		Fix:     "Put the fence behind the wait, or before the arrival.",
		Gaps:    "Of barriers, only one that has a thread fence at one side and none at the other is asked for it.",
		Section: "9.7.16.6 tcgen05 memory consistency",
	}
	ruleLanes = diag.Rule{
		ID: "T10", Layer: "tensor", Severity: diag.Error, Title: "a warp that works on lanes it cannot reach",
		What: "tcgen05.ld and .st where warp w of a warpgroup names a lane outside 32 times (w mod 4) to 31 further. Where all warps name lanes of the first 32 it is a review: kernels in use count on each warp working on its own 32 then, which the manual does not say.",
		Why:  "The kernel traps, or reads garbage.",
		Wrong: `
.reqntid 128
mov.u32 %r2, %tid.x;
ld.shared.b32 %r1, [slot];
shr.u32 %r3, %r2, 5;
shl.b32 %r3, %r3, 22;
add.u32 %r3, %r3, %r1;
tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r4}, [%r3];
tcgen05.wait::ld.sync.aligned;
`,
		Right: `
.reqntid 128
mov.u32 %r2, %tid.x;
ld.shared.b32 %r1, [slot];
shr.u32 %r3, %r2, 5;
shl.b32 %r3, %r3, 21;
add.u32 %r3, %r3, %r1;
tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r4}, [%r3];
tcgen05.wait::ld.sync.aligned;
`,
		Fix:     "Add 32 times the warp's place in its warpgroup, shifted left by 16, to the address.",
		Gaps:    "Addresses that begin at a lane other than 0.",
		Section: "9.7.16.2 Tensor memory addressing",
	}
)
