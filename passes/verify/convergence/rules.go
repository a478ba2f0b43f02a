// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package convergence

import "github.com/ptxdsl/ptxdsl/diag"

var (
	ruleCount = diag.Rule{
		ID: "B1", Layer: "convergence", Severity: diag.Error, Title: "a barrier whose count is not the threads that come",
		What: "A barrier number above 15, a count that is no multiple of 32 or more than the block has, an arrival without a count, or at a barrier where nobody waits, a count that the warps which come do not make up, on some way. Threads that have left do not count; where it is not known whether any have, it is a review. Counts and threads are compared where the size of the block is laid down.",
		Why:  "The barrier is released too early or never.",
		Wrong: `
.reqntid 128
bar.sync 1, 96;
`,
		Right: `
.reqntid 128
bar.sync 1, 128;
`,
		Fix:     "Give the number of threads, in whole warps, of all that wait and arrive.",
		Gaps:    "Counts in registers that rest on data, and blocks whose size is not laid down by .reqntid.",
		Section: "9.7.13.1 barrier",
	}
	ruleAligned = diag.Rule{
		ID: "B2", Layer: "convergence", Severity: diag.Error, Title: "an aligned instruction that part of a warp comes to",
		What: "bar.sync and everything .aligned behind a branch, or under a guard, on which lanes of a warp part.",
		Why:  "All threads of the warp must execute the same such instruction: the kernel hangs, or does what is not defined.",
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
		Fix:     "Put it where the lanes have met again, or use barrier.sync without .aligned.",
		Gaps:    "Branches on data are reviews: whether lanes part is not known. Lanes that leave the kernel, and write nothing behind the place where the ways meet, are taken to have left: the hardware no longer waits for them. On data that is silent, and a review where it is known that lanes of a warp part.",
		Section: "9.7.13.1 barrier",
	}
	ruleShared = diag.Rule{
		ID: "B3", Layer: "convergence", Severity: diag.Review, Title: "one barrier number for two groups",
		What: "A numbered barrier that more threads come to than its count, from several places, or with several counts; that a warp comes to again after it only arrived, and nothing tells it that those who wait there have gone on; or that takes a reduction and a plain arrival at once.",
		Why:  "Arrivals of one group, or of one turn, release the other.",
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
		Fix:     "Give each group a number of its own.",
		Gaps:    "Groups that use one number one after the other, with something else between, are reported too.",
		Section: "9.7.13.1 barrier",
	}
	ruleMask = diag.Rule{
		ID: "B5", Layer: "convergence", Severity: diag.Error, Title: "a mask that names lanes which do not come",
		What: "bar.warp.sync, shfl, vote, match and redux whose constant mask names a lane that went another way at a branch on the number of the thread; these and elect.sync, where it does not name the one that executes them.",
		Why:  "The lanes that came wait for ever, or get what is not defined.",
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
		Fix:     "Name the lanes that come.",
		Gaps:    "Masks in registers and branches on data.",
		Section: "9.7.13.2 bar.warp.sync",
	}
	ruleElect = diag.Rule{
		ID: "B6", Layer: "convergence", Severity: diag.Error, Title: "an election among lanes that are not there",
		What: "elect.sync behind a branch on which lanes of its mask part.",
		Why:  "It waits for lanes that do not come.",
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
		Fix:     "Elect before the branch, where the warp is whole.",
		Section: "9.7.13.14 elect.sync",
	}
	// The pages of these are with the analyzers of tensor memory and of wgmma.
	ruleAlloc = diag.Rule{ID: "T1", Layer: "tensor", Severity: diag.Error}
	ruleLanes = diag.Rule{ID: "T10", Layer: "tensor", Severity: diag.Error}
	ruleGroup = diag.Rule{ID: "W5", Layer: "wgmma", Severity: diag.Error}
)
