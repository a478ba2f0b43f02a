// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package form

import "github.com/ptxdsl/ptxdsl/diag"

// Rules of versions and targets.
var (
	ruleFeature = diag.Rule{
		ID: "F410", Title: "declaration or directive requires a later PTX version or target",
		Layer: "form", Severity: diag.Error,
		What: "Reports a directive, type, attribute or special register that the .version or .target of " +
			"the module does not support.",
		Why: "The assembler rejects the module.",
		Wrong: `
.version 7.0
.target sm_90
.address_size 64
.entry k() .reqnctapercluster 2 { ret; }
`,
		Right: `
.version 7.8
.target sm_90
.address_size 64
.entry k() .reqnctapercluster 2 { ret; }
`,
		Fix:     "Raise .version or .target, or do not use the feature.",
		Section: "11 Directives",
	}
	ruleGone = diag.Rule{
		ID: "F411", Title: "removed feature", Layer: "form", Severity: diag.Error,
		What:    "Reports a directive or declaration that has been removed from PTX.",
		Why:     "The assembler rejects the module.",
		Wrong:   ".entry k() .maxntid 32 .maxnctapersm 2 { ret; }",
		Right:   ".entry k() .maxntid 32 .minnctapersm 2 { ret; }",
		Fix:     "Use the directive that replaces the removed one, or delete it.",
		Section: "11 Directives",
	}
)
