// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package isa

import "github.com/ptxdsl/ptxdsl/diag"

// Rules returns the rules of the matcher: opcodes and modifiers (F2), operands (F3), versions and
// targets (F4).
func Rules() diag.Rules {
	rejects := "The assembler rejects the module."
	list := diag.Rules{
		{
			ID: "F201", Title: "unknown instruction",
			What:    "Reports an opcode whose name is not an instruction of any PTX version.",
			Wrong:   "addd.u32 %r1, %r2, %r3;",
			Right:   "add.u32 %r1, %r2, %r3;",
			Fix:     "Write the intended name; `ptxdsl isa` lists all instructions.",
			Section: "4.3.2 Instruction Statements",
		},
		{
			ID: "F202", Title: "unknown modifier",
			What:  "Reports a word after a dot that is not a modifier of any instruction.",
			Wrong: "add.u23 %r1, %r2, %r3;",
			Right: "add.u32 %r1, %r2, %r3;",
			Fix: "Write the intended modifier; `ptxdsl isa NAME` lists those of an " +
				"instruction.",
			Section: "4.3.2 Instruction Statements",
		},
		{
			ID: "F203", Title: "modifier that the instruction does not have",
			What:  "Reports a modifier that exists, but that no form of this instruction takes.",
			Wrong: "add.global.u32 %r1, %r2, %r3;",
			Right: "add.u32 %r1, %r2, %r3;",
			Fix: "Delete the modifier, or use an instruction that has it: `ptxdsl isa .global` lists " +
				"them.",
			Section: "9.2 PTX Instructions",
		},
		{
			ID: "F204", Title: "missing modifier",
			What: "Reports an instruction without a modifier that all its forms require, such as a " +
				"type, a rounding mode or a comparison.",
			Wrong:   "fma.f32 %f1, %f2, %f3, %f4;",
			Right:   "fma.rn.f32 %f1, %f2, %f3, %f4;",
			Fix:     "Add one of the modifiers that the message lists.",
			Section: "9.2 PTX Instructions",
		},
		{
			ID: "F205", Title: "modifiers cannot be combined",
			What: "Reports modifiers that the instruction has, but not together in one form, or not " +
				"for these types or shapes.",
			Wrong:   "add.sat.s64 %rd1, %rd2, %rd3;",
			Right:   "add.s64 %rd1, %rd2, %rd3;",
			Fix:     "Choose one of the forms that `ptxdsl isa NAME` prints, with its rules and tables.",
			Section: "9.2 PTX Instructions",
		},
		{
			ID: "F206", Title: "modifier written twice",
			What:    "Reports the same modifier twice, or two modifiers of one kind.",
			Wrong:   "ld.global.global.u32 %r1, [%rd1];",
			Right:   "ld.global.u32 %r1, [%rd1];",
			Fix:     "Delete one of the modifiers.",
			Section: "9.2 PTX Instructions",
		},
		{
			ID: "F207", Title: "modifier in the wrong position",
			What: "Reports modifiers in the wrong order. The words of the instruction name come " +
				"first. Types, and the state spaces of a copy, keep their order. All other " +
				"modifiers may be in any order; `ptxdsl fmt` writes them in the order of the " +
				"manual.",
			Wrong:   "cp.async.ca.global.shared [%r1], [%rd1], 8;",
			Right:   "cp.async.ca.shared.global [%r1], [%rd1], 8;",
			Fix:     "Write the modifiers in the order of the form in the message.",
			Section: "9.2 PTX Instructions",
		},
		{
			ID: "F208", Title: "modifier without effect", Severity: diag.Warning,
			What: "Reports a modifier that the assembler ignores, or that is written twice where one " +
				"is enough.",
			Why:     "The module assembles, but the modifier does not do what its author expected.",
			Wrong:   "mma.sync.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%f1, %f2, %f3, %f4}, {%r1, %r2, %r3, %r4}, {%r5, %r6}, {%f1, %f2, %f3, %f4};",
			Right:   "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%f1, %f2, %f3, %f4}, {%r1, %r2, %r3, %r4}, {%r5, %r6}, {%f1, %f2, %f3, %f4};",
			Fix:     "Delete the modifier.",
			Section: "9.2 PTX Instructions",
		},
		{
			ID: "F301", Title: "wrong number of operands",
			What: "Reports more or fewer operands than the form takes, or optional operands in a " +
				"combination that has no form.",
			Wrong:   "add.u32 %r1, %r2;",
			Right:   "add.u32 %r1, %r1, %r2;",
			Fix:     "Write the operands of the form; `ptxdsl isa NAME` names them.",
			Section: "9.1 Format and Semantics of Instruction Descriptions",
		},
		{
			ID: "F302", Title: "wrong kind of operand",
			What: "Reports an operand of the wrong kind, for example a constant as a destination, or " +
				"a label as a source.",
			Wrong:   "add.u32 5, %r1, %r2;",
			Right:   "add.u32 %r3, %r1, %r2;",
			Fix:     "Use an operand of the kind that the message names.",
			Section: "6.2 Source Operands",
		},
		{
			ID: "F303", Title: "register type does not match the instruction",
			What: "Reports a register whose width or class does not fit the type of the instruction. " +
				"Integer and untyped registers of one width are interchangeable. Floating-point " +
				"registers also fit untyped instructions of their width.",
			Wrong: ".reg .f32 %f<2>;\n.reg .b32 %r<2>;\nadd.u32 %r1, %f1, 1;",
			Right: ".reg .f32 %f<2>;\n.reg .b32 %r<2>;\nmov.b32 %r1, %f1;\nadd.u32 %r1, %r1, 1;",
			Fix: "Use a register of the expected type, or convert: mov copies bits, cvt " +
				"converts values.",
			Section: "9.4 Type Information for Instructions and Operands",
		},
		{
			ID: "F304", Title: "constant out of range",
			What:    "Reports a constant operand outside the range that the instruction can encode.",
			Wrong:   "bar.sync 16;",
			Right:   "bar.sync 15;",
			Fix:     "Use a value in the range given in the message.",
			Section: "4.5.1 Integer Constants",
		},
		{
			ID: "F305", Title: "operands cannot be combined",
			What: "Reports operands that are valid alone, but not together with a modifier or another " +
				"operand.",
			Wrong:   "createpolicy.range.global.L2::evict_last.b64 %rd1, [%rd2], 128, 64;",
			Right:   "createpolicy.range.global.L2::evict_last.b64 %rd1, [%rd2], 64, 128;",
			Fix:     "The message gives the reason; `ptxdsl isa NAME` prints the rule.",
			Section: "9.1 Format and Semantics of Instruction Descriptions",
		},
		{
			ID: "F306", Title: "wrong vector length",
			What: "Reports a vector in braces with more or fewer elements than the form takes, or " +
				"with elements of the wrong type.",
			Wrong:   "ld.global.v4.u32 {%r1, %r2}, [%rd1];",
			Right:   "ld.global.v2.u32 {%r1, %r2}, [%rd1];",
			Fix:     "Use as many elements as the modifier or the shape requires.",
			Section: "6.4.3 Vectors as Operands",
		},
		{
			ID: "F307", Title: "address does not match the instruction",
			What: "Reports an address in a state space that the instruction does not access, or one " +
				"with too many or too few parts in the brackets.",
			Wrong:   ".shared .b32 s;\nld.global.u32 %r1, [s];",
			Right:   ".shared .b32 s;\nld.shared.u32 %r1, [s];",
			Fix:     "Use the state space of the variable, or a generic address (cvta).",
			Section: "6.4.1 Addresses as Operands",
		},
		{
			ID: "F308", Title: "_ as a required destination",
			What: "Reports the sink _ as the destination of an instruction whose result cannot be " +
				"discarded.",
			Wrong:   "add.u32 _, %r1, %r2;",
			Right:   "add.u32 %r3, %r1, %r2;",
			Fix:     "Use a register.",
			Section: "6.3 Destination Operands",
		},
		{
			ID: "F401", Title: ".version too old for the instruction",
			What:  "Reports a form or modifier that a later PTX version introduced.",
			Wrong: ".version 7.8\n.target sm_90\nelect.sync _|%p1, -1;",
			Right: ".version 8.0\n.target sm_90\nelect.sync _|%p1, -1;",
			Fix: "Raise .version to the one in the message. The driver must support that " +
				"version too.",
			Section: "11.1.1 PTX Module Directives: .version",
		},
		{
			ID: "F402", Title: ".target does not support the instruction",
			What: "Reports a form or modifier that the .target does not support. A target without " +
				"suffix supports the features of all earlier targets. Features with suffix a " +
				"exist only on that target, those with suffix f on its family.",
			Wrong:   ".version 8.0\n.target sm_90\nwgmma.fence.sync.aligned;",
			Right:   ".version 8.0\n.target sm_90a\nwgmma.fence.sync.aligned;",
			Fix:     "Use one of the targets in the message, if the module is to run there.",
			Section: "11.1.2 PTX Module Directives: .target",
		},
		{
			ID: "F403", Title: "removed from this PTX version or target",
			What: "Reports a form that earlier PTX versions or targets had, but not those of this " +
				"module.",
			Wrong:   ".version 9.0\n.target sm_90\nvote.any.pred %p1, %p2;",
			Right:   ".version 9.0\n.target sm_90\nvote.sync.any.pred %p1, %p2, -1;",
			Fix:     "Use its replacement.",
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
