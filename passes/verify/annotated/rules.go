// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package annotated

import (
	"embed"

	"github.com/ptxdsl/ptxdsl/diag"
)

//go:embed rules/*.md
var pages embed.FS

// These rules belong to the analyzers. Package dsl also reports them, for mistakes that it
// detects in a single builder call.
var (
	Value    = diag.Rule{ID: "D201", Layer: "build"} // values that may be undefined
	Flow     = diag.Rule{ID: "D208", Layer: "build"} // infinite loops
	Memory   = diag.Rule{ID: "D301", Layer: "build"} // invalid accesses
	Shape    = diag.Rule{ID: "D401", Layer: "build"} // positions outside tiles
	Protocol = diag.Rule{ID: "D501", Layer: "build"} // missing or extra arrivals, and doubtful code
	Role     = diag.Rule{ID: "D502", Layer: "build"} // roles and register budgets
)

// Rules returns the rules, with their documentation pages.
func Rules() diag.Rules {
	return diag.Rules{Value, Flow, Memory, Shape, Protocol, Role}.WithPages(pages)
}
