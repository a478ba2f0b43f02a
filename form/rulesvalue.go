// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package form

import "github.com/ptxdsl/ptxdsl/diag"

// Rules of initial values and opaque variables.
var (
	ruleInitialised = diag.Rule{
		ID: "F520", Title: "initial value where none can be", Layer: "form", Severity: diag.Error,
		What:    "An initial value in a space other than .global and .const, or of an .extern variable.",
		Why:     "The assembler rejects the module.",
		Wrong:   ".shared .b32 a = 1;",
		Right:   ".global .b32 a = 1;",
		Fix:     "Store the value at the start of the kernel.",
		Section: "5.4.4 Initializers",
	}
	ruleValue = diag.Rule{
		ID: "F521", Title: "initial value of the wrong kind", Layer: "form", Severity: diag.Error,
		What:    "An integer for a floating-point variable or the other way round, a single value for an array, an address in a type that does not hold one, a .f16 variable with a value.",
		Why:     "The assembler stops there and reads no further.",
		Wrong:   ".global .f32 a = 1;",
		Right:   ".global .f32 a = 1.0;",
		Fix:     "Write the value in the form that the type takes; addresses go into .u64.",
		Section: "5.4.4 Initializers",
	}
	ruleValueCount = diag.Rule{
		ID: "F522", Title: "wrong number of initial values", Layer: "form", Severity: diag.Error,
		What:    "More values than the array has elements, or a vector with another number of elements than its length.",
		Why:     "The assembler stops there and reads no further.",
		Wrong:   ".global .b32 a[2] = {1, 2, 3};",
		Right:   ".global .b32 a[3] = {1, 2, 3};",
		Fix:     "Make list and declaration agree. Each dimension has braces of its own.",
		Section: "5.4.4 Initializers",
	}
	ruleValueSpace = diag.Rule{
		ID: "F523", Title: "address of a variable that has none yet", Layer: "form", Severity: diag.Error,
		What: "An initial value that names a variable outside of .global and .const.",
		Why:  "The assembler stops there and reads no further.",
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
		ID: "F524", Title: "mask that is no byte", Layer: "form", Severity: diag.Error,
		What: "A mask before an address in an initial value that is not 0xff moved by whole bytes.",
		Why:  "The assembler rejects the module.",
		Wrong: `
.global .b32 g;
.global .u8 a[1] = {0xff01(g)};
`,
		Right: `
.global .b32 g;
.global .u8 a[1] = {0xff00(g)};
`,
		Fix:     "Write one byte of the address per element.",
		Section: "5.4.4 Initializers",
	}
	ruleOpaque = diag.Rule{
		ID: "F530", Title: "texture, sampler or surface out of place", Layer: "form", Severity: diag.Error,
		What:    "An opaque variable outside of .global and the parameters of an .entry, or its handle taken with another instruction than mov.u64.",
		Why:     "The assembler rejects the module.",
		Wrong:   ".shared .texref t;",
		Right:   ".global .texref t;",
		Fix:     "Declare it at module scope in .global.",
		Section: "5.3 Texture Sampler and Surface Types",
	}
	ruleTextureMode = diag.Rule{
		ID: "F531", Title: "sampler against the texture mode", Layer: "form", Severity: diag.Error,
		What:  "A .samplerref, or a fetch that names a sampler, in a module whose .target does not say texmode_independent; with it, a fetch that names no sampler.",
		Why:   "The assembler rejects the module, or reads the sampler of a fetch as its coordinates.",
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
		ID: "F532", Title: "unknown field of an opaque variable", Layer: "form", Severity: diag.Error,
		What:    "A field that the opaque type does not have, or a word that is no value of it.",
		Why:     "The assembler stops there and reads no further.",
		Wrong:   ".global .texref t = { filter = nearest };",
		Right:   ".global .texref t = { filter_mode = nearest };",
		Fix:     "Write the field that was meant.",
		Section: "5.3 Texture Sampler and Surface Types",
	}
)
