// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package form

import "github.com/ptxdsl/ptxdsl/diag"

// Rules of functions.
var (
	ruleRedefined = diag.Rule{
		ID: "F601", Title: "conflicting declarations of a function", Layer: "form",
		Severity: diag.Error,
		What:     "Reports a function that is defined twice, that is declared after its definition, or whose declarations differ in linkage, kind or .noreturn.",
		Why:      "The assembler rejects the module.",
		Wrong: `
.func f() { ret; }
.func f() { ret; }
`,
		Right: `
.func f();
.func f() { ret; }
`,
		Fix:     "Keep one definition, and make all declarations before it match.",
		Section: "11.2.2 .func",
	}
	ruleMismatch = diag.Rule{
		ID: "F602", Title: "declaration and definition differ", Layer: "form", Severity: diag.Error,
		What: "Reports parameters or return values of two declarations of a function that differ in number, space, type or alignment.",
		Why:  "The assembler rejects the module.",
		Wrong: `
.func f(.param .b32 a);
.func f(.param .b64 a) { ret; }
`,
		Right: `
.func f(.param .b64 a);
.func f(.param .b64 a) { ret; }
`,
		Fix:     "Make the signatures equal.",
		Section: "11.2.2 .func",
	}
	ruleReturns = diag.Rule{
		ID: "F603", Title: "invalid return values", Layer: "form", Severity: diag.Error,
		What:    "Reports a function with several return values, at least one of which is a .param.",
		Why:     "The assembler rejects the module.",
		Wrong:   ".func (.param .b32 a, .param .b32 b) f() { ret; }",
		Right:   ".func (.param .align 4 .b8 a[8]) f() { ret; }",
		Fix:     "Return an array.",
		Section: "11.2.2 .func",
	}
	ruleParameterSpace = diag.Rule{
		ID: "F604", Title: "parameter in the wrong space", Layer: "form", Severity: diag.Error,
		What: "Reports a parameter of an .entry that is not a .param, or a parameter of a .func that is " +
			"neither .reg nor .param.",
		Why:     "The assembler rejects the module.",
		Wrong:   ".entry k(.reg .b32 a) { ret; }",
		Right:   ".entry k(.param .b32 a) { ret; }",
		Fix:     "Declare the parameter in .param.",
		Section: "5.1.6 Parameter State Space",
	}
	ruleParameterType = diag.Rule{
		ID: "F605", Title: "invalid type of a parameter", Layer: "form", Severity: diag.Error,
		What: "Reports a parameter in .param of type .f16x2 or of a vector type and, in a .func or a prototype, a " +
			"predicate or an 8-bit or 16-bit integer.",
		Why:     "The assembler rejects the module.",
		Wrong:   ".func f(.param .v2 .b32 a) { ret; }",
		Right:   ".func f(.param .align 8 .b32 a[2]) { ret; }",
		Fix:     "Pass an array, or untyped bits such as .b32.",
		Section: "5.1.6 Parameter State Space",
	}
	ruleParameterName = diag.Rule{
		ID: "F606", Title: "parameter without a name", Layer: "form", Severity: diag.Error,
		What:    "Reports _ as the name of a parameter of a function.",
		Why:     "The assembler rejects the module.",
		Wrong:   ".func f(.param .b32 _) { ret; }",
		Right:   ".func f(.param .b32 a) { ret; }",
		Fix:     "Name the parameter.",
		Section: "11.2.2 .func",
	}
	ruleParameterBytes = diag.Rule{
		ID: "F607", Title: "too many bytes of parameters", Layer: "form", Severity: diag.Error,
		What: "Reports a kernel whose parameters exceed 32764 bytes, or 4352 bytes before PTX 8.1 or " +
			"sm_70.",
		Why:     "The assembler rejects the module.",
		Wrong:   ".entry k(.param .b8 a[40000]) { ret; }",
		Right:   ".entry k(.param .b8 a[4000]) { ret; }",
		Fix:     "Pass a pointer to global memory.",
		Section: "11.2.1 .entry",
	}
	ruleUnsized = diag.Rule{
		ID: "F608", Title: "parameter without a size", Layer: "form", Severity: diag.Error,
		What:    "Reports an array without a size that is not the last parameter of a .func.",
		Why:     "The assembler rejects the module.",
		Wrong:   ".func f(.param .b8 a[], .param .b32 b) { ret; }",
		Right:   ".func f(.param .b32 b, .param .b8 a[]) { ret; }",
		Fix:     "Give the size, or make it the last parameter.",
		Section: "7.2 Variadic Functions",
	}
	rulePointer = diag.Rule{
		ID: "F609", Title: ".ptr or .hidden on a parameter of a .func", Layer: "form",
		Severity: diag.Error,
		What: "Reports .ptr, .align after the type, or .hidden before the parameter, outside the " +
			"parameter list of an .entry.",
		Why:     "The assembler rejects the module.",
		Wrong:   ".func f(.param .u64 .ptr .global a) { ret; }",
		Right:   ".entry k(.param .u64 .ptr .global a) { ret; }",
		Fix:     "Delete the attribute.",
		Section: "5.1.6.3 .ptr",
	}
	ruleConstantPointer = diag.Rule{
		ID: "F613", Title: "constant pointer parameter together with cvta.const", Layer: "form",
		Severity: diag.Error,
		What: "Reports cvta.const, cvta.to.const or prefetch.const anywhere in a module that has a " +
			"kernel parameter with .ptr .const.",
		Why: "Such a parameter points into another constant bank, whose addresses have no " +
			"generic form. The assembler rejects the module without naming a line.",
		Wrong:   ".const .b32 c;\n.entry k(.param .u64 .ptr .const p) { .reg .b64 %a; cvta.const.u64 %a, c; ret; }",
		Right:   ".const .b32 c;\n.entry k(.param .u64 p) { .reg .b64 %a; cvta.const.u64 %a, c; ret; }",
		Fix:     "Drop .ptr .const.",
		Section: "5.1.6.3 .ptr",
	}
	ruleAlias = diag.Rule{
		ID: "F610", Title: "invalid alias", Layer: "form", Severity: diag.Error,
		What: "Reports an .alias where one of the names is not a .func, the alias has a body, the " +
			"signatures differ, or the target is .weak or .extern.",
		Why: "The assembler rejects the module.",
		Wrong: `
.func f() { ret; }
.func g(.param .b32 a);
.alias g, f;
`,
		Right: `
.func f() { ret; }
.func g();
.alias g, f;
`,
		Fix:     "Declare the alias like the function it refers to.",
		Section: "11.2.3 .alias",
	}
	ruleNoReturn = diag.Rule{
		ID: "F611", Title: ".noreturn that returns a value", Layer: "form", Severity: diag.Error,
		What:    "Reports .noreturn on a function with a return value.",
		Why:     "The assembler rejects the module.",
		Wrong:   ".func (.reg .b32 r) f() .noreturn { exit; }",
		Right:   ".func f() .noreturn { exit; }",
		Fix:     "Delete .noreturn or the return value.",
		Section: "11.4.6 .noreturn",
	}
	ruleUnresolved = diag.Rule{
		ID: "F612", Title: "function without a body", Layer: "form", Severity: diag.Error,
		What: "Reports a function that is declared without .extern but never defined. Also, in a module " +
			"that is not linked with others, a function that is called or whose address is taken " +
			"but that is not defined. A module with a function of several results cannot be " +
			"linked.",
		Why: "The assembler rejects the module. In parse-only mode, the assembler does not report this error.",
		Wrong: `
.func f();
.entry k() { call f; ret; }
`,
		Right: `
.extern .func f();
.entry k() { call f; ret; }
`,
		Fix:     "Define the function, or declare it .extern and link the module that defines it.",
		Section: "11.6.1 .extern",
	}
)
