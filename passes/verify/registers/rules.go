// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package registers

import "github.com/ptxdsl/ptxdsl/diag"

var (
	ruleNumber = diag.Rule{
		ID: "R1", Layer: "registers", Severity: diag.Error,
		Title: "invalid setmaxnreg register count",
		What: "Reports setmaxnreg with a count that is not a multiple of 8 from 24 to 256. " +
			"The form checks report it first.",
		Why:     "The assembler rejects it.",
		Fix:     "Round to a multiple of 8.",
		Section: "9.7.19.5 setmaxnreg",
	}
	ruleWhole = diag.Rule{
		ID: "R2", Layer: "registers", Severity: diag.Error,
		Title: "setmaxnreg by only part of a warpgroup",
		What: "Reports a setmaxnreg that some but not all warps of a warpgroup execute, and a " +
			"second one without a barrier since the first. It is a review if the other warps " +
			"execute an equal one elsewhere, as tileiras generates it.",
		Why: "Registers are counted per warp. One warp that keeps its registers leaves too few " +
			"for the increase of another warpgroup, which then waits forever.",
		Wrong: `
.reqntid 256
mov.u32 %r1, %tid.x;
setp.ge.u32 %p1, %r1, 96;
@%p1 bra OTHERS;
setmaxnreg.dec.sync.aligned.u32 40;
bra DONE;
OTHERS:
`,
		Right: `
.reqntid 256
mov.u32 %r1, %tid.x;
setp.ge.u32 %p1, %r1, 128;
@%p1 bra OTHERS;
setmaxnreg.dec.sync.aligned.u32 40;
bra DONE;
OTHERS:
`,
		Fix: "Let all four warps execute it before they diverge, and synchronize before " +
			"another one.",
		Section: "9.7.19.5 setmaxnreg",
	}
	ruleWay = diag.Rule{
		ID: "R3", Layer: "registers", Severity: diag.Error,
		Title: "setmaxnreg.dec that increases or setmaxnreg.inc that decreases",
		What: "Reports setmaxnreg.dec to more registers than the threads have, and " +
			"setmaxnreg.inc to fewer.",
		Why: "The behaviour is undefined.",
		Wrong: `
.reqntid 128
.maxnreg 64
setmaxnreg.dec.sync.aligned.u32 96;
`,
		Right: `
.reqntid 128
.maxnreg 128
setmaxnreg.dec.sync.aligned.u32 96;
`,
		Fix: "Start from the register count at launch: .maxnreg, or what the block size " +
			"leaves for each thread.",
		Section: "9.7.19.5 setmaxnreg",
	}
	rulePool = diag.Rule{
		ID: "R4", Layer: "registers", Severity: diag.Error,
		Title: "setmaxnreg.inc requests more registers than the block has",
		What: "Reports a kernel whose warpgroups together request more registers than the block " +
			"was launched with.",
		Why: "setmaxnreg.inc waits until enough registers are free, which never happens.",
		Wrong: `
.reqntid 512
mov.u32 %r1, %tid.x;
setp.ge.u32 %p1, %r1, 128;
@%p1 bra OTHERS;
setmaxnreg.dec.sync.aligned.u32 24;
bra DONE;
OTHERS:
setmaxnreg.inc.sync.aligned.u32 240;
`,
		Right: `
.reqntid 512
mov.u32 %r1, %tid.x;
setp.ge.u32 %p1, %r1, 128;
@%p1 bra OTHERS;
setmaxnreg.dec.sync.aligned.u32 24;
bra DONE;
OTHERS:
setmaxnreg.inc.sync.aligned.u32 160;
`,
		Fix: "Keep the sum over all warpgroups within the launch register count times their " +
			"number.",
		Gaps: "Warpgroups that increase one after the other, after another has released " +
			"registers again, are not modelled.",
		Section: "9.7.19.5 setmaxnreg",
	}
	rulePinned = diag.Rule{
		ID: "R5", Layer: "registers", Severity: diag.Warning,
		Title: "setmaxnreg without a known register count at launch",
		What:  "Reports setmaxnreg in a kernel that has none of .maxnreg, .reqntid and .maxntid.",
		Why:   "The assembler ignores setmaxnreg unless the register count at launch is known.",
		Wrong: `
setmaxnreg.dec.sync.aligned.u32 40;
`,
		Right: `
.reqntid 128
setmaxnreg.dec.sync.aligned.u32 40;
`,
		Fix:     "Declare the block size or the register count.",
		Section: "9.7.19.5 setmaxnreg",
	}
)
