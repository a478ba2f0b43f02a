// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package form

import "github.com/ptxdsl/ptxdsl/diag"

// Rules of the module and its header.
var (
	ruleNoVersion = diag.Rule{
		ID: "F110", Title: "missing .version", Layer: "form", Severity: diag.Error,
		What: "Reports a module whose first directive is not .version with a number.",
		Why:  "The assembler stops at this error and does not check the rest of the module.",
		Wrong: `
.target sm_90
.address_size 64
.entry k() { ret; }
`,
		Right: `
.version 9.5
.target sm_90
.address_size 64
.entry k() { ret; }
`,
		Fix: "Start with .version and the smallest PTX version that supports what the module " +
			"uses.",
		Section: "11.1.1 .version",
	}
	ruleVersion = diag.Rule{
		ID: "F111", Title: "unknown PTX version", Layer: "form", Severity: diag.Error,
		What: "Reports a .version that does not exist, or that is newer than the versions that this tool supports.",
		Why:  "The assembler stops at this error and does not check the rest of the module.",
		Wrong: `
.version 9.9
.target sm_90
.address_size 64
`,
		Right: `
.version 9.5
.target sm_90
.address_size 64
`,
		Fix:     "Write a version that exists.",
		Gaps:    "The assembler reads 8.10 as 9.0; so does this check.",
		Section: "11.1.1 .version",
	}
	ruleNoTarget = diag.Rule{
		ID: "F112", Title: "missing .target after .version", Layer: "form", Severity: diag.Error,
		What: "Reports a module whose second directive is not .target.",
		Why:  "The assembler stops at this error and does not check the rest of the module.",
		Wrong: `
.version 9.5
.address_size 64
.target sm_90
`,
		Right: `
.version 9.5
.target sm_90
.address_size 64
`,
		Fix:     "Write .target after .version.",
		Section: "11.1.2 .target",
	}
	ruleTarget = diag.Rule{
		ID: "F113", Title: "unknown target", Layer: "form", Severity: diag.Error,
		What: "Reports a .target that does not name an architecture first, or that has an unknown option.",
		Why:  "The assembler stops at this error and does not check the rest of the module.",
		Wrong: `
.version 9.5
.target sm_99
.address_size 64
`,
		Right: `
.version 9.5
.target sm_90
.address_size 64
`,
		Fix: "Name an architecture, such as sm_90a, and then options.",
		Gaps: "The assembler ignores unknown letters after a known architecture number " +
			"(sm_90x); this check does not.",
		Section: "11.1.2 .target",
	}
	ruleTargetOption = diag.Rule{
		ID: "F114", Title: "conflicting .target options", Layer: "form", Severity: diag.Error,
		What: "Reports a .target with both texmode_unified and texmode_independent, or with map_f64_to_f32 on an architecture that has .f64.",
		Why:  "The assembler rejects the module.",
		Wrong: `
.version 9.5
.target sm_90, texmode_unified, texmode_independent
.address_size 64
`,
		Right: `
.version 9.5
.target sm_90, texmode_independent
.address_size 64
`,
		Fix:     "Keep one of the conflicting options.",
		Section: "11.1.2 .target",
	}
	ruleTargetSince = diag.Rule{
		ID: "F115", Title: "target requires a newer .version", Layer: "form", Severity: diag.Error,
		What: "Reports a target that the .version does not support yet.",
		Why:  "The assembler rejects the module.",
		Wrong: `
.version 8.5
.target sm_100a
.address_size 64
.entry k() { ret; }
`,
		Right: `
.version 8.6
.target sm_100a
.address_size 64
.entry k() { ret; }
`,
		Fix:     "Raise .version, or lower .target.",
		Section: "11.1.2 .target",
	}
	ruleAddressSize = diag.Rule{
		ID: "F116", Title: "wrong address size", Layer: "form", Severity: diag.Error,
		What: "Reports an .address_size other than 64. The assembler parses 32-bit addresses but rejects " +
			"them in code generation.",
		Why: "The assembler rejects the module.",
		Wrong: `
.version 9.5
.target sm_90
.address_size 48
`,
		Right: `
.version 9.5
.target sm_90
.address_size 64
`,
		Fix:     "Write .address_size 64.",
		Section: "11.1.3 .address_size",
	}
	ruleLateHeader = diag.Rule{
		ID: "F117", Title: ".version, .target or .address_size after other declarations",
		Layer: "form", Severity: diag.Error,
		What: "Reports a second .version, .target or .address_size after other declarations.",
		Why:  "The assembler stops at this error and does not check the rest of the module.",
		Wrong: `
.version 9.5
.target sm_90
.address_size 64
.global .b32 a;
.address_size 64
`,
		Right: `
.version 9.5
.target sm_90
.address_size 64
.global .b32 a;
`,
		Fix:     "Move the directive to the start of the module, or delete the second one.",
		Section: "11.1 PTX Module Directives",
	}
	ruleDebug = diag.Rule{
		ID: "F118", Title: "missing debug information", Layer: "form", Severity: diag.Error,
		What: "Reports a .target with the option debug in a module without a debug .section.",
		Why:  "The assembler rejects the module.",
		Wrong: `
.version 9.5
.target sm_90, debug
.address_size 64
.entry k() { ret; }
`,
		Right: `
.version 9.5
.target sm_90
.address_size 64
.entry k() { ret; }
`,
		Fix:     "Delete the option, or emit the sections.",
		Section: "11.1.2 .target",
	}
	ruleDirectivePlace = diag.Rule{
		ID: "F120", Title: "directive in the wrong place", Layer: "form", Severity: diag.Error,
		What:    "Reports a function directive at module scope, or a module directive inside a function.",
		Why:     "The assembler stops at this error and does not check the rest of the module.",
		Wrong:   ".entry k() { .maxntid 32; ret; }",
		Right:   ".entry k() .maxntid 32 { ret; }",
		Fix:     "Move the directive to the scope it is for.",
		Section: "11 Directives",
	}
	ruleUnknownDirective = diag.Rule{
		ID: "F121", Title: "unknown directive", Layer: "form", Severity: diag.Error,
		What: "Reports a word with a leading dot that is not a directive, or not one that is allowed " +
			"there.",
		Why:     "The assembler stops at this error and does not check the rest of the module.",
		Wrong:   ".entry k() .maxthreads 32 { ret; }",
		Right:   ".entry k() .maxntid 32 { ret; }",
		Fix:     "Write the intended directive.",
		Section: "11 Directives",
	}
)
