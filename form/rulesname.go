// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package form

import "github.com/ptxdsl/ptxdsl/diag"

// Rules of names and declarations.
var (
	ruleUndeclared = diag.Rule{
		ID: "F501", Title: "undeclared name", Layer: "form", Severity: diag.Error,
		What: "Reports a register, variable, label or function that is not declared before its use, " +
			"in the same block or an enclosing one. Only labels may be declared later in their " +
			"block.",
		Why:     "The assembler rejects the module.",
		Wrong:   "mov.b32 %r10, 1;",
		Right:   "mov.b32 %r9, 1;",
		Fix:     "Declare the name before its use, or correct it.",
		Section: "5 State Spaces, Types, and Variables",
	}
	ruleTwice = diag.Rule{
		ID: "F502", Title: "name declared twice", Layer: "form", Severity: diag.Error,
		What: "Reports two declarations of the same name in one block. Parameters, labels and variables of a " +
			"function body share one name space, and name<n> declares every number below n.",
		Why: "The assembler rejects the module.",
		Wrong: `
.reg .b32 a;
.reg .b64 a;
`,
		Right: `
.reg .b32 a;
{ .reg .b64 a; }
`,
		Fix:     "Rename one of the declarations.",
		Section: "5.4 Variables",
	}
	ruleType = diag.Rule{
		ID: "F503", Title: "invalid type of a variable", Layer: "form", Severity: diag.Error,
		What: "Reports a word that is not a type, or a type that only instructions have, such as " +
			".bf16 or .e4m3x2.",
		Why:     "The assembler rejects the module.",
		Wrong:   ".reg .bf16 h;",
		Right:   ".reg .b16 h;",
		Fix:     "Declare the variable with untyped bits of the same width, such as .b16.",
		Section: "5.2 Types",
	}
	rulePredicate = diag.Rule{
		ID: "F504", Title: "predicate outside .reg", Layer: "form", Severity: diag.Error,
		What:    "Reports a .pred variable in memory or in a parameter.",
		Why:     "The assembler rejects the module.",
		Wrong:   ".global .pred a;",
		Right:   ".global .b8 a;",
		Fix:     "Store the predicate as an integer, with selp.",
		Section: "5.2.1 Fundamental Types",
	}
	ruleSpace = diag.Rule{
		ID: "F505", Title: "state space not allowed here", Layer: "form", Severity: diag.Error,
		What: "Reports a declaration in a state space that is not allowed at this scope: registers and " +
			"local memory at module scope, or .param outside functions.",
		Why: "The assembler rejects the module.",
		Wrong: `
.local .b32 a;
.entry k() { ret; }
`,
		Right:   ".entry k() { .local .b32 a; ret; }",
		Fix:     "Move the declaration into a function, or choose another space.",
		Section: "5.1 State Spaces",
	}
	ruleAlign = diag.Rule{
		ID: "F506", Title: "alignment is not a power of two", Layer: "form", Severity: diag.Error,
		What:    "Reports an .align that is not a power of two, or that is greater than 128 for a function parameter.",
		Why:     "The assembler rejects the module.",
		Wrong:   ".global .align 12 .b8 a[24];",
		Right:   ".global .align 16 .b8 a[24];",
		Fix:     "Round up to the next power of two.",
		Section: "5.4.5 Alignment",
	}
	ruleVector = diag.Rule{
		ID: "F507", Title: "invalid vector type", Layer: "form", Severity: diag.Error,
		What:    "Reports a vector of predicates or textures, or a vector of more than 128 bits.",
		Why:     "The assembler rejects the module.",
		Wrong:   ".global .v4 .b64 a;",
		Right:   ".global .v2 .b64 a;",
		Fix:     "Use a shorter vector, or declare an array.",
		Section: "5.4.2 Vectors",
	}
	ruleArray = diag.Rule{
		ID: "F508", Title: "array not allowed here", Layer: "form", Severity: diag.Error,
		What: "Reports an array in .reg, a parameter with several dimensions, or a dimension that is " +
			"not an integer.",
		Why:     "The assembler rejects the module.",
		Wrong:   ".reg .b32 a[4];",
		Right:   ".reg .b32 a<4>;",
		Fix:     "Declare a range of registers, or an array in memory.",
		Section: "5.4.3 Array Declarations",
	}
	ruleIncomplete = diag.Rule{
		ID: "F509", Title: "array without a size", Layer: "form", Severity: diag.Error,
		What: "Reports an array declared as name[] that is not .extern and has no initial value, or an " +
			"empty dimension other than the first.",
		Why:     "The assembler rejects the module.",
		Wrong:   ".shared .b8 a[];",
		Right:   ".extern .shared .b8 a[];",
		Fix:     "Give the size. Dynamic shared memory is declared .extern .shared.",
		Section: "5.4.3 Array Declarations",
	}
	ruleRange = diag.Rule{
		ID: "F510", Title: "malformed range of names", Layer: "form", Severity: diag.Error,
		What:    "Reports a declaration of name<n> where n is not a 32-bit integer.",
		Why:     "The assembler rejects the module.",
		Wrong:   ".reg .b32 a<4294967296>;",
		Right:   ".reg .b32 a<4>;",
		Fix:     "Give a plain integer.",
		Section: "5.4.6 Parameterized Variable Names",
	}
	ruleLinkage = diag.Rule{
		ID: "F511", Title: "invalid linkage", Layer: "form", Severity: diag.Error,
		What: "Reports .common in a space other than .global, more than one linkage directive, or a " +
			"linkage directive that the declaration cannot have.",
		Why:     "The assembler rejects the module.",
		Wrong:   ".common .shared .b32 a;",
		Right:   ".common .global .b32 a;",
		Fix:     "Keep one linkage directive that the declaration can have.",
		Section: "11.6 Linking Directives",
	}
	ruleExternClash = diag.Rule{
		ID: "F512", Title: ".extern declaration does not match the definition", Layer: "form",
		Severity: diag.Error,
		What: "Reports an .extern declaration and a definition of the same variable with different types, or " +
			"a definition that is not visible to other modules.",
		Why: "The assembler rejects the module.",
		Wrong: `
.extern .global .b32 a;
.visible .global .b64 a;
`,
		Right: `
.extern .global .b32 a;
.visible .global .b32 a;
`,
		Fix:     "Declare both with the same type, and the definition with .visible.",
		Section: "11.6.1 .extern",
	}
	ruleAttribute = diag.Rule{
		ID: "F513", Title: "invalid attribute", Layer: "form", Severity: diag.Error,
		What:    "Reports an attribute that does not exist, or that the variable cannot have.",
		Why:     "The assembler rejects the module.",
		Wrong:   ".shared .attribute(.managed) .b32 a;",
		Right:   ".global .attribute(.managed) .b32 a;",
		Fix:     "Delete the attribute, or move the variable to .global.",
		Section: "5.4.8 .attribute",
	}
	ruleBank = diag.Rule{
		ID: "F514", Title: "invalid constant bank", Layer: "form", Severity: diag.Error,
		What: "Reports a numbered constant bank that does not exist, or a variable of known size in a " +
			"bank for arrays without a size.",
		Why: "The assembler rejects the module.",
		Wrong: `
.version 2.1
.target sm_20
.const[3] .b32 a[4];
`,
		Right: `
.version 2.1
.target sm_20
.const .b32 a[4];
`,
		Fix:     "Delete the number of the bank. Since PTX 2.2 there is only one constant space.",
		Section: "5.1.3.1 Banked Constant State Space",
	}
	ruleConstants = diag.Rule{
		ID: "F515", Title: "too many bytes of constants", Layer: "form", Severity: diag.Error,
		What: "Reports .const variables that together exceed 64 KB.",
		Why:  "The assembler rejects the module. In parse-only mode, the assembler does not report this error.",
		Wrong: `
.const .b8 a[40000];
.const .b8 b[40000];
`,
		Right: `
.const .b8 a[40000];
.global .b8 b[40000];
`,
		Fix:     "Move tables to .global.",
		Section: "5.1.3 Constant State Space",
	}
)
