// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package form

import "github.com/ptxdsl/ptxdsl/diag"

// Rules of operands.
var (
	ruleGuard = diag.Rule{
		ID: "F320", Title: "guard is not a predicate", Layer: "form", Severity: diag.Error,
		What:    "Reports a guard @name where name is not a .pred register.",
		Why:     "The assembler rejects the module.",
		Wrong:   "@%r1 mov.b32 %r2, 1;",
		Right:   "@%p1 mov.b32 %r2, 1;",
		Fix:     "Compare first (setp) and use the predicate as the guard.",
		Section: "9.3 Predicated Execution",
	}
	ruleComponent = diag.Rule{
		ID: "F321", Title: "component that does not exist", Layer: "form", Severity: diag.Error,
		What: "Reports a component such as .x of a name that is not a vector, a component that the vector does not have, " +
			"or a special register with components used as a whole.",
		Why:     "The assembler rejects the module.",
		Wrong:   "mov.b32 %r1, %laneid.x;",
		Right:   "mov.b32 %r1, %laneid;",
		Fix:     "Name an existing component, or delete the component.",
		Section: "6.4.4 Vectors as Operands",
	}
	ruleIndex = diag.Rule{
		ID: "F322", Title: "index into a name that is not an array", Layer: "form",
		Severity: diag.Error,
		What:     "Reports an element name[i] of a variable without dimensions, or an index that is not an integer.",
		Why:      "The assembler rejects the module.",
		Wrong: `
.local .b32 a;
mov.b64 %rd1, a[1];
`,
		Right: `
.local .b32 a[4];
mov.b64 %rd1, a[1];
`,
		Fix:     "Declare an array, or write an offset in brackets.",
		Section: "6.4.3 Arrays as Operands",
	}
	ruleNegation = diag.Rule{
		ID: "F323", Title: "operand cannot be negated", Layer: "form", Severity: diag.Error,
		What: "Reports a minus sign before a register (only vmad allows it), or a ! before an operand that is not " +
			"a predicate.",
		Why:     "The assembler rejects the module.",
		Wrong:   "add.s32 %r1, %r2, -%r3;",
		Right:   "sub.s32 %r1, %r2, %r3;",
		Fix:     "Use an instruction that negates, such as neg or not.",
		Section: "6 Instruction Operands",
	}
	ruleOperand = diag.Rule{
		ID: "F324", Title: "invalid operand", Layer: "form", Severity: diag.Error,
		What:    "Reports an operand that is syntactically valid but that no instruction accepts.",
		Why:     "The assembler rejects the module.",
		Wrong:   "",
		Right:   "",
		Fix:     "Write a register, constant, variable or address.",
		Section: "6 Instruction Operands",
	}
	ruleExpression = diag.Rule{
		ID: "F325", Title: "invalid constant expression", Layer: "form", Severity: diag.Error,
		What: "Reports integers mixed with floating-point constants, division by zero, operators that " +
			"floating-point constants do not have, or literals of more than 64 bits.",
		Why:     "The assembler rejects the module.",
		Wrong:   "mov.b32 %r1, 4 / 0;",
		Right:   "mov.b32 %r1, 4 / 2;",
		Fix:     "Use one kind of number in an expression.",
		Section: "4.5 Constants",
	}
	ruleAddress32 = diag.Rule{
		ID: "F326", Title: "32-bit address where 64 bits are needed", Layer: "form",
		Severity: diag.Error,
		What:     "Reports a 32-bit register as an address in the global or generic space, the address of a .global variable taken with mov.u32, or cvta.u32.",
		Why: "The module parses, but code generation then fails for the whole module without " +
			"a line number.",
		Wrong: "ld.global.b32 %r1, [%r2];",
		Right: "ld.global.b32 %r1, [%rd2];",
		Fix:   "Compute the address in a .b64 register.",
		Gaps: "Instructions for which the assembler accepts a 32-bit register, such as " +
			"cp.async, are not reported.",
		Section: "11.1.3 .address_size",
	}
)
