// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package registers

import "github.com/ptxdsl/ptxdsl/diag"

var (
	ruleNumber = diag.Rule{
		ID: "R1", Layer: "registers", Severity: diag.Error, Title: "a number of registers that there cannot be",
		What:    "setmaxnreg with a number that is no multiple of 8 from 24 to 256. The form checks find it first.",
		Why:     "The assembler rejects it.",
		Fix:     "Round to a multiple of 8.",
		Section: "9.7.19.5 setmaxnreg",
	}
	ruleWhole = diag.Rule{
		ID: "R2", Layer: "registers", Severity: diag.Error, Title: "setmaxnreg by part of a warpgroup",
		What: "A setmaxnreg that some and not all of the warps of a warpgroup come to, or a second one with no barrier since the first. A review where the other warps come to one that does the same at another place, as tileiras writes it.",
		Why:  "Registers are counted by warps. One warp that keeps its own leaves too few for the increase of another warpgroup, which then waits for ever.",
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
		Fix:     "Let all four warps execute it before they part, and meet before another one.",
		Section: "9.7.19.5 setmaxnreg",
	}
	ruleWay = diag.Rule{
		ID: "R3", Layer: "registers", Severity: diag.Error, Title: "a decrease that increases, or the other way",
		What: "setmaxnreg.dec to more registers than threads have, setmaxnreg.inc to fewer.",
		Why:  "What happens is not defined.",
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
		Fix:     "Start from the number at launch: .maxnreg, or what the block size leaves each thread.",
		Section: "9.7.19.5 setmaxnreg",
	}
	rulePool = diag.Rule{
		ID: "R4", Layer: "registers", Severity: diag.Error, Title: "more registers wanted than the block has",
		What: "The registers that all warpgroups end with are more than the block was launched with.",
		Why:  "setmaxnreg.inc waits until enough are free: for ever.",
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
		Fix:     "Let the sum over warpgroups be no more than the number at launch times their count.",
		Gaps:    "Warpgroups that raise one after the other, when another has given back again.",
		Section: "9.7.19.5 setmaxnreg",
	}
	rulePinned = diag.Rule{
		ID: "R5", Layer: "registers", Severity: diag.Warning, Title: "setmaxnreg without a number of registers at launch",
		What: "setmaxnreg in a kernel with none of .maxnreg, .reqntid and .maxntid.",
		Why:  "The assembler ignores setmaxnreg then: the number at launch must be known.",
		Wrong: `
setmaxnreg.dec.sync.aligned.u32 40;
`,
		Right: `
.reqntid 128
setmaxnreg.dec.sync.aligned.u32 40;
`,
		Fix:     "Lay down the size of the block or the number of registers.",
		Section: "9.7.19.5 setmaxnreg",
	}
)
