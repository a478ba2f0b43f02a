// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package isa

import "github.com/ptxdsl/ptxdsl/diag"

// Rules are the pages of what the matcher reports: of opcodes and modifiers (F2), operands (F3),
// versions and targets (F4).
func Rules() diag.Rules {
	rejects := "The assembler rejects the module."
	list := diag.Rules{
		{
			ID: "F201", Title: "unknown instruction",
			What:    "An opcode whose first words are the name of no instruction, in any PTX version.",
			Wrong:   "addd.u32 %r1, %r2, %r3;",
			Right:   "add.u32 %r1, %r2, %r3;",
			Fix:     "Write the name that was meant; `ptxdsl isa` lists them.",
			Section: "4.3.2 Instruction Statements",
		},
		{
			ID: "F202", Title: "unknown modifier",
			What:    "A word behind a dot that is a modifier of no instruction.",
			Wrong:   "add.u23 %r1, %r2, %r3;",
			Right:   "add.u32 %r1, %r2, %r3;",
			Fix:     "Write the modifier that was meant; `ptxdsl isa NAME` lists those of an instruction.",
			Section: "4.3.2 Instruction Statements",
		},
		{
			ID: "F203", Title: "modifier that the instruction does not have",
			What:    "A modifier that exists, on an instruction none of whose forms takes it.",
			Wrong:   "add.global.u32 %r1, %r2, %r3;",
			Right:   "add.u32 %r1, %r2, %r3;",
			Fix:     "Drop it, or use the instruction that has it: `ptxdsl isa .global` lists them.",
			Section: "9.2 PTX Instructions",
		},
		{
			ID: "F204", Title: "modifier missing",
			What:    "An instruction without a modifier that all its forms need, such as a type, a rounding mode or a comparison.",
			Wrong:   "fma.f32 %f1, %f2, %f3, %f4;",
			Right:   "fma.rn.f32 %f1, %f2, %f3, %f4;",
			Fix:     "Add one of those that the message lists.",
			Section: "9.2 PTX Instructions",
		},
		{
			ID: "F205", Title: "modifiers that do not go together",
			What:    "Modifiers each of which the instruction has, but not in one form, or not for these types or shapes.",
			Wrong:   "add.sat.s64 %rd1, %rd2, %rd3;",
			Right:   "add.s64 %rd1, %rd2, %rd3;",
			Fix:     "Choose one of the forms that `ptxdsl isa NAME` prints, with its rules and tables.",
			Section: "9.2 PTX Instructions",
		},
		{
			ID: "F206", Title: "modifier written twice",
			What:    "The same modifier, or another of its kind, a second time.",
			Wrong:   "ld.global.global.u32 %r1, [%rd1];",
			Right:   "ld.global.u32 %r1, [%rd1];",
			Fix:     "Drop one of them.",
			Section: "9.2 PTX Instructions",
		},
		{
			ID: "F207", Title: "modifier out of its place",
			What:    "Words that keep an order, in another: the words of the name come first, and types, or the spaces of a copy, keep theirs among themselves. All other modifiers may stand in any order; `ptxdsl fmt` writes the manual's.",
			Wrong:   "cp.async.ca.global.shared [%r1], [%rd1], 8;",
			Right:   "cp.async.ca.shared.global [%r1], [%rd1], 8;",
			Fix:     "Write them in the order of the form in the message.",
			Section: "9.2 PTX Instructions",
		},
		{
			ID: "F208", Title: "modifier without effect", Severity: diag.Warning,
			What:    "A modifier that the assembler reads and ignores, or takes twice where once is meant.",
			Why:     "The module assembles, but the author expected something of the word.",
			Wrong:   "mma.sync.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%f1, %f2, %f3, %f4}, {%r1, %r2, %r3, %r4}, {%r5, %r6}, {%f1, %f2, %f3, %f4};",
			Right:   "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%f1, %f2, %f3, %f4}, {%r1, %r2, %r3, %r4}, {%r5, %r6}, {%f1, %f2, %f3, %f4};",
			Fix:     "Drop it.",
			Section: "9.2 PTX Instructions",
		},
		{
			ID: "F301", Title: "wrong number of operands",
			What:    "More or fewer operands than the form takes, or ones that may be left out in a combination that has no form.",
			Wrong:   "add.u32 %r1, %r2;",
			Right:   "add.u32 %r1, %r1, %r2;",
			Fix:     "Write the operands of the form; `ptxdsl isa NAME` names them.",
			Section: "9.1 Format and Semantics of Instruction Descriptions",
		},
		{
			ID: "F302", Title: "operand of the wrong kind",
			What:    "An operand that is, say, a constant where a register is written, or a label where a value is read.",
			Wrong:   "add.u32 5, %r1, %r2;",
			Right:   "add.u32 %r3, %r1, %r2;",
			Fix:     "Write what the message expects.",
			Section: "6.2 Source Operands",
		},
		{
			ID: "F303", Title: "register of the wrong type",
			What:    "A register whose width or class does not fit the instruction's type. Integer and untyped registers of one width stand for each other; floating-point ones fit untyped instructions of their width.",
			Wrong:   ".reg .f32 %f<2>;\n.reg .b32 %r<2>;\nadd.u32 %r1, %f1, 1;",
			Right:   ".reg .f32 %f<2>;\n.reg .b32 %r<2>;\nmov.b32 %r1, %f1;\nadd.u32 %r1, %r1, 1;",
			Fix:     "Use a register of the type, or convert: mov moves bits, cvt converts values.",
			Section: "9.4 Type Information for Instructions and Operands",
		},
		{
			ID: "F304", Title: "constant out of range",
			What:    "A constant operand outside what the instruction can encode.",
			Wrong:   "bar.sync 16;",
			Right:   "bar.sync 15;",
			Fix:     "Choose a value within the range of the message.",
			Section: "4.5.1 Integer Constants",
		},
		{
			ID: "F305", Title: "operands that do not go together",
			What:    "Operands that each fit, with a modifier or another operand that excludes or needs them.",
			Wrong:   "createpolicy.range.global.L2::evict_last.b64 %rd1, [%rd2], 128, 64;",
			Right:   "createpolicy.range.global.L2::evict_last.b64 %rd1, [%rd2], 64, 128;",
			Fix:     "Follow the reason in the message; `ptxdsl isa NAME` prints the rule.",
			Section: "9.1 Format and Semantics of Instruction Descriptions",
		},
		{
			ID: "F306", Title: "vector of the wrong length",
			What:    "A brace vector with more or fewer elements than the form takes, or with elements that do not fit.",
			Wrong:   "ld.global.v4.u32 {%r1, %r2}, [%rd1];",
			Right:   "ld.global.v2.u32 {%r1, %r2}, [%rd1];",
			Fix:     "Write as many elements as the modifier or the shape says.",
			Section: "6.4.3 Vectors as Operands",
		},
		{
			ID: "F307", Title: "address that does not fit",
			What:    "An address in another state space than the instruction accesses, or in brackets with too many or too few parts.",
			Wrong:   ".shared .b32 s;\nld.global.u32 %r1, [s];",
			Right:   ".shared .b32 s;\nld.shared.u32 %r1, [s];",
			Fix:     "Name the space of the variable, or use a generic address (cvta).",
			Section: "6.4.1 Addresses as Operands",
		},
		{
			ID: "F308", Title: "_ where a result is needed",
			What:    "The sink _ as destination of an instruction that does not discard its result.",
			Wrong:   "add.u32 _, %r1, %r2;",
			Right:   "add.u32 %r3, %r1, %r2;",
			Fix:     "Give a register.",
			Section: "6.3 Destination Operands",
		},
		{
			ID: "F401", Title: "PTX version too old",
			What:    "A form, or one of its modifiers, that came with a later PTX version than the file names.",
			Wrong:   ".version 7.8\n.target sm_90\nelect.sync _|%p1, -1;",
			Right:   ".version 8.0\n.target sm_90\nelect.sync _|%p1, -1;",
			Fix:     "Raise .version to the one in the message; the driver must be as new.",
			Section: "11.1.1 PTX Module Directives: .version",
		},
		{
			ID: "F402", Title: "target does not have it",
			What:    "A form, or one of its modifiers, that the file's target does not have. Without a suffix a target has what came before it; features with an a are on that target alone, with an f on its family.",
			Wrong:   ".version 8.0\n.target sm_90\nwgmma.fence.sync.aligned;",
			Right:   ".version 8.0\n.target sm_90a\nwgmma.fence.sync.aligned;",
			Fix:     "Name a target of the message, if that is where the module is to run.",
			Section: "11.1.2 PTX Module Directives: .target",
		},
		{
			ID: "F403", Title: "gone from this version or target",
			What:    "A form that earlier PTX versions or targets had, and the file's has no more.",
			Wrong:   ".version 9.0\n.target sm_90\nvote.any.pred %p1, %p2;",
			Right:   ".version 9.0\n.target sm_90\nvote.sync.any.pred %p1, %p2, -1;",
			Fix:     "Use what came in its stead.",
			Section: "11.1.2 PTX Module Directives: .target",
		},
	}
	for i := range list {
		list[i].Layer = "form"
		if list[i].Why == "" {
			list[i].Why = rejects
		}
	}
	return list
}
