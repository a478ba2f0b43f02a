// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package convergence

import "github.com/ptxdsl/ptxdsl/diag"

var (
	ruleCount = diag.Rule{
		ID: "B1", Layer: "convergence", Severity: diag.Error,
		Title: "barrier thread count does not match the threads that arrive",
		What: "Reports a barrier number above 15, a thread count that is not a multiple of 32 or " +
			"exceeds the block, an arrival without a count, an arrival at a barrier that no " +
			"thread waits on, and a count that differs from the number of threads that arrive on " +
			"some path. Exited threads do not count; if it is unknown whether any have exited, " +
			"the finding is a review. Counts are compared with arrivals only if the kernel " +
			"declares its block size.",
		Why: "The barrier is released too early or never.",
		Wrong: `
.reqntid 128
bar.sync 1, 96;
`,
		Right: `
.reqntid 128
bar.sync 1, 128;
`,
		Fix: "Use the number of all threads that wait or arrive, in whole warps.",
		Gaps: "Data-dependent counts, and kernels that do not declare their block size with " +
			".reqntid, are not checked.",
		Section: "9.7.13.1 barrier",
	}
	ruleAligned = diag.Rule{
		ID: "B2", Layer: "convergence", Severity: diag.Error,
		Title: "barrier or .aligned instruction in divergent code",
		What: "Reports bar.sync and every .aligned instruction behind a branch, or under a " +
			"guard, on which lanes of one warp differ.",
		Why: "All threads of the warp must execute the same instruction together. Otherwise the " +
			"kernel hangs or its behaviour is undefined.",
		Wrong: `
mov.u32 %r1, %tid.x;
setp.ne.u32 %p1, %r1, 5;
@!%p1 bra SKIP;
bar.sync 0;
SKIP:
`,
		Right: `
mov.u32 %r1, %tid.x;
setp.ne.u32 %p1, %r1, 5;
bar.sync 0;
`,
		Fix: "Move it to where the lanes have reconverged, or use barrier.sync without .aligned.",
		Gaps: "A branch on data is a review, because it is unknown whether the lanes differ. " +
			"Lanes that exit the kernel without a later store are assumed to have exited, since " +
			"the hardware no longer waits for them. If such an exit depends on data, nothing is " +
			"reported unless lanes of one warp are known to differ; that case is a review.",
		Section: "9.7.13.1 barrier",
	}
	ruleShared = diag.Rule{
		ID: "B3", Layer: "convergence", Severity: diag.Review,
		Title: "one named barrier used by two groups of threads",
		What: "Reports a named barrier in three cases. More threads reach it than its count, " +
			"from several places or with several counts. A warp reaches it again after an arrive " +
			"without knowing that the waiting threads have continued. A reduction and a plain " +
			"arrival use it at the same time.",
		Why: "Arrivals of one group, or of one iteration, release the other.",
		Wrong: `
.reqntid 128
mov.u32 %r1, %tid.x;
setp.lt.u32 %p1, %r1, 64;
@%p1 bra FIRST;
bar.sync 1, 64;
bra DONE;
FIRST:
bar.sync 1, 64;
`,
		Right: `
.reqntid 128
mov.u32 %r1, %tid.x;
setp.lt.u32 %p1, %r1, 64;
@%p1 bra FIRST;
bar.sync 1, 64;
bra DONE;
FIRST:
bar.sync 2, 64;
`,
		Fix: "Give each group its own barrier number.",
		Gaps: "Groups that use one number in turn, properly separated by other synchronization, " +
			"are reported too.",
		Section: "9.7.13.1 barrier",
	}
	ruleMask = diag.Rule{
		ID: "B5", Layer: "convergence", Severity: diag.Error,
		Title: "member mask names lanes that do not reach the instruction",
		What: "Reports bar.warp.sync, shfl, vote, match and redux with a constant member mask " +
			"that names a lane which took another branch, if the branch depends on the thread " +
			"index. Also reports these instructions and elect.sync if the mask omits a lane that " +
			"executes them.",
		Why: "The lanes that did arrive wait forever, or the result is undefined.",
		Wrong: `
mov.u32 %r1, %tid.x;
setp.ge.u32 %p1, %r1, 16;
@%p1 bra SKIP;
bar.warp.sync 0xffffffff;
SKIP:
`,
		Right: `
mov.u32 %r1, %tid.x;
setp.ge.u32 %p1, %r1, 16;
@%p1 bra SKIP;
bar.warp.sync 0x0000ffff;
SKIP:
`,
		Fix:     "Use a mask of exactly the lanes that execute the instruction.",
		Gaps:    "Masks in registers and branches on data are not checked.",
		Section: "9.7.13.2 bar.warp.sync",
	}
	ruleElect = diag.Rule{
		ID: "B6", Layer: "convergence", Severity: diag.Error,
		Title: "elect.sync in divergent code",
		What:  "Reports elect.sync behind a branch on which lanes of its member mask differ.",
		Why:   "It waits for lanes that never arrive.",
		Wrong: `
elect.sync _|%p1, 0xffffffff;
@!%p1 bra SKIP;
elect.sync _|%p2, 0xffffffff;
SKIP:
`,
		Right: `
elect.sync _|%p1, 0xffffffff;
elect.sync _|%p2, 0xffffffff;
`,
		Fix:     "Elect before the branch, while the warp is converged.",
		Section: "9.7.13.14 elect.sync",
	}
	// The pages of these rules are with analyzers tensor and wgmma.
	ruleAlloc = diag.Rule{ID: "T1", Layer: "tensor", Severity: diag.Error}
	ruleLanes = diag.Rule{ID: "T10", Layer: "tensor", Severity: diag.Error}
	ruleGroup = diag.Rule{ID: "W5", Layer: "wgmma", Severity: diag.Error}
)
