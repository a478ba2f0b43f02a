// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package tensor

import "github.com/ptxdsl/ptxdsl/diag"

var (
	ruleAlloc = diag.Rule{
		ID: "T1", Layer: "tensor", Severity: diag.Error,
		Title: "invalid tcgen05.alloc",
		What: "Reports tcgen05.alloc of a column count that is not a power of two from 32 to " +
			"512 or is larger than that of an earlier allocation of the block. Also reports an " +
			"allocation executed by several warps with one instruction.",
		Why: "The kernel traps or hangs.",
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
		Gaps:    "Several allocations by different warps are not compared.",
		Section: "9.7.16.7 Tensor memory allocation",
	}
	ruleAddress = diag.Rule{
		ID: "T2", Layer: "tensor", Severity: diag.Error,
		Title: "tensor memory address read before it is visible",
		What: "Reports a load of the address that tcgen05.alloc stored, by threads of another " +
			"warp than the allocating one, without a barrier before it.",
		Why: "The address is a plain shared-memory write. Without a barrier, other threads may " +
			"read the old contents and access arbitrary tensor memory.",
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
		Fix:     "Put a block barrier in between.",
		Section: "9.7.16.7 Tensor memory allocation",
	}
	ruleFree = diag.Rule{
		ID: "T3", Layer: "tensor", Severity: diag.Error,
		Title: "tensor memory leak or double free",
		What: "Reports a path on which tensor memory is allocated but not freed, or freed " +
			"twice. Also reports an allocation after tcgen05.relinquish_alloc_permit, or one " +
			"that nothing orders before the relinquish of another warp.",
		Why: "The next block on the multiprocessor waits forever for the columns.",
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
		Fix: "Free the columns on every path, including early returns.",
		Gaps: "Frees are not matched with allocations. Two frees are compared only if one " +
			"warp frees the same address twice.",
		Section: "9.7.16.7 Tensor memory allocation",
	}
	ruleEarly = diag.Rule{
		ID: "T4", Layer: "tensor", Severity: diag.Error,
		Title: "tensor memory freed while in use",
		What:  "Reports tcgen05.dealloc in one warp without a barrier after a use in another warp.",
		Why:   "The other warp may read what the next block writes.",
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
		Fix: "Put a block barrier before the free.",
		Gaps: "What an mbarrier wait before the free stands for is unknown, so such a free is " +
			"not reported.",
		Section: "9.7.16.7 Tensor memory allocation",
	}
	rulePair = diag.Rule{
		ID: "T5", Layer: "tensor", Severity: diag.Error,
		Title: "pair of blocks not synchronized at tensor memory allocation or free",
		What: "Reports tcgen05.alloc.cta_group::2 without a preceding cluster barrier, and a " +
			"free without one after the last use. If the blocks synchronize after the allocation " +
			"and before the first use, the finding is a review: the manual does not say that the " +
			"other block must have started, and production kernels rely on that.",
		Why: "The other block may not have started, or may still use the memory: a fault or a " +
			"hang.",
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
		Fix:     "Use a cluster barrier before the allocation and before the free.",
		Section: "9.7.16.5 Issue granularity",
	}
	ruleOrder = diag.Rule{
		ID: "T6", Layer: "tensor", Severity: diag.Error,
		Title: "tensor memory read while tcgen05.mma is in flight",
		What: "Reports tcgen05.ld of columns that a tcgen05.mma of the same threads writes, " +
			"in the same lanes, without a commit and a wait for it in between. A matrix product " +
			"with 64 rows writes lanes 0 to 15 of each 32, or lanes 16 to 31; a load whose shape " +
			"begins with 16 reads as many.",
		Why: "The operation is asynchronous: the load may return old or partial results.",
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
		Fix: "Commit the operation to an mbarrier, wait for its phase, then load.",
		Gaps: "Only the first column is compared. Operations of other threads are not compared. " +
			"If the instruction descriptor is not a constant, only half of the lanes are certain.",
		Section: "9.7.16.6 tcgen05 memory consistency",
	}
	ruleCommit = diag.Rule{
		ID: "T7", Layer: "tensor", Severity: diag.Error,
		Title: "tcgen05.commit does not track the operation",
		What: "Reports tcgen05.commit by other threads than those that issued the preceding " +
			"tcgen05.mma, .cp or .shift. Also reports such an operation by threads that execute " +
			"no commit, if another lane of the warp does. If the same thread commits on other " +
			"paths only, as in a loop that may run zero times, the finding is a review.",
		Why: "A commit tracks only operations of its own thread. A commit by another thread " +
			"completes the mbarrier at once, and the operation itself is never waited for.",
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
		Fix:     "Issue and commit in the same thread, and in no other.",
		Section: "9.7.16.10 tcgen05.commit",
	}
	ruleWait = diag.Rule{
		ID: "T8", Layer: "tensor", Severity: diag.Error,
		Title: "missing tcgen05.wait::ld or tcgen05.wait::st",
		What: "Reports an arrival, a barrier or a free after tcgen05.ld without wait::ld, or " +
			"after tcgen05.st without wait::st. It is a review if the loaded registers are used " +
			"before the wait, if all of them were used before an arrival or a free, and for a " +
			"barrier, which may be for other data.",
		Why: "Other threads overwrite what has not been read yet, or read what has not been " +
			"written yet.",
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
		ID: "T9", Layer: "tensor", Severity: diag.Review,
		Title: "missing tcgen05.fence between tensor memory operations of different threads",
		What: "Reports a tensor memory operation after a wait for another thread without " +
			"tcgen05.fence::after_thread_sync, and an arrival after such an operation without " +
			"::before_thread_sync. A commit implies the fence before. If tensor memory is used " +
			"and another warp frees it after a barrier without a fence before it, the finding is " +
			"a note and the verdict is incomplete.",
		Why: "Without the fences, tensor memory operations may move across the wait or the " +
			"arrival. Compilers omit the fences where they know more, so this is a review.",
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
		Fix: "Put the fence after the wait, or before the arrival.",
		Gaps: "A barrier is checked only if it has a tcgen05 fence on one side and none on " +
			"the other.",
		Section: "9.7.16.6 tcgen05 memory consistency",
	}
	ruleLanes = diag.Rule{
		ID: "T10", Layer: "tensor", Severity: diag.Error,
		Title: "warp accesses tensor memory lanes it cannot reach",
		What: "Reports tcgen05.ld and .st where warp w of a warpgroup names a lane outside the " +
			"32 lanes that start at 32 times (w mod 4). If all warps name lanes of the first 32, " +
			"the finding is a review: production kernels rely on each warp accessing its own 32 " +
			"lanes then, which the manual does not say.",
		Why: "The kernel traps or reads garbage.",
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
		Fix: "Add 32 times the warp index within the warpgroup, shifted left by 16, to the " +
			"address.",
		Gaps:    "Addresses that start at a lane other than 0 are not checked.",
		Section: "9.7.16.2 Tensor memory addressing",
	}
)
