// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package form

import "github.com/ptxdsl/ptxdsl/diag"

// Rules of calls and parameters.
var (
	ruleCall = diag.Rule{
		ID: "F620", Title: "malformed call", Layer: "form", Severity: diag.Error,
		What: "Reports a call without a target, or with extra operands after the arguments and the " +
			"prototype.",
		Why:     "The assembler rejects the module.",
		Wrong:   "",
		Right:   "",
		Fix:     "Write call (result), function, (arguments), prototype.",
		Section: "9.7.12.5 call",
	}
	ruleCallTarget = diag.Rule{
		ID: "F621", Title: "call of something that cannot be called", Layer: "form",
		Severity: diag.Error,
		What:     "Reports a call of a kernel, a variable or a label, or a direct call with a prototype.",
		Why:      "The assembler rejects the module.",
		Wrong: `
.entry j() { ret; }
.entry k() { call j; ret; }
`,
		Right: `
.func j() { ret; }
.entry k() { call j; ret; }
`,
		Fix:     "Call a .func, or a register that holds its address.",
		Section: "9.7.12.5 call",
	}
	rulePrototype = diag.Rule{
		ID: "F622", Title: "indirect call without a prototype", Layer: "form", Severity: diag.Error,
		What: "Reports a call through a register without a prototype, list of call targets or table of " +
			"functions.",
		Why:   "The assembler rejects the module.",
		Wrong: "call %rd1, (%r1);",
		Right: `
p: .callprototype _ (.param .b32 _);
call %rd1, (%r1), p;
`,
		Fix:     "Write a .callprototype before the call and name it.",
		Section: "9.7.12.5 call",
	}
	ruleCallCount = diag.Rule{
		ID: "F623", Title: "wrong number of arguments", Layer: "form", Severity: diag.Error,
		What: "Reports a call with more or fewer arguments or results than the signature has.",
		Why:  "The assembler rejects the module.",
		Wrong: `
.func f(.param .b32 a) { ret; }
.entry k() { call f; ret; }
`,
		Right: `
.func f(.param .b32 a) { ret; }
.entry k() { call f, (1); ret; }
`,
		Fix:     "Pass the arguments and results that the signature declares.",
		Section: "9.7.12.5 call",
	}
	ruleCallType = diag.Rule{
		ID: "F624", Title: "argument does not match the parameter", Layer: "form",
		Severity: diag.Error,
		What: "Reports an argument or result whose type, size or alignment differs from the signature, " +
			"or that is not a register, .param variable or constant.",
		Why: "The assembler rejects the module.",
		Wrong: `
.func f(.param .b32 a) { ret; }
.entry k() { .param .b64 p; call f, (p); ret; }
`,
		Right: `
.func f(.param .b32 a) { ret; }
.entry k() { .param .b32 p; call f, (p); ret; }
`,
		Fix:     "Declare the variable like the parameter.",
		Section: "7.1 Function Declarations and Definitions",
	}
	ruleTargets = diag.Rule{
		ID: "F625", Title: "wrong kind of name in .branchtargets or .calltargets", Layer: "form",
		Severity: diag.Error,
		What: "Reports a .branchtargets list with a name that is not a label, or a .calltargets list with a name that " +
			"is not a function.",
		Why: "The assembler rejects the module.",
		Wrong: `
.global .b32 g;
.entry k() { t: .branchtargets g; ret; }
`,
		Right:   ".entry k() { t: .branchtargets l; l: ret; }",
		Fix:     "List labels for branches, functions for calls.",
		Section: "11.3 Control Flow Directives",
	}
	ruleParameterWrite = diag.Rule{
		ID: "F630", Title: "store to an input parameter", Layer: "form", Severity: diag.Error,
		What:    "Reports an st.param that writes a parameter of the function, instead of a return value.",
		Why:     "The assembler rejects the module.",
		Wrong:   ".func f(.param .b32 a) { st.param.b32 [a], 1; ret; }",
		Right:   ".func (.param .b32 a) f() { st.param.b32 [a], 1; ret; }",
		Fix:     "Copy the value to a register or to local memory.",
		Section: "5.1.6.4 Device Function Parameters",
	}
	ruleParameterRead = diag.Rule{
		ID: "F631", Title: "load of a return value", Layer: "form", Severity: diag.Error,
		What:    "Reports an ld.param that reads a return value of the function, instead of a parameter.",
		Why:     "The assembler rejects the module.",
		Wrong:   ".func (.param .b32 a) f() { .reg .b32 r; ld.param.b32 r, [a]; ret; }",
		Right:   ".func f(.param .b32 a) { .reg .b32 r; ld.param.b32 r, [a]; ret; }",
		Fix:     "Keep the value in a register until it is stored.",
		Section: "5.1.6.4 Device Function Parameters",
	}
	ruleParameterSide = diag.Rule{
		ID: "F632", Title: ".param::entry and .param::func swapped", Layer: "form",
		Severity: diag.Error,
		What:     "Reports an access with .param::func to a kernel parameter, or with .param::entry to the .param variables of a call.",
		Why:      "The assembler rejects the module.",
		Wrong:    ".entry k(.param .b32 a) { .reg .b32 r; ld.param::func.b32 r, [a]; ret; }",
		Right:    ".entry k(.param .b32 a) { .reg .b32 r; ld.param::entry.b32 r, [a]; ret; }",
		Fix:      "Use .param::entry for kernel parameters and .param::func for call variables.",
		Section:  "5.1.6 Parameter State Space",
	}
	ruleParameterAddress = diag.Rule{
		ID: "F633", Title: "address of a call argument", Layer: "form", Severity: diag.Error,
		What: "Reports mov, cvta.param or prefetch.param.tensormap of a .param variable in a function body, which may be passed in registers.",
		Why:  "The assembler rejects the module. If the operand of mov has an offset, the assembler accepts the module, but crashes in code generation.",
		Wrong: `
.param .b32 a;
mov.b64 %rd1, a;
`,
		Right: `
.local .b32 a;
mov.b64 %rd1, a;
`,
		Fix:     "Keep the value in local memory.",
		Section: "5.1.6.4 Device Function Parameters",
	}
	ruleParameterGuard = diag.Rule{
		ID: "F634", Title: "guard in a call sequence", Layer: "form", Severity: diag.Error,
		What: "Reports a guarded st.param or ld.param of a .param variable of a call.",
		Why:  "The assembler rejects the module.",
		Wrong: `
.func f(.param .b32 a) { ret; }
.entry k() { .reg .pred %p; .param .b32 q; @%p st.param.b32 [q], 1; call f, (q); ret; }
`,
		Right: `
.func f(.param .b32 a) { ret; }
.entry k() { .reg .b32 %r; .reg .pred %p; .param .b32 q; selp.b32 %r, 1, 0, %p; st.param.b32 [q], %r; call f, (q); ret; }
`,
		Fix:     "Select the value with selp first, and pass it without a guard.",
		Section: "7.1 Function Declarations and Definitions",
	}
	ruleNoCall = diag.Rule{
		ID: "F635", Title: "result read without a call", Layer: "form", Severity: diag.Error,
		What:  "Reports an ld.param from a .param variable that is not the result of any call in the function.",
		Why:   "The assembler rejects the module. In parse-only mode, the assembler does not report this error.",
		Wrong: ".entry k() { .reg .b32 r; .param .b32 p; ld.param.b32 r, [p]; ret; }",
		Right: `
.extern .func (.param .b32 a) f();
.entry k() { .reg .b32 r; .param .b32 p; call (p), f; ld.param.b32 r, [p]; ret; }
`,
		Fix:     "Call the function before the load.",
		Gaps:    "A load before the call is not reported if the function has such a call.",
		Section: "7.1 Function Declarations and Definitions",
	}
)
