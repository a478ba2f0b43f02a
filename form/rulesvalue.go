// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package form

import "github.com/ptxdsl/ptxdsl/diag"

// Rules of initial values and opaque variables.
var (
	ruleInitialized = diag.Rule{
		ID: "F520", Title: "initial value not allowed", Layer: "form", Severity: diag.Error,
		What: "Reports an initial value in a space other than .global and .const, or for an .extern " +
			"variable.",
		Why:     "The assembler rejects the module.",
		Wrong:   ".shared .b32 a = 1;",
		Right:   ".global .b32 a = 1;",
		Fix:     "Delete the initial value, and store it at the start of the kernel.",
		Section: "5.4.4 Initializers",
	}
	ruleValue = diag.Rule{
		ID: "F521", Title: "initial value of the wrong kind", Layer: "form", Severity: diag.Error,
		What: "Reports an integer for a floating-point variable or a floating-point constant for an " +
			"integer, a single value for an array, an address in a type that cannot hold one, or " +
			"an initial value for a .f16 variable.",
		Why:     "The assembler stops at this error and does not check the rest of the module.",
		Wrong:   ".global .f32 a = 1;",
		Right:   ".global .f32 a = 1.0;",
		Fix:     "Write the value in the form of the type. Addresses need .u64.",
		Section: "5.4.4 Initializers",
	}
	ruleValueCount = diag.Rule{
		ID: "F522", Title: "wrong number of initial values", Layer: "form", Severity: diag.Error,
		What: "Reports an initializer with more values than the array has elements, or whose length " +
			"differs from that of the vector.",
		Why:     "The assembler stops at this error and does not check the rest of the module.",
		Wrong:   ".global .b32 a[2] = {1, 2, 3};",
		Right:   ".global .b32 a[3] = {1, 2, 3};",
		Fix:     "Make the list match the declaration. Each dimension has its own braces.",
		Section: "5.4.4 Initializers",
	}
	ruleValueSpace = diag.Rule{
		ID: "F523", Title: "initial value is the address of a variable without a fixed address",
		Layer: "form", Severity: diag.Error,
		What: "Reports an initial value with the address of a variable that is not in .global or .const.",
		Why:  "The assembler stops at this error and does not check the rest of the module.",
		Wrong: `
.shared .b32 s;
.global .u64 a = s;
`,
		Right: `
.global .b32 s;
.global .u64 a = s;
`,
		Fix:     "Compute the address in the kernel.",
		Section: "5.4.4 Initializers",
	}
	ruleMask = diag.Rule{
		ID: "F524", Title: "invalid byte mask in an initial value", Layer: "form",
		Severity: diag.Error,
		What: "Reports a mask before an address in an initial value that is not 0xff shifted by whole " +
			"bytes.",
		Why: "The assembler rejects the module.",
		Wrong: `
.global .b32 g;
.global .u8 a[1] = {0xff01(g)};
`,
		Right: `
.global .b32 g;
.global .u8 a[1] = {0xff00(g)};
`,
		Fix:     "Use the masks 0xff, 0xff00 and so on, one byte of the address for each element.",
		Section: "5.4.4 Initializers",
	}
	ruleOpaque = diag.Rule{
		ID: "F530", Title: "texture, sampler or surface declared in the wrong place", Layer: "form",
		Severity: diag.Error,
		What: "Reports a texture, sampler or surface variable that is neither in .global nor a parameter " +
			"of an .entry, or an instruction other than mov.u64 that takes its handle.",
		Why:     "The assembler rejects the module.",
		Wrong:   ".shared .texref t;",
		Right:   ".global .texref t;",
		Fix:     "Declare the variable at module scope in .global.",
		Section: "5.3 Texture Sampler and Surface Types",
	}
	ruleTextureMode = diag.Rule{
		ID: "F531", Title: "sampler does not match the texture mode", Layer: "form",
		Severity: diag.Error,
		What: "Reports a .samplerref, or a fetch with a sampler, in a module whose .target has no " +
			"texmode_independent. With texmode_independent, reports a fetch without a sampler.",
		Why: "The assembler rejects the module, or reads the sampler of a fetch as its " +
			"coordinates.",
		Wrong: ".global .samplerref s;",
		Right: `
.version 9.5
.target sm_90, texmode_independent
.address_size 64
.global .samplerref s;
`,
		Fix:     "Add texmode_independent to .target.",
		Section: "5.3.2 Sampler Properties",
	}
	ruleField = diag.Rule{
		ID: "F532", Title: "unknown field of a texture, sampler or surface", Layer: "form",
		Severity: diag.Error,
		What:     "Reports a field that the type does not have, or an invalid value for a field.",
		Why:      "The assembler stops at this error and does not check the rest of the module.",
		Wrong:    ".global .texref t = { filter = nearest };",
		Right:    ".global .texref t = { filter_mode = nearest };",
		Fix:      "Write the intended field.",
		Section:  "5.3 Texture Sampler and Surface Types",
	}
)
