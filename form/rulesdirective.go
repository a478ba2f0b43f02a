// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package form

import "github.com/ptxdsl/ptxdsl/diag"

// Rules of directives.
var (
	ruleTuningValue = diag.Rule{
		ID: "F701", Title: "wrong argument of a directive", Layer: "form", Severity: diag.Error,
		What:    "Reports a function directive with too few, too many or out-of-range arguments.",
		Why:     "The assembler rejects the module.",
		Wrong:   ".entry k() .maxntid 0 { ret; }",
		Right:   ".entry k() .maxntid 128 { ret; }",
		Fix:     "Pass the arguments that the directive takes.",
		Section: "11.4 Performance-Tuning Directives",
	}
	ruleTuningConflict = diag.Rule{
		ID: "F702", Title: "conflicting directives", Layer: "form", Severity: diag.Error,
		What:    "Reports a kernel with both .maxntid and .reqntid, or with both .maxclusterrank and .reqnctapercluster.",
		Why:     "The assembler rejects the module.",
		Wrong:   ".entry k() .maxntid 128 .reqntid 128 { ret; }",
		Right:   ".entry k() .reqntid 128 { ret; }",
		Fix:     "Keep one of the two directives.",
		Section: "11.4.3 .reqntid",
	}
	ruleTuningNeeds = diag.Rule{
		ID: "F703", Title: "directive without the directives it requires", Layer: "form",
		Severity: diag.Error,
		What:     "Reports a kernel with .blocksareclusters but without .reqntid or .reqnctapercluster, and a kernel that reads %perctamemorysize or %perctamemoryoffset without .minperctamemory.",
		Why:      "The assembler rejects the module.",
		Wrong:    ".entry k() .blocksareclusters { ret; }",
		Right:    ".entry k() .reqntid 128 .reqnctapercluster 2 .blocksareclusters { ret; }",
		Fix:      "Add .reqntid and .reqnctapercluster, or .minperctamemory.",
		Section:  "11.8.1 .blocksareclusters",
	}
	ruleTuningPlace = diag.Rule{
		ID: "F704", Title: "directive on the wrong kind of function", Layer: "form",
		Severity: diag.Error,
		What:     "Reports a kernel directive on a .func, or a .func directive on a kernel.",
		Why:      "The assembler stops at this error and does not check the rest of the module.",
		Wrong:    ".func f() .maxntid 128 { ret; }",
		Right:    ".entry k() .maxntid 128 { ret; }",
		Fix:      "Move the directive to a function of the right kind, or delete it.",
		Section:  "11.4 Performance-Tuning Directives",
	}
	ruleTuningTwice = diag.Rule{
		ID: "F705", Title: "directive given twice", Layer: "form", Severity: diag.Error,
		What:    "Reports a function with more than one .abi_preserve, .abi_preserve_control or .noreturn directive.",
		Why:     "The assembler rejects the module.",
		Wrong:   ".func f() .abi_preserve 8 .abi_preserve 9 { ret; }",
		Right:   ".func f() .abi_preserve 8 { ret; }",
		Fix:     "Keep one of the directives.",
		Section: "11.4.8 .abi_preserve",
	}
	ruleTuningIdle = diag.Rule{
		ID: "F706", Title: "directive without effect", Layer: "form", Severity: diag.Warning,
		What:    "Reports a kernel with .minnctapersm that has neither .maxntid nor .reqntid.",
		Why:     "The assembler ignores .minnctapersm.",
		Wrong:   ".entry k() .minnctapersm 2 { ret; }",
		Right:   ".entry k() .maxntid 128 .minnctapersm 2 { ret; }",
		Fix:     "Add .reqntid or .maxntid, which give the number of threads per CTA.",
		Section: "11.4.4 .minnctapersm",
	}
	ruleLanguage = diag.Rule{
		ID: "F707", Title: "unknown language", Layer: "form", Severity: diag.Error,
		What:    "Reports a .language directive with an unknown name or number.",
		Why:     "The assembler rejects the module.",
		Wrong:   `.entry k() .language "c++" { ret; }`,
		Right:   `.entry k() .language "cuda c++" { ret; }`,
		Fix:     "Write a name from the list, in any case, or its number.",
		Section: "9.4:11.8.2 .language",
	}
	rulePragma = diag.Rule{
		ID: "F710", Title: "malformed pragma", Layer: "form", Severity: diag.Error,
		What:    "Reports a pragma without its argument, or a pragma whose text is not in quotes.",
		Why:     "The assembler rejects the module.",
		Wrong:   `.entry k() { .pragma "frequency"; ret; }`,
		Right:   `.entry k() { .pragma "frequency 4"; ret; }`,
		Fix:     "Write the pragma as a string in quotes, with its argument.",
		Section: "11.4.7 .pragma",
	}
	rulePragmaPlace = diag.Rule{
		ID: "F711", Title: "pragma in the wrong place", Layer: "form", Severity: diag.Error,
		What: "Reports a statement pragma outside a function body, or a kernel pragma in a .func.",
		Why:  "The assembler rejects the module.",
		Wrong: `
.pragma "enable_smem_spilling";
.entry k() { ret; }
`,
		Right:   `.entry k() { .pragma "enable_smem_spilling"; ret; }`,
		Fix:     "Move the pragma into the body of the kernel.",
		Section: "12 Descriptions of .pragma Strings",
	}
	rulePragmaUnknown = diag.Rule{
		ID: "F712", Title: "unknown pragma", Layer: "form", Severity: diag.Warning,
		What:    "Reports an undocumented pragma in a function.",
		Why:     "The assembler ignores the pragma.",
		Wrong:   `.entry k() { .pragma "nounrol"; ret; }`,
		Right:   `.entry k() { .pragma "nounroll"; ret; }`,
		Fix:     "Write the intended pragma.",
		Section: "12 Descriptions of .pragma Strings",
	}
	ruleFile = diag.Rule{
		ID: "F720", Title: "malformed .file", Layer: "form", Severity: diag.Error,
		What:    "Reports a .file directive without an index or a quoted name.",
		Why:     "The assembler stops at this error and does not check the rest of the module.",
		Wrong:   "",
		Right:   "",
		Fix:     `Write .file 1 "name".`,
		Section: "11.5.3 .file",
	}
	ruleFileTwice = diag.Rule{
		ID: "F721", Title: "file index given twice", Layer: "form", Severity: diag.Error,
		What: "Reports two .file directives with the same index.",
		Why:  "The assembler rejects the module.",
		Wrong: `
.file 1 "a.cu"
.file 1 "b.cu"
`,
		Right: `
.file 1 "a.cu"
.file 2 "b.cu"
`,
		Fix:     "Give each file its own index.",
		Section: "11.5.3 .file",
	}
	ruleLocation = diag.Rule{
		ID: "F722", Title: "malformed .loc", Layer: "form", Severity: diag.Error,
		What:    "Reports a .loc directive that does not have a file, a line and a column.",
		Why:     "The assembler stops at this error and does not check the rest of the module.",
		Wrong:   "",
		Right:   "",
		Fix:     "Write .loc file line column.",
		Section: "11.5.4 .loc",
	}
	ruleInlined = diag.Rule{
		ID: "F723", Title: "inlined_at names a location without a preceding .loc", Layer: "form",
		Severity: diag.Error,
		What:     "Reports an inlined_at whose file, line and column do not occur in a preceding .loc of the function.",
		Why:      "The assembler rejects the module.",
		Wrong: `
.file 1 "a.cu"
.entry k() {
.loc 1 5 1, function_name $n, inlined_at 1 9 1
ret; }
.section .debug_str { $n: .b8 1 }
`,
		Right: `
.file 1 "a.cu"
.entry k() {
.loc 1 9 1
.loc 1 5 1, function_name $n, inlined_at 1 9 1
ret; }
.section .debug_str { $n: .b8 1 }
`,
		Fix:     "Emit the .loc of the call first.",
		Section: "11.5.4 .loc",
	}
	ruleSectionData = diag.Rule{
		ID: "F724", Title: "invalid debug data", Layer: "form", Severity: diag.Error,
		What: "Reports a value that does not fit into .b8 or .b16, an address in one of these types " +
			"or next to other data on a line, or a .section with another type.",
		Why:     "The assembler rejects the module.",
		Wrong:   ".section .debug_str { .b8 300 }",
		Right:   ".section .debug_str { .b16 300 }",
		Fix:     "Use a wider type.",
		Section: "11.5.2 .section",
	}
	ruleFunctionName = diag.Rule{
		ID: "F725", Title: "function_name is not a label", Layer: "form", Severity: diag.Error,
		What: "Reports a .loc whose function_name is not a label in a .section of the module.",
		Why:  "The assembler rejects the module.",
		Wrong: `
.file 1 "a.cu"
.entry k() {
.loc 1 9 1
.loc 1 5 1, function_name $n, inlined_at 1 9 1
ret; }
`,
		Right: `
.file 1 "a.cu"
.entry k() {
.loc 1 9 1
.loc 1 5 1, function_name $n, inlined_at 1 9 1
ret; }
.section .debug_str { $n: .b8 1 }
`,
		Fix:     "Emit the section with the name, usually .debug_str.",
		Section: "11.5.4 .loc",
	}
)
